//! Webhooks → their configurations, conversions → `spec.conversion` of CRDs, and the certificate authority in both.
//!
//! The configurations are controller-gen's, byte for byte; the rest is left to kustomize there.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};

use super::rbac::SYSTEM;
use super::{HEADER, Manifest, kustomization::kustomization};
use crate::markers::diagnostics::{OP122, OP130, OP131};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::yaml;
use opctl_model::{Admission, Authority, AuthorityFrom, Operator, Webhook};

/// `webhook/manifests.yaml` and its kustomizations, if there is a webhook. The kustomization is also generated if
/// there is only a conversion, which is in the CRDs: a file that lists the folder is then independent of the
/// webhooks.
pub fn webhooks(operator: &Operator) -> Result<Vec<Manifest>, Vec<Diagnostic>> {
    let problems = [twice(operator), idle(operator)].concat();
    if !problems.is_empty() {
        return Err(problems);
    }
    let configurations: Vec<Value> = [Admission::Mutating, Admission::Validating]
        .into_iter()
        .filter_map(|kind| configuration(kind, operator))
        .collect();
    let mut manifests = Vec::new();
    if !configurations.is_empty() {
        let text = yaml::documents(HEADER, &configurations);
        manifests.push(Manifest { path: "webhook/manifests.yaml".into(), text });
    }
    if !manifests.is_empty() || !operator.conversions.is_empty() {
        manifests.insert(0, kustomization("webhook", &manifests));
    }
    if let Some(Authority { from: AuthorityFrom::Certificate(namespace, name), .. }) = &operator.authority
        && namespace == SYSTEM
    {
        manifests.extend(certificate_names(name, operator));
    }
    Ok(manifests)
}

/// Sets the conversions in the CRDs of their kinds.
pub fn convert(crds: &mut [CustomResourceDefinition], operator: &Operator) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut places: BTreeMap<(&str, &str), &Span> = BTreeMap::new();
    for conversion in &operator.conversions {
        let (group, kind) = (&conversion.group, &conversion.kind);
        let span = &conversion.definition.span;
        if let Some(other) = places.insert((group, kind), span) {
            let message = format!("two conversions of `{kind}`; the other is at {other}");
            problems.push(OP130.error(message).at(span.clone(), "").help("remove one of them"));
            continue;
        }
        let Some(crd) = crds.iter_mut().find(|crd| crd.spec.group == *group && crd.spec.names.kind == *kind) else {
            let message = format!("no kind `{kind}` in the group `{group}` is declared here");
            problems.push(OP130.error(message).at(span.clone(), "").help("use the group and kind of `#[kube(…)]`"));
            continue;
        };
        if crd.spec.versions.len() == 1 {
            problems.push(
                OP130
                    .warning(format!("`{kind}` has one version, so nothing is ever converted"))
                    .at(span.clone(), "")
                    .help("remove the marker until there is a second version"),
            );
        }
        let mut definition = conversion.definition.value.clone();
        if let Some(authority) = &operator.authority {
            trust(&mut definition["webhook"]["clientConfig"], authority);
            if let Some((key, value)) = annotation(authority) {
                crd.metadata.annotations.get_or_insert_default().insert(key.into(), value);
            }
        }
        let conversion = serde_json::from_value(definition).expect("the marker makes what a CRD takes");
        crd.spec.conversion = Some(conversion);
    }
    problems
}

/// `true` if a Service converts the objects of the kind.
pub fn converts_by_service(crd: &CustomResourceDefinition) -> bool {
    let webhook = crd.spec.conversion.as_ref().and_then(|conversion| conversion.webhook.as_ref());
    webhook.and_then(|webhook| webhook.client_config.as_ref()).is_some_and(|client| client.service.is_some())
}

/// The configuration with all webhooks of one type, sorted by name.
fn configuration(admission: Admission, operator: &Operator) -> Option<Value> {
    let mut webhooks: Vec<Value> =
        of_kind(admission, operator).map(|webhook| webhook.definition.value.clone()).collect();
    if webhooks.is_empty() {
        return None;
    }
    webhooks.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    let mut metadata = json!({ "name": configuration_name(admission, operator) });
    if let Some(authority) = &operator.authority {
        webhooks.iter_mut().for_each(|webhook| trust(&mut webhook["clientConfig"], authority));
        if let Some((key, value)) = annotation(authority) {
            metadata["annotations"] = json!({ key: value });
        }
    }
    Some(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind(admission),
        "metadata": metadata,
        "webhooks": webhooks,
    }))
}

fn of_kind(admission: Admission, operator: &Operator) -> impl Iterator<Item = &Webhook> {
    operator.webhooks.iter().filter(move |webhook| webhook.admission == admission)
}

fn kind(admission: Admission) -> &'static str {
    match admission {
        Admission::Mutating => "MutatingWebhookConfiguration",
        Admission::Validating => "ValidatingWebhookConfiguration",
    }
}

fn configuration_name(admission: Admission, operator: &Operator) -> &str {
    let mut configurations = operator.webhook_configurations.iter();
    let named = configurations.find(|configuration| configuration.admission == admission);
    named.and_then(|configuration| configuration.name.as_deref()).unwrap_or(match admission {
        Admission::Mutating => "mutating-webhook-configuration",
        Admission::Validating => "validating-webhook-configuration",
    })
}

/// Reports two webhooks with one name, which the API server refuses in a configuration, and two names for one
/// configuration.
fn twice(operator: &Operator) -> Vec<Diagnostic> {
    let name = |webhook: &Webhook| webhook.definition.value["name"].as_str().unwrap_or_default().to_owned();
    let webhooks = operator.webhooks.iter().map(|webhook| {
        let said = format!("a {} webhook `{}`", word(webhook.admission), name(webhook));
        (said, webhook.definition.span_of("name"))
    });
    let configurations = operator.webhook_configurations.iter().map(|configuration| {
        (format!("a name for the {} webhook configuration", word(configuration.admission)), &configuration.span)
    });
    let mut places: BTreeMap<String, &Span> = BTreeMap::new();
    let mut problems = Vec::new();
    for (said, span) in webhooks.chain(configurations) {
        if let Some(other) = places.get(&said) {
            let message = format!("there is {said} already; the other is at {other}");
            problems
                .push(OP122.error(message).at((*span).clone(), "").help("give one of them another name, or remove it"));
        } else {
            places.insert(said, span);
        }
    }
    problems
}

fn word(admission: Admission) -> &'static str {
    match admission {
        Admission::Mutating => "mutating",
        Admission::Validating => "validating",
    }
}

/// Reports markers for webhooks that do not exist.
fn idle(operator: &Operator) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for configuration in &operator.webhook_configurations {
        if of_kind(configuration.admission, operator).next().is_none() {
            let message = format!("there is no {} webhook to configure", word(configuration.admission));
            problems.push(
                OP122
                    .error(message)
                    .at(configuration.span.clone(), "has no effect")
                    .help("remove the marker, or set another `mutating`"),
            );
        }
    }
    if let Some(authority) = &operator.authority
        && operator.webhooks.is_empty()
        && operator.conversions.is_empty()
    {
        problems.push(
            OP131
                .error("there is no webhook whose certificate could be signed")
                .at(authority.span.clone(), "has no effect")
                .help("remove the marker, or add `+kubebuilder:webhook` or `+opctl:conversion`"),
        );
    }
    problems
}

/// The annotation that makes cert-manager inject the CA.
fn annotation(authority: &Authority) -> Option<(&'static str, String)> {
    match &authority.from {
        AuthorityFrom::Certificate(namespace, name) => Some((FROM_CERTIFICATE, format!("{namespace}/{name}"))),
        AuthorityFrom::Secret(namespace, name) => {
            Some(("cert-manager.io/inject-ca-from-secret", format!("{namespace}/{name}")))
        }
        AuthorityFrom::File { .. } => None,
    }
}

const FROM_CERTIFICATE: &str = "cert-manager.io/inject-ca-from";

/// Sets the CA, unless a patch has set it.
fn trust(client: &mut Value, authority: &Authority) {
    if let AuthorityFrom::File { pem, .. } = &authority.from
        && client["caBundle"].is_null()
    {
        client["caBundle"] = json!(ByteString(pem.clone().into_bytes()));
    }
}

/// Replaces the name and namespace of the Certificate in the annotation. kustomize renames the Certificate but knows
/// nothing of an annotation with both parts. This folder is one of the `transformers`, so it runs after all renames.
fn certificate_names(certificate: &str, operator: &Operator) -> [Manifest; 2] {
    let annotated = operator.webhooks.iter().map(|webhook| kind(webhook.admission));
    let annotated: BTreeSet<&str> =
        annotated.chain(operator.conversions.iter().map(|_| "CustomResourceDefinition")).collect();
    // Not every CRD has a conversion, and a target without the field is an error.
    let select = |kind: &&str| json!({ "kind": kind, "annotationSelector": FROM_CERTIFICATE });
    let replacement = |index: usize, field: &str| {
        let target = |kind| {
            json!({
                "select": select(kind),
                "fieldPaths": [format!("metadata.annotations.[{FROM_CERTIFICATE}]")],
                "options": { "delimiter": "/", "index": index },
            })
        };
        json!({
            "source": { "group": "cert-manager.io", "kind": "Certificate", "name": certificate, "fieldPath": field },
            "targets": annotated.iter().map(target).collect::<Vec<_>>(),
        })
    };
    let transformer = json!({
        "apiVersion": "builtin",
        "kind": "ReplacementTransformer",
        "metadata": { "name": "certificate-names" },
        "replacements": [replacement(0, "metadata.namespace"), replacement(1, "metadata.name")],
    });
    let file =
        Manifest { path: "webhook/certificate/names.yaml".into(), text: yaml::documents(HEADER, &[transformer]) };
    [kustomization("webhook/certificate", std::slice::from_ref(&file)), file]
}
