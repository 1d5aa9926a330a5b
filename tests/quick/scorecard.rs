//! `opctl scorecard`: the built-in tests with bundles that pass and fail, and custom images as Pods, with a fake
//! kubectl.
#![cfg(unix)]

use opctl_model::diagnostic::SourceFile;
use opctl_model::project::Tree;
use opctl_olm::bundle::{self, Findings, Folder, Options};
use opctl_olm::scorecard::pods::Progress;
use opctl_olm::scorecard::{State, Test, TestResult, builtin, parse, pods};
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const CSV: &str = "manifests/memcached-operator.clusterserviceversion.yaml";

/// Runs a built-in test on the valid bundle with a changed ClusterServiceVersion.
fn run(name: &'static str, change: impl FnOnce(&mut Value)) -> TestResult {
    let good = Tree::at("tests/bundle/good");
    let mut csv: Value = opctl_model::yaml::read(&good.read(CSV).unwrap().unwrap()).unwrap();
    change(&mut csv);
    let mut tree = good;
    tree.lay_over(CSV, csv.to_string());
    let mut findings = Findings::default();
    let bundle = bundle::load(Folder { tree: &tree, shown: "bundle" }, &mut findings);
    if let Some(bundle) = &bundle {
        bundle::check(bundle, &Options::default(), &mut findings);
    }
    builtin::run(name, bundle.as_ref(), &findings.sorted())
}

fn examples(csv: &mut Value, examples: Value) {
    csv["metadata"]["annotations"]["alm-examples"] = examples.to_string().into();
}

fn memcached(more: &[(&str, Value)]) -> Value {
    let mut object =
        json!({"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": {"name": "a"}});
    more.iter().for_each(|(key, value)| object[*key] = value.clone());
    json!([object])
}

#[test]
fn the_built_in_tests_pass_on_a_good_bundle() {
    for name in builtin::NAMES {
        let result = run(name, |_| {});
        assert_eq!(result.state, State::Pass, "{result:?}");
        assert!(result.errors.is_empty(), "{result:?}");
    }
}

#[test]
fn the_validation_logs_what_it_found() {
    let log = |name: &str| format!("level=debug msg=\"{name}\" name=bundle-test");
    let lines: Vec<String> = run("olm-bundle-validation", |_| {}).log.lines().map(str::to_owned).collect();
    assert_eq!(lines.first(), Some(&log("Found manifests directory")));
    assert!(lines.contains(&log("Found annotations file")), "{lines:?}");
    let none = Tree::at("tests/bundle/nowhere");
    let mut findings = Findings::default();
    let bundle = bundle::load(Folder { tree: &none, shown: "bundle" }, &mut findings);
    let result = builtin::run("olm-bundle-validation", bundle.as_ref(), &findings.sorted());
    assert_eq!((result.state, result.log.as_str()), (State::Fail, ""));
}

#[test]
fn each_built_in_test_fails_where_operator_sdks_does() {
    let unreadable = |csv: &mut Value| csv["metadata"]["annotations"]["alm-examples"] = "[{]".into();
    assert_eq!(run("basic-check-spec", unreadable).state, State::Fail);
    assert_eq!(run("olm-spec-descriptors", unreadable).state, State::Error);
    let without_spec = run("basic-check-spec", |csv| examples(csv, memcached(&[])));
    assert_eq!((without_spec.state, without_spec.suggestions.len()), (State::Pass, 1));
    assert_eq!(run("olm-bundle-validation", |csv| csv["spec"]["installModes"] = json!([])).state, State::Fail);
    let warned = run("olm-bundle-validation", |csv| csv["spec"]["minKubeVersion"] = "".into());
    assert_eq!((warned.state, warned.suggestions.len()), (State::Pass, 1));
    let unknown = memcached(&[("spec", json!({"size": 1, "other": 1}))]);
    assert_eq!(run("olm-crds-have-validation", |csv| examples(csv, unknown.clone())).state, State::Fail);
    assert_eq!(
        run("olm-spec-descriptors", |csv| examples(csv, unknown)).errors,
        ["other does not have a spec descriptor"]
    );
    assert_eq!(run("olm-spec-descriptors", |csv| examples(csv, memcached(&[]))).state, State::Fail);
    let owned = |csv: &mut Value, key: &str| csv["spec"]["customresourcedefinitions"]["owned"][0][key] = json!([]);
    assert_eq!(run("olm-crds-have-resources", |csv| owned(csv, "resources")).state, State::Fail);
    let with_status = memcached(&[("spec", json!({"size": 1})), ("status", json!({"conditions": []}))]);
    let described = run("olm-status-descriptors", |csv| examples(csv, with_status.clone()));
    assert_eq!((described.state, described.suggestions.len()), (State::Pass, 0));
    let bare = run("olm-status-descriptors", |csv| {
        examples(csv, with_status);
        owned(csv, "statusDescriptors");
    });
    assert_eq!(bare.state, State::Fail);
    let foreign = json!([{"apiVersion": "a.example.com/v1", "kind": "A", "spec": {}}]);
    assert_eq!(run("olm-status-descriptors", |csv| examples(csv, foreign)).state, State::Fail);
}

#[test]
fn only_operator_sdks_image_is_built_in() {
    let is_builtin = |image: &str, entrypoint: &[&str]| {
        let entrypoint = entrypoint.iter().map(ToString::to_string).collect();
        builtin::name(&Test { image: image.into(), entrypoint, ..Test::default() }).is_some()
    };
    let entrypoint = ["scorecard-test", "basic-check-spec"];
    for image in [
        "quay.io/operator-framework/scorecard-test:v1.42.0",
        "localhost:5000/operator-framework/scorecard-test@sha256:00",
    ] {
        assert!(is_builtin(image, &entrypoint), "{image}");
    }
    assert!(!is_builtin("quay.io/example/scorecard-test:v1", &entrypoint));
    assert!(!is_builtin("quay.io/operator-framework/scorecard-test:v1", &["scorecard-test", "other"]));
    assert!(!is_builtin("quay.io/operator-framework/scorecard-test:v1", &["custom", "basic-check-spec"]));
}

#[test]
fn a_configuration_is_read_strictly() {
    let parse = |text: &str| parse(&SourceFile::new("config.yaml", text));
    let head = "apiVersion: scorecard.operatorframework.io/v1alpha3\nkind: Configuration\n";
    let config = parse(&format!(
        "{head}serviceaccount: a\nstorage: {{spec: {{mountPath: {{path: /out}}}}}}\nstages:\n- parallel: true\n  tests:\n  - {{image: a, entrypoint: [b], labels: {{suite: c}}}}\n"
    ))
    .unwrap();
    assert_eq!(config.service_account.as_deref(), Some("a"));
    let test = &config.stages[0].tests[0];
    assert!(config.stages[0].parallel);
    assert_eq!((test.image.as_str(), test.storage.as_deref()), ("a", Some("/out")));
    for (text, problem) in [
        ("kind: Configuration", "`apiVersion: scorecard.operatorframework.io/v1alpha3`"),
        (&format!("{head}stages: [{{test: []}}]"), "no setting `test`"),
        (&format!("{head}stages: [{{tests: [{{entrypoint: [a]}}]}}]"), "no image"),
        ("a: [", "not valid YAML"),
        ("", "empty"),
    ] {
        let problems = parse(text).unwrap_err();
        assert!(problems.iter().any(|it| it.message.contains(problem)), "{text}: {problems:?}");
    }
}

#[test]
fn a_pod_says_what_it_waits_for_and_its_log_is_one_json_object() {
    let pod = |status: Value| json!({"status": status});
    let terminated = json!({"name": "scorecard-test", "state": {"terminated": {"exitCode": 0}}});
    assert_eq!(pods::progress(&pod(json!({"containerStatuses": [terminated]}))), Progress::Finished);
    let failed = json!({"name": "scorecard-untar", "state": {"terminated": {"exitCode": 128, "message": "no tar"}}});
    assert_eq!(
        pods::progress(&pod(json!({"initContainerStatuses": [failed]}))),
        Progress::Failed { container: "scorecard-untar".to_owned(), how: "exit code 128: no tar".to_owned() }
    );
    for (status, waits) in [
        (json!({}), "has not finished"),
        (
            json!({"containerStatuses": [{"name": "scorecard-test", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no"}}}]}),
            "ImagePullBackOff: no",
        ),
        (json!({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]}), "0/1 nodes"),
    ] {
        let progress = pods::progress(&pod(status));
        assert!(matches!(&progress, Progress::Waits(said) if said.contains(waits)), "{progress:?}");
    }
    let results = pods::results(
        r#"{"results": [{"name": "a", "state": "pass", "errors": null}, {"state": "error", "log": "b"}]}"#,
    );
    assert_eq!(results.iter().map(|result| result.state).collect::<Vec<_>>(), [State::Pass, State::Error]);
    assert_eq!(pods::results("panic: no")[0].state, State::Fail);
    assert!(pods::results("{}").is_empty());
}

/// Records its arguments, and responds like a cluster in which each Pod has finished at the second query.
const KUBECTL: &str = r#"#!/bin/sh
echo "$*" >> calls
case "$1" in
create)
  cat > object; kind=$(sed 's/.*"kind":"\([A-Za-z]*\)","metadata":{"generateName.*/\1/' object)
  n=$(grep -c ^create calls); cp object "object-$n"
  echo "{\"metadata\": {\"name\": \"scorecard-test-$n\"}}" ;;
get)
  if [ "$(grep -c "^get pod $3" calls)" -gt 1 ]; then
    echo '{"status": {"containerStatuses": [{"name": "scorecard-test", "state": {"terminated": {"exitCode": 0}}}]}}'
  else echo '{"status": {}}'; fi ;;
logs) cat log ;;
esac
"#;

const CUSTOM: &str = "apiVersion: scorecard.operatorframework.io/v1alpha3\nkind: Configuration\nserviceaccount: tester\nstages:\n- tests:\n  - image: example.com/tests:v1\n    entrypoint: [tests, one]\n    labels: {suite: custom, test: one}\n    storage: {spec: {mountPath: {path: /out}}}\n";

#[test]
fn custom_images_run_as_pods() {
    let sandbox = Sandbox::new();
    let write = |path: &str, text: &str| {
        let path = sandbox.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let good = Tree::at("tests/bundle/good");
    for path in good.files_below("").unwrap() {
        write(&format!("bundle/{path}"), &good.read(&path).unwrap().unwrap());
    }
    write("bundle/tests/scorecard/config.yaml", CUSTOM);
    write("kubectl", KUBECTL);
    write("log", r#"{"results": [{"name": "one", "state": "pass"}]}"#);
    let scorecard = |arguments: &[&str]| {
        let mut command = sandbox.command("opctl");
        let output =
            command.args(["scorecard", "--kubectl", "sh kubectl", "-n", "tests"]).args(arguments).output().unwrap();
        let read = |name: &str| std::fs::read_to_string(sandbox.root().join(name)).unwrap_or_default();
        let calls = read("calls");
        let pod = read("object-2");
        _ = std::fs::remove_file(sandbox.root().join("calls"));
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), calls, pod)
    };
    let (code, said, calls, pod) = scorecard(&["-o", "json", "--pod-security", "restricted"]);
    assert_eq!(code, 0, "{said}\n{calls}");
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        said["items"][0]["status"]["results"],
        json!([{"creationTimestamp": null, "name": "one", "state": "pass"}])
    );
    let pod: Value = serde_json::from_str(&pod).unwrap();
    assert_eq!(pod["metadata"]["labels"]["testrun"], "scorecard-test-1");
    assert_eq!(pod["spec"]["serviceAccountName"], "tester");
    assert_eq!(pod["spec"]["securityContext"]["runAsNonRoot"], true);
    let containers = pod["spec"]["containers"].as_array().unwrap();
    assert_eq!(containers[0]["command"], json!(["tests", "one"]));
    assert_eq!(containers[0]["env"][1], json!({"name": "SCORECARD_STORAGE", "value": "/out"}));
    assert!(containers.iter().all(|container| container["securityContext"]["capabilities"]["drop"][0] == "ALL"));
    for call in [
        "create -f - -o json --namespace tests",
        "logs scorecard-test-2 -c scorecard-test --namespace tests",
        "cp scorecard-test-2:/out test-output/custom/one -c scorecard-storage --namespace tests",
        "delete pods -l testrun=scorecard-test-1 --wait=false --namespace tests",
        "delete configmap scorecard-test-1 --wait=false --namespace tests",
    ] {
        assert!(calls.lines().any(|line| line == call), "{call}\n{calls}");
    }
    let (code, _, calls, _) = scorecard(&["-l", "suite=custom", "-w", "0s", "-x"]);
    assert_eq!(code, 1, "the Pod has no time");
    assert!(!calls.contains("delete"), "{calls}");
    write("log", "no JSON");
    let (code, said, ..) = scorecard(&[]);
    assert_eq!(code, 1);
    assert!(said.contains("State: fail") && said.contains("no JSON"), "{said}");
    let (code, said, calls, _) = scorecard(&["-L"]);
    assert!(code == 0 && said.contains("Entrypoint: [tests one]") && calls.is_empty(), "{said}{calls}");
    let (code, said, calls, _) = scorecard(&["-l", "suite=olm"]);
    assert!(code == 0 && said.contains("0 tests selected") && calls.is_empty(), "{said}{calls}");
}
