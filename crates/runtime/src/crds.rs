//! The CustomResourceDefinitions of an operator: versions merged, printed as YAML.

use std::collections::BTreeMap;
use std::io::{self, Write};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::Version;
use kube::core::crd::merge_crds;

/// Merges definitions with one version each, as `crd()` returns them, into one definition per kind, sorted by name.
///
/// The storage version of a kind is the least mature (`v1alpha1`, then `v1beta1`, `v1`, `v2`) without `#[kube(storage =
/// false)]`, so adding a more mature version changes nothing for stored objects.
///
/// # Panics
///
/// If all versions of a kind have `storage = false`, or if its versions differ in scope or names.
pub fn merge(versions: Vec<CustomResourceDefinition>) -> Vec<CustomResourceDefinition> {
    let mut kinds = BTreeMap::<_, Vec<_>>::new();
    for crd in versions {
        kinds.entry(crd.metadata.name.clone()).or_default().push(crd);
    }
    kinds.into_values().map(merge_kind).collect()
}

fn merge_kind(mut versions: Vec<CustomResourceDefinition>) -> CustomResourceDefinition {
    versions.sort_by_cached_key(|crd| Version::parse(&crd.spec.versions[0].name).priority());
    let stored = versions
        .iter()
        .map(|crd| &crd.spec.versions[0])
        .find(|version| version.storage)
        .expect("a version of each kind has no `storage = false`")
        .name
        .clone();
    merge_crds(versions, &stored).expect("the versions of a kind agree on its scope and names")
}

/// Prints definitions as YAML documents on standard output.
///
/// # Errors
///
/// If a definition cannot be rendered, or standard output is closed.
pub fn print(crds: &[CustomResourceDefinition]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for crd in crds {
        let text = serde_saphyr::to_string(crd).map_err(io::Error::other)?;
        write!(out, "---\n{text}")?;
    }
    Ok(())
}
