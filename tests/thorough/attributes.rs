//! opctl rejects exactly the attributes that the derives of serde, schemars and kube reject, according to their
//! recorded results.

use std::collections::BTreeSet;

use crate::attribute_cases::{Case, accepted_by_opctl, differences, of_kube, of_types, recorded};
use crate::extent::takes_all;
use crate::oracles::Oracle;

/// Compares each case whose number is divisible by `step`.
fn compare(oracle: &Oracle, cases: Vec<Case>, step: usize, accepted: &BTreeSet<String>) {
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "each case has a name of its own");
    assert!(accepted.iter().all(|name| names.contains(name.as_str())), "a recorded case is gone");
    let cases: Vec<Case> = cases.into_iter().step_by(step).collect();
    let recorded = cases.iter().enumerate().filter(|(_, case)| accepted.contains(&case.name));
    let recorded = recorded.map(|(index, _)| index).collect();
    let differences = differences(&cases, &recorded, &accepted_by_opctl(oracle, &cases));
    let how = "`SNAPSHOTS=overwrite cargo test --test compiler attributes` asks the derives";
    assert!(differences.is_empty(), "{} differences; {how}:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn attributes_of_types_are_accepted_as_by_the_derives() {
    let cases = of_types();
    assert!(cases.len() > 5000, "{} cases", cases.len());
    compare(&Oracle::latest(), cases, 1, &recorded()["types"]);
}

/// Without `OPCTL_VERSIONS=all`, a sample of the cases is tested for each earlier release.
#[test]
fn attributes_of_kinds_are_accepted_as_by_each_release_of_kube() {
    let step = if takes_all("OPCTL_VERSIONS") { 1 } else { 10 };
    let earlier = Oracle::earlier().into_iter().map(|oracle| (oracle, step));
    let recorded = recorded();
    for (oracle, step) in earlier.chain([(Oracle::latest(), 1)]) {
        let cases = of_kube(&oracle);
        assert!(cases.len() > 500, "{} cases", cases.len());
        compare(&oracle, cases, step, &recorded[oracle.name()]);
    }
}
