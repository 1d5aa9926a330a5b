//! Diagnostics of `opctl check` for the worked example with one permission less.
//! `tests/operators/examples/memcached.rs` verifies them with an API server.

use opctl_model::diagnostic::Span;
use opctl_source::grants::{self, Home};

use crate::mutants;

#[test]
fn no_permission_of_the_example_goes_unnoticed() {
    let around = |span: &Span| opctl_edit::function_at(&span.file.text, span.range.start).unwrap().range;
    let whole = mutants::read(None);
    assert!(grants::missing(&whole, &Home::default(), around).is_empty());
    assert_eq!(grants::unused(&whole, &Home::default()), Some(Vec::new()));
    let mutants = mutants::mutants();
    assert!(mutants.len() > 8, "the example has more permissions");
    for mutant in mutants {
        let missing = grants::missing(&mutant.operator, &Home::default(), around);
        let said: Vec<_> =
            missing.iter().map(|it| (it.first().group.as_str(), it.first().resource.as_str(), it.verbs())).collect();
        assert_eq!(said, [(mutant.group.as_str(), mutant.resource.as_str(), vec![mutant.verb.as_str()])]);
        assert!(grants::too_narrow(&mutant.operator, &Home::default()).is_empty());
    }
}
