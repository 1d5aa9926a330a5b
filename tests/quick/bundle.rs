//! `opctl bundle validate`: a valid bundle, and a case for each violation of a rule (`tests/bundle/cases.txt`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use opctl_model::diagnostic::Severity;
use opctl_model::project::Tree;
use opctl_olm::bundle::{self, Finding, Findings, Folder, Options, RULES, Validator};
use opctl_olm::render::{Installation, render};
use proptest::prelude::*;
use serde_json::Value;

const GOOD: &str = "tests/bundle/good";
const CASES: &str = include_str!("../bundle/cases.txt");

/// A tree with the valid bundle, whose files can be replaced or deleted.
struct Files(Vec<(String, String)>);

impl Files {
    fn good() -> Self {
        let tree = Tree::at(GOOD);
        let paths = tree.files_below("").unwrap();
        assert!(paths.len() > 5, "the good bundle is not found");
        Self(paths.into_iter().map(|path| (path.clone(), tree.read(&path).unwrap().unwrap())).collect())
    }

    fn write(&mut self, path: &str, text: String) {
        self.0.retain(|(known, _)| known != path);
        self.0.push((path.to_owned(), text));
    }

    fn json(&self, path: &str) -> Value {
        let (_, text) = self.0.iter().find(|(known, _)| known == path).unwrap_or_else(|| panic!("no file `{path}`"));
        opctl_model::yaml::read(text).unwrap()
    }

    fn tree(&self) -> Tree {
        let mut tree = Tree::at("tests/bundle/nowhere");
        for (path, text) in &self.0 {
            tree.lay_over(path, text);
        }
        tree
    }

    fn validate(&self, options: &Options) -> Vec<Finding> {
        bundle::validate(Folder { tree: &self.tree(), shown: "bundle" }, options)
    }

    /// The objects that OLM creates in the namespace `here`, as `KIND NAME`.
    fn render(&self) -> BTreeMap<String, Value> {
        let bundle = bundle::load(Folder { tree: &self.tree(), shown: "bundle" }, &mut Findings::default()).unwrap();
        let installation = Installation { bundle: &bundle, namespace: "here", watched: &BTreeSet::new() };
        let objects = render(&installation).unwrap_or_else(|error| panic!("{error}")).into_iter();
        let name = |object: &Value| format!("{} {}", text(object, "/kind"), text(object, "/metadata/name"));
        objects.map(|object| (name(&object), object)).collect()
    }
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn file(word: &str) -> &str {
    match word {
        "CSV" => "manifests/memcached-operator.clusterserviceversion.yaml",
        "CRD" => "manifests/cache.example.com_memcacheds.yaml",
        "PDB" => "manifests/memcached-budget_policy_v1_poddisruptionbudget.yaml",
        "ROLE" => "manifests/viewer_rbac.authorization.k8s.io_v1_clusterrole.yaml",
        "BINDING" => "manifests/viewer_rbac.authorization.k8s.io_v1_clusterrolebinding.yaml",
        "META" => "metadata/annotations.yaml",
        "DOCKER" => "bundle.Dockerfile",
        path => path,
    }
}

fn options(validators: impl IntoIterator<Item = Validator>) -> Options {
    Options { validators: validators.into_iter().collect(), ..Options::default() }
}

#[test]
fn a_good_bundle_has_no_findings() {
    let findings = Files::good().validate(&options(Validator::ALL));
    let found: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.id).collect();
    // Warnings about deprecated validators, and about images, which are not inspected.
    assert_eq!(found, BTreeSet::from(["multiarch-image", "validator-deprecated"]), "{findings:#?}");
}

/// Format: `E rule + others @ validators`.
struct Case<'a> {
    severity: Option<Severity>,
    rule: &'a str,
    others: BTreeSet<&'a str>,
    options: Options,
    edits: Vec<&'a str>,
}

fn cases() -> Vec<Case<'static>> {
    let is_text = |line: &&str| !line.starts_with('#');
    let blocks =
        CASES.split("\n\n").map(|block| block.lines().filter(is_text).filter(|line| !line.is_empty()).collect());
    let case = |lines: Vec<&'static str>| {
        let (head, edits) = lines.split_first()?;
        let mut words = head.split_whitespace();
        let severity = match words.next()? {
            "E" => Some(Severity::Error),
            "W" => Some(Severity::Warning),
            "ok" => None,
            word => panic!("`{word}` in `{head}`"),
        };
        let rule = words.next().expect("a rule");
        let (mut others, mut validators, mut sign) = (BTreeSet::new(), Vec::new(), "");
        for word in words {
            match (word, sign) {
                ("+" | "@", _) => sign = word,
                (word, "+") => _ = others.insert(word),
                (word, _) => validators.push(Validator::ALL.into_iter().find(|it| it.name() == word).expect(word)),
            }
        }
        Some(Case { severity, rule, others, options: options(validators), edits: edits.to_vec() })
    };
    blocks.filter_map(case).collect()
}

fn edit(files: &mut Files, line: &str) {
    let (verb, rest) = line.split_once(' ').unwrap();
    let (place, value) = rest.split_once(" = ").unwrap_or((rest, ""));
    let (name, path) = place.split_once(' ').unwrap_or((place, ""));
    let path: Vec<String> = path.split('/').map(|step| step.replace("~1", "/")).collect();
    let name = file(name);
    let value = || serde_json::from_str::<Value>(value).unwrap_or_else(|error| panic!("{line}: {error}"));
    match verb {
        "delete" => files.0.retain(|(known, _)| known != name),
        "write" => {
            let value = value();
            files.write(name, value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        "random" | "letters" => files.write(name, config_map(value().as_u64().unwrap(), verb == "random")),
        "set" | "remove" => {
            let mut json = files.json(name);
            let (last, parents) = path.split_last().unwrap();
            let mut at = &mut json;
            for step in parents {
                at = match at {
                    Value::Array(items) => &mut items[step.parse::<usize>().unwrap()],
                    at => &mut at[step.as_str()],
                };
            }
            match (verb, at) {
                ("set", Value::Array(items)) => items[last.parse::<usize>().unwrap()] = value(),
                ("set", at) => at[last.as_str()] = value(),
                (_, at) => {
                    let removed = at.as_object_mut().and_then(|map| map.remove(last));
                    assert!(removed.is_some(), "nothing to remove: {line}");
                }
            }
            files.write(name, json.to_string());
        }
        _ => panic!("`{verb}` in `{line}`"),
    }
}

/// A ConfigMap of this size in bytes, which is compressible or random.
fn config_map(bytes: u64, is_random: bool) -> String {
    let mut state = 1_u64;
    let letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        if is_random { alphabet[(state >> 58) as usize] as char } else { 'a' }
    };
    let data: String = (0..bytes).map(letter).collect();
    serde_json::json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": data}})
        .to_string()
}

#[test]
fn each_case_breaks_its_rule_and_no_other() {
    let mut wrong = String::new();
    let mut good: BTreeMap<BTreeSet<Validator>, BTreeSet<&str>> = BTreeMap::new();
    for case in cases() {
        let mut files = Files::good();
        case.edits.iter().for_each(|line| edit(&mut files, line));
        let of_good = || Files::good().validate(&case.options).iter().map(|it| it.rule.id).collect();
        let before: &BTreeSet<&str> = good.entry(case.options.validators.clone()).or_insert_with(of_good);
        let findings = files.validate(&case.options);
        let breaks = |severity| findings.iter().any(|it| it.rule.id == case.rule && it.diagnostic.severity == severity);
        let mut expected = case.others.clone();
        let is_right = match case.severity {
            Some(severity) => {
                expected.insert(case.rule);
                breaks(severity)
            }
            None => !breaks(Severity::Error) && !breaks(Severity::Warning),
        };
        let found: BTreeSet<&str> = findings.iter().map(|it| it.rule.id).collect();
        let others: BTreeSet<&str> = found.difference(before).copied().collect();
        let is_known =
            expected.iter().all(|rule| found.contains(rule)) && others.iter().all(|rule| expected.contains(rule));
        if !is_right || case.severity.is_some() && !is_known {
            let messages: Vec<&str> = findings.iter().map(|it| it.diagnostic.message.as_str()).collect();
            writeln!(wrong, "{} {:?}\n  found {messages:#?}", case.rule, case.edits).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn each_rule_has_a_case_that_breaks_it() {
    let broken: BTreeSet<&str> = cases().iter().filter(|case| case.severity.is_some()).map(|case| case.rule).collect();
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(broken, all);
}

#[test]
fn the_book_lists_the_rules() {
    let mut table = String::from("| rule | code | source | holds in a valid bundle |\n|---|---|---|---|\n");
    for rule in RULES {
        writeln!(table, "| `{}` | {} | {} | {} |", rule.id, rule.family.code(), rule.source.name(), rule.summary)
            .unwrap();
    }
    let path = Path::new("docs/olm-validate.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- rules -->\n").expect("a mark before the table");
    let (_, after) = rest.split_once("<!-- end of rules -->").expect("a mark behind the table");
    let expected = format!("{before}<!-- rules -->\n{table}<!-- end of rules -->{after}");
    snapbox::Assert::new().action_env("SNAPSHOTS").eq(expected, snapbox::Data::read_from(path, None).raw());
}

/// Edits the good bundle as in `cases.txt`, and renders it.
fn rendered(edits: &[&str]) -> BTreeMap<String, Value> {
    let mut files = Files::good();
    edits.iter().for_each(|line| edit(&mut files, line));
    files.render()
}

const MANAGER: &str = "memcached-operator-controller-manager";

#[test]
fn certificates_of_olm_replace_those_of_the_bundle() {
    let objects = rendered(&[
        r#"set CSV spec/install/spec/deployments/0/spec/template/spec/volumes = [{"name": "own", "secret": {"secretName": "own"}}, {"name": "webhook-cert", "emptyDir": {}}, {"name": "data", "emptyDir": {}}]"#,
        r#"set CSV spec/install/spec/deployments/0/spec/template/spec/containers/0/volumeMounts = [{"name": "own", "mountPath": "/tmp/k8s-webhook-server/serving-certs"}, {"name": "data", "mountPath": "/data"}]"#,
        r#"set CSV spec/install/spec/deployments/0/spec/template/spec/initContainers = [{"name": "init", "image": "registry.example.com/init:v1", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]"#,
    ]);
    let pod = objects[&format!("Deployment {MANAGER}")].pointer("/spec/template/spec").unwrap();
    let names = |pointer: &str| -> Vec<&str> {
        pod.pointer(pointer).unwrap().as_array().unwrap().iter().map(|item| text(item, "/name")).collect()
    };
    assert_eq!(names("/volumes"), ["data", "webhook-cert", "apiservice-cert"]);
    assert_eq!(names("/containers/0/volumeMounts"), ["data", "webhook-cert", "apiservice-cert"]);
    assert_eq!(names("/initContainers/0/volumeMounts"), ["data"]);
    let secret = format!("{MANAGER}-service-cert");
    assert!(pod["volumes"].as_array().unwrap()[1..].iter().all(|volume| text(volume, "/secret/secretName") == secret));
    assert_eq!(text(&objects[&format!("Certificate {secret}")], "/spec/secretName"), secret);
}

#[test]
fn services_keep_named_ports_and_fit_into_a_name() {
    let long = "a".repeat(60);
    let objects = rendered(&[
        r#"set CSV spec/webhookdefinitions/0/targetPort = "webhook-server""#,
        &format!("set CSV spec/webhookdefinitions/0/deploymentName = {long:?}"),
        &format!("set CSV spec/install/spec/deployments/0/name = {long:?}"),
    ]);
    let service = format!("{}-service", "a".repeat(55));
    let ports = &objects[&format!("Service {service}")]["spec"]["ports"];
    assert_eq!(*ports, serde_json::json!([{"name": "443", "port": 443, "targetPort": "webhook-server"}]));
    let webhook = &objects["ValidatingWebhookConfiguration vmemcached-v1alpha1.kb.io"];
    assert_eq!(text(webhook, "/webhooks/0/clientConfig/service/name"), service);
    let certificate = format!("{}-cert", &service[..58]);
    assert_eq!(text(webhook, "/metadata/annotations/cert-manager.io~1inject-ca-from"), format!("here/{certificate}"));
    let names = objects[&format!("Certificate {certificate}")].pointer("/spec/dnsNames").unwrap();
    assert_eq!(names[1], format!("{service}.here.svc"));
    let in_names = |kind: &str| objects.keys().any(|name| name.starts_with(kind) && name.len() > kind.len() + 63);
    assert!(!["Service ", "Certificate ", "Issuer ", "ClusterRole "].into_iter().any(in_names), "{:?}", objects.keys());
}

#[test]
fn permissions_without_an_account_are_for_the_default_one() {
    let objects = rendered(&["remove CSV spec/install/spec/permissions/0/serviceAccountName"]);
    let accounts: Vec<&String> = objects.keys().filter(|name| name.starts_with("ServiceAccount ")).collect();
    assert_eq!(accounts, [&format!("ServiceAccount {MANAGER}")]);
    let binding =
        objects.iter().find(|(name, _)| name.starts_with("ClusterRoleBinding memcached-operator.v0.1.0-default-"));
    assert_eq!(text(binding.unwrap().1, "/subjects/0/name"), "default");
}

#[test]
fn properties_are_an_annotation_of_the_pods() {
    let objects = rendered(&[
        r#"set CSV metadata/annotations/olm.properties = "[{\"type\": \"a\", \"value\": 1}]""#,
        r#"write metadata/properties.yaml = {"properties": [{"type": "olm.maxOpenShiftVersion", "value": "4.20"}]}"#,
    ]);
    let annotations = objects[&format!("Deployment {MANAGER}")].pointer("/spec/template/metadata/annotations").unwrap();
    let expected = r#"[{"type":"a","value":1},{"type":"olm.maxOpenShiftVersion","value":"4.20"}]"#;
    assert_eq!(annotations["olm.properties"], expected);
    assert_eq!(annotations["olm.targetNamespaces"], "");
}

#[test]
fn fields_of_other_webhooks_are_left_out() {
    let objects = rendered(&[
        r#"set CSV spec/webhookdefinitions/0/reinvocationPolicy = "Never""#,
        "remove CSV spec/webhookdefinitions/0/webhookPath",
    ]);
    let webhook = objects["ValidatingWebhookConfiguration vmemcached-v1alpha1.kb.io"].pointer("/webhooks/0").unwrap();
    assert_eq!(webhook.get("reinvocationPolicy"), None);
    assert_eq!(webhook["clientConfig"]["service"].get("path"), None);
    assert_eq!(webhook["failurePolicy"], "Fail");
}

/// Replaces a value. The path has an index for each level.
fn mutate(value: &mut Value, path: &[usize], new: &Value) {
    let Some((step, rest)) = path.split_first() else { return *value = new.clone() };
    match value {
        Value::Object(map) if !map.is_empty() => {
            let index = step % map.len();
            let key = map.keys().nth(index).cloned().unwrap();
            if rest.is_empty() && new.is_null() {
                map.remove(&key);
            } else {
                mutate(map.get_mut(&key).unwrap(), rest, new);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let index = step % items.len();
            mutate(&mut items[index], rest, new);
        }
        value => *value = new.clone(),
    }
}

fn new_values() -> impl Strategy<Value = Value> {
    let words = [
        "",
        "a",
        "v1",
        "*",
        "Webhook",
        "[{}]",
        "[[]]",
        "image/png",
        "é".repeat(70).leak(),
        "1.x",
        "a/b:c@d",
        "{\"a\": 1}",
        "-1",
    ];
    prop_oneof![
        Just(Value::Null),
        Just(serde_json::json!({})),
        Just(serde_json::json!([])),
        Just(serde_json::json!([null])),
        Just(serde_json::json!([{}, [], 1, ""])),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        proptest::sample::select(words.to_vec()).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn no_mutation_panics(edits in proptest::collection::vec((0_usize..6, proptest::collection::vec(any::<usize>(), 1..9), new_values()), 1..4)) {
        let mut files = Files::good();
        for (which, path, new) in &edits {
            let name = file(["CSV", "CSV", "CRD", "META", "BINDING", "ROLE"][*which]);
            let mut json = files.json(name);
            mutate(&mut json, path, new);
            files.write(name, json.to_string());
        }
        for finding in files.validate(&options(Validator::ALL)) {
            prop_assert!(!finding.diagnostic.message.contains('\n') || finding.rule.id == "csv-decode");
        }
    }
}
