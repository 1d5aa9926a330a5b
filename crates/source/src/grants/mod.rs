//! Compares the permissions that markers grant with the requests of the code. Pure: an [`Operator`] in, a decision
//! for each request and diagnostics out.
//!
//! A request is granted if the API server would grant it to a client that has exactly the roles of the markers.
//! Anything that is known only at run time (the namespace, the object) is never reported.

pub mod diagnostics;
mod report;
mod rule;
mod unused;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub use report::{kubectl_name, too_narrow, wildcards};
pub use rule::{Extent, covers};
pub use unused::unused;

use opctl_model::diagnostic::Span;
use opctl_model::{Operator, RbacRule, Reach, Request};

/// The operator's namespace, and the namespaces of its roles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Home {
    /// The operator's own namespace, if its name is known.
    pub namespace: Option<String>,
    /// Markers without `namespace=` grant by a Role in `namespaces` instead of by a ClusterRole, except for
    /// cluster-scoped resources.
    pub namespaced: bool,
    /// The namespaces of these Roles; empty means the operator's own.
    pub namespaces: Vec<String>,
    /// The operator's own cluster-scoped kinds, by group and plural.
    pub cluster_kinds: BTreeSet<(String, String)>,
    pub grantor: Grantor,
}

/// The origin of the rules, which decides the wording of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grantor {
    /// Markers, from which opctl generates the roles.
    #[default]
    Markers,
    /// Roles from manifests.
    Roles,
}

impl Grantor {
    /// The noun for a rule in messages.
    fn rule(self) -> &'static str {
        match self {
            Self::Markers => "marker",
            Self::Roles => "rule",
        }
    }
}

/// The decision about one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Indices of the markers that grant it.
    Granted(Vec<usize>),
    /// Indices of markers that grant only a part: one namespace of several, or only objects with certain names.
    TooNarrow(Vec<usize>),
    Missing,
}

/// The requests of `opctl-runtime` itself, derived from its markers; roles from manifests must grant them, too.
pub fn of_runtime(rules: &[RbacRule]) -> Vec<Request> {
    let mut requests = Vec::new();
    for rule in rules.iter().filter(|rule| rule.is_of_runtime) {
        for (group, resource) in rule.groups.iter().flat_map(|group| rule.resources.iter().map(move |it| (group, it))) {
            let verbs = unused::SEEN.iter().filter(|verb| rule.verbs.iter().any(|word| word == *verb));
            requests.extend(verbs.map(|verb| Request {
                verb,
                group: rule::api_group(group).to_owned(),
                resource: resource.clone(),
                reach: if rule.namespace.is_some() { Reach::SomeNamespace } else { Reach::Unknown },
                span: rule.span.clone(),
                by: "opctl-runtime".into(),
                within: None,
                optional: false,
            }));
        }
    }
    requests
}

/// One decision for each request.
pub fn decisions(operator: &Operator, home: &Home) -> Vec<Decision> {
    operator.requests.iter().map(|request| decision(&operator.rbac, request, home)).collect()
}

fn decision(rules: &[RbacRule], request: &Request, home: &Home) -> Decision {
    let with = |wanted: Extent| -> Vec<usize> {
        let has = |(number, rule)| (covers(rule, request, home) == wanted).then_some(number);
        rules.iter().enumerate().filter_map(has).collect()
    };
    // A marker of the runtime that grants a part is for requests of its own.
    let mut narrow = with(Extent::Part);
    narrow.retain(|number| !rules[*number].is_of_runtime);
    match (with(Extent::Whole), narrow) {
        (granted, _) if !granted.is_empty() => Decision::Granted(granted),
        (_, narrow) if !narrow.is_empty() => Decision::TooNarrow(narrow),
        _ => Decision::Missing,
    }
}

/// Missing permissions on one resource, reported at their first requests.
#[derive(Clone, Debug)]
pub struct Missing<'a> {
    /// In source order, including those of other functions; never empty.
    pub requests: Vec<&'a Request>,
    /// The `namespace=` of a marker for them.
    pub namespace: Option<&'a str>,
}

/// The missing permissions, each once: at the first function that requests it. `around` returns the range of the
/// function around a position, including the comments and attributes above it.
pub fn missing<'a>(operator: &'a Operator, home: &Home, around: impl Fn(&Span) -> Range<usize>) -> Vec<Missing<'a>> {
    let is_missing = |(request, decision): &(&Request, Decision)| {
        *decision == Decision::Missing && !request.optional && !rule::is_out_of_reach(request, home)
    };
    let requests = operator.requests.iter().zip(decisions(operator, home)).filter(is_missing);
    let requests: Vec<&Request> = requests.map(|(request, _)| request).collect();
    let permission = |request: &'a Request| (&request.group, &request.resource, request.verb);
    let everywhere = requests.iter().filter(|request| rule::namespace_for(request, home).is_none());
    let everywhere: BTreeSet<_> = everywhere.map(|request| permission(request)).collect();

    let mut owners = BTreeMap::new();
    let mut missing: Vec<(_, Missing)> = Vec::new();
    for request in requests {
        // A permission in all namespaces includes each namespace, unless the operator only has Roles.
        let is_covered = !home.namespaced && everywhere.contains(&permission(request));
        let namespace = rule::namespace_for(request, home).filter(|_| !is_covered);
        let function = (&request.span.file.path, around(&request.span).start);
        let owner = *owners.entry((permission(request), namespace)).or_insert(function);
        let key = (owner, &request.group, &request.resource, namespace);
        match missing.iter_mut().find(|(other, _)| *other == key) {
            Some((_, missing)) => missing.requests.push(request),
            None => missing.push((key, Missing { requests: vec![request], namespace })),
        }
    }
    missing.into_iter().map(|(_, missing)| missing).collect()
}

/// Rules for the requests that no marker grants. They become the role of an adopted crate, which need not have
/// markers.
pub fn rules_for_requests(operator: &Operator, home: &Home) -> Vec<RbacRule> {
    missing(operator, home, |span| span.range.clone()).iter().map(Missing::granting).collect()
}

impl<'a> Missing<'a> {
    /// The rule that grants these requests.
    fn granting(&self) -> RbacRule {
        let Request { group, resource, span, .. } = self.first();
        RbacRule {
            namespace: self.namespace.map(str::to_owned),
            role_name: None,
            groups: vec![group.clone()],
            resources: vec![resource.clone()],
            resource_names: Vec::new(),
            verbs: self.verbs().into_iter().map(str::to_owned).collect(),
            urls: Vec::new(),
            is_of_runtime: true,
            is_for_certificates: false,
            span: span.clone(),
        }
    }

    /// The first request, in the function for which the marker is.
    pub fn first(&self) -> &'a Request {
        self.requests[0]
    }

    /// Sorted and without duplicates.
    pub fn verbs(&self) -> Vec<&'static str> {
        let mut verbs: Vec<_> = self.requests.iter().map(|request| request.verb).collect();
        verbs.sort_unstable();
        verbs.dedup();
        verbs
    }

    /// The RBAC rule that grants it, as YAML.
    fn rule(&self) -> String {
        let Request { group, resource, .. } = self.first();
        let group = if group.is_empty() { "\"\"" } else { group };
        format!("- apiGroups: [{group}]\n  resources: [{resource}]\n  verbs: [{}]", self.verbs().join(", "))
    }

    /// The marker that grants it, from its `+`.
    pub fn marker(&self) -> String {
        self.marker_with(&self.verbs())
    }

    /// One of these markers, extended to grant the missing verbs. It must be about the same resource and nothing
    /// else.
    pub fn extended(&self, rules: &'a [RbacRule], around: &Range<usize>) -> Option<(&'a Span, String)> {
        let request = self.first();
        let is_alike = |rule: &&RbacRule| {
            rule.groups.iter().map(|group| rule::api_group(group)).eq([&*request.group])
                && rule.resources == [request.resource.as_str()]
                && rule.namespace.as_deref() == self.namespace
                && rule.resource_names.is_empty()
                && rule.urls.is_empty()
                && rule.role_name.is_none()
                && rule.span.file.path == request.span.file.path
                && around.contains(&rule.span.range.start)
        };
        let rule = rules.iter().find(is_alike)?;
        let mut verbs: Vec<&str> = rule.verbs.iter().map(String::as_str).collect();
        let sorted = verbs.is_sorted();
        verbs.extend(self.verbs());
        if sorted {
            verbs.sort_unstable();
        }
        Some((&rule.span, self.marker_with(&verbs)))
    }

    fn marker_with(&self, verbs: &[&str]) -> String {
        let Request { group, resource, .. } = self.first();
        let group = if group.is_empty() { "core" } else { group };
        let namespace = self.namespace.map(|name| format!(",namespace={name}")).unwrap_or_default();
        format!("+kubebuilder:rbac:groups={group},resources={resource},verbs={}{namespace}", verbs.join(";"))
    }
}
