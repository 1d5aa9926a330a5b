//! Checks webhook configurations and conversions as an API server does.
//!
//! Follows Kubernetes 1.36: `pkg/apis/admissionregistration/validation`, `apiserver/pkg/util/webhook` and, for
//! conversions, `apiextensions-apiserver`. Rules that the API server accepts but never matches are errors, too.

use std::collections::BTreeSet;

use opctl_cel::format::is_qualified_name;
use serde_json::Value;

use super::cel;
use crate::apiserver::diagnostics::{OP120, OP123, OP124, OP125, OP126, OP128};
use opctl_model::diagnostic::{Code, Diagnostic};
use opctl_model::diagnostics::OP121;
use opctl_model::names::{is_dns_1035_label, is_dns_subdomain, nearest, resource_of_kind};
use opctl_model::selector::is_label_value;

/// The path of a field, such as `rules[0].operations[1]`, and its diagnostic.
pub type PathDiagnostic = (String, Diagnostic);

/// Checks one item of `webhooks` in a configuration.
pub fn webhook(webhook: &Value) -> Vec<PathDiagnostic> {
    let mut checker = Checker(Vec::new());
    checker.name(webhook);
    for (index, rule) in list(&webhook["rules"]).iter().enumerate() {
        checker.rule(rule, &format!("rules[{index}]"));
    }
    if list(&webhook["rules"]).is_empty() {
        checker.error(OP126, "rules", "a webhook without rules is never called", "add `rules`");
    }
    for (field, words) in [
        ("failurePolicy", ["Fail", "Ignore"]),
        ("matchPolicy", ["Exact", "Equivalent"]),
        ("reinvocationPolicy", ["Never", "IfNeeded"]),
    ] {
        checker.word(field, &webhook[field], &words);
    }
    checker.side_effects(&webhook["sideEffects"]);
    match &webhook["timeoutSeconds"] {
        Value::Null => {}
        seconds if (1..=30).contains(&seconds.as_i64().unwrap_or_default()) => {}
        seconds => {
            let help = "remove it for the default of 10 seconds";
            checker.error(OP124, "timeoutSeconds", format!("a timeout of {seconds} seconds, not of 1 to 30"), help);
        }
    }
    for field in ["namespaceSelector", "objectSelector"] {
        checker.selector(field, &webhook[field]);
    }
    checker.client(&webhook["clientConfig"], "clientConfig");
    checker.conditions(&webhook["matchConditions"]);
    checker.review_versions(&webhook["admissionReviewVersions"], "admissionReviewVersions");
    checker.0
}

/// Checks `spec.conversion` of a CRD with the strategy `Webhook`.
pub fn conversion(conversion: &Value) -> Vec<PathDiagnostic> {
    let mut checker = Checker(Vec::new());
    let webhook = &conversion["webhook"];
    checker.client(&webhook["clientConfig"], "webhook.clientConfig");
    checker.review_versions(&webhook["conversionReviewVersions"], "webhook.conversionReviewVersions");
    checker.0
}

struct Checker(Vec<PathDiagnostic>);

impl Checker {
    fn error(
        &mut self,
        code: &'static Code,
        path: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.0.push((path.into(), code.error(message).help(help)));
    }

    fn name(&mut self, webhook: &Value) {
        let name = text(&webhook["name"]);
        if !is_dns_subdomain(name) || name.split('.').count() < 3 {
            let help = "write a domain of lowercase words with at least two dots, e.g. `vmemcached-v1.kb.io`";
            self.error(OP121, "name", format!("`{name}` is not a valid webhook name"), help);
        }
    }

    /// Checks that a value is missing or one of `words`.
    fn word(&mut self, path: &str, value: &Value, words: &[&str]) {
        let Some(word) = value.as_str().filter(|word| !words.contains(word)) else { return };
        let field = path.rsplit('.').next().unwrap_or(path);
        let field = field.split('[').next().unwrap_or(field);
        let meant = words
            .iter()
            .copied()
            .find(|known| known.eq_ignore_ascii_case(word))
            .or_else(|| nearest(word, words.iter().copied()));
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("write `{}`", words.join("` or `")),
        };
        self.error(OP120, path, format!("`{field}` has no value `{word}`"), help);
    }

    fn side_effects(&mut self, value: &Value) {
        let path = "sideEffects";
        match value.as_str() {
            None => {
                let help =
                    "write `None`, or `NoneOnDryRun` if the webhook looks at `dryRun` before it changes anything else";
                self.error(OP120, path, "a webhook without `sideEffects` is refused", help);
            }
            Some(word @ ("Some" | "Unknown")) => {
                let help = "change nothing but the answer (`None`), or nothing else in a dry run (`NoneOnDryRun`)";
                self.error(OP120, path, format!("the API server calls no webhook with side effects `{word}`"), help);
            }
            Some(_) => self.word(path, value, &["None", "NoneOnDryRun"]),
        }
    }

    fn rule(&mut self, rule: &Value, path: &str) {
        for (field, what) in
            [("apiGroups", "groups"), ("apiVersions", "versions"), ("resources", "resources"), ("operations", "verbs")]
        {
            if list(&rule[field]).is_empty() {
                let help = "write `*` for all of them";
                self.error(OP126, format!("{path}.{field}"), format!("a rule without {what} is refused"), help);
            }
            for (index, value) in list(&rule[field]).iter().enumerate() {
                let at = format!("{path}.{field}[{index}]");
                match (field, text(value)) {
                    ("operations", _) => {
                        self.word(&at, value, &["CREATE", "UPDATE", "DELETE", "CONNECT", "*"]);
                    }
                    ("apiGroups", group) => self.group(group, at),
                    ("apiVersions", version) => self.version(version, at),
                    (_, resource) => self.resource(resource, at),
                }
            }
            self.all_and_more(&rule[field], &format!("{path}.{field}"));
        }
        self.word(&format!("{path}.scope"), &rule["scope"], &["Cluster", "Namespaced", "*"]);
    }

    fn group(&mut self, group: &str, at: String) {
        if group.is_empty() || group == "*" || is_dns_subdomain(group) {
            return;
        }
        match group.split_once('/') {
            Some((before, _)) => {
                let help = format!("write the group `{before}`, and its versions as `versions`");
                self.error(OP126, at, format!("`{group}` is a group with a version"), help);
            }
            None => {
                let help = "a group looks like `apps` or `cache.example.com`";
                self.error(OP126, at, format!("`{group}` is not a valid API group"), help);
            }
        }
    }

    fn version(&mut self, version: &str, at: String) {
        if version != "*" && !is_dns_1035_label(version) {
            self.error(
                OP126,
                at,
                format!("`{version}` is not a valid API version"),
                "a version looks like `v1` or `v1beta1`",
            );
        }
    }

    fn resource(&mut self, resource: &str, at: String) {
        let parts: Vec<&str> = resource.split('/').collect();
        if let Some(meant) = resource_of_kind(resource) {
            let help = format!("resources are lowercase plurals: write `{meant}`");
            self.error(OP126, at, format!("`{resource}` names a kind"), help);
        } else if parts.len() > 2 || parts.iter().any(|part| *part != "*" && !is_dns_subdomain(part)) {
            let help = "a resource looks like `pods`, `pods/status`, `pods/*`, `*/scale`, `*` or `*/*`";
            self.error(OP126, at, format!("`{resource}` matches no resource"), help);
        }
    }

    /// Reports `*` next to values that it covers, which the API server rejects. Subresources are accepted next to `*`,
    /// which covers all resources but no subresources.
    fn all_and_more(&mut self, values: &Value, path: &str) {
        let values: Vec<&str> = list(values).iter().map(text).collect();
        for (index, value) in values.iter().enumerate() {
            let at = format!("{path}[{index}]");
            if values[..index].contains(value) {
                self.error(OP126, at, format!("`{value}` is listed twice"), "remove one of them");
                continue;
            }
            let covers = |all: &str| match (all.split_once('/'), value.split_once('/')) {
                (None, None) => all == "*",
                (Some((resource, subresource)), Some((of, sub))) => {
                    (resource == "*" || resource == of) && (subresource == "*" || subresource == sub)
                }
                (Some(("*", "*")), None) => true,
                _ => false,
            };
            if let Some(all) = values.iter().find(|all| *all != value && all.contains('*') && covers(all)) {
                self.error(
                    OP126,
                    at,
                    format!("`{all}` already includes `{value}`"),
                    format!("remove one of them, or write `{all}` alone"),
                );
            }
        }
    }

    fn client(&mut self, client: &Value, path: &str) {
        match (&client["url"], &client["service"]) {
            (Value::String(url), Value::Null) => self.url(url, format!("{path}.url")),
            (Value::Null, service @ Value::Object(_)) => self.service(service, &format!("{path}.service")),
            _ => self.error(
                OP123,
                path,
                "a webhook is reached by a service or by a URL, and by one of them only",
                "write `path=/…` or `url=https://…`",
            ),
        }
    }

    fn url(&mut self, url: &str, at: String) {
        let Some(rest) = url.strip_prefix("https://") else {
            return self.error(OP123, at, format!("`{url}` is not an https URL"), "write `https://host[:port]/path`");
        };
        let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port),
            _ => (host, ""),
        };
        let wrong = if host.contains('@') {
            "a user"
        } else if path.contains('?') {
            "a query"
        } else if path.contains('#') {
            "a fragment"
        } else if name.is_empty() {
            return self.error(OP123, at, format!("`{url}` has no host"), "write `https://host[:port]/path`");
        } else if !port.chars().all(|c| c.is_ascii_digit())
            || url.contains(|c: char| c.is_whitespace() || c.is_control())
        {
            return self.error(OP123, at, format!("`{url}` is not a valid URL"), "write `https://host[:port]/path`");
        } else {
            return;
        };
        self.error(OP123, at, format!("the URL of a webhook with {wrong}"), "write `https://host[:port]/path`");
    }

    fn service(&mut self, service: &Value, path: &str) {
        for field in ["name", "namespace"] {
            if text(&service[field]).is_empty() {
                self.error(OP123, format!("{path}.{field}"), format!("a service without {field}"), "name the service");
            }
        }
        if let Some(port) = service["port"].as_i64().filter(|port| !(1..=65535).contains(port)) {
            let help = "use a number from 1 to 65535, or remove it for 443";
            self.error(OP123, format!("{path}.port"), format!("{port} is not a valid port"), help);
        }
        let url = text(&service["path"]);
        let Some(inner) = url.strip_prefix('/') else {
            if !url.is_empty() {
                let help = format!("write `/{url}`");
                self.error(OP123, format!("{path}.path"), format!("the path `{url}` does not start with `/`"), help);
            }
            return;
        };
        let mut segments = inner.strip_suffix('/').unwrap_or(inner).split('/');
        if url != "/" && !segments.all(is_dns_subdomain) {
            let help = "use lowercase letters, digits, `-` and `.` between slashes";
            self.error(OP123, format!("{path}.path"), format!("the API server refuses the path `{url}`"), help);
        }
    }

    fn review_versions(&mut self, versions: &Value, path: &str) {
        let versions: Vec<&str> = list(versions).iter().map(text).collect();
        let before = self.0.len();
        for (index, version) in versions.iter().enumerate() {
            let at = format!("{path}[{index}]");
            if versions[..index].contains(version) {
                self.error(OP125, at, format!("`{version}` is listed twice"), "remove one of them");
            } else if !is_dns_1035_label(version) {
                self.error(OP125, at, format!("`{version}` is not a valid version"), "write `v1`");
            }
        }
        if self.0.len() == before && !versions.iter().any(|version| ["v1", "v1beta1"].contains(version)) {
            self.error(OP125, path, "no version of reviews that an API server speaks", "write `v1`");
        }
    }

    fn selector(&mut self, path: &str, selector: &Value) {
        for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
            self.label(&format!("{path}.matchLabels.{key}"), key, [value]);
        }
        for (index, requirement) in list(&selector["matchExpressions"]).iter().enumerate() {
            let at = format!("{path}.matchExpressions[{index}]");
            let values = list(&requirement["values"]);
            self.label(&at, text(&requirement["key"]), values);
            let operator = &requirement["operator"];
            match (text(operator), values.is_empty()) {
                ("In" | "NotIn", false) | ("Exists" | "DoesNotExist", true) => {}
                (word @ ("In" | "NotIn"), true) => {
                    self.error(OP128, at, format!("`{word}` without values"), "set `values`, or use `Exists`");
                }
                (word @ ("Exists" | "DoesNotExist"), false) => {
                    self.error(OP128, at, format!("`{word}` with values"), "remove the `values`, or use `In`");
                }
                _ => self.word(&format!("{at}.operator"), operator, &["In", "NotIn", "Exists", "DoesNotExist"]),
            }
        }
    }

    fn label<'a>(&mut self, at: &str, key: &str, values: impl IntoIterator<Item = &'a Value>) {
        if !is_qualified_name(key) {
            self.error(
                OP128,
                at,
                format!("`{key}` is not a valid label key"),
                "a key looks like `name` or `example.com/name`",
            );
        }
        for value in values.into_iter().map(text) {
            if !is_label_value(value) {
                let help = "use at most 63 letters, digits, `-`, `_` and `.`, at both ends a letter or digit";
                self.error(OP128, at, format!("`{value}` is not a valid label value"), help);
            }
        }
    }

    fn conditions(&mut self, conditions: &Value) {
        let mut names = BTreeSet::new();
        if list(conditions).len() > 64 {
            self.error(OP128, "matchConditions", "more than 64 match conditions", "join some with `&&`");
        }
        for (index, condition) in list(conditions).iter().enumerate() {
            let at = format!("matchConditions[{index}]");
            let name = text(&condition["name"]);
            if !is_qualified_name(name) {
                let help = "give each condition a name of letters, digits and `-`";
                self.error(OP128, &at, format!("`{name}` is not a valid name for a match condition"), help);
            } else if !names.insert(name) {
                self.error(OP128, &at, format!("two match conditions `{name}`"), "give each a different name");
            }
            match text(&condition["expression"]).trim() {
                "" => self.error(
                    OP128,
                    &at,
                    "a match condition without expression",
                    "write a CEL expression that is true or false",
                ),
                expression => {
                    if let Some(problem) = cel::syntax_problem(expression) {
                        self.error(
                            OP128,
                            &at,
                            problem,
                            "the expression is CEL, about `object`, `oldObject`, `request` and `authorizer`",
                        );
                    }
                }
            }
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
