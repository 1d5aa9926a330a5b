//! `opctl check` on whole projects: the worked example with one permission less each time, and every golden project.

#[path = "common/golden.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod golden;
#[path = "common/mutants.rs"]
mod mutants;
#[path = "cli/sandbox.rs"]
#[expect(dead_code, reason = "other tests need more of it")]
mod sandbox;

use golden::{Golden, shell};
use opctl::diagnostic::Span;
use opctl::grants::{self, Home};

#[test]
fn no_permission_of_the_example_goes_unnoticed() {
    let around = |place: &Span| opctl::edit::function_at(&place.file.text, place.range.start).unwrap().range;
    let whole = mutants::read(None);
    assert!(grants::missing(&whole, &Home::default(), around).is_empty());
    assert_eq!(grants::unused(&whole, &Home::default()), []);
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

#[test]
fn every_scaffold_is_granted_what_it_asks_for_and_no_more() {
    for name in golden::names() {
        let golden = Golden::read(&name);
        let sandbox = golden.make(|_, _| ());
        shell(&sandbox, "opctl check --deny-warnings");
    }
}
