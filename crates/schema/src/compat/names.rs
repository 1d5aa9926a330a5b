//! New names that an API server rejects, because another CRD of the old release has them.

use super::diagnostics::OP335;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

use super::{Change, Impact, Victim};
use crate::apiserver::{NameConflict, refused_names};

/// The names in `new` that an API server with the old CRDs rejects.
pub fn refused(old: &[Value], new: &[CustomResourceDefinition]) -> Vec<Change> {
    let old = old.iter().filter_map(|crd| serde_json::from_value(crd.clone()).ok());
    let to_change = |(index, NameConflict { role, name }): (usize, NameConflict)| Change {
        code: OP335,
        impact: Impact::Loss,
        victims: vec![Victim::ApiServer],
        crd: new[index].metadata.name.clone().unwrap_or_default(),
        version: None,
        location: role.location(),
        path: String::new(),
        message: format!(
            "the {} `{name}` is new here, but the names in the old release include it already",
            role.words()
        ),
        why: "it does not accept the name, and the CRD gets NamesAccepted=False".into(),
        help: Some("choose another name, or remove the name in one release and use it again in the next".into()),
    };
    refused_names(&old.collect::<Vec<_>>(), new).into_iter().map(to_change).collect()
}
