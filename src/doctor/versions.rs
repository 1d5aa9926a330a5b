//! Checks that the versions of kube, k8s-openapi and schemars are compatible with each other and supported by opctl.

use super::Finding;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::versions::{Release, Requirement, is_known, latest, range};
use opctl_source::dependencies::{Built, Dependencies, FAMILY, Locked};

pub fn examine(packages: &Result<Vec<Dependencies>, Diagnostic>) -> Vec<Finding> {
    let packages = match packages {
        Ok(packages) => packages,
        Err(diagnostic) => return vec![Finding::from(diagnostic)],
    };
    let found: Vec<Finding> =
        packages.iter().filter(|package| package.asked.contains_key("kube")).flat_map(check).collect();
    match found.is_empty() {
        true => vec![Finding::skipped("Cargo.toml does not name kube").help(add(&["kube", "k8s-openapi", "schemars"]))],
        false => found,
    }
}

/// The command that sets the latest versions that opctl supports. Other settings of these crates in Cargo.toml do not
/// change.
fn add(names: &[&str]) -> String {
    let crates: Vec<String> = names.iter().map(|name| format!("{name}@{}", latest(name))).collect();
    format!("cargo add {}", crates.join(" "))
}

fn check(package: &Dependencies) -> Vec<Finding> {
    let mut found = match &package.locked {
        Locked::Versions(built) => check_built(&package.package, built),
        Locked::Missing(path) => {
            let skipped = Finding::skipped(format!("no `{path}`, which has the versions of dependencies"));
            let mut found = vec![skipped.help("cargo generate-lockfile")];
            found.extend(["kube", "k8s-openapi", "schemars"].iter().filter_map(|name| {
                let asked = package.asked.get(name)?;
                check_supported(name, asked, package.asked.get("kube").map(String::as_str))
            }));
            found
        }
        Locked::Stale => {
            let what = format!("Cargo.lock does not have the package `{}`", package.package);
            vec![Finding::error(what).help("cargo update --workspace")]
        }
    };
    // opctl does not know the features of unsupported releases.
    if package.asked.get("k8s-openapi").is_some_and(|asked| is_supported("k8s-openapi", asked)) {
        found.push(match &package.kubernetes {
            Ok(minor) => Finding::ok(format!("k8s-openapi has the types of Kubernetes {minor}")),
            Err(unclear) => Finding::error(unclear.to_string()).help(unclear.help()),
        });
    }
    found
}

fn check_built(package: &str, built: &[Built]) -> Vec<Finding> {
    let mut found = Vec::new();
    for name in FAMILY {
        let all: Vec<&Built> = built.iter().filter(|built| built.name == name).collect();
        let used_by = |user: &str| all.iter().find(|built| built.users.iter().any(|it| it == user)).copied();
        let own = used_by(package);
        // The version whose types kube uses.
        let of_kube = if name == "kube" { own } else { used_by("kube-core").or_else(|| used_by("kube")) };
        let Some(right) = of_kube.or(own) else { continue };
        if let Some(own) = own.filter(|own| own.version != right.version) {
            let what = format!(
                "{package} takes {name} {}, and kube takes {}: the types of one do not fit the other",
                own.version, right.version
            );
            found.push(Finding::error(what).help(format!("cargo add {name}@{}", compatible(&right.version))));
        }
        let others = all.iter().filter(|other| other.version != right.version && own.is_none_or(|own| own != **other));
        let others: Vec<Finding> = others.map(|other| also_built(name, other, right)).collect();
        match others.is_empty() {
            // kube-core has the version of kube.
            true if name != "kube-core" => {
                let kube = built.iter().find(|it| it.name == "kube" && it.users.iter().any(|user| user == package));
                found.extend(check_supported(name, &right.version, kube.map(|kube| &*kube.version)));
            }
            true => {}
            false => found.extend(others),
        }
    }
    found
}

/// `5.1.0` → `5`.
fn compatible(version: &str) -> String {
    Release::parse(version).map_or_else(|| version.to_owned(), Release::compatible)
}

/// A finding for a second version, which is built for another dependency and does not match kube's types.
fn also_built(name: &str, other: &Built, right: &Built) -> Finding {
    let what = format!(
        "{name} {} is built beside {}, for `{}`: its types do not fit kube",
        other.version,
        right.version,
        other.users.join("`, `")
    );
    Finding::warning(what).help(format!("cargo tree -i {name}@{}", other.version))
}

/// A finding about the version. `None` if opctl does not know this version of kube, which is reported once for all of
/// its crates.
fn check_supported(name: &str, version: &str, kube: Option<&str>) -> Option<Finding> {
    if is_supported(name, version) {
        return Some(Finding::ok(format!("{name} {version}")));
    }
    if name != "kube" && kube.is_some_and(|kube| !is_supported("kube", kube)) {
        return None;
    }
    let consequence = match name {
        "kube" => "it knows the kinds and requests of this one, and not its CRDs",
        "k8s-openapi" => "it does not have the types of this one",
        _ => "it does not know the schemas of this one",
    };
    let what = format!("{name} {version}, and opctl knows {}: {consequence}", range(name));
    Some(Finding::warning(what).help(add(&["kube", "k8s-openapi", "schemars"])))
}

/// `true` if opctl knows the version, or one that the requirement allows: cargo decides which of them is used.
fn is_supported(name: &str, version: &str) -> bool {
    let Some(requirement) = Requirement::parse(version) else { return false };
    requirement.latest(name).is_some() || requirement.release().is_some_and(|release| is_known(name, release))
}

#[cfg(test)]
mod tests {
    use super::*;
    use opctl_cluster::findings::Severity;

    fn built(name: &str, version: &str, users: &[&str]) -> Built {
        let users = users.iter().map(ToString::to_string).collect();
        Built { name: name.into(), version: version.into(), users, rust_version: None }
    }

    fn family() -> Vec<Built> {
        vec![
            built("kube", "5.0.0", &["shop"]),
            built("kube-core", "5.0.0", &["kube", "kube-client"]),
            built("k8s-openapi", "0.29.0", &["shop", "kube-core"]),
            built("schemars", "1.2.3", &["shop", "kube-core"]),
        ]
    }

    fn worst(built: &[Built]) -> Vec<String> {
        let found = check_built("shop", built).into_iter().filter(|finding| finding.severity > Severity::Ok);
        found.map(|Finding { severity, what, help, .. }| format!("{} {what} -> {}", severity.word(), help[0])).collect()
    }

    #[test]
    fn a_family_that_fits_is_well() {
        assert_eq!(worst(&family()), [""; 0]);
        assert_eq!(check_built("shop", &family()).len(), 3);
    }

    #[test]
    fn types_of_two_versions_do_not_fit() {
        let mut family = family();
        family[2].users = vec!["kube-core".into()];
        family.push(built("k8s-openapi", "0.28.0", &["shop"]));
        assert_eq!(
            worst(&family),
            [
                "error shop takes k8s-openapi 0.28.0, and kube takes 0.29.0: the types of one do not fit the other -> cargo add k8s-openapi@0.29"
            ]
        );
    }

    #[test]
    fn who_brings_another_version_is_named() {
        let mut family = family();
        family.push(built("schemars", "0.8.22", &["old", "older"]));
        family.push(built("kube-core", "4.0.0", &["kube-stuff"]));
        assert_eq!(
            worst(&family),
            [
                "warning kube-core 4.0.0 is built beside 5.0.0, for `kube-stuff`: its types do not fit kube -> cargo tree -i kube-core@4.0.0",
                "warning schemars 0.8.22 is built beside 1.2.3, for `old`, `older`: its types do not fit kube -> cargo tree -i schemars@0.8.22",
            ]
        );
    }

    #[test]
    fn a_requirement_is_supported_if_it_allows_what_opctl_knows() {
        for supported in ["5", "=5.0.0", "5.7.1", "~5.3", "5.*", "*", ">=5, <6", "<5", ">=4.2"] {
            assert!(is_supported("kube", supported), "{supported}");
        }
        for other in ["1", "<2", ">=99", "99.*", "five"] {
            assert!(!is_supported("kube", other), "{other}");
        }
    }

    #[test]
    fn another_kube_than_opctl_uses_is_reported() {
        let family = [built("kube", "1.1.0", &["shop"]), built("k8s-openapi", "0.25.0", &["shop", "kube-core"])];
        let worst = worst(&family);
        assert_eq!(worst.len(), 1, "one warning for all of the family");
        assert_eq!(
            worst[0],
            format!(
                "warning kube 1.1.0, and opctl knows {}: it knows the kinds and requests of this one, and not its CRDs -> cargo add kube@{} k8s-openapi@{} schemars@{}",
                range("kube"),
                latest("kube"),
                latest("k8s-openapi"),
                latest("schemars")
            )
        );
    }
}
