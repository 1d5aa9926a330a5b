//! Objects of the cases of `tests/undecodable`.

use opctl_schema::apiserver::undecodable;
use opctl_source::emit::CustomResourceDefinition;
use serde_json::Value;

use crate::undecodable_cases::read;

/// The CRD of a case, and for each finding an object that the API server admits and the type cannot decode.
pub fn objects(name: &str, text: &str) -> (CustomResourceDefinition, Vec<(String, Value)>) {
    let (source, crd) = read(name, text);
    let found = undecodable(&crd, "v1", &source.operator.apis[0].reads).found;
    (crd, found.into_iter().filter_map(|found| Some((found.path, found.object?))).collect())
}
