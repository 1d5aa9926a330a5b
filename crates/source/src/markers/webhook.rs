//! Parses the webhook markers: webhook configurations, `spec.conversion` of CRDs, and certificate authorities.
//!
//! Rules that only the API server enforces are not checked here.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::arguments::{Arguments, Value, problem};
use super::patch;
use crate::markers::diagnostics::{OP107, OP127, OP129, OP131};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::diagnostics::OP121;
use opctl_model::names::{is_dns_label, is_dns_subdomain};
use opctl_model::{Admission, Authority, AuthorityFrom, Conversion, Stated, Webhook, WebhookConfiguration};

/// Placeholder for the operator's namespace, which kustomize replaces.
const SYSTEM: &str = "system";

/// `None` if an argument is missing.
pub fn read(arguments: &Arguments, problems: &mut Vec<Diagnostic>) -> Option<Webhook> {
    let admission = admission(arguments)?;
    let mut definition = Definition::default();
    for field in ["name", "failurePolicy", "matchPolicy", "sideEffects", "reinvocationPolicy"] {
        definition.text(field, arguments.text(field));
    }
    definition.texts("admissionReviewVersions", &arguments.texts("admissionReviewVersions"));
    if let Some(Value { it, span }) = arguments.integer("timeoutSeconds") {
        definition.set("timeoutSeconds", it.into(), span);
    }
    // The core group is `""` in manifests.
    let groups: Vec<_> = arguments
        .texts("groups")
        .into_iter()
        .map(|Value { it, span }| Value { it: if it == "core" { "" } else { it }, span })
        .collect();
    definition.set("rules", json!([{}]), arguments.marker_span());
    definition.texts("rules[0].apiGroups", &groups);
    definition.texts("rules[0].apiVersions", &arguments.texts("versions"));
    definition.texts("rules[0].resources", &arguments.texts("resources"));
    let verbs = arguments.texts("verbs");
    let operations: Vec<String> = verbs.iter().map(|verb| verb.it.to_uppercase()).collect();
    let operations = operations.iter().zip(verbs).map(|(it, Value { span, .. })| Value { it: it.as_str(), span });
    definition.texts("rules[0].operations", &operations.collect::<Vec<_>>());
    definition.client("clientConfig", arguments, None, problems);
    if let (Admission::Validating, Some(span)) = (admission, arguments.span("reinvocationPolicy")) {
        let help = "remove it, or set `mutating=true`";
        problems.push(problem(OP129, &span, "`reinvocationPolicy` of a webhook that only validates", help));
    }
    let mut definition = definition.stated(arguments);
    if let Some(Value { it, span }) = arguments.text("patch") {
        match patch::apply(&mut definition.value, it, admission) {
            Ok(said) => {
                for path in said {
                    definition
                        .places
                        .retain(|known, _| known.strip_prefix(&path).is_none_or(|rest| !rest.starts_with(['.', '['])));
                    definition.places.insert(path, span.clone());
                }
            }
            Err(message) => {
                let help = "write the fields as in a webhook configuration, e.g. patch=`{\"objectSelector\":{\"matchLabels\":{\"app\":\"web\"}}}`";
                problems.push(problem(OP127, &span, message, help));
            }
        }
    }
    Some(Webhook { admission, definition })
}

fn admission(arguments: &Arguments) -> Option<Admission> {
    Some(if arguments.boolean("mutating")?.it { Admission::Mutating } else { Admission::Validating })
}

/// The name of the object that contains the webhooks.
pub fn configuration(arguments: &Arguments, problems: &mut Vec<Diagnostic>) -> Option<WebhookConfiguration> {
    let name = arguments.text("name").map(|Value { it, span }| {
        if !is_dns_subdomain(it) {
            let help = "use lowercase letters, digits, `-` and `.`, at both ends a letter or digit";
            problems.push(problem(
                OP121,
                &span,
                format!("`{it}` is not a valid name for a webhook configuration"),
                help,
            ));
        }
        it.to_owned()
    });
    Some(WebhookConfiguration { admission: admission(arguments)?, name, span: arguments.marker_span() })
}

pub fn conversion(arguments: &Arguments, problems: &mut Vec<Diagnostic>) -> Option<Conversion> {
    let mut definition = Definition::default();
    definition.set("strategy", "Webhook".into(), arguments.marker_span());
    match &arguments.texts("conversionReviewVersions")[..] {
        [] => definition.set("webhook.conversionReviewVersions", json!(["v1"]), arguments.marker_span()),
        versions => definition.texts("webhook.conversionReviewVersions", versions),
    }
    definition.client("webhook.clientConfig", arguments, Some("/convert"), problems);
    Some(Conversion {
        group: arguments.text("group")?.it.into(),
        kind: arguments.text("kind")?.it.into(),
        definition: definition.stated(arguments),
    })
}

/// Parses the certificate authority. The caller reads its file.
pub fn authority(arguments: &Arguments, problems: &mut Vec<Diagnostic>) -> Option<Authority> {
    let given = ["certificate", "secret", "file"].map(|name| (name, arguments.text(name)));
    let mut given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let Some((name, Value { it, span })) = given.next() else {
        // The certificate may be among the arguments with errors.
        if problems.is_empty() {
            let help = "write `certificate=NAME` for cert-manager, or `file=PATH` for a certificate in PEM";
            problems.push(problem(OP107, &arguments.marker_span(), "an authority without its certificate", help));
        }
        return None;
    };
    if let Some((other, _)) = given.next()
        && let Some(span) = arguments.span(other)
    {
        let message = format!("`{name}` and `{other}` in one marker");
        problems.push(problem(OP129, &span, message, "remove one of them"));
    }
    if name == "file" {
        return Some(Authority { from: AuthorityFrom::File { path: it.into(), pem: String::new() }, span });
    }
    let (namespace, object) = it.split_once('/').unwrap_or((SYSTEM, it));
    if !is_dns_label(namespace) || !is_dns_subdomain(object) {
        let help = "write `NAME`, or `NAMESPACE/NAME`";
        problems.push(problem(OP131, &span, format!("`{it}` names no {name}"), help));
    }
    let (namespace, object) = (namespace.to_owned(), object.to_owned());
    let from = match name {
        "certificate" => AuthorityFrom::Certificate(namespace, object),
        _ => AuthorityFrom::Secret(namespace, object),
    };
    Some(Authority { from, span: arguments.marker_span() })
}

/// A manifest under construction, and the span of its marker.
#[derive(Default)]
struct Definition {
    value: Json,
    places: BTreeMap<String, Span>,
}

impl Definition {
    fn set(&mut self, path: &str, value: Json, span: Span) {
        let pointer = format!("/{}", path.replace(['.', '['], "/").replace(']', ""));
        let (outer, field) = pointer.rsplit_once('/').expect("it begins with `/`");
        let mut target = &mut self.value;
        for step in outer.split('/').skip(1) {
            target = match step.parse::<usize>() {
                Ok(index) => &mut target[index],
                Err(_) => &mut target[step],
            };
        }
        target[field] = value;
        self.places.insert(path.into(), span);
    }

    fn text(&mut self, path: &str, text: Option<Value<&str>>) {
        if let Some(Value { it, span }) = text {
            self.set(path, it.into(), span);
        }
    }

    fn texts(&mut self, path: &str, texts: &[Value<&str>]) {
        let Some(first) = texts.first() else { return };
        self.set(path, texts.iter().map(|text| text.it).collect(), first.span.clone());
        for (index, text) in texts.iter().enumerate() {
            self.places.insert(format!("{path}[{index}]"), text.span.clone());
        }
    }

    /// Sets the client configuration of a webhook.
    fn client(&mut self, at: &str, arguments: &Arguments, default_path: Option<&str>, problems: &mut Vec<Diagnostic>) {
        let url = arguments.text("url");
        if url.is_some() {
            for name in ["path", "serviceName", "serviceNamespace", "servicePort"] {
                if let Some(span) = arguments.span(name) {
                    let help = format!("remove `{name}`, or remove `url` to call a Service");
                    problems.push(problem(OP129, &span, format!("`url` and `{name}` in one marker"), help));
                }
            }
            return self.text(&format!("{at}.url"), url);
        }
        let service = |field: &str| format!("{at}.service.{field}");
        for (field, argument, default) in [
            ("name", "serviceName", Some("webhook-service")),
            ("namespace", "serviceNamespace", Some(SYSTEM)),
            ("path", "path", default_path),
        ] {
            let default = default.map(|it| Value { it, span: arguments.marker_span() });
            self.text(&service(field), arguments.text(argument).or(default));
        }
        if let Some(Value { it, span }) = arguments.integer("servicePort") {
            self.set(&service("port"), it.into(), span);
        }
    }

    fn stated(self, arguments: &Arguments) -> Stated {
        Stated { value: self.value, places: self.places, span: arguments.marker_span() }
    }
}
