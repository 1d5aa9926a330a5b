//! The marker `+kubebuilder:rbac:…` → an [`RbacRule`] that the API server accepts and that can match a request.
//!
//! The rules checked here are those of Kubernetes: pkg/apis/rbac/validation (what is refused) and
//! component-helpers/auth/rbac/validation (what would never match).

use super::arguments::{Arguments, Value, problem};
use super::kubernetes::{meant_group, meant_resource};
use crate::diagnostic::Diagnostic;
use crate::model::RbacRule;
use crate::names::{is_dns_label, is_dns_subdomain, nearest, resource_of_kind};

/// The rule is whole if no problem is an error.
pub(super) fn read(arguments: &Arguments, problems: &mut Vec<Diagnostic>) -> RbacRule {
    let mut reader = Reader { arguments, problems };
    for argument in arguments.marker.arguments {
        arguments.texts(argument.name).iter().for_each(|value| reader.value(argument.name, value));
    }
    if reader.problems.is_empty() {
        reader.check();
    }
    let list = |name| arguments.texts(name).iter().map(|value| value.it.to_owned()).collect();
    let text = |name| arguments.text(name).map(|value| value.it.to_owned());
    RbacRule {
        namespace: text("namespace"),
        role_name: text("roleName"),
        groups: list("groups"),
        resources: list("resources"),
        resource_names: list("resourceNames"),
        verbs: list("verbs"),
        urls: list("urls"),
        is_of_runtime: false,
        span: arguments.marker_span(),
    }
}

struct Reader<'a, 'b> {
    arguments: &'a Arguments<'a>,
    problems: &'b mut Vec<Diagnostic>,
}

impl Reader<'_, '_> {
    fn refuse(&mut self, value: &Value<&str>, message: String, help: &str) {
        self.problems.push(problem("OP110", &value.span, message, help));
    }

    /// What every value of one argument must be, whatever the others say. Verbs need to know the others.
    fn value(&mut self, argument: &str, value: &Value<&str>) {
        let text = value.it;
        match argument {
            "groups" if text.is_empty() || text == "*" || is_dns_subdomain(text) => {
                if let Some(meant) = meant_group(text) {
                    let message = format!("no API server has the group `{text}`");
                    self.refuse(value, message, &format!("did you mean `{meant}`?"));
                }
            }
            "groups" => match text.split_once('/') {
                Some((group, _)) => self.refuse(
                    value,
                    format!("`{text}` is a group with a version"),
                    &format!("permissions are for all versions of a group: write `{group}`"),
                ),
                None => self.refuse(
                    value,
                    format!("`{text}` is no API group"),
                    "a group looks like `apps` or `cache.example.com`",
                ),
            },
            "resources" => self.resource(value),
            "resourceNames" if text == "*" => {
                self.refuse(value, format!("`{text}` is taken as a name"), "to allow any name, remove `resourceNames`")
            }
            "urls" => {
                let body = text.strip_suffix('*').unwrap_or(text);
                if body.contains('*') || !(body.is_empty() || body.starts_with('/')) {
                    self.refuse(
                        value,
                        format!("`{text}` matches no URL"),
                        "a URL starts with `/`, and `*` is allowed only at its end",
                    );
                }
            }
            "namespace" if !is_dns_label(text) => self.refuse(
                value,
                format!("`{text}` is no name of a namespace"),
                "use lowercase letters, digits and `-`, at most 63 characters",
            ),
            // Kubernetes takes more, but kustomize reads names as patterns.
            "roleName"
                if matches!(text, "." | "..")
                    || text.contains(|c: char| !c.is_ascii_alphanumeric() && !"-._:".contains(c)) =>
            {
                let help = "use letters, digits, `-`, `.`, `_` and `:`";
                self.refuse(value, format!("`{text}` is no name of a role"), help);
            }
            _ => {}
        }
    }

    fn resource(&mut self, value: &Value<&str>) {
        let text = value.it;
        let (resource, subresource) = match text.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource)),
            None => (text, None),
        };
        let mut refuse = |help: &str| self.refuse(value, format!("`{text}` matches no resource"), help);
        match subresource {
            Some(subresource) if resource.is_empty() || subresource.is_empty() || subresource.contains('/') => {
                refuse("a subresource looks like `pods/log`");
            }
            Some(subresource) if subresource.contains('*') => {
                refuse("name each subresource: `*` is allowed only alone, or for the resource as in `*/scale`");
            }
            _ if resource.contains('*') && resource != "*" => {
                refuse("`*` matches every resource, not a part of a name");
            }
            _ => {}
        }
    }

    /// What the arguments must be together.
    fn check(&mut self) {
        let arguments = self.arguments;
        if let Some(urls) = arguments.span("urls") {
            for other in ["groups", "resources", "resourceNames"] {
                if arguments.span(other).is_some() {
                    let message = format!("`urls` and `{other}` in one rule");
                    let help = "write two markers: one for the URLs, one for the resources";
                    self.problems.push(problem("OP109", &urls, message, help));
                }
            }
            if let Some(namespace) = arguments.span("namespace") {
                let help = "URLs are not namespaced: remove `namespace`";
                self.problems.push(problem("OP109", &namespace, "`urls` and `namespace` in one rule", help));
            }
        }
        self.kinds();
        for verb in arguments.texts("verbs") {
            if arguments.span("urls").is_some() { self.url_verb(&verb) } else { self.verb(&verb) }
        }
        if arguments.span("resourceNames").is_some() {
            self.named_verbs();
        }
    }

    /// A kind where its resource is meant.
    fn kinds(&mut self) {
        // Metrics are resources of any name.
        if self.arguments.texts("groups").iter().any(|group| group.it == "*" || group.it.ends_with("metrics.k8s.io")) {
            return;
        }
        let groups: Vec<&str> = self.arguments.texts("groups").iter().map(|group| group.it).collect();
        for value in self.arguments.texts("resources") {
            if let Some(meant) = meant_resource(&groups, value.it) {
                self.refuse(&value, format!("the group has no resource `{}`", value.it), &meant);
                continue;
            }
            if let Some(meant) = resource_of_kind(value.it) {
                let message = format!("`{}` names a kind", value.it);
                self.refuse(&value, message, &format!("resources are lowercase plurals: write `{meant}`"));
            }
        }
    }

    fn verb(&mut self, value: &Value<&str>) {
        let verb = value.it;
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
            Some(meant) => self.refuse(value, format!("unknown verb `{verb}`"), &format!("did you mean `{meant}`?")),
            None => self.problems.push(
                Diagnostic::warning("OP110", format!("`{verb}` is no verb of Kubernetes itself"))
                    .at(value.span.clone(), "allows only what some other server asks about")
                    .help(format!("the verbs of Kubernetes are `{}`", VERBS.join("`, `"))),
            ),
        }
    }

    fn url_verb(&mut self, value: &Value<&str>) {
        let verb = value.it;
        if URL_VERBS.contains(&verb) {
            return;
        }
        let help = match nearest(verb, URL_VERBS) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("for URLs the verbs are those of HTTP: `{}`", URL_VERBS.join("`, `")),
        };
        self.refuse(value, format!("unknown verb `{verb}` for URLs"), &help);
    }

    /// A request that has no name in it is never allowed by name.
    fn named_verbs(&mut self) {
        let verbs = self.arguments.texts("verbs");
        let find = |verb: &str| verbs.iter().find(|value| value.it == verb);
        if let Some(verb) = find("deletecollection") {
            let help = "move it to a marker without `resourceNames`, or use `delete`";
            self.refuse(verb, "`deletecollection` is never allowed by name".into(), help);
        }
        // `POST …/pods/NAME/eviction` has a name, and so has a creation by server-side apply, which needs `patch` too
        // (apiserver, pkg/endpoints/handlers/patch.go).
        let by_post = self.arguments.texts("resources").iter().any(|resource| !resource.it.contains('/'))
            && ["patch", "update", "*"].iter().all(|verb| find(verb).is_none());
        if let Some(verb) = find("create").filter(|_| by_post) {
            let message = "`create` is never allowed by name: the request has none".into();
            let help = "move it to a marker without `resourceNames`; to create by server-side apply only, add `patch`";
            self.refuse(verb, message, help);
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
