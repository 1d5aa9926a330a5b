//! How large a CRD may be: for `kubectl apply`, which keeps a copy in an annotation, and for etcd.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

use super::Finding;
use crate::model::Place;

/// Bytes of all annotations together. Source: `TotalAnnotationSizeLimitB` of apimachinery.
const OF_ANNOTATIONS: usize = 256 << 10;
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Bytes of a request to etcd, by its default.
const OF_ETCD: usize = 1536 << 10;

pub fn check(crd: &CustomResourceDefinition) -> Option<Finding> {
    let size = serde_json::to_value(crd).map(|value| written(&value)).expect("a CRD is JSON");
    let annotations = crd.metadata.annotations.iter().flatten();
    let others: usize = annotations.map(|(key, value)| key.len() + value.len()).sum();
    // kubectl writes `"annotations":{},` where there are none, and ends with a line break.
    let applied = size + 1 + if others == 0 { 17 } else { 0 };
    if size > OF_ETCD {
        let message = format!("the CRD has {size} bytes as JSON, more than the 1.5 MiB that etcd takes");
        return Some(smaller(Finding::error("OP331", Place::Kind, message)));
    }
    if LAST_APPLIED.len() + applied + others > OF_ANNOTATIONS {
        let message = format!(
            "the CRD has {size} bytes as JSON, too many for `kubectl apply`, which keeps a copy in an annotation"
        );
        let finding = Finding::warning("OP330", Place::Kind, message);
        return Some(smaller(finding.help("apply it with `kubectl apply --server-side`")));
    }
    None
}

fn smaller(finding: Finding) -> Finding {
    finding.help("make it smaller with `opctl manifests --no-foreign-descriptions` or `--max-description N`")
}

/// The length of the JSON that kubectl writes, which is Go's: compact, with `<`, `>` and `&` escaped.
fn written(value: &Value) -> usize {
    let string = |text: &str| {
        let escaped: usize = text
            .chars()
            .map(|c| match c {
                '<' | '>' | '&' => 5,
                '\u{2028}' | '\u{2029}' => 3,
                _ => 0,
            })
            .sum();
        serde_json::to_string(text).map_or(0, |json| json.len()) + escaped
    };
    match value {
        Value::String(text) => string(text),
        Value::Array(list) => 1 + list.len().max(1) + list.iter().map(written).sum::<usize>(),
        Value::Object(map) => {
            1 + map.len().max(1) + map.iter().map(|(key, value)| string(key) + 1 + written(value)).sum::<usize>()
        }
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").unwrap_or(&text).len()
        }
        value => value.to_string().len(),
    }
}
