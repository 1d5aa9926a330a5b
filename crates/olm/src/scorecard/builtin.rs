//! operator-sdk's six tests, as functions of the bundle, without its image. Source: `internal/scorecard/tests` of
//! operator-sdk.

use serde_json::Value as Json;

use super::{State, Test, TestResult};
use crate::bundle::Manifest;
use crate::bundle::table::Family;
use crate::bundle::{self, Bundle, Finding};
use opctl_kustomize::yaml::Node;

pub const NAMES: [&str; 6] = [
    "basic-check-spec",
    "olm-bundle-validation",
    "olm-crds-have-validation",
    "olm-crds-have-resources",
    "olm-spec-descriptors",
    "olm-status-descriptors",
];

/// The name of a test implemented here: `scorecard-test NAME` in operator-sdk's image.
pub fn name(test: &Test) -> Option<&'static str> {
    let path = test.image.split(['@']).next().unwrap_or_default();
    let repository = match path.rsplit_once('/') {
        Some((host, name)) => format!("{host}/{}", name.split(':').next().unwrap_or_default()),
        None => path.to_owned(),
    };
    let [program, name] = &test.entrypoint[..] else { return None };
    let is_its = repository.ends_with("operator-framework/scorecard-test") && program == "scorecard-test";
    NAMES.into_iter().find(|known| is_its && known == name)
}

/// `findings` are those of loading the bundle, including the reasons if it is `None`.
pub fn run(name: &'static str, bundle: Option<&Bundle>, findings: &[Finding]) -> TestResult {
    let mut result = TestResult { name: name.to_owned(), ..TestResult::default() };
    if name == "olm-bundle-validation" {
        result.log = format_log(bundle, findings);
        return validation(result, findings);
    }
    let Some(bundle) = bundle else {
        result.state = State::Fail;
        result.errors.extend(findings.iter().map(shown));
        return result;
    };
    if name != "olm-crds-have-resources"
        && let Some((problem, span)) = bundle::examples_problem(bundle)
    {
        result.state = if name == "basic-check-spec" { State::Fail } else { State::Error };
        result.errors.push(format!("{span}: the examples in `alm-examples` cannot be read: {problem}"));
        return result;
    }
    let examples: Vec<Json> = bundle::examples(bundle).iter().map(Node::json).collect();
    let of_csv = format!("Loaded ClusterServiceVersion: {}\n", bundle.csv().name());
    let of_examples = format!("Loaded {} Custom Resources from alm-examples\n", examples.len());
    let names: Vec<&str> = bundle.crds().map(Manifest::name).collect();
    let of_crds = format!("Loaded CustomresourceDefinitions: [{}]\n", names.join(" "));
    result.log = match name {
        "basic-check-spec" => String::new(),
        "olm-crds-have-validation" => of_examples + &of_crds,
        "olm-crds-have-resources" => of_csv,
        _ => of_csv + &of_examples,
    };
    match name {
        "basic-check-spec" => spec(result, &examples),
        "olm-crds-have-validation" => schemas(result, bundle, &examples),
        "olm-crds-have-resources" => resources(result, bundle),
        "olm-spec-descriptors" => spec_descriptors(result, bundle, &examples),
        _ => status_descriptors(result, bundle, &examples),
    }
}

/// The lines that operator-registry logs about the format of the bundle, without their times.
fn format_log(bundle: Option<&Bundle>, findings: &[Finding]) -> String {
    let passes = |rule: &str| findings.iter().all(|finding| finding.rule.id != rule);
    if !passes("bundle-folders") {
        return String::new();
    }
    let has_dependencies = bundle.is_some_and(|bundle| bundle.dependencies.iter().any(|list| !list.items().is_empty()));
    let lines = [
        Some("Found manifests directory"),
        Some("Found metadata directory"),
        Some("Getting mediaType info from manifests directory"),
        passes("bundle-metadata").then_some("Found annotations file"),
        Some(if has_dependencies { "Found dependencies file" } else { "Could not find optional dependencies file" }),
    ];
    lines.into_iter().flatten().map(|line| format!("level=debug msg=\"{line}\" name=bundle-test\n")).collect()
}

/// Errors by operator-framework's rules fail the test; all other findings are suggestions.
fn validation(mut result: TestResult, findings: &[Finding]) -> TestResult {
    for finding in findings {
        if finding.diagnostic.is_error() && finding.rule.family != Family::Opctl {
            result.state = State::Fail;
            result.errors.push(shown(finding));
        } else {
            result.suggestions.push(shown(finding));
        }
    }
    result
}

fn shown(finding: &Finding) -> String {
    let message = &finding.diagnostic.message;
    finding.diagnostic.span.as_ref().map_or_else(|| message.clone(), |(span, _)| format!("{span}: {message}"))
}

fn object_name(example: &Json) -> &str {
    example["metadata"]["name"].as_str().unwrap_or_default()
}

fn kind(example: &Json) -> (&str, &str) {
    let version = example["apiVersion"].as_str().unwrap_or_default();
    (version.rsplit('/').next().unwrap_or_default(), example["kind"].as_str().unwrap_or_default())
}

fn spec(mut result: TestResult, examples: &[Json]) -> TestResult {
    if let Some(example) = examples.iter().find(|example| example["spec"].is_null()) {
        result.suggestions.push(format!("the example `{}` has no spec", object_name(example)));
    }
    result
}

fn schemas(mut result: TestResult, bundle: &Bundle, examples: &[Json]) -> TestResult {
    let crds: Vec<Json> = bundle.crds().map(as_v1).collect();
    for example in examples {
        let (version, kind) = kind(example);
        for crd in crds
            .iter()
            .filter(|crd| crd["spec"]["names"]["kind"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(kind)))
        {
            let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
            for of_version in
                versions.filter(|it| it["name"].as_str().is_some_and(|name| name.eq_ignore_ascii_case(version)))
            {
                let schema = &of_version["schema"]["openAPIV3Schema"];
                if schema.is_null() {
                    result.suggestions.push(format!("add a schema to the CRD of {kind}/{version}"));
                    continue;
                }
                for part in ["spec", "status"] {
                    for key in example[part].as_object().into_iter().flatten().map(|(key, _)| key) {
                        if schema["properties"][part]["properties"][key].is_null() {
                            result.state = State::Fail;
                            result
                                .suggestions
                                .push(format!("add the {part} field `{key}` to the schema of {kind}/{version}"));
                        }
                    }
                }
                if result.state == State::Fail {
                    return result;
                }
            }
        }
    }
    result
}

/// Copies the schema and similar fields of the older format to each version.
fn as_v1(crd: &Manifest) -> Json {
    let mut json = crd.node.json();
    let schema = json["spec"]["validation"].clone();
    if !json["spec"]["versions"].is_array() {
        json["spec"]["versions"] = serde_json::json!([{"name": json["spec"]["version"]}]);
    }
    for version in json["spec"]["versions"].as_array_mut().into_iter().flatten().filter(|it| it.is_object()) {
        if version["schema"].is_null() && schema.is_object() {
            version["schema"] = schema.clone();
        }
    }
    json
}

fn resources(mut result: TestResult, bundle: &Bundle) -> TestResult {
    if let Some(owned) = bundle.owned().iter().find(|owned| owned.items_at(&["resources"]).is_empty()) {
        result.state = State::Fail;
        result
            .errors
            .push(format!("the owned CRD `{}` lists no resources", owned.text_at(&["name"]).unwrap_or_default()));
    }
    result
}

fn owned<'a>(bundle: &'a Bundle, example: &Json) -> Result<&'a Node, String> {
    let (version, kind) = kind(example);
    let is_it = |owned: &&Node| owned.text_at(&["kind"]) == Some(kind) && owned.text_at(&["version"]) == Some(version);
    let missing = || format!("the example `{}` is of {kind}/{version}, which is not owned", object_name(example));
    bundle.owned().iter().find(is_it).ok_or_else(missing)
}

fn spec_descriptors(mut result: TestResult, bundle: &Bundle, examples: &[Json]) -> TestResult {
    for example in examples {
        let Some(spec) = example["spec"].as_object() else {
            result.state = State::Fail;
            result.errors.push(format!("the example `{}` has no spec", object_name(example)));
            continue;
        };
        match owned(bundle, example) {
            Err(problem) => {
                result.state = State::Fail;
                result.errors.push(problem);
            }
            Ok(owned) => {
                let has = |key: &str| {
                    owned.items_at(&["specDescriptors"]).iter().any(|it| it.text_at(&["path"]) == Some(key))
                };
                for key in spec.keys().filter(|key| !has(key)) {
                    result.state = State::Fail;
                    result.errors.push(format!("{key} does not have a spec descriptor"));
                    result.suggestions.push(format!("add a spec descriptor for {key}"));
                }
            }
        }
    }
    result
}

fn status_descriptors(mut result: TestResult, bundle: &Bundle, examples: &[Json]) -> TestResult {
    for example in examples {
        match owned(bundle, example) {
            Err(problem) => {
                result.state = State::Fail;
                result.errors.push(problem);
            }
            Ok(owned) => {
                let name = owned.text_at(&["name"]).unwrap_or_default();
                let has_status = example["status"].as_object().is_some_and(|status| !status.is_empty());
                if !has_status {
                    result.suggestions.push(format!("the example of {name} has no status"));
                } else if owned.items_at(&["statusDescriptors"]).is_empty() {
                    result.state = State::Fail;
                    result.errors.push(format!("{name} does not have a status descriptor"));
                    result.suggestions.push(format!("add a status descriptor for {name}"));
                }
            }
        }
    }
    result
}
