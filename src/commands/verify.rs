//! `opctl manifests --verify`: compares the CRDs that are derived from the source with those of the compiled types.

use std::collections::BTreeMap;

use serde_json::Value;

use super::engine::{self, Both, Choice, Compiled, Kind, kind_of};
use super::manifests::{ManifestOptions, located};
use super::{Console, Outcome, counted};
use crate::drift::short;
use crate::error::UserError;
use opctl_model::diagnostic::{Diagnostic, Severity};
use opctl_model::project::Tree;
use opctl_model::{CrdLocation, Step};
use opctl_schema::apiserver::Finding;
use opctl_source::emit::CustomResourceDefinition;
use opctl_tools::diagnostics::OP050;

/// The maximum number of differences shown per kind.
const SHOWN: usize = 10;

/// Reports the equal kinds, the differences of the others, the kinds without a CRD from the source, and those that do not
/// compile.
pub fn run(tree: &Tree, options: &ManifestOptions, choice: &Choice, console: &Console) -> anyhow::Result<Outcome> {
    let Both { source, derived, compiled } = engine::both(tree, options, choice, console)?;
    let by_kind = |crds: &[CustomResourceDefinition]| -> BTreeMap<Kind, CustomResourceDefinition> {
        crds.iter().map(|crd| (kind_of(crd), crd.clone())).collect()
    };
    let Compiled { crds: compiled, failed, errors } = compiled;
    let (ours, theirs) = (by_kind(&derived), by_kind(&compiled));
    if ours.is_empty() && theirs.is_empty() && errors.is_empty() {
        return Err(UserError::new("no kind found in the source")
            .help("give the folder of the crate with `--path`, and features that add kinds with `--features`")
            .into());
    }
    let (mut equal, mut underived, mut different) = (Vec::new(), Vec::new(), Vec::new());
    let mut findings = Vec::new();
    let mut unprinted = Vec::new();
    for (kind, crd) in &theirs {
        let Some(own) = ours.get(kind) else {
            underived.push(kind.1.as_str());
            continue;
        };
        let found = differences(own, crd);
        if found.is_empty() { &mut equal } else { &mut different }.push(kind.1.as_str());
        findings.extend(found.into_iter().map(|found| (own, found)));
    }
    for kind in ours.keys().filter(|kind| !theirs.contains_key(*kind) && !failed.contains(*kind)) {
        different.push(kind.1.as_str());
        let message = format!("opctl derives a CRD for `{}` of `{}`, and the compiled types have none", kind.1, kind.0);
        unprinted.push(OP050.error(message));
    }
    let diagnostics: Vec<Diagnostic> = located(&source, findings)
        .into_iter()
        .map(|(_, diagnostic)| diagnostic)
        .chain(unprinted)
        .chain(errors)
        .collect();
    console.diagnose(&diagnostics);
    let list = |kinds: &[&str]| format!("`{}`", kinds.join("`, `"));
    let failed: Vec<&str> = failed.iter().map(|kind| kind.1.as_str()).collect();
    for (what, kinds) in [
        ("equal", &equal),
        ("different", &different),
        ("only from the compiled types", &underived),
        ("not compared, because their code does not compile", &failed),
    ] {
        if !kinds.is_empty() {
            console.print(&format!("{what}: {}\n", list(kinds)));
        }
    }
    console.info(&format!(
        "compared the CRDs of {}: {} equal, {} different, {} that the source does not determine",
        counted(equal.len() + different.len() + underived.len(), "kind"),
        equal.len(),
        different.len(),
        underived.len(),
    ));
    Ok(if diagnostics.iter().any(Diagnostic::is_error) { Outcome::Problems } else { Outcome::Done })
}

fn differences(source: &CustomResourceDefinition, compiled: &CustomResourceDefinition) -> Vec<Finding> {
    let [one, other] = [source, compiled].map(|crd| serde_json::to_value(crd).expect("a CRD is JSON"));
    let mut paths = Vec::new();
    differ(Some(&one), Some(&other), &mut Vec::new(), &mut paths);
    let more = paths.len().saturating_sub(SHOWN);
    let kind = &source.spec.names.kind;
    let mut findings: Vec<Finding> = paths
        .into_iter()
        .take(SHOWN)
        .map(|Difference { path, source: one, compiled: other }| {
            let (version, location) = location(source, &path);
            let message =
                format!("`{kind}`: {} is {one} in the source, and {other} in the compiled types", shown(&path));
            Finding { severity: Severity::Error, code: OP050, message, version, location, help: Vec::new() }
        })
        .collect();
    if let Some(last) = findings.last_mut().filter(|_| more > 0) {
        last.help.push(format!("and {} in `{kind}`", counted(more, "more difference")));
    }
    findings
}

/// Two differing values as text, and their path in the CRD.
struct Difference {
    path: Vec<String>,
    source: String,
    compiled: String,
}

fn differ(source: Option<&Value>, compiled: Option<&Value>, path: &mut Vec<String>, found: &mut Vec<Difference>) {
    let below: Vec<(String, Option<&Value>, Option<&Value>)> = match (source, compiled) {
        _ if source == compiled => return,
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            keys.map(|key| (key.clone(), one.get(key), other.get(key))).collect()
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .enumerate()
            .map(|(at, (one, other))| (at.to_string(), Some(one), Some(other)))
            .collect(),
        _ => {
            let [source, compiled] = [source, compiled].map(|value| value.map_or("missing".into(), short));
            found.push(Difference { path: path.clone(), source, compiled });
            return;
        }
    };
    for (key, one, other) in below {
        path.push(key);
        differ(one, other, path, found);
        path.pop();
    }
}

/// Formats a JSON path: `.spec.versions[0].name`.
fn shown(path: &[String]) -> String {
    let step = |key: &String| match key.parse::<usize>() {
        Ok(index) => format!("[{index}]"),
        Err(_) => format!(".{key}"),
    };
    format!("`{}`", path.iter().map(step).collect::<String>())
}

/// The version that a path belongs to, and the location in its schema.
fn location(crd: &CustomResourceDefinition, path: &[String]) -> (Option<String>, CrdLocation) {
    let [spec, versions, index, rest @ ..] = path else { return (None, CrdLocation::Kind) };
    if (spec.as_str(), versions.as_str()) != ("spec", "versions") {
        return (None, CrdLocation::Kind);
    }
    let version = index.parse::<usize>().ok().and_then(|index| crd.spec.versions.get(index));
    let version = version.map(|version| version.name.clone());
    let [schema, root, keys @ ..] = rest else { return (version, CrdLocation::Kind) };
    if (schema.as_str(), root.as_str()) != ("schema", "openAPIV3Schema") {
        return (version, CrdLocation::Kind);
    }
    let (mut steps, mut keys) = (Vec::new(), keys);
    loop {
        let (step, others) = match keys {
            [key, name, others @ ..] if key == "properties" => (Step::Property(name.clone()), others),
            [key, others @ ..] if key == "items" => (Step::Items, others),
            [key, others @ ..] if key == "additionalProperties" => (Step::Values, others),
            _ => return (version, CrdLocation::Schema(steps)),
        };
        steps.push(step);
        keys = others;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(field: &Value) -> CustomResourceDefinition {
        let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"items": {"properties": {"size": field}}}}}});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema});
        let names = json!({"kind": "A", "plural": "as"});
        let spec = json!({"group": "b.c", "scope": "Cluster", "names": names, "versions": [version]});
        serde_json::from_value(json!({"metadata": {"name": "as.b.c"}, "spec": spec})).unwrap()
    }

    #[test]
    fn differences_have_a_path_and_a_place_in_the_schema() {
        let found = differences(&crd(&json!({"format": "int32", "minimum": 1.0})), &crd(&json!({"format": "int64"})));
        let path = ".spec.versions[0].schema.openAPIV3Schema.properties.spec.items.properties.size";
        assert_eq!(
            found.iter().map(|it| it.message.as_str()).collect::<Vec<_>>(),
            [
                format!("`A`: `{path}.format` is `\"int32\"` in the source, and `\"int64\"` in the compiled types"),
                format!("`A`: `{path}.minimum` is `1.0` in the source, and missing in the compiled types"),
            ]
        );
        let steps = vec![Step::Property("spec".into()), Step::Items, Step::Property("size".into())];
        assert!(found.iter().all(|it| it.location == CrdLocation::Schema(steps.clone())));
        assert!(found.iter().all(|it| it.version.as_deref() == Some("v1")));
        assert!(differences(&crd(&json!({})), &crd(&json!({}))).is_empty());
    }
}
