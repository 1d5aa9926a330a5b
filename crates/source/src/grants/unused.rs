//! Reports permissions that markers grant and no code requests.
//!
//! A marker grants the product of its lists, and is checked cell by cell. Permissions that no code shows are never
//! reported as unused: verbs that only Kubernetes' own authorization checks, requests of admission plugins on behalf
//! of the operator, and permissions that an operator must have to grant them to others.

use std::collections::BTreeMap;

use super::report::{kubectl_name, listed};
use super::{Extent, Grantor, Home, covers, rule, value};
use crate::grants::diagnostics::OP417;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::{Operator, RbacRule, Request};

/// Verbs of requests.
pub const SEEN: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Resources that grant permissions: the API server only allows users to grant permissions that they have.
const GRANTING: [&str; 2] = ["clusterroles", "roles"];
const BINDING: [&str; 2] = ["clusterrolebindings", "rolebindings"];

const KEEPS: &str = "`opctl check --fix` takes no permission away";

/// The permissions that no request needs; `None` if this cannot be determined.
pub fn unused(operator: &Operator, home: &Home) -> Option<Vec<Diagnostic>> {
    let grants_on = |request: &Request| {
        request.group == "rbac.authorization.k8s.io"
            && [GRANTING, BINDING].concat().contains(&request.resource.as_str())
            && matches!(request.verb, "create" | "patch" | "update")
    };
    // A marker may be for an unknown request: without it, the operator would fail in production.
    if operator.makes_more_requests || operator.requests.iter().any(grants_on) {
        return None;
    }
    let own = operator.rbac.iter().filter(|rule| !rule.is_of_runtime);
    // A role that is bound in several namespaces has the same rule for each of them.
    let is_first = |rule: &&RbacRule| {
        operator.rbac.iter().find(|other| other.span == rule.span).is_some_and(|first| std::ptr::eq(first, *rule))
    };
    let own = own.filter(is_first);
    Some(own.flat_map(|rule| Table::new(rule, operator, home).into_diagnostics()).collect())
}

/// One permission of a marker: the indices of its group, resource and verb.
type Cell = (usize, usize, usize);

struct Table<'a> {
    rule: &'a RbacRule,
    grantor: Grantor,
    /// `true` for cells that a request uses, or whose use cannot be determined.
    cells: BTreeMap<Cell, bool>,
}

impl<'a> Table<'a> {
    fn new(rule: &'a RbacRule, operator: &Operator, home: &Home) -> Self {
        let same: Vec<&RbacRule> = operator.rbac.iter().filter(|other| other.span == rule.span).collect();
        let is_covered = |it: &&Request| same.iter().any(|rule| covers(rule, it, home) != Extent::None);
        let asked: Vec<&Request> = operator.requests.iter().filter(is_covered).collect();
        let mut cells = BTreeMap::new();
        for (g, group) in rule.groups.iter().enumerate() {
            for (r, resource) in rule.resources.iter().enumerate() {
                for (v, verb) in rule.verbs.iter().enumerate() {
                    let cell = one(rule, group, resource, verb);
                    let is_requested = |it: &&Request| rule::matches(&cell, &it.group, &it.resource, it.verb);
                    cells.insert((g, r, v), is_unseen(group, resource, verb) || asked.iter().any(is_requested));
                }
            }
        }
        Self { rule, grantor: home.grantor, cells }
    }

    /// Reports the largest parts first: the whole marker, groups, resources, verbs, then the remaining cells.
    fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        let RbacRule { groups, resources, verbs, .. } = self.rule;
        if !self.cells.is_empty() && self.cells.values().all(|used| !used) {
            let message = format!("nothing in the code needs what this {} grants", self.grantor.rule());
            let whole = warning(message, self.rule.span.clone());
            return vec![match self.grantor {
                Grantor::Markers => whole.help(format!("remove it; {KEEPS}")),
                Grantor::Roles => whole.help("remove it"),
            }];
        }
        let mut warnings = Vec::new();
        warnings.extend(self.take_unused("groups", groups, |cell| cell.0));
        warnings.extend(self.take_unused("resources", resources, |cell| cell.1));
        warnings.extend(self.take_unused("verbs", verbs, |cell| cell.2));
        // With several groups, most have only some of the resources: `apps` has no `jobs`.
        let is_real = |(g, r, _): &Cell| {
            groups.len() == 1
                || self.cells.iter().any(|((group, resource, _), used)| (group, resource) == (g, r) && *used)
        };
        for (v, verb) in verbs.iter().enumerate() {
            let unused = self.cells.iter().filter(|(cell, used)| cell.2 == v && !**used && is_real(cell));
            let on: Vec<String> = unused.map(|((g, r, _), _)| kubectl_name(&groups[*g], &resources[*r])).collect();
            if !on.is_empty() {
                let message = format!("nothing asks for `{verb}` on {}", listed(on.iter().map(String::as_str)));
                let span = value::span(self.rule, "verbs", verb);
                warnings
                    .push(warning(message, span).help(format!("write a {} for each resource", self.grantor.rule())));
            }
        }
        warnings
    }

    /// Reports the unused values of an argument, and removes their cells.
    fn take_unused(&mut self, argument: &str, words: &[String], axis: fn(&Cell) -> usize) -> Vec<Diagnostic> {
        let is_unused = |at: &usize| {
            let mut cells = self.cells.iter().filter(|(cell, _)| axis(cell) == *at).peekable();
            cells.peek().is_some() && cells.all(|(_, used)| !used)
        };
        let unused: Vec<usize> = (0..words.len()).filter(is_unused).collect();
        self.cells.retain(|cell, _| !unused.contains(&axis(cell)));
        // Adjacent values are reported together.
        let runs = unused.chunk_by(|a, b| a + 1 == *b);
        runs.map(|run| self.values(argument, &words[run[0]..=run[run.len() - 1]])).collect()
    }

    fn values(&self, argument: &str, words: &[String]) -> Diagnostic {
        let RbacRule { groups, resources, .. } = self.rule;
        let first = value::span(self.rule, argument, &words[0]);
        let last = value::span(self.rule, argument, &words[words.len() - 1]);
        let span = Span { range: first.range.start..last.range.end.max(first.range.end), ..first };
        let listed = listed(words.iter().map(|word| if word.is_empty() { "\"\"" } else { word }));
        let what = match (argument, &groups[..], &resources[..]) {
            ("verbs", [group], [resource]) => format!("{listed} on `{}`", kubectl_name(group, resource)),
            ("groups", ..) => format!("anything in {listed}"),
            _ => listed,
        };
        warning(format!("nothing asks for {what}"), span).help(match self.grantor {
            Grantor::Markers => format!("remove `{}`; {KEEPS}", words.join(";")),
            Grantor::Roles => format!("remove `{}`", words.join(", ")),
        })
    }
}

fn warning(message: String, span: Span) -> Diagnostic {
    OP417.warning(message).at(span, "granted, but never used")
}

/// The rule for one permission.
fn one(rule: &RbacRule, group: &str, resource: &str, verb: &str) -> RbacRule {
    let [groups, resources, verbs] = [group, resource, verb].map(|word| vec![word.to_owned()]);
    RbacRule { groups, resources, verbs, ..rule.clone() }
}

/// Wildcards are reported separately.
fn is_unseen(group: &str, resource: &str, verb: &str) -> bool {
    group == "*" || resource.starts_with('*') || !SEEN.contains(&verb) || resource.ends_with("/finalizers")
}
