//! Names, the group, labels and annotations, and the metadata of versions.
//!
//! Source: `ValidateCustomResourceDefinition`, `ValidateCustomResourceDefinitionNames`, `validateAPIApproval` and
//! `validateDeprecationWarning` of `pkg/apis/apiextensions/validation`.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use opctl_cel::format::{is_name_part, is_qualified_name};

use super::{Finding, text};
use crate::apiserver::diagnostics::{OP301, OP302, OP303, OP304, OP305, OP307};
use opctl_model::CrdLocation;
use opctl_model::names::{is_dns_1035_label, is_dns_subdomain};

const APPROVED: &str = "api-approved.kubernetes.io";
const RULE: &str =
    "use lowercase letters, digits and `-`, start with a letter, end with a letter or digit, at most 63 characters";

pub fn check(crd: &CustomResourceDefinition) -> Vec<Finding> {
    let mut findings = Vec::new();
    let names = &crd.spec.names;
    let mut label = |what: &str, argument: &'static str, nth: usize, name: &str| {
        if !is_dns_1035_label(name) {
            let message = format!("the API server does not take the {what} `{name}`");
            findings.push(Finding::error(OP301, CrdLocation::Argument(argument, nth), message).help(RULE));
        }
    };
    label("plural", "plural", 0, &names.plural);
    // The API server sets an empty name to the default.
    if let Some(singular) = names.singular.as_ref().filter(|singular| !singular.is_empty()) {
        label("singular", "singular", 0, singular);
    }
    for (nth, name) in names.short_names.iter().flatten().enumerate() {
        label("short name", "shortname", nth, name);
    }
    for (nth, category) in names.categories.iter().flatten().enumerate() {
        label("category", "category", nth, category);
    }
    // The name of the list kind is four letters longer.
    if !is_dns_1035_label(&names.kind.to_lowercase()) || names.kind.len() > 59 {
        let message = format!("the API server does not take the kind `{}`", names.kind);
        let help = "use letters, digits and `-`, start with a letter, at most 59 characters";
        findings.push(Finding::error(OP301, CrdLocation::Argument("kind", 0), message).help(help));
    }
    // The API server sets an empty name to the default.
    if let Some(list) = names.list_kind.as_ref().filter(|list| !list.is_empty())
        && (!is_dns_1035_label(&list.to_lowercase()) || *list == names.kind)
    {
        let message = format!("the API server does not take the kind of lists `{list}`");
        findings.push(Finding::error(OP301, CrdLocation::Argument("kind", 0), message).help("use `KINDList`"));
    }
    group(crd, &mut findings);
    metadata(crd, &mut findings);
    versions(crd, &mut findings);
    findings
}

fn group(crd: &CustomResourceDefinition, findings: &mut Vec<Finding>) {
    let group = &crd.spec.group;
    let location = CrdLocation::Argument("group", 0);
    if !is_dns_subdomain(group) || !group.contains('.') {
        let message = format!("the API server does not take the group `{group}`: it is a domain with at least one dot");
        let help = "use a domain that is yours: `#[kube(group = \"cache.example.com\")]`";
        findings.push(Finding::error(OP302, location, message).help(help));
    } else if crd.spec.names.plural.len() + 1 + group.len() > 253 {
        findings.push(Finding::error(
            OP302,
            location,
            "the plural and the group have more than 252 characters together",
        ));
    } else if is_kubernetes_own(group) {
        let approval = crd.metadata.annotations.as_ref().and_then(|annotations| annotations.get(APPROVED));
        if approval.is_none_or(|approval| !approval.starts_with("unapproved") && !is_url(approval)) {
            let message =
                format!("the group `{group}` belongs to the Kubernetes project, and this kind has no approval from it");
            findings.push(
                Finding::error(OP303, location, message)
                    .help("use a group in a domain that you own")
                    .help(format!("or set where it was approved: `annotation(\"{APPROVED}\", \"https://…\")`; a value that starts with `unapproved` is accepted too")),
            );
        }
    }
}

fn is_kubernetes_own(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|own| group.strip_suffix(own).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// `true` if the text has a scheme and a host.
fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        !scheme.is_empty()
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            && rest.split(['/', '?']).next().is_some_and(|host| !host.is_empty())
            && !text.contains(char::is_whitespace)
    })
}

fn metadata(crd: &CustomResourceDefinition, findings: &mut Vec<Finding>) {
    for (nth, (key, value)) in crd.metadata.labels.iter().flatten().enumerate() {
        let location = CrdLocation::Argument("label", nth);
        if !is_qualified_name(key) {
            findings.push(wrong_key("label", key, location));
        } else if !(value.is_empty() || is_name_part(value)) {
            let message = format!("the API server does not take the value `{value}` of the label `{key}`");
            let help =
                "use letters, digits, `-`, `_` and `.`, start and end with a letter or digit, at most 63 characters";
            findings.push(Finding::error(OP307, location, message).help(help));
        }
    }
    for (nth, key) in crd.metadata.annotations.iter().flatten().map(|(key, _)| key).enumerate() {
        // Uppercase is accepted in the prefix of an annotation.
        if !is_qualified_name(&key.to_lowercase()) {
            findings.push(wrong_key("annotation", key, CrdLocation::Argument("annotation", nth)));
        }
    }
}

fn wrong_key(what: &str, key: &str, location: CrdLocation) -> Finding {
    Finding::error(OP307, location, format!("the API server does not take the {what} `{key}`"))
        .help("write `name` or `domain/name`, the name of letters, digits, `-`, `_` and `.`, at most 63 characters")
}

fn versions(crd: &CustomResourceDefinition, findings: &mut Vec<Finding>) {
    let versions = &crd.spec.versions;
    let stored: Vec<&str> =
        versions.iter().filter(|version| version.storage).map(|version| version.name.as_str()).collect();
    if stored.len() != 1 {
        let message = match stored.as_slice() {
            [] => "no version of this kind is stored".into(),
            stored => format!("several versions of this kind are stored: {}", stored.join(", ")),
        };
        findings.push(
            Finding::error(OP304, CrdLocation::Kind, message)
                .help("set `storage = false` in all versions except the storage version"),
        );
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = versions.iter().find(|version| !seen.insert(&version.name)) {
        findings.push(Finding::error(
            OP304,
            CrdLocation::Kind,
            format!("the version `{}` is declared twice", twice.name),
        ));
    }
}

pub fn of_version(version: &CustomResourceDefinitionVersion) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !is_dns_1035_label(&version.name) {
        let message = format!("the API server does not take the version `{}`", version.name);
        findings.push(
            Finding::error(OP301, CrdLocation::Argument("version", 0), message)
                .help("use a name such as `v1alpha1` or `v1`"),
        );
    }
    if let Some(warning) = &version.deprecation_warning {
        let problem = if version.deprecated != Some(true) {
            "is of a version that is not deprecated"
        } else if warning.is_empty() {
            "is empty"
        } else if warning.len() > 256 {
            "has more than 256 bytes"
        } else if text(&version.deprecation_warning).chars().any(|c| c.is_control() || c != ' ' && c.is_whitespace()) {
            "has line breaks or other characters that cannot be printed"
        } else {
            return findings;
        };
        findings.push(
            Finding::error(OP305, CrdLocation::Argument("deprecated", 0), format!("the deprecation warning {problem}"))
                .help("write one short line; `#[kube(deprecated)]` alone takes that of Kubernetes"),
        );
    }
    findings
}
