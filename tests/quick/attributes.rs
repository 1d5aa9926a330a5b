//! opctl refuses the attributes that the derives of serde, schemars and kube refuse, and no others, here as the verdict of
//! the derives was recorded.

use std::collections::BTreeSet;

use crate::attribute_cases::{Case, accepted_by_opctl, differences, of_kube, of_types, recorded};
use crate::oracles::Oracle;

fn compare(oracle: &Oracle, cases: &[Case], accepted: &BTreeSet<String>) {
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "each case has a name of its own");
    assert!(accepted.iter().all(|name| names.contains(name.as_str())), "a recorded case is gone");
    let recorded = cases.iter().enumerate().filter(|(_, case)| accepted.contains(&case.name));
    let recorded = recorded.map(|(index, _)| index).collect();
    let differences = differences(cases, &recorded, &accepted_by_opctl(oracle, cases));
    let how = "`SNAPSHOTS=overwrite cargo test --test compiler attributes` asks the derives";
    assert!(differences.is_empty(), "{} differences; {how}:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn attributes_of_types_are_accepted_as_by_the_derives() {
    let cases = of_types();
    assert!(cases.len() > 5000, "{} cases", cases.len());
    compare(&Oracle::latest(), &cases, &recorded()["types"]);
}

#[test]
fn attributes_of_kinds_are_accepted_as_by_the_recorded_releases_of_kube() {
    let recorded = recorded();
    let oracles = Oracle::earlier().into_iter().chain([Oracle::latest()]);
    for oracle in oracles.filter(|oracle| recorded.contains_key(oracle.name())) {
        let cases = of_kube(&oracle);
        assert!(cases.len() > 500, "{} cases", cases.len());
        compare(&oracle, &cases, &recorded[oracle.name()]);
    }
}
