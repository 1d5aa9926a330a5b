//! Generates configurations from webhook markers: recorded cases in `tests/webhook`.
//!
//! Each case is one file: `problems/NAME.rs` or `configurations/NAME.rs`; `SNAPSHOTS=overwrite` records the expected
//! output (for `configurations`, `cargo test --test cluster webhook` runs controller-gen).

use std::fs;

use opctl_model::Operator;
use opctl_model::diagnostic::render;
use opctl_source::emit::{self, HEADER};
use proptest::prelude::*;

use crate::webhook_markers::{any_webhook, cases, manifests_yaml, read};

#[test]
fn problems_are_as_recorded() {
    for case in cases("problems") {
        let name = case.file_name().unwrap().to_string_lossy();
        let (operator, mut diagnostics) = read(&format!("src/{name}"), &fs::read_to_string(&case).unwrap());
        diagnostics.extend(emit::webhooks(&operator).err().unwrap_or_default());
        snapbox::assert_data_eq!(
            render(&diagnostics, false),
            snapbox::Data::read_from(&case.with_extension("txt"), None).raw()
        );
    }
}

#[test]
fn configurations_are_byte_for_byte_those_of_controller_gen() {
    for case in cases("configurations") {
        let recorded = fs::read_to_string(case.with_extension("yaml")).unwrap();
        let ours = manifests_yaml(&fs::read_to_string(&case).unwrap());
        assert_eq!(ours, format!("{HEADER}\n{recorded}"), "{}", case.display());
    }
}

#[test]
fn nothing_is_made_without_webhooks() {
    assert_eq!(emit::webhooks(&Operator::default()), Ok(Vec::new()));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_place_is_inside_the_file(
        marker in prop::sample::select(vec!["kubebuilder:webhook", "kubebuilder:webhookconfiguration", "opctl:conversion", "opctl:ca"]),
        arguments in any_webhook(),
        cut in 0.0..1.0,
        noise in r#"[a-z,;={}/.*:"`\\\\é -]{0,6}"#,
    ) {
        let at = arguments.char_indices().nth((arguments.chars().count() as f64 * cut) as usize).map_or(0, |(at, _)| at);
        let (before, after) = arguments.split_at(at);
        let (operator, diagnostics) = read("src/lib.rs", &format!("// +{marker}:name=a.b.c,{before}{noise}{after}\n"));
        prop_assert!(!diagnostics.is_empty() || emit::webhooks(&operator).is_ok_and(|manifests| !manifests.is_empty()));
        render(&diagnostics, false);
    }
}
