//! `examples/memcached`: its Deployment and status, with only the permissions of its role.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use opctl_model::Operator;
use opctl_model::diagnostic::Span;
use opctl_source::emit::{self, Options};
use opctl_source::grants::Home;
use serde_json::Value;

use super::eventually;
use super::example::{Example, service_account};
use crate::common;
use crate::control_plane::ControlPlane;
use crate::manager::Manager;
use crate::mutants;

pub const MEMCACHED: Example = Example { folder: "memcached", name: "memcached-operator" };

#[test]
fn keeps_the_cluster_as_the_object_says_with_the_rights_of_its_role() {
    let Some(cluster) = ControlPlane::start("memcached", 2) else { return };
    MEMCACHED.deploy(&cluster);
    let mut manager = MEMCACHED.run(&cluster, &[]);

    cluster.kubectl(&["create", "namespace", "zoo"], "");
    cluster.kubectl(&["label", "namespace", "zoo", "pod-security.kubernetes.io/enforce=restricted"], "");
    cluster.kubectl(&["apply", "-n", "zoo", "-k", MEMCACHED.path().join("config/samples").to_str().unwrap()], "");
    let zoo = Zoo(&cluster);
    zoo.await_settled(3);

    zoo.run(&["patch", "memcached", SAMPLE, "--type=merge", "--patch", r#"{"spec":{"size":4}}"#]);
    zoo.await_settled(4);

    // Uses the scale subresource, like autoscalers. They find the Pods by the selector.
    zoo.run(&["scale", "memcached", SAMPLE, "--replicas=5"]);
    zoo.await_settled(5);
    let refused = cluster.run(&["-n", "zoo", "scale", "memcached", SAMPLE, "--replicas=6"], "");
    assert!(!refused.status.success(), "the bounds of the size hold for the scale, too");
    let url = format!("/apis/cache.example.com/v1alpha1/namespaces/zoo/memcacheds/{SAMPLE}/scale");
    let scale: Value = serde_json::from_str(&zoo.run(&["get", "--raw", &url])).unwrap();
    assert_eq!(scale["status"]["replicas"], 5);
    let selected = zoo.run(&["get", "pods", "-o", "name", "-l", scale["status"]["selector"].as_str().unwrap()]);
    assert_eq!(selected.lines().count(), 5, "{selected}");
    zoo.run(&["scale", "memcached", SAMPLE, "--replicas=4"]);
    zoo.await_settled(4);

    zoo.run(&["scale", "deployment", SAMPLE, "--replicas=1"]);
    zoo.await_settled(4);
    zoo.run(&["label", "deployment", SAMPLE, "app.kubernetes.io/managed-by=someone", "--overwrite"]);
    zoo.await_settled(4);
    zoo.run(&["delete", "deployment", SAMPLE]);
    zoo.await_settled(4);
    let [pod, ..] = &zoo.pods()[..] else { panic!("there are Pods") };
    zoo.run(&["delete", "pod", pod]);
    zoo.await_settled(4);
    assert!(!zoo.pods().contains(pod), "the status follows the Pods");

    let metrics = manager.metrics();
    assert!(
        metrics.contains(r#"controller_reconciles_total{controller="memcacheds.cache.example.com",result="success"}"#),
        "{metrics}"
    );
    assert!(!metrics.contains("controller_reconcile_failures_total{"), "{metrics}");
    let log = manager.log();
    assert!(!log.contains("failed, it starts again"), "{log}");

    // Objects of others are not changed, which is reported.
    zoo.run(&["create", "deployment", "taken", "--image=memcached", "--replicas=0"]);
    let before = zoo.get(&["deployment", "taken"])["metadata"].clone();
    zoo.apply("taken", 1);
    eventually("a word about the other Deployment", || zoo.ready("taken")["reason"] == "RequestFailed");
    let message = zoo.ready("taken")["message"].to_string();
    assert!(message.contains("field is immutable") && !message.contains("Status {"), "{message}");
    assert_eq!(zoo.get(&["deployment", "taken"])["metadata"], before);
    assert!(manager.metrics().contains(r#"reason="RequestFailed"}"#));
    for (name, size) in [("huge", 6), (&*"long".repeat(16), 1)] {
        let refused = cluster.run(&["apply", "-n", "zoo", "-f", "-"], &object(name, size));
        assert!(!refused.status.success(), "the API server takes {name} with {size} servers");
    }

    // kubectl waits until the finalizer is removed.
    zoo.run(&["delete", "memcached", SAMPLE]);
    // After it was ready once, each scaling is reported as progress.
    let events = ["Normal Available", "Normal CleanedUp", "Normal Progressing"];
    assert_eq!(zoo.events(SAMPLE), events.map(String::from).into());
    assert_eq!(zoo.events("taken"), BTreeSet::from(["Warning RequestFailed".into()]));
    eventually("an end of what belongs to it", || zoo.find("deployment").is_empty() && zoo.pods().is_empty());

    assert_eq!(manager.terminate().code(), Some(0));
}

#[test]
fn runs_from_its_bundle_with_the_permissions_of_the_bundle_alone() {
    let Some(cluster) = ControlPlane::start("memcached-bundle", 2) else { return };
    cluster.kubectl(&["create", "namespace", "operators"], "");
    let opctl = |arguments: &[&str]| {
        let mut opctl = Command::new(env!("CARGO_BIN_EXE_opctl"));
        opctl.current_dir(MEMCACHED.path()).args(arguments).args(["-n", "operators", "--kubectl"]);
        opctl.arg(&cluster.kubectl).env("KUBECONFIG", &cluster.kubeconfig);
        common::output(opctl);
    };
    // Its Deployment is rolled out, but no container runs: the manager is a local process.
    opctl(&["run", "bundle", "bundle", "--without-olm"]);
    let account = service_account(&cluster, "operators", "memcached-operator-controller-manager");
    let mut manager = Manager::start(&MEMCACHED.manager(), &account, "bundle", &[]);
    manager.becomes_ready();

    cluster.kubectl(&["create", "namespace", "zoo"], "");
    cluster.kubectl(&["apply", "-n", "zoo", "-k", MEMCACHED.path().join("config/samples").to_str().unwrap()], "");
    let zoo = Zoo(&cluster);
    zoo.await_settled(3);
    zoo.run(&["delete", "memcached", SAMPLE]);
    let log = manager.log();
    assert!(!log.contains("forbidden") && !log.contains("failed"), "{log}");
    assert_eq!(manager.terminate().code(), Some(0));

    opctl(&["cleanup", MEMCACHED.name]);
    assert!(!cluster.run(&["get", "crd", "memcacheds.cache.example.com"], "").status.success());
}

#[test]
fn does_not_start_without_the_crd_or_the_rights_and_says_so() {
    let Some(cluster) = ControlPlane::start("memcached-start", 0) else { return };
    cluster.kubectl(&["create", "serviceaccount", "nobody"], "");
    let (admin, nobody) = (PathBuf::from(&cluster.kubeconfig), service_account(&cluster, "default", "nobody"));
    let refuses = |kubeconfig: &Path, name: &str, reason: &str| {
        let mut manager = Manager::start(&MEMCACHED.manager(), kubeconfig, name, &[]);
        assert_eq!(manager.exit().code(), Some(1));
        let log = manager.log();
        assert!(log.contains(reason), "{log}");
    };

    refuses(
        &admin,
        "no-crd",
        "does not know `cache.example.com/v1alpha1 Memcached`: install the CRDs (`make install`)",
    );
    MEMCACHED.make(&cluster, &["install"]);
    let forbidden = |resource: &str| format!("missing permissions: {resource} is forbidden");
    refuses(&nobody, "no-rights", &forbidden("memcacheds.cache.example.com"));
    // All missing permissions are reported, not only the first.
    let role = "--resource=memcacheds.cache.example.com";
    cluster.kubectl(&["create", "clusterrole", "some", "--verb=list,watch", role], "");
    cluster.kubectl(
        &["create", "clusterrolebinding", "some", "--clusterrole=some", "--serviceaccount=default:nobody"],
        "",
    );
    refuses(&nobody, "some-rights", &forbidden("deployments.apps"));
}

/// Verifies `opctl check`: without a permission that it reports as missing, an operator does not start or reconcile.
#[test]
fn fails_without_each_permission_that_check_calls_missing() {
    let Some(cluster) = ControlPlane::start("memcached-rights", 0) else { return };
    MEMCACHED.make(&cluster, &["install"]);
    let whole = Trial { name: "whole".into(), lacks: String::new(), operator: mutants::read(None) };
    let mutants = mutants::mutants().into_iter().map(|mutant| {
        let around = |span: &Span| span.range.clone();
        let home = Home::default();
        let missing = opctl_source::grants::missing(&mutant.operator, &home, around);
        assert!(missing.iter().any(|missing| missing.verbs() == [mutant.verb.as_str()]), "{}", mutant.verb);
        let (plural, subresource) = mutant.resource.split_once('/').unwrap_or((&mutant.resource, ""));
        let lacks =
            format!("cannot {} resource \"{}\" in API group \"{}\"", mutant.verb, mutant.resource, mutant.group);
        Trial { name: format!("without-{}-{plural}{subresource}", mutant.verb), lacks, operator: mutant.operator }
    });
    // All trials run concurrently, each in its own namespace.
    let trials: Vec<Trial> = std::iter::once(whole).chain(mutants).collect();
    let mut managers: Vec<(&Trial, Manager)> = trials.iter().map(|trial| (trial, trial.start(&cluster))).collect();
    let (whole, mutants) = managers.split_first_mut().unwrap();
    for (trial, manager) in mutants {
        if trial.lacks.contains("\"events\"") {
            // Before the finalizer is set, a deletion causes no event.
            let get = ["get", "memcached", "sample", "-n", &trial.name, "-o", "jsonpath={.metadata.finalizers}"];
            eventually("a finalizer", || !cluster.kubectl(&get, "").is_empty());
            cluster.kubectl(&["delete", "memcached", "sample", "-n", &trial.name], "");
        }
        eventually(&format!("a word about the right that is missing {}", trial.name), || {
            let told = ["missing permissions: ", "reconcile failed: ", "failed, it starts again: ", "not published: "];
            let tells = |line: &str| line.contains(&trial.lacks) && told.iter().any(|words| line.contains(words));
            manager.log().lines().any(tells)
        });
    }
    let (trial, manager) = whole;
    let get = ["get", "memcached", "sample", "-n", &trial.name, "-o", "jsonpath={.status.conditions[0].reason}"];
    eventually("a status", || cluster.kubectl(&get, "") == "Progressing");
    let log = manager.log();
    assert!(!log.contains("forbidden") && !log.contains("failed"), "{log}");
}

/// An operator with the role generated from its markers.
struct Trial {
    name: String,
    /// The API server's message about the missing permission.
    lacks: String,
    operator: Operator,
}

impl Trial {
    fn start(&self, cluster: &ControlPlane) -> Manager {
        let name = &self.name;
        let manifests =
            emit::manifests(&[], &self.operator.rbac, &Options { namespaced: false, namespaces: Vec::new() }).unwrap();
        let role = manifests.into_iter().find(|manifest| manifest.path == "rbac/role.yaml").unwrap().text;
        cluster.kubectl(&["create", "namespace", name], "");
        let role = role.replace("name: manager-role", &format!("name: {name}"));
        cluster.kubectl(&["apply", "-f", "-"], &role.replace("namespace: system", &format!("namespace: {name}")));
        cluster.kubectl(&["create", "serviceaccount", name, "-n", name], "");
        let account = format!("--serviceaccount={name}:{name}");
        cluster.kubectl(&["create", "clusterrolebinding", name, &format!("--clusterrole={name}"), &account], "");
        let role = "--role=leader-election-role";
        cluster.kubectl(&["create", "rolebinding", name, "-n", name, role, &account], "");
        cluster.kubectl(&["apply", "-n", name, "-f", "-"], &object("sample", 1));
        let account = service_account(cluster, name, name);
        let arguments = ["--watch-namespace", name, "--leader-elect", "--leader-election-namespace", name];
        Manager::start(&MEMCACHED.manager(), &account, name, &arguments)
    }
}

const SAMPLE: &str = "memcached-sample";
fn object(name: &str, size: u8) -> String {
    format!(
        "{{apiVersion: cache.example.com/v1alpha1, kind: Memcached, metadata: {{name: {name}}}, spec: {{size: {size}}}}}"
    )
}

/// Accesses the namespace of the objects with kubectl.
struct Zoo<'a>(&'a ControlPlane);

impl Zoo<'_> {
    fn run(&self, arguments: &[&str]) -> String {
        self.0.kubectl(&[&["-n", "zoo"], arguments].concat(), "")
    }

    fn apply(&self, name: &str, size: u8) {
        self.0.kubectl(&["-n", "zoo", "apply", "-f", "-"], &object(name, size));
    }

    /// An object or list; null if it does not exist.
    fn get(&self, what: &[&str]) -> Value {
        let text = self.run(&[&["get", "-o", "json", "--ignore-not-found"], what].concat());
        if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() }
    }

    /// The sorted names of the sample's objects that are not being deleted.
    fn find(&self, resource: &str) -> Vec<String> {
        let list = self.get(&[resource, "-l", &format!("app.kubernetes.io/instance={SAMPLE}")]);
        let items = list["items"].as_array().into_iter().flatten();
        let staying = items.filter(|item| item["metadata"]["deletionTimestamp"].is_null());
        let mut names: Vec<_> = staying.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    fn pods(&self) -> Vec<String> {
        self.find("pod")
    }

    /// The events of a Memcached.
    fn events(&self, name: &str) -> BTreeSet<String> {
        let about = format!("involvedObject.kind=Memcached,involvedObject.name={name}");
        let list = self.get(&["events", "--field-selector", &about]);
        let events = list["items"].as_array().into_iter().flatten();
        let text = |event: &Value, key: &str| event[key].as_str().unwrap().to_owned();
        events.map(|event| format!("{} {}", text(event, "type"), text(event, "reason"))).collect()
    }

    fn ready(&self, name: &str) -> Value {
        self.get(&["memcached", name])["status"]["conditions"][0].clone()
    }

    /// Waits until the sample has this number of Pods, and its status and Deployment agree.
    fn await_settled(&self, size: usize) {
        let what = format!("{size} servers, and the status says so");
        eventually(&what, || {
            let memcached = self.get(&["memcached", SAMPLE]);
            let deployment = self.get(&["deployment", SAMPLE]);
            let (status, ready) = (&memcached["status"], &memcached["status"]["conditions"][0]);
            let pods = self.pods();
            status["observedGeneration"] == memcached["metadata"]["generation"]
                && ready["type"] == "Ready"
                && ready["status"] == "True"
                && ready["reason"] == "Available"
                && ready["observedGeneration"] == memcached["metadata"]["generation"]
                && pods.len() == size
                && status["replicas"] == size
                && status["nodes"] == Value::from(pods)
                && deployment["spec"]["replicas"] == size
                && deployment["status"]["availableReplicas"] == size
                && deployment["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "memcached-operator"
                && deployment["metadata"]["ownerReferences"][0]["uid"] == memcached["metadata"]["uid"]
        });
    }
}
