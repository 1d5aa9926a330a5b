//! Diagnostics about permissions that are missing, too narrow, or unlimited.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Decision, Grantor, Home, Missing, decisions, rule, value};
use crate::grants::diagnostics::{OP415, OP416, OP418};
use opctl_model::diagnostic::{Diagnostic, Severity};
use opctl_model::{Operator, RbacRule, Reach, Request};

/// Maximum number of further requests in a message.
const MAX_OTHERS: usize = 3;

impl Missing<'_> {
    /// An error at the first request; `around` is the function that contains it.
    pub fn to_diagnostic(&self, rules: &[RbacRule], around: &Range<usize>, grantor: Grantor) -> Diagnostic {
        let first = self.first();
        let verbs = listed(self.verbs());
        let scope = match self.namespace {
            Some(rule::SYSTEM) => " in the operator's own namespace".into(),
            Some(namespace) => format!(" in the namespace `{namespace}`"),
            None => String::new(),
        };
        let error = OP415
            .error(format!("no {} grants {verbs} on `{}`{scope}", grantor.rule(), resource(first)))
            .at(first.span.clone(), format!("`{}` requires it", first.by));
        let others = self.requests.iter().filter(|request| request.span != first.span);
        let mut error = others.take(MAX_OTHERS).fold(error, |error, request| {
            error.help(format!("`{}` asks for `{}` too, at {}", request.by, request.verb, request.span))
        });
        if let Some(within) = &first.within {
            error = error.help(format!("the request itself is made at {within}"));
        }
        error.help(match self.extended(rules, around) {
            _ if grantor == Grantor::Roles => format!("add to the role:\n{}", self.rule()),
            Some((marker, text)) => {
                format!("change the marker at {marker}, or let `opctl check --fix` do so:\n// {text}")
            }
            None => format!("add above the function, or let `opctl check --fix` do so:\n// {}", self.marker()),
        })
    }
}

/// Reports requests that markers grant only in a part of their namespaces or objects, and those that no Role of a
/// namespaced operator can grant.
pub fn too_narrow(operator: &Operator, home: &Home) -> Vec<Diagnostic> {
    let mut found: BTreeMap<_, Narrow> = BTreeMap::new();
    for (request, decision) in operator.requests.iter().zip(decisions(operator, home)) {
        let cause = match decision {
            _ if request.optional => continue,
            Decision::Granted(_) => continue,
            _ if rule::is_out_of_reach(request, home) => NarrowCause::OnlyRoles,
            Decision::TooNarrow(rules) => NarrowCause::Rule(rules[0]),
            Decision::Missing => continue,
        };
        let span = &request.span;
        let key = (&span.file.path, span.range.start, &request.group, &request.resource);
        let narrow = found.entry(key).or_insert_with(|| Narrow { request, verbs: Vec::new(), cause });
        narrow.verbs.push(request.verb);
    }
    found.into_values().map(|narrow| narrow.into_diagnostic(operator, home.grantor)).collect()
}

struct Narrow<'a> {
    /// The first request at one place on one resource.
    request: &'a Request,
    verbs: Vec<&'static str>,
    cause: NarrowCause,
}

#[derive(Clone, Copy)]
enum NarrowCause {
    /// The operator is namespaced, and the request is for all namespaces.
    OnlyRoles,
    /// The rule with this index grants a part.
    Rule(usize),
}

impl Narrow<'_> {
    fn into_diagnostic(mut self, operator: &Operator, grantor: Grantor) -> Diagnostic {
        let request = self.request;
        self.verbs.sort_unstable();
        self.verbs.dedup();
        let (verbs, resource) = (listed(self.verbs), resource(request));
        let error =
            |message: String| OP416.error(message).at(request.span.clone(), format!("`{}` requires it", request.by));
        match self.cause {
            NarrowCause::OnlyRoles => error(format!("no Role can grant {verbs} on `{resource}` in the whole cluster"))
                .help("ask in one namespace: `Api::namespaced` or `Api::default_namespaced` instead of `Api::all`")
                .help("or let the operator have a ClusterRole: `namespaced: false` in PROJECT, then `opctl manifests`"),
            NarrowCause::Rule(number) => {
                let marker = &operator.rbac[number];
                match &marker.namespace {
                    Some(namespace) => {
                        let everywhere = if request.reach == Reach::Cluster {
                            "in the whole cluster"
                        } else {
                            "where it is known only at run time"
                        };
                        let message = format!(
                            "{verbs} on `{resource}` is granted in `{namespace}` only, and asked for {everywhere}"
                        );
                        let severity =
                            if request.reach == Reach::Cluster { Severity::Error } else { Severity::Warning };
                        Diagnostic { severity, ..error(message) }
                            .help(match grantor {
                                Grantor::Markers => {
                                    format!("leave `namespace={namespace}` out of the marker at {}", marker.span)
                                }
                                Grantor::Roles => {
                                    format!(
                                        "grant it with a ClusterRole and a ClusterRoleBinding; the rule is at {}",
                                        marker.span
                                    )
                                }
                            })
                            .help(format!("or ask in that namespace: `Api::namespaced(client, \"{namespace}\")`"))
                    }
                    None => {
                        let names = listed(marker.resource_names.iter().map(String::as_str));
                        error(format!("{verbs} on `{resource}` is granted by name only ({names}), and has no name in it"))
                            .help(format!(
                                "grant it in a {} without `resourceNames`; the other is at {}",
                                grantor.rule(),
                                marker.span
                            ))
                            .help("or, if a field selector selects `metadata.name`, allow it: `// +opctl:allow:OP416 it selects the name`")
                    }
                }
            }
        }
    }
}

/// Warns of `*` in markers: it also grants permissions that the author did not consider.
pub fn wildcards(operator: &Operator, grantor: Grantor) -> Vec<Diagnostic> {
    let rules = operator.rbac.iter().filter(|rule| rule.urls.is_empty() && !rule.is_of_runtime);
    let warnings = rules.flat_map(|rule| {
        let lists = [("groups", &rule.groups), ("resources", &rule.resources), ("verbs", &rule.verbs)];
        lists.into_iter().filter_map(|(argument, words)| {
            let word = words.iter().find(|word| word.starts_with('*'))?;
            let value = assignment(argument, word, grantor);
            let message = format!("`{value}` grants more than anyone can oversee");
            let help = asked(operator, rule, argument, grantor);
            Some(OP418.warning(message).at(value::span(rule, argument, word), "").help(help))
        })
    });
    warnings.collect()
}

/// The requests of the code that the wildcard in this argument grants.
fn asked(operator: &Operator, rule: &RbacRule, argument: &str, grantor: Grantor) -> String {
    let granted = operator.requests.iter().filter(|it| rule::matches(rule, &it.group, &it.resource, it.verb));
    let mut words: Vec<&str> = granted
        .map(|request| match argument {
            "groups" if request.group.is_empty() && grantor == Grantor::Markers => "core",
            "groups" if request.group.is_empty() => "\"\"",
            "groups" => &request.group,
            "resources" => &request.resource,
            _ => request.verb,
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    match words[..] {
        [] => format!("name the {argument} that the code needs; it asks for none of them"),
        _ => {
            let separator = if grantor == Grantor::Markers { ";" } else { ", " };
            let value = assignment(argument, &words.join(separator), grantor);
            format!("name the {argument} that the code asks for: `{value}`")
        }
    }
}

/// Formats a value as a marker argument or as a field of a role.
fn assignment(argument: &str, value: &str, grantor: Grantor) -> String {
    match grantor {
        Grantor::Markers => format!("{argument}={value}"),
        Grantor::Roles => {
            let value = value.replace('*', "\"*\"");
            format!("{}: [{value}]", if argument == "groups" { "apiGroups" } else { argument })
        }
    }
}

/// The notation of kubectl: `deployments.apps/status`.
pub fn resource(Request { group, resource, .. }: &Request) -> String {
    kubectl_name(group, resource)
}

pub fn kubectl_name(group: &str, resource: &str) -> String {
    match (group, resource.split_once('/')) {
        ("" | "core", _) => resource.into(),
        (_, None) => format!("{resource}.{group}"),
        (_, Some((resource, subresource))) => format!("{resource}.{group}/{subresource}"),
    }
}

/// `a`, `b` and `c`, each in backticks.
pub fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match &words[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        words => words.concat(),
    }
}
