//! The CRDs of a bundle, and the owned CRDs in the ClusterServiceVersion. Source: `bundle.go` and `crd.go` of
//! operator-framework/api; [`opctl_schema::apiserver`] has the API server's rules.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::super::findings::Findings;
use super::super::folder::{Bundle, Manifest};
use super::{head, place, text};
use opctl_kustomize::yaml::{Node, Value};
use opctl_model::diagnostic::{Severity, Span};
use opctl_model::{CrdLocation, Step};
use opctl_schema::apiserver::diagnostics::{OP306, OP330};
use opctl_schema::apiserver::{self, CustomResourceDefinition, webhooks};

pub const V1: &str = "apiextensions.k8s.io/v1";
pub const V1BETA1: &str = "apiextensions.k8s.io/v1beta1";

/// Group, version and kind of a CRD or an owned entry, with its position.
type Key = ((String, String, String), Span);

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    let mut keys: Vec<Key> = Vec::new();
    for crd in bundle.crds() {
        match crd.api_version() {
            V1 | V1BETA1 => {}
            other => {
                let message = format!("a CRD has `apiVersion: {V1}`, not `{other}`");
                findings.error("crd-api-version", &place(&crd.node, &["apiVersion"]), message);
                continue;
            }
        }
        for key in defined(crd) {
            if keys.iter().any(|(known, _)| *known == key.0) {
                let (_, version, kind) = &key.0;
                findings.error(
                    "crd-duplicate",
                    &key.1,
                    format!("another CRD of the bundle defines `{kind}` in version `{version}`, too"),
                );
            }
            keys.push(key);
        }
    }
    compare(bundle, &keys, findings);
    for crd in bundle.crds().filter(|crd| [V1, V1BETA1].contains(&crd.api_version())) {
        one(crd, findings);
    }
}

fn defined(crd: &Manifest) -> Vec<Key> {
    let node = &crd.node;
    let group = node.text_at(&["spec", "group"]).unwrap_or_default();
    let kind = node.text_at(&["spec", "names", "kind"]).unwrap_or_default();
    let versions = node.items_at(&["spec", "versions"]);
    let key = |version: &str, span: Span| ((group.to_owned(), version.to_owned(), kind.to_owned()), span);
    match node.text_at(&["spec", "version"]) {
        Some(version) if versions.is_empty() => vec![key(version, place(node, &["spec", "version"]))],
        _ => versions.iter().map(|version| key(text(version, "name"), place(version, &["name"]))).collect(),
    }
}

/// Compares the CRDs with the owned APIs.
fn compare(bundle: &Bundle, keys: &[Key], findings: &mut Findings) {
    let (mut owned_kinds, mut listed) = (BTreeSet::new(), BTreeSet::new());
    for owned in bundle.owned() {
        let name = text(owned, "name");
        let group = name.split_once('.').map_or(name, |(_, group)| group);
        let (version, kind) = (text(owned, "version"), text(owned, "kind"));
        let key = (group.to_owned(), version.to_owned(), kind.to_owned());
        if !listed.insert(key.clone()) {
            let message = format!("`{kind}` of `{group}/{version}` is listed as owned twice");
            findings.error("crd-missing", &place(owned, &["name"]), message).help("remove one of the entries");
            continue;
        }
        if keys.iter().any(|(known, _)| *known == key) {
            owned_kinds.insert((group, kind));
        } else {
            let message =
                format!("no CRD of the bundle defines `{kind}` of `{group}/{version}`, which the operator owns");
            findings
                .error("crd-missing", &place(owned, &["name"]), message)
                .help("add the CRD to the manifests, or remove the entry");
        }
    }
    for crd in bundle.crds().filter(|crd| [V1, V1BETA1].contains(&crd.api_version())) {
        let not_owned = defined(crd)
            .into_iter()
            .find(|((group, _, kind), _)| !owned_kinds.contains(&(group.as_str(), kind.as_str())));
        if let Some(((group, version, kind), span)) = not_owned {
            let message = format!("the ClusterServiceVersion does not own `{kind}` of `{group}/{version}`");
            findings
                .error("crd-not-owned", &span, message)
                .help("add an entry to `spec.customresourcedefinitions.owned`, or remove the CRD");
        }
    }
}

/// Checks a CRD by the API server's rules.
fn one(crd: &Manifest, findings: &mut Findings) {
    let node = &crd.node;
    let expected = format!(
        "{}.{}",
        node.text_at(&["spec", "names", "plural"]).unwrap_or_default(),
        node.text_at(&["spec", "group"]).unwrap_or_default()
    );
    if crd.name() != expected {
        let message = format!("the name of this CRD must be `{expected}`, from its plural and group");
        findings.error("crd-invalid", &place(node, &["metadata", "name"]), message);
    }
    if !["Namespaced", "Cluster"].contains(&node.text_at(&["spec", "scope"]).unwrap_or_default()) {
        findings.error(
            "crd-invalid",
            &place(node, &["spec", "scope"]),
            "the scope of a CRD is `Namespaced` or `Cluster`",
        );
    }
    if crd.api_version() == V1BETA1 {
        // The default in this version is `true`.
        if node.at(&["spec", "preserveUnknownFields"]).is_none_or(|value| value.value != Value::Bool(false)) {
            let span = place(node, &["spec", "preserveUnknownFields"]);
            findings
                .error(
                    "crd-invalid",
                    &span,
                    "an API server refuses CRDs that keep unknown fields, as this version of CRDs does by default",
                )
                .help("migrate to `apiextensions.k8s.io/v1`, or set `preserveUnknownFields: false`");
        }
        if let Ok(parsed) = serde_json::from_value(as_v1(node.json())) {
            report(node, &parsed, |finding| !is_of_schema(finding), findings);
        }
        return;
    }
    let mut json = node.json();
    // The API server drops the status of a new CRD.
    json.as_object_mut().map(|crd| crd.remove("status"));
    let parsed: CustomResourceDefinition = match serde_json::from_value(json.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            findings.error("crd-decode", &head(node), format!("this is not a CRD: {error}"));
            return;
        }
    };
    // The Rust type accepts any value.
    for version in node.items_at(&["spec", "versions"]) {
        let status = version.at(&["subresources", "status"]);
        if let Some(status) = status.filter(|status| !matches!(status.value, Value::Map(_) | Value::Null)) {
            findings.error("crd-decode", &status.span, "this is not a CRD: `status` is `{}`");
        }
    }
    if node.at(&["spec", "preserveUnknownFields"]).is_some_and(Node::is_true) {
        let span = place(node, &["spec", "preserveUnknownFields"]);
        findings
            .error("crd-invalid", &span, "an API server refuses `preserveUnknownFields: true` in this version of CRDs")
            .help("use `x-kubernetes-preserve-unknown-fields` in the schema");
    }
    match json["spec"]["conversion"]["strategy"].as_str() {
        // Without `clientConfig`, OLM fills it in.
        Some("Webhook") if json["spec"]["conversion"]["webhook"]["clientConfig"].is_object() => {
            for (path, diagnostic) in webhooks::conversion(&json["spec"]["conversion"]) {
                let span = deep(node, &format!("spec.conversion.{path}"));
                findings.error("crd-invalid", &span, diagnostic.message);
            }
        }
        Some("Webhook" | "None") | None => {}
        Some(other) => {
            let span = place(node, &["spec", "conversion", "strategy"]);
            findings.error("crd-invalid", &span, format!("unknown conversion strategy `{other}`"));
        }
    }
    report(node, &parsed, |_| true, findings);
}

fn is_of_schema(finding: &apiserver::Finding) -> bool {
    matches!(finding.location, CrdLocation::Schema(_)) || finding.code == OP306
}

/// Reports the API server's findings about the CRD at `node`.
fn report(
    node: &Node,
    crd: &CustomResourceDefinition,
    is_shown: impl Fn(&apiserver::Finding) -> bool,
    findings: &mut Findings,
) {
    // OP330 is a limit of kubectl, which does not apply to OLM.
    for finding in apiserver::check(crd).into_iter().filter(|finding| finding.code != OP330 && is_shown(finding)) {
        let rule = if is_of_schema(&finding) { "crd-schema" } else { "crd-invalid" };
        let span = locate(node, finding.version.as_deref(), &finding.location);
        findings.push(finding.severity, rule, Some(&span), &finding.message);
        for help in finding.help.iter().filter(|help| !help.contains("#[")) {
            findings.help(help);
        }
        if finding.severity == Severity::Error {
            findings.help(format!("`opctl explain {}` has details", finding.code));
        }
    }
}

/// Converts names and versions of a `v1beta1` CRD, without schemas.
fn as_v1(mut crd: Json) -> Json {
    crd["apiVersion"] = V1.into();
    if let Some(spec) = crd["spec"].as_object_mut() {
        if !spec.get("versions").is_some_and(Json::is_array) {
            let version = json!({"name": spec.get("version"), "served": true, "storage": true});
            spec.insert("versions".into(), json!([version]));
        }
        for key in
            ["version", "validation", "additionalPrinterColumns", "conversion", "preserveUnknownFields", "subresources"]
        {
            spec.remove(key);
        }
        for version in
            spec.get_mut("versions").and_then(Json::as_array_mut).into_iter().flatten().filter_map(Json::as_object_mut)
        {
            version.retain(|key, _| {
                ["name", "served", "storage", "deprecated", "deprecationWarning"].contains(&key.as_str())
            });
        }
    }
    crd
}

/// The position of a location in the YAML of a CRD.
fn locate(crd: &Node, version: Option<&str>, location: &CrdLocation) -> Span {
    let versions = crd.items_at(&["spec", "versions"]);
    let of_version = version.and_then(|name| versions.iter().find(|version| text(version, "name") == name));
    let item = |path: &[&str], nth: usize| {
        crd.items_at(path).get(nth).map_or_else(|| place(crd, path), |item| item.span.clone())
    };
    let key = |path: &[&str], nth: usize| {
        crd.at(path)
            .and_then(|map| map.entries().get(nth))
            .map_or_else(|| place(crd, path), |entry| entry.key_span.clone())
    };
    match location {
        CrdLocation::Kind => place(crd, &["spec", "names", "kind"]),
        CrdLocation::Argument(name, nth) => match (*name, of_version) {
            ("plural" | "singular" | "kind", _) => place(crd, &["spec", "names", name]),
            ("shortname", _) => item(&["spec", "names", "shortNames"], *nth),
            ("category", _) => item(&["spec", "names", "categories"], *nth),
            ("group", _) => place(crd, &["spec", "group"]),
            ("label", _) => key(&["metadata", "labels"], *nth),
            ("annotation", _) => key(&["metadata", "annotations"], *nth),
            (_, Some(version)) => place(version, &["name"]),
            _ => head(crd),
        },
        CrdLocation::Schema(steps) => {
            let Some(version) = of_version else { return head(crd) };
            let mut path = vec!["schema", "openAPIV3Schema"];
            for step in steps {
                match step {
                    Step::Property(name) => path.extend(["properties", name]),
                    Step::Items => path.push("items"),
                    Step::Values => path.push("additionalProperties"),
                }
            }
            place(version, &path)
        }
    }
}

/// The position of `a.b[0].c`, or of the nearest parent.
pub fn deep(node: &Node, path: &str) -> Span {
    let (mut at, mut span) = (node, head(node));
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        let next = match step.strip_suffix(']').map(str::parse::<usize>) {
            Some(Ok(index)) => at.items().get(index).map(|item| (item, head(item))),
            _ => at.get(step).map(|value| (value, place(at, &[step]))),
        };
        let Some((value, value_span)) = next else { break };
        (at, span) = (value, value_span);
    }
    span
}
