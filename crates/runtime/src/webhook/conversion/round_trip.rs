//! Round-trip test: converts random objects from the hub to each spoke and back, and from each spoke to the hub and
//! back.

use std::collections::BTreeMap;
use std::env;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use serde_json::Value;

use super::random::Random;
use super::{Convert, Versions};
use crate::webhook::{Serves, Webhook};

/// Checks that conversions lose no field: converts random objects of each version to the stored version and back, and
/// vice versa.
///
/// `crds` are the project's CustomResourceDefinitions. `kept` lists the fields that a version lacks, and that the
/// annotation restores: pairs of this version and a field, such as `("v1", "spec.size")`, or `("v1",
/// "spec.ports[].name")` in a list. A field includes all fields below it, such as the keys of a map. The environment
/// variable `ROUND_TRIPS=1000` adds 1000 objects to the default of 100 per conversion.
///
/// # Panics
///
/// If a field is lost, or only restored by the annotation and not in `kept`; the message lists these fields. Also if
/// the webhook is not a conversion, its CustomResourceDefinition is not in `crds`, or one of its versions is missing
/// among the spokes.
pub fn round_trip(webhook: &Webhook, crds: &[CustomResourceDefinition], kept: &[(&str, &str)]) {
    let Serves::Conversion(conversion) = &webhook.serves else { panic!("{webhook:?} is not a conversion") };
    let crd = crds.iter().find(|it| it.metadata.name.as_ref() == Some(&conversion.crd));
    let Some(crd) = crd else { panic!("`{}` is not among the CRDs", conversion.crd) };
    let (hub, others): (Vec<_>, Vec<_>) = crd.spec.versions.iter().partition(|it| it.storage);
    assert_eq!(hub[0].name, conversion.hub, "all other versions must set `storage = false`");

    let mut problems = BTreeMap::new();
    for other in others {
        let spoke = conversion.spoke(&format!("{}/{}", conversion.group, other.name));
        let Ok(Some(spoke)) = spoke else { panic!("{} has no spoke for the version {}", conversion.crd, other.name) };
        let [typed_hub, typed_spoke] = spoke.typed;
        let ways = [(hub[0], other, typed_hub), (other, hub[0], typed_spoke)];
        for (from, to, typed) in ways {
            let trip = Trip { conversion, from, to, typed };
            trip.run(kept, &mut problems);
        }
    }
    let lines: Vec<_> = problems.into_iter().map(|(field, why)| format!("\n  {field} {why}")).collect();
    assert!(lines.is_empty(), "{}:{}", conversion.crd, lines.concat());
}

struct Trip<'a> {
    conversion: &'a Versions,
    from: &'a CustomResourceDefinitionVersion,
    to: &'a CustomResourceDefinitionVersion,
    typed: Convert,
}

impl Trip<'_> {
    fn run(&self, kept: &[(&str, &str)], problems: &mut BTreeMap<String, String>) {
        let more = env::var("ROUND_TRIPS").map_or(0, |it| it.parse().expect("a number"));
        let Versions { group, kind, .. } = self.conversion;
        let (from, to) = (&self.from.name, &self.to.name);
        let [api_version, other] = [from, to].map(|it| format!("{group}/{it}"));
        let schema = self.from.schema.as_ref().and_then(|it| it.open_api_v3_schema.as_ref());
        let schema = schema.expect("a version has a schema");
        let mut tried = 0;
        for seed in 0..100 + more {
            // Some objects cannot be decoded, such as those that violate a pattern.
            let random = Random(seed).object(&api_version, kind, schema);
            let Ok(before) = (self.typed)(random) else {
                continue;
            };
            tried += 1;
            let convert = |object, desired| {
                let converted = self.conversion.convert(object, desired);
                converted.unwrap_or_else(|why| panic!("seed {seed} to {desired}: {why}\n{before:#}"))
            };
            let there = convert(before.clone(), &other);
            let after = convert(there.clone(), &api_version);
            compare("", &before, &after, &mut |field, before, after| {
                let why = format!("was {before} and came back from {to} as {after} (seed {seed})");
                problems.entry(format!("{from} {field}")).or_insert(why);
            });

            let annotation = &there["metadata"]["annotations"][format!("conversion.{api_version}")];
            let annotation = annotation.as_str().map(serde_json::from_str::<Value>);
            let Some(Ok(annotation)) = annotation else {
                continue;
            };
            compare("", &annotation["lost"], &annotation["left"], &mut |field, lost, left| {
                if !kept.iter().any(|(version, kept)| version == to && includes(kept, field)) {
                    let why = format!(
                        "was {lost}, but {left} after {to} (seed {seed}): \
                             convert it, or add (\"{to}\", \"{field}\") to the kept fields"
                    );
                    problems.entry(format!("{from} {field}")).or_insert(why);
                }
            });
        }
        assert!(tried > 0, "no random object fits the type of {api_version}");
    }
}

/// `spec.pages` includes `spec.pages`, `spec.pages.index` and `spec.pages[].name`, but not `spec.pagesPerRow`.
fn includes(kept: &str, field: &str) -> bool {
    field.strip_prefix(kept).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Reports each field that differs, with both values.
fn compare(path: &str, one: &Value, other: &Value, found: &mut dyn FnMut(&str, &Value, &Value)) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|it| !a.contains_key(*it))) {
                let path = format!("{path}.{key}");
                compare(path.trim_start_matches('.'), &one[key], &other[key], found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (one, other) in a.iter().zip(b) {
                compare(&format!("{path}[]"), one, other, found);
            }
        }
        _ if one != other => found(path, one, other),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::includes;

    #[test]
    fn a_kept_field_includes_the_fields_below_it() {
        for field in ["spec.pages", "spec.pages.index.html", "spec.pages[].name"] {
            assert!(includes("spec.pages", field), "{field}");
        }
        for field in ["spec", "spec.pagesPerRow", "spec.other"] {
            assert!(!includes("spec.pages", field), "{field}");
        }
    }
}
