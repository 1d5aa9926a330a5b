//! The marker `+kubebuilder:rbac:…` → an [`RbacRule`] that the API server accepts and that can match a request.
//!
//! The rules checked here are those of Kubernetes: pkg/apis/rbac/validation (what is refused) and
//! component-helpers/auth/rbac/validation (what would never match).

use std::ops::Range;
use std::sync::Arc;

use super::arguments::{self, Argument, Value};
use super::kubernetes::{meant_group, meant_resource};
use super::{Marker, PREFIX, RBAC, nearest};
use crate::diagnostic::{Diagnostic, SourceFile, Span};
use crate::model::RbacRule;
use crate::names::{default_plural, is_dns_label, is_dns_subdomain};

/// Nothing if a problem is an error.
pub(super) fn read(file: &Arc<SourceFile>, marker: Marker, diagnostics: &mut Vec<Diagnostic>) -> Option<RbacRule> {
    let mut reader = Reader { file, marker, problems: Vec::new() };
    let arguments = reader.arguments();
    let rule = reader.rule(&arguments);
    if reader.problems.is_empty() {
        reader.check(&arguments);
    }
    let whole = !reader.problems.iter().any(Diagnostic::is_error);
    diagnostics.append(&mut reader.problems);
    whole.then_some(rule)
}

const ARGUMENTS: [&str; 7] = ["groups", "resources", "resourceNames", "verbs", "urls", "namespace", "roleName"];

struct Reader<'a> {
    file: &'a Arc<SourceFile>,
    marker: Marker,
    problems: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn span(&self, range: &Range<usize>) -> Span {
        Span { file: self.file.clone(), range: range.clone() }
    }

    fn problem(
        &mut self,
        code: &'static str,
        range: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let span = self.span(range);
        self.problems.push(Diagnostic::error(code, message).at(span, "").help(help));
    }

    /// The arguments that are known, each once.
    fn arguments(&mut self) -> Vec<Argument<'a>> {
        let mut known: Vec<Argument> = Vec::new();
        if self.marker.arguments.is_empty() {
            let range = self.marker.range.clone();
            let help = format!("write `+{PREFIX}:{RBAC}:groups=…,resources=…,verbs=…`");
            self.problem("OP107", &range, format!("`+{PREFIX}:{RBAC}` has no arguments"), help);
            return known;
        }
        let arguments = match arguments::parse(&self.file.text, self.marker.arguments.clone()) {
            Ok(arguments) => arguments,
            Err(error) => {
                let problem = Diagnostic::error("OP108", error.message).at(self.span(&error.range), "");
                self.problems.push(error.help.into_iter().fold(problem, Diagnostic::help));
                return known;
            }
        };
        for argument in arguments {
            if !ARGUMENTS.contains(&argument.name) {
                let help = match nearest(argument.name, ARGUMENTS) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("it takes `{}`", ARGUMENTS.join("`, `")),
                };
                let message = format!("`+{PREFIX}:{RBAC}` has no argument `{}`", argument.name);
                self.problem("OP105", &argument.name_range, message, help);
            } else if known.iter().any(|other| other.name == argument.name) {
                let message = format!("argument `{}` is given twice", argument.name);
                self.problem("OP106", &argument.range, message, "join the values with `;`, or write a second marker");
            } else {
                known.push(argument);
            }
        }
        known
    }

    fn rule(&mut self, arguments: &[Argument]) -> RbacRule {
        let mut rule = RbacRule {
            namespace: None,
            role_name: None,
            groups: Vec::new(),
            resources: Vec::new(),
            resource_names: Vec::new(),
            verbs: Vec::new(),
            urls: Vec::new(),
            place: self.span(&self.marker.range),
        };
        for argument in arguments {
            for value in &argument.values {
                self.value(argument, value);
            }
            let values = argument.values.iter().map(|value| value.text.clone());
            match argument.name {
                "groups" => rule.groups = values.collect(),
                "resources" => rule.resources = values.collect(),
                "resourceNames" => rule.resource_names = values.collect(),
                "verbs" => rule.verbs = values.collect(),
                "urls" => rule.urls = values.collect(),
                "namespace" => rule.namespace = self.single(argument),
                _ => rule.role_name = self.single(argument),
            }
        }
        rule
    }

    fn single(&mut self, argument: &Argument) -> Option<String> {
        if let [_, second, ..] = &argument.values[..] {
            let message = format!("`{}` takes one value", argument.name);
            self.problem("OP108", &second.range, message, "write one marker for each");
        }
        argument.values.first().map(|value| value.text.clone())
    }

    /// What every value of one argument must be, whatever the others say. Verbs need to know the others.
    fn value(&mut self, argument: &Argument, value: &Value) {
        let text = value.text.as_str();
        let refuse = |reader: &mut Self, message: String, help: &str| {
            reader.problem("OP110", &value.range, message, help);
        };
        if text.is_empty() && argument.name != "groups" {
            return self.problem(
                "OP108",
                &value.range,
                format!("`{}` has an empty value", argument.name),
                "leave the argument away, or say what is meant",
            );
        }
        if !value.quoted && text.contains(char::is_whitespace) {
            return self.problem(
                "OP108",
                &value.range,
                format!("`{text}` has blanks inside"),
                format!("separate values with `;`: `{}`", text.split_whitespace().collect::<Vec<_>>().join(";")),
            );
        }
        match argument.name {
            "groups" if text.is_empty() || text == "*" || is_dns_subdomain(text) => {
                if let Some(meant) = meant_group(text) {
                    refuse(self, format!("no API server has the group `{text}`"), &format!("did you mean `{meant}`?"));
                }
            }
            "groups" => match text.split_once('/') {
                Some((group, _)) => refuse(
                    self,
                    format!("`{text}` is a group with a version"),
                    &format!("permissions are for all versions of a group: write `{group}`"),
                ),
                None => refuse(
                    self,
                    format!("`{text}` is no API group"),
                    "a group looks like `apps` or `cache.example.com`",
                ),
            },
            "resources" => self.resource(value),
            "resourceNames" if text == "*" => {
                refuse(
                    self,
                    format!("`{text}` is taken as a name"),
                    "for objects of any name, leave `resourceNames` away",
                );
            }
            "urls" => {
                let body = text.strip_suffix('*').unwrap_or(text);
                if body.contains('*') || !(body.is_empty() || body.starts_with('/')) {
                    refuse(
                        self,
                        format!("`{text}` matches no URL"),
                        "a URL starts with `/`, and `*` stands at its end only",
                    );
                }
            }
            "namespace" if !is_dns_label(text) => refuse(
                self,
                format!("`{text}` is no name of a namespace"),
                "use lowercase letters, digits and `-`, at most 63 characters",
            ),
            // Kubernetes takes more, but kustomize reads names as patterns.
            "roleName"
                if matches!(text, "." | "..")
                    || text.contains(|c: char| !c.is_ascii_alphanumeric() && !"-._:".contains(c)) =>
            {
                refuse(self, format!("`{text}` is no name of a role"), "use letters, digits, `-`, `.`, `_` and `:`");
            }
            _ => {}
        }
    }

    fn resource(&mut self, value: &Value) {
        let text = value.text.as_str();
        let (resource, subresource) = match text.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource)),
            None => (text, None),
        };
        let mut refuse =
            |help: &str| self.problem("OP110", &value.range, format!("`{text}` matches no resource"), help);
        match subresource {
            Some(subresource) if resource.is_empty() || subresource.is_empty() || subresource.contains('/') => {
                refuse("a subresource looks like `pods/log`");
            }
            Some(subresource) if subresource.contains('*') => {
                refuse("name each subresource: `*` stands alone, or for the resource as in `*/scale`");
            }
            _ if resource.contains('*') && resource != "*" => {
                refuse("`*` stands for every resource, never for a part of a name");
            }
            _ => {}
        }
    }

    /// What the arguments must be together.
    fn check(&mut self, arguments: &[Argument]) {
        let find = |name: &str| arguments.iter().find(|argument| argument.name == name);
        let whole = self.marker.range.clone();
        let Some(verbs) = find("verbs") else {
            return self.problem(
                "OP107",
                &whole,
                "missing argument `verbs`",
                "say what is allowed, e.g. `verbs=get;list;watch`",
            );
        };
        if let Some(urls) = find("urls") {
            for other in ["groups", "resources", "resourceNames"] {
                if find(other).is_some() {
                    let message = format!("`urls` and `{other}` in one rule");
                    self.problem(
                        "OP109",
                        &urls.range,
                        message,
                        "write two markers: one for the URLs, one for the resources",
                    );
                }
            }
            if let Some(namespace) = find("namespace") {
                let message = "`urls` and `namespace` in one rule";
                self.problem("OP109", &namespace.range, message, "URLs are in no namespace: leave `namespace` away");
            }
        } else if find("resources").is_none() {
            self.problem("OP107", &whole, "missing argument `resources`", "say what is allowed, e.g. `resources=pods`");
        } else if find("groups").is_none() {
            let help = "say the API group of the resources; the core group is `groups=\"\"`";
            self.problem("OP107", &whole, "missing argument `groups`", help);
        }
        if let (Some(groups), Some(resources)) = (find("groups"), find("resources")) {
            self.kinds(groups, resources);
        }
        for verb in &verbs.values {
            if find("urls").is_some() { self.url_verb(verb) } else { self.verb(verb) }
        }
        if let (Some(_), Some(resources)) = (find("resourceNames"), find("resources")) {
            self.named_verbs(verbs, resources);
        }
    }

    /// A kind where its resource is meant.
    fn kinds(&mut self, groups: &Argument, resources: &Argument) {
        // Metrics are resources of any name.
        if groups.values.iter().any(|group| group.text == "*" || group.text.ends_with("metrics.k8s.io")) {
            return;
        }
        let asked: Vec<&str> = groups.values.iter().map(|group| group.text.as_str()).collect();
        for value in &resources.values {
            if let Some(meant) = meant_resource(&asked, &value.text) {
                let message = format!("the group has no resource `{}`", value.text);
                self.problem("OP110", &value.range, message, meant);
                continue;
            }
            let (resource, subresource) = value.text.split_at(value.text.find('/').unwrap_or(value.text.len()));
            if !resource.starts_with(|c: char| c.is_uppercase()) {
                continue;
            }
            let lower = resource.to_lowercase();
            let plural = if lower.ends_with('s') { lower } else { default_plural(&lower) };
            let message = format!("`{resource}` looks like a kind");
            let help = format!("resources are lowercase plurals: write `{plural}{subresource}`");
            self.problem("OP110", &value.range, message, help);
        }
    }

    fn verb(&mut self, value: &Value) {
        let verb = value.text.as_str();
        if VERBS.contains(&verb) || VERB_FAMILIES.iter().any(|family| verb.starts_with(family)) {
            return;
        }
        let help = match verb.to_lowercase().as_str() {
            "post" => Some("create"),
            "put" => Some("update"),
            "head" => Some("get"),
            "read" | "view" => Some("get;list;watch"),
            "write" | "edit" | "modify" => Some("create;update;patch"),
            "add" => Some("create"),
            "remove" => Some("delete"),
            "all" | "any" => Some("*"),
            lower => nearest(lower, VERBS.iter().copied()),
        };
        match help {
            Some(meant) => {
                self.problem(
                    "OP110",
                    &value.range,
                    format!("unknown verb `{verb}`"),
                    format!("did you mean `{meant}`?"),
                );
            }
            None => {
                let span = self.span(&value.range);
                self.problems.push(
                    Diagnostic::warning("OP110", format!("`{verb}` is no verb of Kubernetes itself"))
                        .at(span, "allows only what some other server asks about")
                        .help(format!("the verbs of Kubernetes are `{}`", VERBS.join("`, `"))),
                );
            }
        }
    }

    fn url_verb(&mut self, value: &Value) {
        let verb = value.text.as_str();
        if URL_VERBS.contains(&verb) {
            return;
        }
        let help = match nearest(verb, URL_VERBS) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("for URLs the verbs are those of HTTP: `{}`", URL_VERBS.join("`, `")),
        };
        self.problem("OP110", &value.range, format!("unknown verb `{verb}` for URLs"), help);
    }

    /// A request that has no name in it is never allowed by name.
    fn named_verbs(&mut self, verbs: &Argument, resources: &Argument) {
        let find = |verb: &str| verbs.values.iter().find(|value| value.text == verb);
        if let Some(verb) = find("deletecollection") {
            let help = "move it to a marker without `resourceNames`, or use `delete`";
            self.problem("OP110", &verb.range, "`deletecollection` is never allowed by name", help);
        }
        // `POST …/pods/NAME/eviction` has a name, and so has a creation by server-side apply, which needs `patch` too
        // (apiserver, pkg/endpoints/handlers/patch.go).
        let by_post = resources.values.iter().any(|resource| !resource.text.contains('/'))
            && ["patch", "update", "*"].iter().all(|verb| find(verb).is_none());
        if let Some(verb) = find("create").filter(|_| by_post) {
            let message = "`create` is never allowed by name: the request has none";
            let help = "move it to a marker without `resourceNames`; to create by server-side apply only, add `patch`";
            self.problem("OP110", &verb.range, message, help);
        }
    }
}

/// Of requests, and those that Kubernetes' own controllers and admission plugins ask about.
const VERBS: [&str; 17] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "bind",
    "escalate",
    "impersonate",
    "use",
    "approve",
    "sign",
    "attest",
    "proxy",
    "*",
];

/// Constrained impersonation, and updates of the status of resource claims.
const VERB_FAMILIES: [&str; 4] = ["impersonate:", "impersonate-on:", "associated-node:", "arbitrary-node:"];

const URL_VERBS: [&str; 8] = ["get", "head", "post", "put", "patch", "delete", "options", "*"];
