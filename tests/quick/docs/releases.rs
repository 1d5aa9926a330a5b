//! Release numbers on pages are those of `opctl_model::versions`. `SNAPSHOTS=overwrite cargo test --test quick docs`
//! updates them.

use std::fmt::Write;
use std::path::Path;

use opctl::scaffold::Runtime;
use opctl_model::versions::{CRATES, K8S_OPENAPI, KUBE, Kube, Release, latest, range};

use super::{ROOT, read};
use crate::sandbox::Sandbox;

#[test]
fn pages_name_the_releases_that_opctl_knows() {
    let [kube, k8s_openapi] = ["kube", "k8s-openapi"].map(latest);
    let kubernetes = format!("1.{}", K8S_OPENAPI.last().unwrap().1.1);
    let version = Sandbox::new().command("opctl").arg("version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let checked: String = CRATES.iter().map(|(name, release)| format!("  ok       {name} {release}\n")).collect();
    let checked = format!("{checked}  ok       k8s-openapi has the types of Kubernetes {kubernetes}\n");
    // The path of the page, and the text before and after each release number.
    let places = [
        ("README.md", "new projects have kube ", kube.clone(), "\n"),
        ("crates/runtime/README.md", "\nkube = { version = \"", kube.clone(), "\""),
        ("crates/runtime/README.md", "\nk8s-openapi = { version = \"", k8s_openapi, "\""),
        ("crates/runtime/README.md", "\nopctl-runtime = { version = \"", kube.clone(), "\""),
        ("docs/concepts/engine.md", "$ opctl version\n", version, "```"),
        ("docs/concepts/engine.md", "| kube | k8s-openapi | Kubernetes |\n|---|---|---|\n", table(), "\n\n"),
        ("docs/concepts/engine.md", "generate code for kube ", kube.clone(), "."),
        ("docs/concepts/ownership.md", "\nopctl-runtime = { version = \"", Runtime::embedded().version.clone(), "\""),
        ("docs/doctor.md", ", and kube ", KUBE.last().unwrap().to_string(), " needs"),
        ("docs/doctor.md", "\nversions\n", checked, "PROJECT\n"),
        ("docs/doctor.md", "and the types are those of ", kubernetes, "\n"),
        ("docs/index.md", "generates projects for kube ", kube.clone(), ","),
        ("docs/index.md", "use [kube ", range("kube"), "]"),
        ("docs/reference/diagnostics.md", "The types of k8s-openapi ", range("k8s-openapi"), "\nare built in"),
    ];
    let mut differences = String::new();
    for (path, before, expected, after) in places {
        let page = read(path);
        assert!(page.contains(before), "{path} has no `{before}`");
        let mut parts = page.split(before);
        let mut updated = parts.next().unwrap().to_owned();
        for part in parts {
            let (_, tail) = part.split_once(after).unwrap_or_else(|| panic!("{path} has no `{after}`"));
            updated += &[before, &expected, after, tail].concat();
        }
        if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
            std::fs::write(Path::new(ROOT).join(path), &updated).unwrap();
        } else if page != updated {
            writeln!(differences, "{path}: {before:?} is followed by {expected:?}").unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// A row for each major version of kube.
fn table() -> String {
    let mut majors: Vec<u64> = KUBE.iter().map(|release| release.0).collect();
    majors.dedup();
    let row = |major: u64| {
        let k8s_openapi = Kube::new(Release(major, 0, 0)).unwrap().k8s_openapi();
        let (_, (first, last)) = K8S_OPENAPI.iter().find(|(release, _)| *release == k8s_openapi).unwrap();
        format!("| {major} | {} | 1.{first} to 1.{last} |", k8s_openapi.compatible())
    };
    majors.into_iter().map(row).collect::<Vec<_>>().join("\n")
}
