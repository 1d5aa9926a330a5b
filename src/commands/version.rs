//! `opctl version`: prints the versions of opctl and of the crates that generate its manifests.

/// Maintained by hand, because Cargo does not tell a crate the versions of its dependencies. A test compares them with Cargo.lock.
const CRATES: &[(&str, &str)] = &[("kube", "5.0.0"), ("k8s-openapi", "0.29.0"), ("schemars", "1.2.3")];

/// The compatible version range of this crate that opctl supports: `5`, `0.29`.
pub fn supported(name: &str) -> &'static str {
    let (_, version) = CRATES.iter().find(|(known, _)| *known == name).expect("it is asked of these crates only");
    let end = version.bytes().position(|byte| !matches!(byte, b'0' | b'.')).expect("no version is 0.0.0");
    &version[..version[end..].find('.').map_or(version.len(), |length| end + length)]
}

pub fn text() -> String {
    let mut text = format!("opctl {}\n", env!("CARGO_PKG_VERSION"));
    for (name, version) in CRATES {
        text.push_str(&format!("{name} {version}\n"));
    }
    text
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
        let lock = include_str!("../../Cargo.lock");
        for (name, version) in CRATES {
            let name = if *name == "kube" { "kube-core" } else { name };
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")), "{name} {version}");
        }
    }
}
