//! A CRD with a PodTemplateSpec: most of its size are descriptions of Kubernetes' types, which can be omitted.

use opctl_source::emit;
use serde_json::Value;

use crate::pod_template::{crd, text};

/// All descriptions in the order of their locations.
fn descriptions(value: &Value) -> Vec<String> {
    match value {
        Value::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match value {
                Value::String(text) if key == "description" => vec![text.clone()],
                value => descriptions(value),
            })
            .collect(),
        Value::Array(list) => list.iter().flat_map(descriptions).collect(),
        _ => Vec::new(),
    }
}

fn without_descriptions(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, value| key != "description" || !value.is_string());
            map.values_mut().for_each(without_descriptions);
        }
        Value::Array(list) => list.iter_mut().for_each(without_descriptions),
        _ => {}
    }
}

#[test]
fn a_pod_template_without_its_descriptions_is_a_third_of_its_size() {
    let (whole, short) = (crd(true), crd(false));
    let (whole_text, short_text) = (text(&whole), text(&short));
    assert!(whole_text.len() > 500_000, "{}", whole_text.len());
    // Client-side apply stores the object in an annotation of at most 262,144 bytes.
    assert!(short_text.len() < 200_000, "{}", short_text.len());
    assert_eq!(
        descriptions(&serde_json::to_value(&short).unwrap()),
        [
            "Auto-generated derived type for JobSpec via `CustomResource`",
            "A job.",
            "The user's own.",
            "A field that is called so.",
            "The program that runs."
        ]
    );
    let [mut whole, mut short] = [whole, short].map(|crd| serde_json::to_value(crd).unwrap());
    without_descriptions(&mut whole);
    without_descriptions(&mut short);
    assert_eq!(whole, short, "nothing but descriptions is left out");
}

#[test]
fn descriptions_are_cut_everywhere_and_nothing_else_is() {
    for max in [0, 1, 40, 200] {
        let mut crds = [crd(true)];
        emit::shorten_descriptions(&mut crds, max);
        let all = descriptions(&serde_json::to_value(&crds[0]).unwrap());
        assert!(all.iter().all(|text| text.chars().count() <= max), "{max}");
        assert_eq!(all.is_empty(), max == 0);
        let [mut whole, mut short] = [&crd(true), &crds[0]].map(|crd| serde_json::to_value(crd).unwrap());
        without_descriptions(&mut whole);
        without_descriptions(&mut short);
        assert_eq!(whole, short);
    }
}
