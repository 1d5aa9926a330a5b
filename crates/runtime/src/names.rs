//! Names of children, field managers and Helm releases, within the limits of Kubernetes.

use kube::ResourceExt;

use crate::error::shortened;

/// Maximum length of a DNS label.
const LONGEST: usize = 63;

/// A name for a child of `parent`: `<parent>-<suffix>`, or just the parent's name for an empty suffix.
///
/// The name is a DNS label that starts with a letter (at most 63 characters, no dots), so it is valid for objects of
/// every kind and as the value of a label. The parent's name may have 253 characters, dots and a leading digit. A name
/// that does not fit is adapted and shortened, and gets a hash of the parent's whole name, so that no two parents share
/// it.
/// ```
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// # use opctl_runtime::child_name;
/// let mut parent = ConfigMap::default();
/// parent.metadata.name = Some("sample".to_owned());
/// assert_eq!(child_name(&parent, "web"), "sample-web");
/// parent.metadata.name = Some("1.sample".to_owned());
/// assert!(child_name(&parent, "web").starts_with("x1-sample-"));
/// ```
///
/// # Panics
///
/// If the suffix is longer than 40 characters, or cannot be the end of a DNS label.
pub fn child_name(parent: &impl ResourceExt, suffix: &str) -> String {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    assert!(
        suffix.len() <= 40 && suffix.chars().all(is_part) && !suffix.ends_with('-'),
        "`{suffix}` is not a valid suffix for a DNS label"
    );
    let suffix = if suffix.is_empty() { String::new() } else { format!("-{suffix}") };
    let name = parent.name_any();
    let fits = name.len() + suffix.len() <= LONGEST && name.starts_with(|c: char| c.is_ascii_lowercase());
    if fits && !name.contains('.') {
        return name + &suffix;
    }
    let mut label = name.replace('.', "-");
    if !label.starts_with(|c: char| c.is_ascii_lowercase()) {
        label.insert(0, 'x');
    }
    let hash = format!("-{:010x}", hash(&name) & 0xff_ffff_ffff);
    label.truncate(LONGEST - hash.len() - suffix.len());
    label + &hash + &suffix
}

/// The field manager `base/part`. The API server refuses names of more than 128 bytes, so a longer one is truncated and
/// ends in a hash of the whole.
pub(crate) fn field_manager(base: &str, part: &str) -> String {
    const LONGEST: usize = 128;
    let name = format!("{base}/{part}");
    if name.len() <= LONGEST {
        return name;
    }
    let hash = format!("-{:010x}", hash(&name) & 0xff_ffff_ffff);
    shortened(&name, LONGEST - hash.len()).to_owned() + &hash
}

/// The name of a Helm release. Helm allows 53 characters, so a longer one is truncated and ends in a hash of the whole.
#[cfg(feature = "helm")]
pub(crate) fn release_name(name: &str) -> String {
    const LONGEST: usize = 53;
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let hash = format!("-{:010x}", hash(name) & 0xff_ffff_ffff);
    shortened(name, LONGEST - hash.len()).trim_end_matches(['-', '.']).to_owned() + &hash
}

/// FNV-1a. The hash of the standard library may change between releases, and names of children must not.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn named(name: &str) -> ConfigMap {
        let mut object = ConfigMap::default();
        object.metadata.name = Some(name.to_owned());
        object
    }

    #[test]
    fn every_legal_parent_gets_a_valid_name_of_its_own() {
        let long = "a".repeat(253);
        let names = ["a", "0", "a.b", "a-b", "x0", "0a.b", &long, &long[1..], "z9-8.y7"];
        let mut seen = std::collections::BTreeSet::new();
        for parent in names {
            for suffix in ["", "web", &"s".repeat(40)] {
                let name = child_name(&named(parent), suffix);
                let is_legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                assert!(name.len() <= LONGEST && name.chars().all(is_legal), "{name}");
                assert!(name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('-'), "{name}");
                assert!(seen.insert(name.clone()), "{parent} and another parent have a child `{name}`");
            }
        }
    }

    #[test]
    fn field_managers_fit_and_differ() {
        assert_eq!(field_manager("operator", "failure"), "operator/failure");
        let long = field_manager("operator", &"c".repeat(200));
        assert_eq!(long.len(), 128);
        let failure = field_manager(&long, "failure");
        assert!(failure.len() == 128 && failure != long, "{failure}");
    }

    #[test]
    fn names_never_change_from_one_release_to_the_next() {
        assert_eq!(child_name(&named("sample"), ""), "sample");
        assert_eq!(child_name(&named("a.b"), "web"), "a-b-190466522c-web");
    }
}
