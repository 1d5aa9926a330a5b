//! The examples in the annotations of the ClusterServiceVersion. Source: `validateExamplesAnnotations` of
//! operator-framework/api.

use std::collections::BTreeSet;

use super::super::findings::Findings;
use super::super::folder::Bundle;
use super::{head, place, text};
use opctl_kustomize::yaml::{self, Entry, Node, Value};
use opctl_model::diagnostic::Span;

/// Group, version and kind.
type Api = (String, String, String);

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    let metadata = place(&bundle.csv().node, &["metadata", "annotations"]);
    if bundle.csv().node.at(&["metadata", "annotations"]).is_none_or(|annotations| annotations.entries().is_empty()) {
        findings.warning("csv-annotations", &metadata, "the ClusterServiceVersion has no annotations");
        return;
    }
    let Some(annotation) = annotation(bundle) else {
        findings
            .warning("csv-examples", &metadata, "examples of the operator's objects are missing")
            .help("add the annotation `alm-examples`; `opctl generate bundle` fills it from config/samples");
        return;
    };
    if let Some(other) =
        bundle.csv_annotation("olm.examples").filter(|_| bundle.csv_annotation("alm-examples").is_some())
    {
        findings.warning(
            "csv-examples",
            &head(other),
            "both `alm-examples` and `olm.examples` are present; only the first is used",
        );
    }
    let examples = match parse(annotation) {
        Ok(examples) => examples,
        Err(problem) => {
            findings.error(
                "csv-examples-json",
                &first_line(&annotation.span),
                format!("the examples cannot be read: {problem}"),
            );
            return;
        }
    };
    let mut provided: Vec<(Api, Span)> = Vec::new();
    for owned in bundle.owned() {
        let name = text(owned, "name");
        let Some((_, group)) = name.split_once('.') else {
            let message = format!("the name of an owned CRD is `<plural>.<group>`, not `{name}`");
            findings.error("csv-owned-name", &place(owned, &["name"]), message);
            continue;
        };
        provided
            .push(((group.into(), text(owned, "version").into(), text(owned, "kind").into()), place(owned, &["kind"])));
    }
    for owned in bundle.spec().items_at(&["apiservicedefinitions", "owned"]) {
        let [group, version, kind] = ["group", "version", "kind"].map(|key| text(owned, key).to_owned());
        provided.push(((group, version, kind), place(owned, &["kind"])));
    }
    let mut shown = BTreeSet::new();
    for example in &examples {
        let api = api(example);
        if !provided.iter().any(|(known, _)| *known == api) {
            let message = format!("an example is of {}, which the bundle does not provide", name(&api));
            findings.error("csv-examples-provided", &place(example, &["kind"]), message);
        }
        shown.insert(api);
    }
    for (api, span) in &provided {
        if !shown.contains(api) {
            let message = format!("no example of {}", name(api));
            findings.warning("csv-examples-complete", span, message).help("add one to the annotation `alm-examples`");
        }
    }
}

/// The effective annotation with examples.
fn annotation(bundle: &Bundle) -> Option<&Node> {
    bundle.csv_annotation("alm-examples").or_else(|| bundle.csv_annotation("olm.examples"))
}

/// The examples, with positions in the file. Empty if there are none, or if they are invalid.
pub fn examples(bundle: &Bundle) -> Vec<Node> {
    annotation(bundle).and_then(|annotation| parse(annotation).ok()).unwrap_or_default()
}

/// The error and position of invalid examples. Missing examples are checked by another rule.
pub fn problem(bundle: &Bundle) -> Option<(String, Span)> {
    let annotation = annotation(bundle)?;
    Some((parse(annotation).err()?, first_line(&annotation.span)))
}

fn parse(annotation: &Node) -> Result<Vec<Node>, String> {
    let text = annotation.as_text().unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let json: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let serde_json::Value::Array(items) = &json else { return Err("they are not an array".into()) };
    if let Some(other) = items.iter().find(|item| !item.is_object()) {
        return Err(format!("`{other}` is not an object"));
    }
    // JSON is YAML, except for a few characters.
    let nodes = yaml::documents_in(text, &annotation.span).unwrap_or_default();
    match nodes.first() {
        Some(node) if node.json() == json => Ok(node.items().to_vec()),
        _ => Ok(items.iter().map(|item| node(item, &annotation.span)).collect()),
    }
}

/// A value in which all parts have the same position.
fn node(json: &serde_json::Value, span: &Span) -> Node {
    let value = match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(bool) => Value::Bool(*bool),
        serde_json::Value::Number(number) => Value::Number(number.clone()),
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(|item| node(item, span)).collect()),
        serde_json::Value::Object(map) => {
            let entry = |(key, value): (&String, _)| Entry {
                key: key.clone(),
                key_span: span.clone(),
                value: node(value, span),
            };
            Value::Map(map.iter().map(entry).collect())
        }
    };
    Node { value, span: first_line(span) }
}

/// The first line of a span, since examples may fill the screen.
fn first_line(span: &Span) -> Span {
    let text = span.file.text.get(span.range.clone()).unwrap_or_default();
    let length = text.find('\n').unwrap_or(text.len());
    Span { file: span.file.clone(), range: span.range.start..span.range.start + length }
}

fn api(object: &Node) -> Api {
    let version = text(object, "apiVersion");
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    (group.to_owned(), version.to_owned(), text(object, "kind").to_owned())
}

fn name((group, version, kind): &Api) -> String {
    let version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
    format!("`{kind}` of `{version}`")
}
