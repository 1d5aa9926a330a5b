//! Generates roles from RBAC markers, compared with the real controller-gen.

use std::collections::BTreeMap;
use std::{env, fs};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::controller_gen::ControllerGen;
use crate::roles::{CLUSTER, allowed, any_markers, atoms, cases, granted, role_yaml, rules};

#[test]
fn the_recorded_roles_come_from_the_real_controller_gen() {
    let Some(controller_gen) = ControllerGen::find("the_recorded_roles_come_from_the_real_controller_gen") else {
        return;
    };
    for case in cases("roles") {
        let markers = rules(&fs::read_to_string(&case).unwrap());
        // Only the markers that opctl found, since Go has different strings and comments.
        let text: Vec<&str> = markers.iter().map(|rule| &rule.span.file.text[rule.span.range.clone()]).collect();
        snapbox::assert_data_eq!(
            role_of(&controller_gen, &text),
            snapbox::Data::read_from(&case.with_extension("yaml"), None).raw()
        );
    }
}

/// OPCTL_RANDOM_MARKERS is the number of sets of markers.
#[test]
fn random_roles_are_those_of_the_real_controller_gen_byte_for_byte_unless_it_loses_verbs() {
    let name = "random_roles_are_those_of_the_real_controller_gen_byte_for_byte_unless_it_loses_verbs";
    let Some(controller_gen) = ControllerGen::find(name) else { return };
    let sets: u32 = env::var("OPCTL_RANDOM_MARKERS").map_or(400, |sets| sets.parse().unwrap());
    // One run for all sets of markers, since the roles of each set have unique names.
    let mut runner = TestRunner::deterministic();
    let mut markers = Vec::new();
    for set in 0..sets {
        for marker in any_markers().new_tree(&mut runner).unwrap().current() {
            markers.push(match marker.split_once(",roleName=other") {
                Some((head, tail)) => format!("{head},roleName=other-{set}{tail}"),
                None => format!("{marker},roleName=set-{set}"),
            });
        }
    }
    let rules = rules(&markers.join("\n"));
    let markers: Vec<&str> = markers.iter().map(|marker| marker.trim_start_matches("// ")).collect();
    let (theirs, ours) = (role_of(&controller_gen, &markers), role_yaml(&rules, CLUSTER));
    let by_role = |text: &str| -> BTreeMap<String, String> {
        let documents = text.split("---\n").skip(1);
        documents.map(|document| (document.split("rules:").next().unwrap().to_owned(), document.to_owned())).collect()
    };
    let (theirs, ours) = (by_role(&theirs), by_role(&ours));
    assert_eq!(theirs.keys().collect::<Vec<_>>(), ours.keys().collect::<Vec<_>>());
    let (mut lossy, mut covered) = (0, 0);
    for (role, our) in &ours {
        let (their, their_rules, our_rules) = (&theirs[role], granted(&theirs[role]), granted(our));
        let (their_atoms, our_atoms) = (atoms(&their_rules), atoms(&our_rules));
        if their_atoms == our_atoms {
            assert_eq!(our, their);
        } else {
            assert!(their_atoms.is_subset(&our_atoms), "controller-gen grants more:\n{their}\nthan\n{our}");
            lossy += 1;
            covered += usize::from(allowed(&their_rules) == allowed(&our_rules));
        }
    }
    eprintln!(
        "{sets} sets of markers, {} roles: {} equal byte for byte; controller-gen lost permissions in {lossy} ({covered} of \
         them have a wildcard that allows the same)",
        ours.len(),
        ours.len() - lossy
    );
    assert!((1..ours.len() / 2).contains(&lossy), "some random markers should meet the loss, most should not");
}

fn role_of(controller_gen: &ControllerGen, markers: &[&str]) -> String {
    controller_gen.run("rbac:roleName=manager-role", "role.yaml", markers)
}
