//! `opctl status` with a real API server: each section, with a state to report.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::sandbox::Sandbox;

const CRD: &str = "memcacheds.cache.example.com";

struct Desk<'a> {
    cluster: &'a ControlPlane,
    sandbox: Sandbox,
}

impl Desk<'_> {
    fn command(&self, kubeconfig: &str, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command("opctl");
        command.args(arguments).args(["--kubectl", self.cluster.kubectl.to_str().unwrap()]);
        command.env("KUBECONFIG", kubeconfig).env("KUBECACHEDIR", self.cluster.folder.join("kubectl"));
        command
    }

    fn opctl(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.command(&self.cluster.kubeconfig, arguments).output().unwrap();
        (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
    }

    fn deploy(&self) {
        let (code, said) = self.opctl(&["deploy", "--image", "registry.example.com/shop:v1"]);
        assert_eq!(code, Some(0), "{said}");
    }

    /// Asserts that `opctl status` reports a line in a section, and that `--check` agrees.
    fn shows(&self, part: &str) {
        let start = Instant::now();
        loop {
            let (code, said) = self.opctl(&["status", "--check"]);
            if said.contains(part) {
                let is_fine = said.contains("nothing is wrong");
                return assert_eq!(code, Some(if is_fine { 0 } else { 1 }), "{said}");
            }
            assert!(start.elapsed() < Duration::from_secs(60), "never `{part}`:\n{said}");
            sleep(Duration::from_millis(200));
        }
    }

    fn is_fine(&self) {
        self.shows("nothing is wrong");
    }

    fn kubectl(&self, line: &str) {
        self.cluster.kubectl(&line.split_whitespace().collect::<Vec<_>>(), "");
    }

    fn apply(&self, object: &Value) {
        self.cluster.kubectl(&["apply", "-f", "-"], &object.to_string());
    }

    /// Applies a merge patch, to the status if `more` selects it.
    fn patch(&self, object: &str, patch: &Value, more: &[&str]) {
        let patch = patch.to_string();
        self.cluster.kubectl(&[&["patch", object, "--type=merge", "-p", &patch], more].concat(), "");
    }
}

#[test]
fn each_section_reports_what_differs_or_does_not_work() {
    let Some(cluster) = ControlPlane::start("status", 1) else { return };
    let mut desk = Desk { cluster: &cluster, sandbox: Sandbox::new() };
    let init = ["init", "shop", "--domain", "example.com", "--api", "cache/v1/Memcached", "-q"];
    assert!(desk.sandbox.command("opctl").args(init).status().unwrap().success());
    desk.sandbox.folder.push("shop");

    desk.shows(&format!("error    `{CRD}` is not installed"));
    desk.shows("roles and bindings is in the cluster");
    desk.shows("`shop-system/shop-controller-manager` is not deployed");
    desk.deploy();
    desk.is_fine();

    crds(&desk);
    roles(&desk);
    operator(&desk);
    objects(&desk);
    leftovers(&desk);
    few_rights(&desk);
    for_programs(&desk);
    webhooks(&desk);
}

fn crds(desk: &Desk) {
    let types = desk.sandbox.folder.join("src/api/cache/v1/memcached.rs");
    let text = fs::read_to_string(&types).unwrap();
    let note = "pub struct MemcachedSpec {\n    #[serde(default)]\n    pub note: String,";
    let with_note = text.replacen("pub struct MemcachedSpec {", note, 1);
    assert_ne!(with_note, text);
    fs::write(&types, with_note).unwrap();
    assert!(desk.sandbox.command("opctl").args(["manifests", "-q"]).status().unwrap().success());
    desk.shows(&format!("warning  `{CRD}` is older in the cluster: it has no `spec.note` of v1"));
    assert_eq!(desk.opctl(&["install"]).0, Some(0));
    desk.is_fine();

    let path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/extra";
    let patch = json!([{ "op": "add", "path": path, "value": { "type": "string" } }]).to_string();
    desk.cluster.kubectl(&["patch", "crd", CRD, "--type=json", "-p", &patch], "");
    desk.shows("is newer in the cluster: the project has no `spec.extra` of v1; last edited by `kubectl-patch`");
    let patch = json!([{ "op": "remove", "path": path }]).to_string();
    desk.cluster.kubectl(&["patch", "crd", CRD, "--type=json", "-p", &patch], "");
    desk.is_fine();

    // An earlier release has stored another version.
    let schema = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let old = json!({ "name": "v1beta1", "served": true, "storage": false, "schema": schema });
    let patch = json!([{ "op": "add", "path": "/spec/versions/-", "value": old }]).to_string();
    desk.cluster.kubectl(&["patch", "crd", CRD, "--type=json", "-p", &patch], "");
    let stored = json!({ "status": { "storedVersions": ["v1beta1", "v1"] } });
    desk.patch(&format!("crd/{CRD}"), &stored, &["--subresource=status"]);
    desk.shows("may be stored as v1beta1, which the project no longer has");
    assert_eq!(desk.opctl(&["migrate", "--yes"]).0, Some(0));
    desk.shows("is newer in the cluster: the project has no v1beta1");
    assert_eq!(desk.opctl(&["install"]).0, Some(0));
    desk.is_fine();
}

fn roles(desk: &Desk) {
    let rule = json!({ "rules": [{ "apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["delete"] }] });
    desk.patch("clusterrole/shop-manager-role", &rule, &[]);
    desk.shows("the role `shop-manager-role` of the cluster lacks ");
    desk.shows("the role `shop-manager-role` of the cluster grants more than the project: delete deployments.apps");
    let subjects = json!({ "subjects": [{ "kind": "ServiceAccount", "name": "other", "namespace": "shop-system" }] });
    desk.patch("clusterrolebinding/shop-manager-rolebinding", &subjects, &[]);
    desk.shows("the binding `shop-manager-rolebinding` has another role or other subjects");
    desk.kubectl("delete clusterrole shop-metrics-reader");
    desk.shows("the cluster does not have `shop-metrics-reader`");
    desk.deploy();
    desk.is_fine();
}

fn operator(desk: &Desk) {
    let deployment = "deployment/shop-controller-manager";
    let of_operator = ["-n", "shop-system"];
    let image =
        |image: &str| json!([{ "op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image }]);
    let set = |name: &str| {
        let patch = image(name).to_string();
        desk.cluster.kubectl(&["-n", "shop-system", "patch", deployment, "--type=json", "-p", &patch], "");
    };
    set("controller:latest");
    desk.shows("the placeholder `controller:latest` is deployed instead of an image");
    desk.deploy();

    let nowhere = json!({ "spec": { "template": { "spec": { "nodeSelector": { "nowhere": "true" } } } } });
    desk.patch(deployment, &nowhere, &of_operator);
    desk.shows("is not rolled out: ");
    let anywhere = json!({ "spec": { "template": { "spec": { "nodeSelector": null } } } });
    desk.patch(deployment, &anywhere, &of_operator);
    desk.is_fine();

    let pods = desk.cluster.kubectl(&["get", "pods", "-n", "shop-system", "-o", "name"], "");
    let finished =
        desk.cluster.kubectl(&["get", "namespace", "shop-system", "-o", "jsonpath={.metadata.creationTimestamp}"], "");
    let terminated = json!({ "reason": "OOMKilled", "exitCode": 137, "finishedAt": finished, "startedAt": finished });
    let container = json!({
        "name": "manager", "restartCount": 3, "ready": true, "started": true, "image": "registry.example.com/shop:v1",
        "imageID": "", "state": { "running": { "startedAt": finished } }, "lastState": { "terminated": terminated },
    });
    let status = json!({ "status": { "containerStatuses": [container] } });
    desk.patch(pods.lines().next().unwrap(), &status, &["-n", "shop-system", "--subresource=status"]);
    desk.shows("has restarted 3 times, last because of OOMKilled, exit code 137, ");
    desk.kubectl("delete -n shop-system pods --all");
    desk.is_fine();

    let edit = ["edit", "--leader-election", "-q"];
    assert!(desk.sandbox.command("opctl").args(edit).status().unwrap().success());
    desk.deploy();
    desk.shows("no replica is the leader: there is no Lease `shop`");
    let lease = |time: &str| {
        json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": { "name": "shop", "namespace": "shop-system" },
            "spec": { "holderIdentity": "one", "leaseDurationSeconds": 15, "renewTime": time },
        })
    };
    desk.apply(&lease("2020-01-01T00:00:00.000000Z"));
    desk.shows("error    the leader `one` has not renewed its Lease `shop` for ");
    // The lease expires in the far future.
    desk.apply(&lease("2099-01-01T00:00:00.000000Z"));
    desk.shows("ok       the leader is `one`");
    desk.is_fine();
}

fn objects(desk: &Desk) {
    let object = json!({
        "apiVersion": "cache.example.com/v1", "kind": "Memcached",
        "metadata": { "name": "one", "namespace": "default", "finalizers": ["cache.example.com/x"] }, "spec": {},
    });
    desk.apply(&object);
    desk.shows(&format!("{CRD}   1       0       0           1         0\n"));
    let condition = json!({
        "type": "Ready", "status": "False", "reason": "NoQuota", "message": "the quota is used up",
        "lastTransitionTime": "2020-01-01T00:00:00Z", "observedGeneration": 1,
    });
    let status = json!({ "status": { "conditions": [condition], "observedGeneration": 0 } });
    desk.patch(&format!("{CRD}/one"), &status, &["--subresource=status"]);
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": { "name": "one.1", "namespace": "default" }, "type": "Warning",
        "involvedObject": { "apiVersion": "cache.example.com/v1", "kind": "Memcached", "name": "one", "namespace": "default" },
        "reason": "Failed", "message": "cannot create a Pod", "lastTimestamp": "2026-01-01T00:00:00Z",
    });
    desk.apply(&event);
    desk.shows("NoQuota: the quota is used up; last warning: Failed: cannot create a Pod");
    desk.shows(&format!("the operator has not seen the latest change of 1 object of `{CRD}`"));
    desk.kubectl(&format!("delete {CRD} one --wait=false"));
    desk.shows(&format!("{CRD}   1       0       0           0         1\n"));
    desk.patch(&format!("{CRD}/one"), &json!({ "metadata": { "finalizers": null } }), &[]);
    desk.is_fine();
}

fn leftovers(desk: &Desk) {
    let role = |name: &str, group: &str| {
        let rule = json!({ "apiGroups": [group], "resources": ["olds"], "verbs": ["get"] });
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": name }, "rules": [rule],
        })
    };
    // Roles of another project.
    desk.apply(&role("shop-front-manager-role", "front.example.com"));
    desk.is_fine();
    desk.apply(&role("shop-olds.cache.example.com-viewer", "cache.example.com"));
    let schema = json!({ "openAPIV3Schema": { "type": "object" } });
    desk.apply(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "olds.cache.example.com" },
        "spec": {
            "group": "cache.example.com", "scope": "Namespaced", "names": { "kind": "Old", "plural": "olds" },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
        },
    }));
    desk.shows(
        "the CustomResourceDefinition `olds.cache.example.com` is in the cluster, and the project does not have it",
    );
    desk.shows("the ClusterRole `shop-olds.cache.example.com-viewer` is in the cluster");
    desk.shows("help: kubectl delete clusterrole shop-olds.cache.example.com-viewer");
    desk.kubectl("delete clusterrole shop-olds.cache.example.com-viewer");
    desk.kubectl("delete crd olds.cache.example.com");
    desk.is_fine();
}

/// A user who may only read Deployments.
fn few_rights(desk: &Desk) {
    desk.kubectl("create serviceaccount robot --namespace=default");
    desk.kubectl("create clusterrole robot --verb=get --resource=deployments.apps");
    desk.kubectl("create clusterrolebinding robot --clusterrole=robot --serviceaccount=default:robot");
    let token = desk.cluster.kubectl(&["create", "token", "robot", "--namespace=default"], "");
    let config = desk.cluster.kubectl(&["config", "view", "--raw", "--minify", "--output=json"], "");
    let mut config: Value = serde_json::from_str(&config).unwrap();
    config["users"][0]["user"] = json!({ "token": token.trim() });
    let path = desk.sandbox.root().join("robot.kubeconfig");
    fs::write(&path, config.to_string()).unwrap();
    let start = Instant::now();
    let said = loop {
        let output = desk.command(path.to_str().unwrap(), &["status", "--check"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        if said.contains("shop-system/shop-controller-manager   2          2           registry.example.com/shop:v1") {
            assert_eq!(output.status.code(), Some(0), "what cannot be read is no difference: {said}");
            break said;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{said}");
        sleep(Duration::from_millis(200));
    };
    let robot = "user `system:serviceaccount:default:robot` may not";
    for part in [
        format!("skipped  `{CRD}` cannot be read: {robot} get `customresourcedefinitions.apiextensions.k8s.io`"),
        format!("skipped  the role `shop-manager-role` cannot be read: {robot} get `clusterroles"),
        format!("skipped  Pods cannot be read: {robot} list `pods`"),
        format!("skipped  the leader cannot be read: {robot} list `leases"),
        format!("skipped  the objects of `{CRD}` cannot be read: {robot} list `memcacheds.cache.example.com`"),
        format!("skipped  cannot search for leftovers: {robot} list "),
    ] {
        assert!(said.contains(&part), "{part}\n{said}");
    }
}

fn for_programs(desk: &Desk) {
    let Output { status, stdout, .. } =
        desk.command(&desk.cluster.kubeconfig, &["status", "-o", "json"]).output().unwrap();
    assert!(status.success());
    let json: Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!((&json["differs"], &json["sections"][0]["title"]), (&json!(false), &json!("CRDs")));
    let crd = json!({ "name": CRD, "schema": "up to date", "served": ["v1"], "stored": ["v1"] });
    assert_eq!(json["sections"][0]["findings"][0]["fields"], crd);
    let sections = json["sections"].as_array().unwrap().iter();
    let [operator] = &sections.filter(|it| it["title"] == "operator").collect::<Vec<_>>()[..] else { panic!("{json}") };
    let fields = &operator["findings"][0]["fields"];
    let image = "registry.example.com/shop:v1";
    assert_eq!((&fields["available"], &fields["image"]), (&json!(2), &json!(image)), "{operator}");
    // It runs until it is stopped.
    let mut watch = desk.command(&desk.cluster.kubeconfig, &["status", "--watch", "--interval", "1s", "-o", "json"]);
    let mut watch = watch.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(watch.stdout.take().unwrap()));
    let lines: Vec<Value> = lines.take(2).map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert_eq!(lines[1]["sections"][0], json["sections"][0]);

    let nowhere = desk.sandbox.root().join("nowhere");
    let cluster = json!({ "name": "c", "cluster": { "server": "https://127.0.0.1:1" } });
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "clusters": [cluster], "users": [{ "name": "u", "user": { "token": "t" } }],
        "contexts": [{ "name": "x", "context": { "cluster": "c", "user": "u" } }], "current-context": "x",
    });
    fs::write(&nowhere, config.to_string()).unwrap();
    let output = desk.command(nowhere.to_str().unwrap(), &["status"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cannot reach the cluster: "));
}

fn webhooks(desk: &Desk) {
    let create =
        ["create", "webhook", "--group", "cache", "--version", "v1", "--kind", "Memcached", "--validation", "-q"];
    assert!(desk.sandbox.command("opctl").args(create).status().unwrap().success());
    desk.deploy();
    let configurations = "validatingwebhookconfigurations.admissionregistration.k8s.io";
    let names = desk.cluster.kubectl(&["get", configurations, "-o", "name"], "");
    let name = names.lines().find(|name| name.contains("/shop-")).unwrap();
    desk.shows("has no `caBundle`, so the API server does not trust it");
    let bundle = |year| {
        let mut params = CertificateParams::new(["a.b.svc".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        STANDARD.encode(params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem())
    };
    let set = |bundle: String| {
        let patch = json!([{ "op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle }]).to_string();
        desk.cluster.kubectl(&["patch", name, "--type=json", "-p", &patch], "");
    };
    set(bundle(2000));
    desk.shows("the certificate of the webhook `");
    desk.shows("` expired ");
    set(bundle(2090));
    desk.shows(" is registered, its certificate is valid for ");
    desk.is_fine();
    let policy = json!([{ "op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore" }]).to_string();
    desk.cluster.kubectl(&["patch", name, "--type=json", "-p", &policy], "");
    desk.shows("has the failure policy `Ignore`, and `Fail` in the project");
    desk.deploy();
    desk.kubectl("scale -n shop-system deployment/shop-controller-manager --replicas=0");
    desk.shows("nothing answers for the webhook `");
    desk.kubectl(&format!("delete {name}"));
    desk.shows("is missing: its webhooks are not called");
}
