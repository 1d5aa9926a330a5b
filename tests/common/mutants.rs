//! The worked example, each time without one permission.

use std::path::{Path, PathBuf};

use opctl_model::project::Tree;
use opctl_model::{Operator, RbacRule};
use opctl_source as source;

pub struct Mutant {
    /// The removed permission.
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub operator: Operator,
}

pub fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memcached")
}

/// Reads the example, with one file replaced.
pub fn read(changed: Option<(&str, String)>) -> Operator {
    let mut tree = Tree::at(example());
    if let Some((path, text)) = changed {
        tree.lay_over(path, text);
    }
    let source = source::read_requests(&tree, "");
    assert_eq!(source.diagnostics, []);
    source.operator
}

/// A mutant for each permission that the example's code needs. Permissions for the runtime's own requests (Leases,
/// token reviews) come from its markers, so a project cannot lose them, and `opctl check` ignores them.
pub fn mutants() -> Vec<Mutant> {
    let whole = read(None);
    let asks = |rule: &RbacRule| {
        !rule.is_of_runtime || whole.requests.iter().any(|request| rule.resources.contains(&request.resource))
    };
    let rules = whole.rbac.iter().enumerate().filter(|(_, rule)| asks(rule));
    rules.flat_map(|(index, rule)| rule.verbs.iter().map(move |verb| without(index, rule, verb))).collect()
}

fn without(index: usize, rule: &RbacRule, verb: &str) -> Mutant {
    let RbacRule { groups, resources, .. } = rule;
    let ([group], [resource]) = (&groups[..], &resources[..]) else { panic!("the example has a marker a resource") };
    let operator = if rule.is_of_runtime { without_in_runtime(index, verb) } else { without_in_text(rule, verb) };
    Mutant {
        verb: verb.to_owned(),
        group: if group == "core" { String::new() } else { group.clone() },
        resource: resource.clone(),
        operator,
    }
}

/// The runtime's source is not part of the example, so the rule is changed instead.
fn without_in_runtime(index: usize, verb: &str) -> Operator {
    let mut operator = read(None);
    operator.rbac[index].verbs.retain(|other| other != verb);
    operator.rbac.retain(|rule| !rule.verbs.is_empty());
    operator
}

fn without_in_text(rule: &RbacRule, verb: &str) -> Operator {
    let RbacRule { verbs, span, .. } = rule;
    let left: Vec<&str> = verbs.iter().map(String::as_str).filter(|other| *other != verb).collect();
    let text = &span.file.text;
    let list = |verbs: &[&str]| format!("verbs={}", verbs.join(";"));
    let marker = match &left[..] {
        [] => String::new(),
        left => {
            let all: Vec<&str> = verbs.iter().map(String::as_str).collect();
            assert!(text[span.range.clone()].contains(&list(&all)), "the example has its verbs in order");
            text[span.range.clone()].replace(&list(&all), &list(left))
        }
    };
    let text = [&text[..span.range.start], &marker, &text[span.range.end..]].concat();
    read(Some((&span.file.path, text)))
}
