//! `--webhook-url`: the API server calls a process outside of the cluster while it runs.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use k8s_openapi::ByteString;
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::example::BACKUPS;
use crate::manager::Manager;
use crate::objects::{backup, configurations, free_port, object, refused};
use crate::{MINUTE, within};

const CREATE: [&str; 3] = ["create", "-f", "-"];

#[test]
fn a_process_outside_of_the_cluster_serves_webhooks() {
    let Some(cluster) = ControlPlane::start("webhooks", 0) else { return };
    let cluster = &cluster;
    BACKUPS.install(cluster);
    let before = conversion(cluster);
    assert_eq!(before["webhook"]["clientConfig"]["service"]["path"], "/convert");

    let mut manager = run(cluster, "manager");
    fills_in(cluster);
    refuses(cluster);
    warns(cluster);
    marks_pods(cluster);
    misbehaves(cluster, &manager);
    converts(cluster);
    applies_both_versions(cluster);
    assert!(manager.terminate().success());
    assert_eq!(configurations(cluster), "");
    assert_eq!(conversion(cluster), before);

    // A killed process leaves its registration behind, so calls fail.
    let mut killed = run(cluster, "killed");
    killed.signal("KILL");
    killed.exit();
    let why = refused(cluster, &CREATE, &backup("v1", "unanswered", "", ""));
    assert!(why.contains("failed calling webhook \"mbackup-v1.cache.example.com\""), "{why}");
    assert!(why.contains("connection refused"), "{why}");
    let mut next = run(cluster, "next");
    cluster.kubectl(&CREATE, &backup("v1", "answered", "", ""));
    assert!(next.terminate().success());
    assert_eq!(configurations(cluster), "");
    // The original conversion is only in the CRDs: installing them restores it.
    assert_eq!(conversion(cluster), json!({ "strategy": "None" }));
    BACKUPS.install(cluster);
    assert_eq!(conversion(cluster), before);
}

fn run(cluster: &ControlPlane, name: &str) -> Manager {
    let address = format!("127.0.0.1:{}", free_port());
    let url = format!("--webhook-url=https://{address}");
    let bind = format!("--webhook-bind-address={address}");
    let kubeconfig = Path::new(&cluster.kubeconfig);
    let mut manager = Manager::start_in(&BACKUPS.folder(), BACKUPS.program(), kubeconfig, name, &[&url, &bind]);
    manager.becomes_ready();
    manager
}

fn conversion(cluster: &ControlPlane) -> Value {
    object(cluster, &["crd", "backups.cache.example.com"])["spec"]["conversion"].clone()
}

fn fills_in(cluster: &ControlPlane) {
    cluster.kubectl(&CREATE, &backup("v1", "plain", "", ""));
    let plain = object(cluster, &["backup", "plain"]);
    assert_eq!(plain["spec"]["copies"], 3);
    assert_eq!(plain["metadata"]["annotations"], json!({ "example.com/owner": "admin" }));
    cluster.kubectl(&CREATE, &backup("v1", "said", ", annotations: {example.com/owner: me}", "copies: 2"));
    let said = object(cluster, &["backup", "said"]);
    assert_eq!(said["spec"]["copies"], 2);
    assert_eq!(said["metadata"]["annotations"], json!({ "example.com/owner": "me" }));
    // The default is set again after a user removes the field.
    let patch = ["patch", "backup", "said", "--type=merge", "-p", r#"{"spec":{"copies":null}}"#];
    cluster.kubectl(&patch, "");
    assert_eq!(object(cluster, &["backup", "said"])["spec"]["copies"], 3);
}

fn refuses(cluster: &ControlPlane) {
    let create = |spec| refused(cluster, &CREATE, &backup("v1", "wrong", "", spec));
    let invalid = "The Backup \"wrong\" is invalid: ";
    assert_eq!(create("copies: 9"), format!("{invalid}spec.copies: Invalid value: 9: must be at most 5\n"));
    assert_eq!(
        create("copies: 9, targets: [{bucket: a}, {bucket: ''}]"),
        format!(
            "{invalid}\n* spec.targets[1].bucket: Required value: say where to\n* spec.copies: Invalid value: 9: must be at most 5\n"
        )
    );
    // This validation depends on another object.
    cluster.kubectl(&CREATE, &backup("v1", "many", "", "copies: 4"));
    cluster.kubectl(&["label", "namespace", "default", "tier=free"], "");
    assert_eq!(
        create("copies: 4"),
        format!("{invalid}spec.copies: Invalid value: 4: must be at most 3 in a free namespace\n")
    );
    cluster.kubectl(&["label", "namespace", "default", "tier-"], "");
    assert_eq!(cluster.kubectl(&["get", "backup", "wrong", "--ignore-not-found"], ""), "");

    cluster.kubectl(&CREATE, &backup("v1", "kept", ", annotations: {example.com/keep: ''}", "storageClass: slow"));
    let patch = ["patch", "backup", "kept", "--type=merge", "-p", r#"{"spec":{"storageClass":"fast"}}"#];
    assert_eq!(
        refused(cluster, &patch, ""),
        "The Backup \"kept\" is invalid: spec.storageClass: Forbidden: it cannot be changed\n"
    );
    // The review has the version of the webhook, for any version of the request.
    let delete = ["delete", "backups.v1alpha1.cache.example.com", "kept"];
    let keeps = "metadata.annotations[example.com/keep]: Forbidden: remove it first";
    assert!(refused(cluster, &delete, "").ends_with(&format!(" is invalid: {keeps}\n")));
    cluster.kubectl(&["annotate", "backup", "kept", "example.com/keep-"], "");
    let deleted = cluster.run(&delete, "");
    assert!(deleted.status.success());
    assert_eq!(String::from_utf8(deleted.stderr).unwrap(), "Warning: the copies stay\n");
}

fn warns(cluster: &ControlPlane) {
    let created = cluster.run(&CREATE, &backup("v1", "single", "", "copies: 1"));
    assert!(created.status.success());
    assert_eq!(String::from_utf8(created.stderr).unwrap(), "Warning: spec.copies: one is none\n");
}

fn marks_pods(cluster: &ControlPlane) {
    let pod = |namespace| {
        let container = "{name: main, image: registry.example.com/main:v1}";
        let metadata = format!("{{name: pod, namespace: {namespace}}}");
        cluster.kubectl(
            &CREATE,
            &format!("{{apiVersion: v1, kind: Pod, metadata: {metadata}, spec: {{containers: [{container}]}}}}"),
        );
        object(cluster, &["pod", "-n", namespace, "pod"])["metadata"]["labels"].clone()
    };
    assert_eq!(pod("default"), json!({ "example.com/marked": "yes" }));
    assert_eq!(pod("kube-system"), Value::Null);
}

/// A webhook that sleeps for longer than the API server waits, and one that panics.
fn misbehaves(cluster: &ControlPlane, manager: &Manager) {
    let asks = |how: &str, name: &str| {
        let metadata = format!(", annotations: {{example.com/test: {how}}}");
        let start = Instant::now();
        (cluster.run(&CREATE, &backup("v1", name, &metadata, "")), start.elapsed())
    };
    let takes_two_seconds = |elapsed: Duration| (1500..4500).contains(&elapsed.as_millis());
    let policy = |policy: &str| {
        let patch = format!(r#"[{{"op":"replace","path":"/webhooks/0/failurePolicy","value":"{policy}"}}]"#);
        let configuration = configurations(cluster);
        let validating = configuration.lines().find(|name| name.starts_with("validating")).unwrap();
        cluster.kubectl(&["patch", validating, "--type=json", "-p", &patch], "");
    };
    let failed = "failed calling webhook \"vbackup-v1.cache.example.com\"";

    let (slow, elapsed) = asks("slow", "slow");
    let why = String::from_utf8(slow.stderr).unwrap();
    assert!(!slow.status.success() && why.contains(failed), "{why}");
    assert!(takes_two_seconds(elapsed), "{elapsed:?}");
    let (panics, _) = asks("panic", "panic");
    let why = String::from_utf8(panics.stderr).unwrap();
    assert!(!panics.status.success() && why.contains(failed), "{why}");
    assert!(why.contains("it panicked: nobody knows why"), "{why}");
    assert!(manager.log().contains("a webhook failed: it panicked: nobody knows why"));
    cluster.kubectl(&CREATE, &backup("v1", "after", "", ""));

    policy("Ignore");
    // The API server needs time to load its configuration.
    within(MINUTE, "the policy is Ignore", || asks("panic", "ignored").0.status.success());
    let (slow, elapsed) = asks("slow", "ignored-slow");
    assert!(slow.status.success() && takes_two_seconds(elapsed), "{elapsed:?}");
    policy("Fail");
    let name = |place: u32| format!("fails-{place}");
    let mut place = 0;
    within(MINUTE, "the policy is Fail", || {
        place += 1;
        !asks("panic", &name(place)).0.status.success()
    });
}

fn converts(cluster: &ControlPlane) {
    let old = "timeout: 45s, replicas: 2, note: mine, targets: [{bucket: a}, {bucket: b}]";
    cluster.kubectl(&CREATE, &backup("v1alpha1", "old", "", old));
    let in_version = |version: &str, name: &str| {
        let resource = format!("backups.{version}.cache.example.com");
        object(cluster, &[&resource, name])["spec"].clone()
    };
    assert_eq!(
        in_version("v1", "old"),
        json!({ "suspend": false, "timeoutSeconds": 45, "copies": 2, "targets": [{ "bucket": "a" }, { "bucket": "b" }] })
    );
    let as_written = json!({
        "suspend": false, "timeout": "45s", "replicas": 2, "note": "mine", "targets": [{ "bucket": "a" }, { "bucket": "b" }],
    });
    assert_eq!(in_version("v1alpha1", "old"), as_written);
    let patch = |version: &str, name: &str, spec: &str| {
        let resource = format!("backups.{version}.cache.example.com");
        let patch = format!("{{\"spec\":{spec}}}");
        cluster.kubectl(&["patch", &resource, name, "--type=merge", "-p", &patch], "");
    };
    patch("v1", "old", r#"{"timeoutSeconds":60}"#);
    assert_eq!(in_version("v1alpha1", "old")["timeout"], "60s");
    assert_eq!(in_version("v1alpha1", "old")["note"], "mine");
    // `7s` and `007s` are equal in the other version.
    patch("v1alpha1", "old", r#"{"timeout":"007s","replicas":3}"#);
    assert_eq!(in_version("v1", "old")["timeoutSeconds"], 7);
    assert_eq!(in_version("v1", "old")["copies"], 3);
    assert_eq!(in_version("v1alpha1", "old")["timeout"], "007s");

    let new = "timeoutSeconds: 5, targets: [{bucket: a, region: north}, {bucket: b}]";
    cluster.kubectl(&CREATE, &backup("v1", "new", "", new));
    assert_eq!(in_version("v1alpha1", "new")["targets"], json!([{ "bucket": "a" }, { "bucket": "b" }]));
    patch("v1alpha1", "new", r#"{"timeout":"6s"}"#);
    let targets = json!([{ "bucket": "a", "region": "north" }, { "bucket": "b" }]);
    assert_eq!(in_version("v1", "new")["targets"], targets);
    assert_eq!(in_version("v1", "new")["timeoutSeconds"], 6);
    // Defaults and rejections apply to requests in the old version too.
    cluster.kubectl(&CREATE, &backup("v1alpha1", "few", "", "timeout: 1s"));
    assert_eq!(in_version("v1alpha1", "few")["replicas"], 3);
    let why = refused(cluster, &CREATE, &backup("v1alpha1", "wrong", "", "replicas: 9"));
    assert!(why.ends_with(" is invalid: spec.copies: Invalid value: 9: must be at most 5\n"), "{why}");
    let why = refused(cluster, &CREATE, &backup("v1alpha1", "wrong", "", "timeout: 9999999999s"));
    assert!(why.contains("spec.timeout: 9999999999s is no time in seconds"), "{why}");

    for name in ["old", "new", "few"] {
        assert_eq!(stored(cluster, name)["apiVersion"], "cache.example.com/v1", "{name}");
    }
    assert_eq!(object(cluster, &["crd", "backups.cache.example.com"])["status"]["storedVersions"], json!(["v1"]));
    // All items of a list have one version too.
    let all = object(cluster, &["backups.v1alpha1.cache.example.com"]);
    let all = all["items"].as_array().unwrap();
    assert!(all.len() > 5 && all.iter().all(|it| it["apiVersion"] == "cache.example.com/v1alpha1"));
}

/// The stored object, from the HTTP API of etcd.
fn stored(cluster: &ControlPlane, name: &str) -> Value {
    let etcd = cluster.lock().unwrap().etcd.clone();
    let key = ByteString(format!("/registry/cache.example.com/backups/default/{name}").into_bytes());
    let body = json!({ "key": key }).to_string();
    let mut stream = TcpStream::connect(etcd.trim_start_matches("http://")).unwrap();
    let head = "POST /v3/kv/range HTTP/1.0\r\nContent-Type: application/json";
    write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let answer: Value = serde_json::from_str(body).unwrap_or_else(|why| panic!("{why}: {answer}"));
    let value = answer["kvs"][0]["value"].clone();
    let ByteString(object) = serde_json::from_value(value).unwrap_or_else(|why| panic!("{why}: {answer}"));
    serde_json::from_slice(&object).unwrap()
}

/// A manager that applies in one version owns fields that have another name for managers of the other version.
fn applies_both_versions(cluster: &ControlPlane) {
    let apply = |who: &str, version: &str, spec: &str| {
        let manager = format!("--field-manager={who}");
        cluster.run(&["apply", "--server-side", &manager, "-f", "-"], &backup(version, "applied", "", spec))
    };
    let applies = |who, version, spec| {
        let output = apply(who, version, spec);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    applies("old", "v1alpha1", "replicas: 2, timeout: 10s");
    applies("new", "v1", "targets: [{bucket: a, region: north}]");
    let applied = object(cluster, &["backup", "applied"])["spec"].clone();
    let targets = json!([{ "bucket": "a", "region": "north" }]);
    assert_eq!(applied, json!({ "suspend": false, "copies": 2, "timeoutSeconds": 10, "targets": targets }));
    let conflict = apply("new", "v1", "copies: 4, targets: [{bucket: a, region: north}]");
    let why = String::from_utf8(conflict.stderr).unwrap();
    assert!(!conflict.status.success() && why.contains("conflict with \"old\""), "{why}");
    applies("old", "v1alpha1", "replicas: 4, timeout: 20s");
    let applied = object(cluster, &["backup", "applied"])["spec"].clone();
    assert_eq!(applied, json!({ "suspend": false, "copies": 4, "timeoutSeconds": 20, "targets": targets }));
    // A field that is no longer applied is removed, and defaulted.
    applies("old", "v1alpha1", "timeout: 20s");
    assert_eq!(object(cluster, &["backup", "applied"])["spec"]["copies"], 3);
    assert_eq!(object(cluster, &["backup", "applied"])["spec"]["targets"], targets);
}
