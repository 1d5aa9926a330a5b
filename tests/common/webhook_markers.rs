//! Markers of webhooks, and the configurations generated from them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use opctl_model::diagnostic::{Diagnostic, SourceFile, render};
use opctl_model::{Operator, Webhook};
use opctl_schema::apiserver::webhooks;
use opctl_source::emit;
use opctl_source::markers;
use proptest::prelude::*;

pub fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/webhook").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let cases: BTreeSet<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "rs")).collect();
    assert!(!cases.is_empty());
    cases.into_iter().collect()
}

/// The markers, and all diagnostics about them and their webhooks.
pub fn read(path: &str, text: &str) -> (Operator, Vec<Diagnostic>) {
    let markers = markers::read(&SourceFile::new(path, text));
    let mut diagnostics = markers.diagnostics;
    for Webhook { definition, .. } in &markers.operator.webhooks {
        diagnostics.extend(definition.attach_spans(webhooks::webhook(&definition.value)));
    }
    for conversion in &markers.operator.conversions {
        diagnostics.extend(conversion.definition.attach_spans(webhooks::conversion(&conversion.definition.value)));
    }
    let operator = Operator {
        webhooks: markers.operator.webhooks,
        webhook_configurations: markers.operator.webhook_configurations,
        conversions: markers.operator.conversions,
        ..Operator::default()
    };
    (operator, diagnostics)
}

pub fn manifests_yaml(text: &str) -> String {
    let (operator, diagnostics) = read("src/lib.rs", text);
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics, false));
    let manifests = emit::webhooks(&operator).unwrap_or_else(|problems| panic!("{}", render(&problems, false)));
    manifests.into_iter().find(|manifest| manifest.path == "webhook/manifests.yaml").unwrap().text
}

/// All arguments except the name, in any order.
pub fn any_webhook() -> impl Strategy<Value = String> {
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

/// A patch after which the API server still accepts any webhook.
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
