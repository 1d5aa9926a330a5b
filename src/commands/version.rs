//! `opctl version`: which opctl this is, and which crates its manifests are made by.

/// Told by hand: Cargo gives a crate no versions of its dependencies. A test holds them against Cargo.lock.
const SPEAKS: &[(&str, &str)] = &[("kube", "5.0.0"), ("k8s-openapi", "0.29.0"), ("schemars", "1.2.3")];

pub fn text() -> String {
    let mut text = format!("opctl {}\n", env!("CARGO_PKG_VERSION"));
    for (name, version) in SPEAKS {
        text.push_str(&format!("{name} {version}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../Cargo.lock");
        for (name, version) in SPEAKS {
            let name = if *name == "kube" { "kube-core" } else { name };
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")), "{name} {version}");
        }
    }
}
