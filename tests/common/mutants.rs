//! The worked example, with one permission less each time.

use std::path::{Path, PathBuf};

use opctl::model::{Operator, RbacRule};
use opctl::project::Tree;
use opctl::source;

pub struct Mutant {
    /// What it lost.
    pub verb: String,
    pub group: String,
    pub resource: String,
    pub operator: Operator,
}

pub fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/memcached")
}

/// What is read of the example, as it is but for one file.
pub fn read(changed: Option<(&str, String)>) -> Operator {
    let mut tree = Tree::at(example());
    if let Some((path, text)) = changed {
        tree.lay_over(path, text);
    }
    let source = source::read_requests(&tree, "");
    assert_eq!(source.diagnostics, []);
    source.operator
}

/// One for each permission of each marker.
pub fn mutants() -> Vec<Mutant> {
    read(None).rbac.iter().flat_map(|rule| rule.verbs.iter().map(|verb| without(rule, verb))).collect()
}

fn without(rule: &RbacRule, verb: &str) -> Mutant {
    let RbacRule { groups, resources, verbs, place, .. } = rule;
    let ([group], [resource]) = (&groups[..], &resources[..]) else { panic!("the example has a marker a resource") };
    let left: Vec<&str> = verbs.iter().map(String::as_str).filter(|other| *other != verb).collect();
    let text = &place.file.text;
    let list = |verbs: &[&str]| format!("verbs={}", verbs.join(";"));
    let marker = match &left[..] {
        [] => String::new(),
        left => {
            let all: Vec<&str> = verbs.iter().map(String::as_str).collect();
            assert!(text[place.range.clone()].contains(&list(&all)), "the example has its verbs in order");
            text[place.range.clone()].replace(&list(&all), &list(left))
        }
    };
    let text = [&text[..place.range.start], &marker, &text[place.range.end..]].concat();
    Mutant {
        verb: verb.to_owned(),
        group: if group == "core" { String::new() } else { group.clone() },
        resource: resource.clone(),
        operator: read(Some((&place.file.path, text))),
    }
}
