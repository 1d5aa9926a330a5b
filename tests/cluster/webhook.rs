//! Generates configurations from webhook markers, compared with the real controller-gen for the same markers and random
//! ones. An API server accepts the configurations, and rejects those that opctl rejects.

use std::fs;

use opctl_model::diagnostic::render;
use opctl_source::emit::{self, HEADER};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::control_plane::ControlPlane;
use crate::controller_gen::ControllerGen;
use crate::webhook_markers::{any_webhook, cases, manifests_yaml, read};

#[test]
fn the_recorded_configurations_come_from_the_real_controller_gen() {
    let Some(controller_gen) = ControllerGen::find("the_recorded_configurations_come_from_the_real_controller_gen")
    else {
        return;
    };
    for case in cases("configurations") {
        let text = fs::read_to_string(&case).unwrap();
        snapbox::assert_data_eq!(
            run(&controller_gen, &text),
            snapbox::Data::read_from(&case.with_extension("yaml"), None).raw()
        );
    }
}

#[test]
fn random_webhooks_are_those_of_the_real_controller_gen() {
    let Some(controller_gen) = ControllerGen::find("random_webhooks_are_those_of_the_real_controller_gen") else {
        return;
    };
    let count = std::env::var("OPCTL_RANDOM_MARKERS").map_or(300, |count| count.parse().unwrap());
    let text = random_webhooks(count);
    let (ours, theirs) = (manifests_yaml(&text), format!("{HEADER}\n{}", run(&controller_gen, &text)));
    // The first difference, instead of megabytes of YAML.
    for (ours, theirs) in ours.split("\n- ").zip(theirs.split("\n- ")) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
    eprintln!("{count} webhooks compared");
}

#[test]
fn the_api_server_takes_what_is_made_and_refuses_what_is_said() {
    let Some(cluster) = ControlPlane::start("webhook", 0) else { return };
    let strict = ["create", "--dry-run=server", "--validate=strict", "-f", "-"];
    for case in cases("configurations") {
        cluster.kubectl(&strict, &manifests_yaml(&fs::read_to_string(case).unwrap()));
    }
    cluster.kubectl(&strict, &manifests_yaml(&random_webhooks(300)));

    let mut wrong = String::new();
    for (patch, expected) in &verdicts() {
        let marker = format!(
            "// +kubebuilder:webhook:mutating=true,path=/a,failurePolicy=fail,groups=a,resources=as,verbs=create,\
             versions=v1,name=a.example.com,sideEffects=None,admissionReviewVersions=v1,patch=`{patch}`"
        );
        let (operator, said) = read("src/lib.rs", &marker);
        assert_eq!(operator.webhooks.len(), 1, "{patch}: {}", render(&said, false));
        let manifests = emit::webhooks(&operator).unwrap();
        let answer =
            cluster.run(&strict, &manifests.iter().find(|it| it.path.ends_with("manifests.yaml")).unwrap().text);
        let verdict = match (said.is_empty(), answer.status.success()) {
            (true, true) => Verdict::Taken,
            (false, false) => Verdict::Refused,
            (false, true) => Verdict::Useless,
            (true, false) => Verdict::Unseen,
        };
        if verdict != *expected {
            let answer = String::from_utf8_lossy(&answer.stderr);
            wrong += &format!("{patch}: {verdict:?}, not {expected:?}\n{answer}{}", render(&said, false));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Taken,
    Refused,
    /// The API server accepts the patch, but it has no effect, or not the apparent one.
    Useless,
    /// Only the API server reports it.
    Unseen,
}

/// Patches of a webhook, with the expected verdicts.
fn verdicts() -> Vec<(String, Verdict)> {
    let rule = |field: &str, value: &str| {
        let mut rule = serde_json::json!({
            "operations": ["CREATE"], "apiGroups": ["a"], "apiVersions": ["v1"], "resources": ["as"],
        });
        rule[field] = serde_json::from_str(value).unwrap();
        format!(r#"{{"rules":[{rule}]}}"#)
    };
    let service = |field: &str, value: &str| format!(r#"{{"clientConfig":{{"service":{{"{field}":{value}}}}}}}"#);
    let url = |url: &str| format!(r#"{{"clientConfig":{{"service":null,"url":"{url}"}}}}"#);
    let selector = |selector: &str| format!(r#"{{"objectSelector":{{{selector}}}}}"#);
    let conditions = |conditions: &str| format!(r#"{{"matchConditions":[{conditions}]}}"#);
    let long = format!("\"/validate-{}\"", "a".repeat(80));
    let many: Vec<String> = (0..65).map(|nth| format!(r#"{{"name":"c{nth}","expression":"true"}}"#)).collect();
    let taken = [
        "{}".into(),
        r#"{"name":"a.b.c","failurePolicy":null,"timeoutSeconds":30}"#.into(),
        service("path", "\"/\""),
        service("path", "\"/a/\""),
        service("path", "null"),
        service("path", &long),
        service("port", "65535"),
        url("https://a"),
        url("https://a.b:1/c_D//e"),
        url("https://[::1]:1"),
        rule("resources", r#"["*","pods/status"]"#),
        rule("resources", r#"["pods","pods/*","*/scale"]"#),
        rule("resources", r#"["*/*"]"#),
        rule("apiGroups", r#"["","a"]"#),
        rule("scope", "\"*\""),
        selector(r#""matchLabels":{"a":"","b/c":"d"}"#),
        selector(r#""matchExpressions":[{"key":"a","operator":"DoesNotExist"}]"#),
        conditions(&many[1..].join(",")),
        conditions(r#"{"name":"a.b/c","expression":"authorizer.group('').resource('pods').check('get').allowed()"}"#),
    ];
    let refused = [
        r#"{"name":"a.b"}"#.into(),
        r#"{"name":"a.b.C"}"#.into(),
        r#"{"name":null}"#.into(),
        r#"{"failurePolicy":"fail"}"#.into(),
        r#"{"matchPolicy":"Any"}"#.into(),
        r#"{"reinvocationPolicy":"Always"}"#.into(),
        r#"{"sideEffects":null}"#.into(),
        r#"{"sideEffects":"Some"}"#.into(),
        r#"{"sideEffects":"Unknown"}"#.into(),
        r#"{"sideEffects":"none"}"#.into(),
        r#"{"timeoutSeconds":0}"#.into(),
        r#"{"timeoutSeconds":31}"#.into(),
        r#"{"admissionReviewVersions":[]}"#.into(),
        r#"{"admissionReviewVersions":["v2"]}"#.into(),
        r#"{"admissionReviewVersions":["v1","V1"]}"#.into(),
        r#"{"admissionReviewVersions":["v1","v1"]}"#.into(),
        r#"{"clientConfig":null}"#.into(),
        r#"{"clientConfig":{"url":"https://a"}}"#.into(),
        url("http://a"),
        url("https://"),
        url("https://a?b"),
        url("https://a#b"),
        url("https://a@b"),
        url("https://a:b"),
        url("https://a b"),
        service("name", "\"\""),
        service("namespace", "null"),
        service("port", "0"),
        service("port", "65536"),
        service("path", "\"a\""),
        service("path", "\"//\""),
        service("path", "\"/a//b\""),
        service("path", "\"/a_b\""),
        rule("operations", "[]"),
        rule("operations", r#"["create"]"#),
        rule("operations", r#"["*","CREATE"]"#),
        rule("apiGroups", "[]"),
        rule("apiGroups", r#"["*","a"]"#),
        rule("apiVersions", "[]"),
        rule("apiVersions", r#"[""]"#),
        rule("apiVersions", r#"["v1","*"]"#),
        rule("resources", "[]"),
        rule("resources", r#"[""]"#),
        rule("resources", r#"["*","pods"]"#),
        rule("resources", r#"["pods","*/*"]"#),
        rule("resources", r#"["pods/*","pods/status"]"#),
        rule("resources", r#"["*/status","pods/status"]"#),
        rule("scope", "\"All\""),
        selector(r#""matchLabels":{"a b":"c"}"#),
        selector(r#""matchLabels":{"a":"-"}"#),
        selector(r#""matchExpressions":[{"key":"a","operator":"In"}]"#),
        selector(r#""matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]"#),
        selector(r#""matchExpressions":[{"key":"a","operator":"Is"}]"#),
        selector(r#""matchExpressions":[{"operator":"Exists"}]"#),
        conditions(&many.join(",")),
        conditions(r#"{"name":"a b","expression":"true"}"#),
        conditions(r#"{"expression":"true"}"#),
        conditions(r#"{"name":"a","expression":" "}"#),
        conditions(r#"{"name":"a","expression":"1 +"}"#),
        conditions(r#"{"name":"a","expression":"true"},{"name":"a","expression":"false"}"#),
    ];
    let useless = [
        r#"{"rules":[]}"#.into(),
        rule("operations", r#"["CREATE","CREATE"]"#),
        rule("apiGroups", r#"["a/v1"]"#),
        rule("apiGroups", r#"["A"]"#),
        rule("apiVersions", r#"["1"]"#),
        rule("resources", r#"["Pod"]"#),
        rule("resources", r#"["pods/a/b"]"#),
        rule("resources", r#"["pods/"]"#),
        rule("resources", r#"["po*"]"#),
        rule("resources", r#"["pods","*"]"#),
        rule("resources", r#"["pods/status","pods/*"]"#),
    ];
    let unseen =
        [conditions(r#"{"name":"a","expression":"nothing"}"#), conditions(r#"{"name":"a","expression":"1 + 1"}"#)];
    let all = [
        (taken.to_vec(), Verdict::Taken),
        (refused.to_vec(), Verdict::Refused),
        (useless.to_vec(), Verdict::Useless),
        (unseen.to_vec(), Verdict::Unseen),
    ];
    all.into_iter().flat_map(|(patches, verdict)| patches.into_iter().map(move |patch| (patch, verdict))).collect()
}

/// controller-gen's output for these markers, which it does not support on several lines.
fn run(controller_gen: &ControllerGen, text: &str) -> String {
    let (operator, _) = read("src/lib.rs", text);
    let webhooks = operator.webhooks.iter().map(|webhook| &webhook.definition.span);
    let places = webhooks.chain(operator.webhook_configurations.iter().map(|configuration| &configuration.span));
    let lines = places.map(|span| {
        let lines = span.file.text[span.range.clone()].lines();
        lines.map(|line| line.trim_start_matches("//").trim().trim_end_matches('\\')).collect::<String>()
    });
    let lines: Vec<String> = lines.collect();
    controller_gen.run("webhook", "manifests.yaml", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// All markers in one package: webhooks are independent, and each has a unique name.
fn random_webhooks(count: usize) -> String {
    let mut runner = TestRunner::deterministic();
    let markers = (0..count).map(|nth| {
        let arguments = any_webhook().new_tree(&mut runner).unwrap().current();
        format!("// +kubebuilder:webhook:{arguments},name={nth:x}.example.com\n")
    });
    markers.collect()
}
