//! Webhook markers → configurations: the recorded cases in `tests/webhook`, and, where `controller-gen` and Go are at
//! hand, the real controller-gen on the same markers and on random ones.
//!
//! On an API server, where one can be started: it takes what is made, and refuses what opctl says that it refuses.
//!
//! A new case is one file: `problems/NAME.rs` or `configurations/NAME.rs`; `SNAPSHOTS=overwrite` records what is expected
//! of it (for `configurations`, by running controller-gen).

#[path = "common/control_plane.rs"]
mod control_plane;
#[path = "common/controller_gen.rs"]
mod controller_gen;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use control_plane::ControlPlane;
use controller_gen::ControllerGen;
use opctl::apiserver::webhooks;
use opctl::diagnostic::{Diagnostic, SourceFile, render};
use opctl::emit::{self, HEADER};
use opctl::model::{Operator, Webhook};
use opctl::source::markers;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

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
    // The first that differs, rather than megabytes of YAML.
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
    /// The API server takes it, and it has no effect or not the one that it seems to have.
    Useless,
    /// Only the API server knows.
    Unseen,
}

/// Patches of a webhook, and what becomes of it.
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

#[test]
fn nothing_is_made_without_webhooks() {
    assert_eq!(emit::webhooks(&Operator::default()), Ok(Vec::new()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

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

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/webhook").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let cases: BTreeSet<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "rs")).collect();
    assert!(!cases.is_empty());
    cases.into_iter().collect()
}

/// What the markers say, and what is said of them and of their webhooks.
fn read(path: &str, text: &str) -> (Operator, Vec<Diagnostic>) {
    let markers = markers::read(&SourceFile::new(path, text));
    let mut diagnostics = markers.diagnostics;
    for Webhook { definition, .. } in &markers.webhooks {
        diagnostics.extend(definition.tell(webhooks::webhook(&definition.value)));
    }
    for conversion in &markers.conversions {
        diagnostics.extend(conversion.definition.tell(webhooks::conversion(&conversion.definition.value)));
    }
    let operator = Operator {
        webhooks: markers.webhooks,
        webhook_configurations: markers.webhook_configurations,
        conversions: markers.conversions,
        ..Operator::default()
    };
    (operator, diagnostics)
}

fn manifests_yaml(text: &str) -> String {
    let (operator, diagnostics) = read("src/lib.rs", text);
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics, false));
    let manifests = emit::webhooks(&operator).unwrap_or_else(|problems| panic!("{}", render(&problems, false)));
    manifests.into_iter().find(|manifest| manifest.path == "webhook/manifests.yaml").unwrap().text
}

/// controller-gen's file of these markers; it does not know lines that go on.
fn run(controller_gen: &ControllerGen, text: &str) -> String {
    let (operator, _) = read("src/lib.rs", text);
    let webhooks = operator.webhooks.iter().map(|webhook| &webhook.definition.place);
    let places = webhooks.chain(operator.webhook_configurations.iter().map(|configuration| &configuration.place));
    let lines = places.map(|place| {
        let lines = place.file.text[place.range.clone()].lines();
        lines.map(|line| line.trim_start_matches("//").trim().trim_end_matches('\\')).collect::<String>()
    });
    let lines: Vec<String> = lines.collect();
    controller_gen.run("webhook", "manifests.yaml", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

/// All in one package: webhooks do not know of each other, and each has a name of its own.
fn random_webhooks(count: usize) -> String {
    let mut runner = TestRunner::deterministic();
    let markers = (0..count).map(|nth| {
        let arguments = any_webhook().new_tree(&mut runner).unwrap().current();
        format!("// +kubebuilder:webhook:{arguments},name={nth:x}.example.com\n")
    });
    markers.collect()
}

/// All arguments but the name, in any order.
fn any_webhook() -> impl Strategy<Value = String> {
    let one = |words: &'static [&'static str]| prop::sample::select(words);
    let some = |name: &'static str, words: &'static [&'static str]| {
        (prop::sample::subsequence(words, 1..=words.len().min(3)).prop_shuffle(), any::<bool>()).prop_map(
            move |(words, braces)| match braces {
                true => format!("{name}={{{}}}", words.join(",")),
                false => format!("{name}={}", words.join(";")),
            },
        )
    };
    let optional = |name: &'static str, values: &'static [&'static str]| {
        prop::option::weighted(0.3, prop::sample::select(values).prop_map(move |value| format!("{name}={value}")))
    };
    let groups =
        prop_oneof![some("groups", &["core", "apps", "\"cache.example.com\"", "`a-b.c`"]), Just("groups=*".into())];
    let versions = prop_oneof![some("versions", &["v1", "\"v1beta1\"", "v2alpha1"]), Just("versions=`*`".into())];
    let resources = prop_oneof![
        some("resources", &["pods", "pods/status", "\"memcacheds\"", "*/scale", "nodes/*"]),
        one(&["resources=*", "resources=\"*/*\"", "resources={\"*\",pods/status}"]).prop_map(Into::into),
    ];
    let verbs = prop_oneof![some("verbs", &["create", "UPDATE", "Delete", "\"connect\""]), Just("verbs=*".into())];
    let reviews = some("admissionReviewVersions", &["v1", "v1beta1"]);
    let rule = (groups, versions, resources, verbs, reviews).prop_map(|(a, b, c, d, e)| vec![a, b, c, d, e]);
    let words = (
        one(&["failurePolicy=fail", "failurePolicy=Ignore", "failurePolicy=\"FAIL\""]),
        one(&["sideEffects=None", "sideEffects=noneOnDryRun"]),
        optional("matchPolicy", &["Exact", "equivalent"]),
        optional("timeoutSeconds", &["1", "10", "30"]),
        optional("webhookVersions", &["v1", "{v1}"]),
    )
        .prop_map(|(a, b, c, d, e)| [vec![a.into(), b.into()], [c, d, e].into_iter().flatten().collect()].concat());
    let service = (
        one(&["path=/", "path=/a", "path=\"/validate-example-com-v1-pod\"", "path=/a/b.c/"]),
        optional("serviceName", &["hooks", "\"a b\""]),
        optional("serviceNamespace", &["other", "`ns`"]),
        optional("servicePort", &["1", "443", "65535"]),
    )
        .prop_map(|(path, a, b, c)| [vec![path.to_owned()], [a, b, c].into_iter().flatten().collect()].concat());
    let url = one(&["url=\"https://a.example.com/b\"", "url=`https://a:8443`"]).prop_map(|url| vec![url.to_owned()]);
    let client = prop_oneof![3 => service, 1 => url];
    let kind = prop_oneof![
        Just(vec!["mutating=false".to_owned()]),
        optional("reinvocationPolicy", &["Never", "ifneeded"])
            .prop_map(|policy| ["mutating=true".to_owned()].into_iter().chain(policy).collect()),
    ];
    let patch = prop::option::of(any_patch().prop_map(|patch| format!("patch=`{patch}`")));
    (rule, words, client, kind, patch)
        .prop_map(|(a, b, c, d, e)| [a, b, c, d, e.into_iter().collect()].concat())
        .prop_shuffle()
        .prop_map(|arguments| arguments.join(","))
}

/// One that leaves a webhook that the API server takes, whatever it is laid over.
fn any_patch() -> impl Strategy<Value = String> {
    let fields: &[&str] = &[
        r#""failurePolicy":"Ignore""#,
        r#""failurePolicy":null"#,
        r#""timeoutSeconds":7"#,
        r#""timeoutSeconds":null"#,
        r#""matchPolicy":null"#,
        r#""namespaceSelector":{}"#,
        r#""namespaceSelector":{"matchLabels":{"a":"b","example.com/c":"","n":null}}"#,
        r#""objectSelector":{"matchExpressions":[{"key":"a","operator":"NotIn","values":["1","yes"]},{"key":"b","operator":"Exists","values":null}]}"#,
        r#""objectSelector":{"matchLabels":{},"matchExpressions":[]}"#,
        r#""matchConditions":[{"name":"a","expression":"request.operation == 'CREATE'"},{"name":"b.c","expression":"has(object.spec) ? true : false\n"}]"#,
        r#""matchConditions":[]"#,
        r#""rules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"],"scope":"Cluster"}]"#,
        r#""rules":[{"apiGroups":["a"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["as"]},{"apiGroups":[""],"apiVersions":["v1"],"operations":["DELETE"],"resources":["bs"],"scope":null}]"#,
        r#""admissionReviewVersions":["v1"]"#,
        r#""sideEffects":"NoneOnDryRun""#,
        r#""clientConfig":{"caBundle":"Q0E="}"#,
        r#""clientConfig":{"caBundle":""}"#,
        r#""clientConfig":{"service":null,"url":"https://b.example.com"}"#,
        r#""clientConfig":{"url":null,"service":{"name":"s","namespace":"n","port":9}}"#,
        r#""clientConfig":{"$patch":"replace","url":"https://c.example.com"}"#,
    ];
    prop::sample::subsequence(fields, 0..4).prop_map(|mut fields| {
        let mut known = BTreeSet::new();
        fields.retain(|field| known.insert(field.split(':').next().unwrap()));
        format!("{{{}}}", fields.join(","))
    })
}
