//! The versions of kube, k8s-openapi, schemars and Kubernetes that opctl knows. No other file of `src` has their numbers.

/// The crates whose output opctl generates, and their latest release that the tests compare it with.
pub const CRATES: &[(&str, &str)] = &[("kube", "5.0.0"), ("k8s-openapi", "0.29.0"), ("schemars", "1.2.3")];

/// The k8s-openapi whose types are in `source/known/kubernetes.txt`.
pub const K8S_OPENAPI: &str = "0.29";

/// The earliest and the latest minor version of Kubernetes 1 that this k8s-openapi has types of.
pub const KUBERNETES: (u8, u8) = (33, 37);

/// The versions of one of [`CRATES`] that are compatible with the one that opctl knows, as a requirement: `5`, `0.29`.
pub fn supported(name: &str) -> &'static str {
    let (_, version) = CRATES.iter().find(|(known, _)| *known == name).expect("it is asked of these crates only");
    let end = version.bytes().position(|byte| !matches!(byte, b'0' | b'.')).expect("no version is 0.0.0");
    &version[..version[end..].find('.').map_or(version.len(), |length| end + length)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compatible_ends_with_the_first_number_that_counts() {
        assert_eq!(["kube", "k8s-openapi", "schemars"].map(supported), ["5", "0.29", "1"]);
    }

    #[test]
    fn the_versions_are_those_of_the_lock_file() {
        let lock = include_str!("../Cargo.lock");
        for (name, version) in CRATES {
            let name = if *name == "kube" { "kube-core" } else { name };
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")), "{name} {version}");
        }
    }
}
