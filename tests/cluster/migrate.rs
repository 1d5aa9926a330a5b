//! `opctl migrate` with a real API server: the contents of etcd afterwards, with concurrent writers, and after the
//! command and the API server were killed during a migration.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::{Api, stored};
use crate::control_plane::ControlPlane;
use crate::sandbox::Sandbox;

const CRD: &str = "widgets.move.example.com";
const PREFIX: &str = "/registry/move.example.com/widgets/";
const PATH: &str = "/apis/move.example.com/v1/namespaces/default/widgets";

/// A CRD with two versions that have the same fields.
fn crd(storage: &str) -> String {
    let schema = json!({ "openAPIV3Schema": { "type": "object", "properties": { "spec": {
        "type": "object", "properties": { "text": { "type": "string" }, "number": { "type": "integer" } },
    } } } });
    let version = |name| json!({ "name": name, "served": true, "storage": name == storage, "schema": schema });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": CRD },
        "spec": {
            "group": "move.example.com", "scope": "Namespaced", "names": { "kind": "Widget", "plural": "widgets" },
            "versions": [version("v1"), version("v2")],
        },
    })
    .to_string()
}

fn widget(name: &str, number: usize) -> Value {
    json!({
        "apiVersion": "move.example.com/v1", "kind": "Widget", "metadata": { "name": name },
        "spec": { "text": "x".repeat(100), "number": number },
    })
}

struct Desk<'a> {
    cluster: &'a ControlPlane,
    sandbox: Sandbox,
}

impl Desk<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command("opctl");
        command.args(["migrate", CRD, "--kubectl", self.cluster.kubectl.to_str().unwrap()]).args(arguments);
        command.env("KUBECONFIG", &self.cluster.kubeconfig).env("KUBECACHEDIR", self.cluster.folder.join("kubectl"));
        command
    }

    fn migrate(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
    }

    fn stored_versions(&self) -> String {
        self.cluster.kubectl(&["get", "crd", CRD, "-o", "jsonpath={.status.storedVersions}"], "")
    }

    /// Stores this many objects as v1, and makes v2 the storage version.
    fn prepare(&self, api: &mut Api, objects: usize) {
        self.cluster.kubectl(&["apply", "--server-side", "-f", "-"], &crd("v1"));
        self.cluster.kubectl(&["wait", "--for=condition=Established", "crd", CRD, "--timeout=60s"], "");
        for number in 0..objects {
            until(|| api.post(PATH, &widget(&format!("quiet-{number}"), number))["kind"] == "Widget");
        }
        self.cluster.kubectl(&["apply", "--server-side", "-f", "-"], &crd("v2"));
        // The API server uses the new storage version with a delay.
        until(|| {
            api.delete(&format!("{PATH}/probe"));
            api.post(PATH, &widget("probe", 0));
            stored(self.cluster, &format!("{PREFIX}default/probe"))[0].2["apiVersion"] == "move.example.com/v2"
        });
    }

    /// The number of objects by stored version.
    fn versions(&self) -> BTreeMap<String, usize> {
        let mut versions = BTreeMap::new();
        for (_, _, object) in stored(self.cluster, PREFIX) {
            *versions.entry(object["apiVersion"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        versions
    }
}

fn until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(120), "it takes too long");
        sleep(Duration::from_millis(50));
    }
}

/// Stops the other threads when dropped.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// `OPCTL_MIGRATED_OBJECTS` is the number of objects.
#[test]
fn a_migration_loses_nothing_and_writes_nothing_twice() {
    let Some(cluster) = ControlPlane::start("migrate", 0) else { return };
    let many = std::env::var("OPCTL_MIGRATED_OBJECTS").map_or(1000, |many| many.parse().unwrap());
    let desk = Desk { cluster: &cluster, sandbox: Sandbox::new() };
    let mut api = Api::of(&cluster);
    desk.prepare(&mut api, many);
    let done = AtomicBool::new(false);
    let busy: BTreeMap<String, usize> = scope(|scope| {
        // Concurrent clients create, change and delete objects.
        let writer = scope.spawn(|| {
            let mut api = Api::of(&cluster);
            let (mut numbers, mut number) = (BTreeMap::new(), 0);
            while !done.load(Ordering::Relaxed) {
                number += 1;
                let name = format!("busy-{}", number % 20);
                let path = format!("{PATH}/{name}");
                if number % 7 == 0 {
                    api.delete(&path);
                    numbers.remove(&name);
                } else {
                    let stored = match numbers.insert(name.clone(), number) {
                        Some(_) => api.patch(&path, &json!({ "spec": { "number": number } })),
                        None => api.post(PATH, &widget(&name, number)),
                    };
                    assert_eq!(stored["kind"], "Widget");
                }
                sleep(Duration::from_millis(10));
            }
            numbers
        });
        // Dropped on panic, too, so that the test stops.
        let ends = Ends(&done);
        let old = || desk.versions().get("move.example.com/v1").copied().unwrap_or_default();

        let (code, said) = desk.migrate(&["--check"]);
        assert_eq!((code, old()), (Some(1), many), "{said}");
        let (code, said) = desk.migrate(&["--dry-run"]);
        assert_eq!((code, old()), (Some(0), many), "{said}");
        let (code, said) = desk.migrate(&[]);
        assert_eq!((code, old()), (Some(1), many), "nobody can be asked: {said}");

        // Killed during the migration.
        let mut first = desk.command(&["--yes"]).spawn().unwrap();
        until(|| old() < many);
        first.kill().unwrap();
        first.wait().unwrap();
        let left = old();
        eprintln!("killed with {left} of {many} objects left");
        assert!(0 < left, "it was killed too late");
        assert_eq!(desk.stored_versions(), r#"["v1","v2"]"#);

        let (code, said) = desk.migrate(&["--yes"]);
        assert_eq!(code, Some(0), "{said}");
        eprintln!("{}", said.lines().last().unwrap_or_default());
        assert!(said.contains("verified"), "{said}");
        drop(ends);
        writer.join().unwrap()
    });
    assert_eq!(desk.stored_versions(), r#"["v2"]"#);
    let mut found = BTreeMap::new();
    for (key, writes, object) in stored(&cluster, PREFIX) {
        assert_eq!(object["apiVersion"], "move.example.com/v2", "{key}");
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let number = object["spec"]["number"].as_u64().unwrap() as usize;
        if let Some(own) = name.strip_prefix("quiet-") {
            assert_eq!((number, writes), (own.parse().unwrap(), 2), "{name} was created, and rewritten once");
            assert_eq!(object["spec"]["text"].as_str().unwrap().len(), 100);
        }
        found.insert(name, number);
    }
    let quiet = found.keys().filter(|name| name.starts_with("quiet-")).count();
    assert_eq!(quiet, many);
    found.retain(|name, _| name.starts_with("busy-"));
    assert_eq!(found, busy, "what others wrote is as they wrote it");
    let (code, said) = desk.migrate(&["--check"]);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn versions_are_kept_until_all_objects_are_rewritten() {
    let Some(cluster) = ControlPlane::start("migrate-refused", 0) else { return };
    let desk = Desk { cluster: &cluster, sandbox: Sandbox::new() };
    desk.prepare(&mut Api::of(&cluster), 30);
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": { "name": "frozen" },
        "spec": {
            "matchConstraints": { "resourceRules": [{
                "apiGroups": ["move.example.com"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["widgets"],
            }] },
            "validations": [{ "expression": "object.metadata.name != 'quiet-7'", "message": "it is frozen" }],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": "frozen" }, "spec": { "policyName": "frozen", "validationActions": ["Deny"] },
    });
    cluster.kubectl(&["create", "-f", "-"], &format!("{policy}\n---\n{binding}"));
    // An update would store the object in the new version.
    let change = ["annotate", "widgets.move.example.com", "quiet-7", "--overwrite", "--dry-run=server", "a=b"];
    until(|| !cluster.run(&change, "").status.success());

    let (code, said) = desk.migrate(&["--yes"]);
    assert_eq!(code, Some(1), "{said}");
    for part in ["the API server refuses to update 1 object", "quiet-7", "it is frozen"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert_eq!(desk.stored_versions(), r#"["v1","v2"]"#);
    assert_eq!(desk.versions()["move.example.com/v1"], 1);

    cluster.kubectl(&["delete", "validatingadmissionpolicybinding", "frozen"], "");
    until(|| cluster.run(&change, "").status.success());
    let (code, said) = desk.migrate(&["--yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(desk.stored_versions(), r#"["v2"]"#);
    assert_eq!(desk.versions().len(), 1);
}

#[test]
fn a_migration_continues_when_the_api_server_is_back() {
    let Some(cluster) = ControlPlane::start("migrate-restart", 0) else { return };
    let desk = Desk { cluster: &cluster, sandbox: Sandbox::new() };
    desk.prepare(&mut Api::of(&cluster), 300);
    let mut migration = desk.command(&["--yes"]).spawn().unwrap();
    until(|| desk.versions().get("move.example.com/v2") > Some(&20));
    assert!(cluster.lock().unwrap().kill("kube-apiserver"));
    let left = desk.versions()["move.example.com/v1"];
    eprintln!("the API server was killed with {left} objects left");
    sleep(Duration::from_secs(1));
    cluster.lock().unwrap().restart("kube-apiserver").unwrap();
    assert!(migration.wait().unwrap().success());
    assert_eq!(desk.stored_versions(), r#"["v2"]"#);
    assert_eq!(desk.versions().len(), 1);
}

/// The annotation of `kubectl apply` is part of the object, and is kept like all other fields.
#[test]
fn what_kubectl_apply_has_made_stays_as_it_is() {
    let Some(cluster) = ControlPlane::start("migrate-applied", 0) else { return };
    let desk = Desk { cluster: &cluster, sandbox: Sandbox::new() };
    cluster.kubectl(&["apply", "--server-side", "-f", "-"], &crd("v1"));
    cluster.kubectl(&["wait", "--for=condition=Established", "crd", CRD, "--timeout=60s"], "");
    let manifest = widget("applied", 7).to_string();
    until(|| cluster.run(&["apply", "-f", "-"], &manifest).status.success());
    let of_applied = || stored(&cluster, &format!("{PREFIX}default/applied")).remove(0).2;
    let before = of_applied();
    assert!(before["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].is_string());
    desk.prepare(&mut Api::of(&cluster), 0);
    let (code, said) = desk.migrate(&["--yes"]);
    assert_eq!(code, Some(0), "{said}");
    let mut after = of_applied();
    assert_eq!(after["apiVersion"], "move.example.com/v2");
    after["apiVersion"] = before["apiVersion"].clone();
    assert_eq!(after, before, "only the version of what is stored differs");
    assert!(cluster.kubectl(&["apply", "-f", "-"], &manifest).contains("unchanged"));
    assert_eq!(desk.stored_versions(), r#"["v2"]"#);
}
