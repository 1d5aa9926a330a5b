//! `opctl run bundle`, `run bundle-upgrade` and `cleanup`: with OLM v0 and v1, whose controllers are fakes
//! (`controllers.rs`), and without OLM. OLM's CRDs validate the objects that opctl applies, and OLM's errors are
//! reported to the user.
#![cfg(unix)]

mod controllers;
mod crds;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::controllers::{Controllers, Fault, Registry};
use crate::control_plane::ControlPlane;
use crate::sandbox::{Sandbox, shell};

const KIND: &str = "racks.depot.example.com";
const IMAGE: &str = "registry.example.com/shop-bundle";
const CATALOG: &str = "registry.example.com/shop-catalog";

/// A project with two versions of its bundle, `v1` and `v2`, in folders and as images.
struct Desk<'a> {
    cluster: &'a ControlPlane,
    sandbox: Sandbox,
    registry: Registry,
}

impl<'a> Desk<'a> {
    fn new(cluster: &'a ControlPlane) -> Self {
        let mut sandbox = Sandbox::new();
        shell(&sandbox, "opctl -q init shop --domain example.com --api depot/v1/Rack");
        sandbox.folder.push("shop");
        let generate = "opctl -q generate bundle --image registry.example.com/shop:v1";
        for command in [
            &*format!("{generate} --version 0.1.0"),
            "cp -r bundle v1",
            &format!("{generate} --version 0.2.0 --replaces shop.v0.1.0"),
            "cp -r bundle v2",
        ] {
            shell(&sandbox, command);
        }
        let mut registry = Registry::default();
        for version in ["v1", "v2"] {
            registry.bundles.insert(format!("{IMAGE}:{version}"), objects(&sandbox.folder.join(version)));
        }
        registry.catalogs.insert(format!("{CATALOG}:v1"), vec![format!("{IMAGE}:v1")]);
        registry.catalogs.insert(format!("{CATALOG}:v2"), vec![format!("{IMAGE}:v1"), format!("{IMAGE}:v2")]);
        program(&sandbox);
        cluster.kubectl(&["create", "namespace", "operators"], "");
        Self { cluster, sandbox, registry }
    }

    fn controllers(&self, fault: Fault) -> Controllers<'_> {
        Controllers { cluster: self.cluster, registry: self.registry.clone(), fault }
    }

    fn command(&self, line: &str) -> Command {
        let path = format!("{}:$PATH", self.sandbox.folder.join("bin").display());
        let mut command = self.sandbox.command("sh");
        let line = format!("PATH={path}; exec opctl {line} --kubectl {}", self.cluster.kubectl.display());
        command.args(["-c", &line]).env("KUBECONFIG", &self.cluster.kubeconfig);
        command
    }

    /// Runs a command line in the namespace `operators`. Returns its exit code and output.
    fn run(&self, line: &str) -> (i32, String) {
        let Output { status, stdout, stderr } = self.command(&format!("{line} -n operators")).output().unwrap();
        let text = String::from_utf8([stdout, stderr].concat()).unwrap();
        (status.code().unwrap(), text)
    }

    fn succeeds(&self, line: &str, expected: &[&str]) {
        let (code, text) = self.run(line);
        assert_eq!(code, 0, "{line}: {text}");
        expected.iter().for_each(|expected| assert!(text.contains(expected), "{line}: {expected}: {text}"));
    }

    fn fails(&self, line: &str, expected: &[&str]) {
        let (code, text) = self.run(line);
        assert_eq!(code, 1, "{line}: {text}");
        expected.iter().for_each(|expected| assert!(text.contains(expected), "{line}: {expected}: {text}"));
    }

    fn names(&self, kinds: &str) -> Vec<String> {
        let output = self.cluster.run(&["get", kinds, "-n", "operators", "-o", "name"], "");
        let names = String::from_utf8(output.stdout).unwrap();
        names.lines().map(String::from).filter(|name| !name.ends_with("kube-root-ca.crt")).collect()
    }

    fn is_served(&self) -> bool {
        self.cluster.run(&["get", "crd", KIND], "").status.success()
    }

    fn add_object(&self) {
        let object =
            "{apiVersion: depot.example.com/v1, kind: Rack, metadata: {name: a, namespace: default}, spec: {}}";
        self.cluster.kubectl(&["apply", "-f", "-"], object);
    }
}

fn objects(bundle: &Path) -> Vec<Value> {
    let files = fs::read_dir(bundle.join("manifests")).unwrap();
    let text = |file: std::io::Result<fs::DirEntry>| fs::read_to_string(file.unwrap().path()).unwrap();
    files.map(|file| opctl_olm::parse::<Value>(&text(file)).unwrap().remove(0)).collect()
}

/// A fake `skopeo` that saves the folder of a bundle as an image: `IMAGE:v1` is the folder `v1`.
fn program(sandbox: &Sandbox) {
    let script = "#!/bin/sh\nset -e\ntag=${3##*:}\nout=$(mktemp -d)\n[ -d \"$tag\" ] || { echo \"FATA manifest unknown\" >&2; exit 1; }\n\
        tar -C \"$tag\" -cf \"$out/layer.tar\" manifests metadata tests\n\
        printf '[{\"Config\":\"c.json\",\"Layers\":[\"layer.tar\"]}]' > \"$out/manifest.json\"\ntar -C \"$out\" -cf - manifest.json layer.tar\n";
    fs::create_dir(sandbox.folder.join("bin")).unwrap();
    let path = sandbox.folder.join("bin/skopeo");
    fs::write(&path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn olm_v0_installs_updates_and_removes_a_bundle() {
    let Some(cluster) = ControlPlane::start("run-bundle-v0", 1) else { return };
    let desk = Desk::new(&cluster);
    desk.fails("run bundle v1", &["the cluster has no OLM", "--without-olm"]);
    crds::create(&cluster, &crds::v0());

    // Without OLM's controllers, the created objects are deleted again.
    desk.fails(
        "run bundle v1 --timeout 15s",
        &[
            "the Subscription `shop` is not ready after 15s: OLM has not created an InstallPlan yet",
            "opctl cleanup shop --namespace operators",
        ],
    );
    desk.fails(
        "run bundle v1",
        &["`shop` is installed already: the Subscription `shop`, which has installed nothing yet"],
    );
    desk.succeeds("cleanup shop", &["removed `shop`"]);
    let ours = "catalogsources,operatorgroups,subscriptions,pods,configmaps";
    assert_eq!(desk.names(ours), [""; 0]);

    interrupted(&desk);
    desk.succeeds("cleanup shop", &[]);

    // Each failure is reported with its reason.
    for (fault, bundle, reason) in [
        (
            Fault::Unpack,
            &*format!("{IMAGE}:v1"),
            "has failed: BundleUnpackFailed: bundle unpacking failed. Reason: DeadlineExceeded",
        ),
        (Fault::Plan, "v1", "has failed: InstallComponentFailed: error creating clusterrole"),
        (
            Fault::Csv,
            "v1",
            "the ClusterServiceVersion `shop.v0.1.0` has failed: InstallComponentFailed: install strategy failed",
        ),
    ] {
        desk.controllers(fault).during(|| desk.fails(&format!("run bundle {bundle}"), &[reason]));
        desk.succeeds("cleanup shop", &[]);
        cluster.kubectl(&["delete", "installplans", "--all", "-n", "operators"], "");
        assert_eq!(desk.names(ours), [""; 0]);
    }

    // The CSV does not support this install mode.
    desk.fails(
        "run bundle v1 --install-mode OwnNamespace",
        &["supports the install modes AllNamespaces, and not OwnNamespace"],
    );
    desk.fails("run bundle nowhere:v9", &["cannot get the image `nowhere:v9`", "skopeo: FATA manifest unknown"]);

    desk.controllers(Fault::None).during(|| {
        desk.succeeds(
            "run bundle v1",
            &[
                "approved the InstallPlan `install-shop-v0-1-0",
                "OLM v0 has installed `shop.v0.1.0` in the namespace `operators`",
            ],
        );
        desk.fails("run bundle v2", &["opctl run bundle-upgrade"]);
        await_field(&desk, "installedCSV", "shop.v0.1.0");
        desk.fails("run bundle-upgrade v1", &["`shop.v0.1.0` is installed already"]);
        // The next version as an image.
        desk.succeeds(&format!("run bundle-upgrade {IMAGE}:v2"), &["OLM v0 has installed `shop.v0.2.0`"]);
        await_field(&desk, "installedCSV", "shop.v0.2.0");
        assert_eq!(desk.names("clusterserviceversions"), ["clusterserviceversion.operators.coreos.com/shop.v0.2.0"]);
        assert_eq!(desk.names("pods").iter().filter(|name| name.contains("catalog")).count(), 1);

        // CRDs with objects are kept by default; CRDs that others use are always kept.
        desk.add_object();
        desk.succeeds("cleanup shop", &["kept the CRD `racks.depot.example.com`: 1 object", "removed `shop`"]);
        assert!(desk.is_served());
        assert_eq!(desk.names(ours), [""; 0]);
        desk.succeeds("run bundle v2", &[]);
        await_field(&desk, "installedCSV", "shop.v0.2.0");
        desk.fails("cleanup shop --delete-crds", &["1 object in 1 namespace", "`--yes` deletes them"]);
        assert_eq!(desk.names("subscriptions").len(), 1, "nothing is deleted without an answer");
        let other = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": {"name": "other.v1", "namespace": "default"},
            "spec": {"displayName": "Other", "install": {"strategy": "deployment", "spec": {"deployments": []}},
                "customresourcedefinitions": {"required": [{"name": KIND, "version": "v1", "kind": "Rack"}]}}});
        cluster.kubectl(&["apply", "-f", "-"], &other.to_string());
        desk.succeeds(
            "cleanup shop --delete-crds --yes",
            &["kept the CRD `racks.depot.example.com`: `default/other.v1` uses it"],
        );
        assert!(desk.is_served());
        cluster.kubectl(&["delete", "clusterserviceversion", "other.v1", "-n", "default"], "");
        desk.succeeds("run bundle v2", &[]);
        desk.succeeds(
            "cleanup shop --delete-crds --yes",
            &["1 object in 1 namespace", "delete  customresourcedefinition"],
        );
        assert!(!desk.is_served());
    });
    desk.fails("cleanup shop", &["`shop` is not installed in the namespace `operators`"]);
}

/// Ctrl-C stops the command at once, and `cleanup` removes the created objects.
fn interrupted(desk: &Desk) {
    let mut child = desk.command("run bundle v1 -n operators").spawn().unwrap();
    let start = Instant::now();
    while desk.names("subscriptions").is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "there is no Subscription");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

fn await_field(desk: &Desk, field: &str, value: &str) {
    let path = format!("--for=jsonpath={{.status.{field}}}={value}");
    desk.cluster.kubectl(&["wait", &path, "subscription/shop", "-n", "operators", "--timeout=60s"], "");
}

#[test]
fn olm_v1_installs_updates_and_removes_a_bundle() {
    let Some(cluster) = ControlPlane::start("run-bundle-v1", 1) else { return };
    let desk = Desk::new(&cluster);
    crds::create(&cluster, &crds::v1());
    desk.fails("run bundle v1", &["OLM v1 installs bundles from the image of a catalog only", "--catalog-image IMAGE"]);
    let needs = match std::env::var_os("OPCTL_OLM_CRDS") {
        Some(_) => "",
        None => {
            desk.fails(&format!("run bundle v1 --catalog-image {CATALOG}:v1"), &["--service-account NAME"]);
            " --service-account installer"
        }
    };
    let run = |version: &str| format!("bundle {version} --catalog-image {CATALOG}:{version}{needs}");

    desk.controllers(Fault::Extension).during(|| {
        desk.fails(
            &format!("run {}", run("v1")),
            &["the ClusterExtension `shop` has failed: Blocked: unsupported bundle"],
        );
    });
    desk.controllers(Fault::None).during(|| {
        desk.succeeds("cleanup shop", &["removed `shop`"]);
        desk.fails(
            &format!("run bundle v1 --catalog-image {CATALOG}:v9{needs} --timeout 20s"),
            &["the ClusterCatalog `shop-catalog` is not ready after 20s: Retrying: source catalog content"],
        );
        desk.succeeds(&format!("run {}", run("v1")), &["OLM v1 has installed `shop` 0.1.0"]);
        desk.fails(
            &format!("run {}", run("v2")),
            &["`shop` is installed already: version 0.1.0 by the ClusterExtension `shop`"],
        );
        desk.succeeds(
            &format!("run {}", run("v2").replacen("bundle", "bundle-upgrade", 1)),
            &["OLM v1 has installed `shop` 0.2.0"],
        );
        desk.add_object();
        desk.fails(
            "cleanup shop",
            &["OLM v1 deletes the CRDs of an operator with it", "`racks.depot.example.com`: 1 object"],
        );
        assert!(desk.is_served());
        desk.fails("cleanup shop --delete-crds", &["`--yes` deletes them"]);
        desk.succeeds("cleanup shop --delete-crds --yes", &["removed `shop`"]);
        assert_eq!(desk.names("clustercatalogs,clusterextensions"), [""; 0]);
    });
}

#[test]
fn a_bundle_is_installed_updated_and_removed_without_olm() {
    let Some(cluster) = ControlPlane::start("run-bundle-without-olm", 1) else { return };
    let desk = Desk::new(&cluster);
    let service = "manifests/shop-extra_v1_service.yaml";
    let text = "apiVersion: v1\nkind: Service\nmetadata: {name: shop-extra}\nspec: {ports: [{port: 80}]}\n";
    fs::write(desk.sandbox.folder.join("v1").join(service), text).unwrap();
    desk.succeeds(
        "run bundle v1 --without-olm",
        &["deployment.apps/shop-controller-manager is rolled out", "installed `shop.v0.1.0` without OLM"],
    );
    assert!(desk.names("services").contains(&"service/shop-extra".to_owned()));
    desk.fails("run bundle v1 --without-olm", &["`shop` is installed already: version 0.1.0 without OLM"]);
    desk.succeeds(
        "run bundle-upgrade v2",
        &["found version 0.1.0 without OLM", "delete  service/shop-extra", "installed `shop.v0.2.0`"],
    );
    desk.add_object();
    desk.succeeds("cleanup shop", &["kept the CRD `racks.depot.example.com`: 1 object"]);
    assert_eq!(desk.names("deployments,services,serviceaccounts,configmaps"), ["serviceaccount/default"]);
    let roles = cluster.kubectl(&["get", "clusterroles,clusterrolebindings", "-o", "name"], "");
    assert!(!roles.contains("shop"), "{roles}");
    // Pods that no node can run.
    let csv = desk.sandbox.folder.join("v1/manifests/shop.clusterserviceversion.yaml");
    let text = fs::read_to_string(&csv).unwrap();
    let changed = text.replacen(
        "serviceAccountName: shop-controller-manager\n              ",
        "nodeSelector: {nowhere: \"true\"}\n              serviceAccountName: shop-controller-manager\n              ",
        1,
    );
    assert_ne!(changed, text);
    fs::write(&csv, changed).unwrap();
    desk.fails(
        "run bundle v1 --without-olm --timeout 10s",
        &["the rollout of deployment.apps/shop-controller-manager is not done after 10s", "Unschedulable"],
    );
    desk.succeeds("cleanup shop --delete-crds --yes", &["1 object in 1 namespace", "removed `shop`"]);
    assert!(!desk.is_served());
}

#[test]
fn olm_is_installed_from_files_and_removed_once_nothing_depends_on_it() {
    let Some(cluster) = ControlPlane::start("olm-install", 1) else { return };
    let desk = Desk::new(&cluster);
    let crds: Vec<String> = crds::v0().iter().map(Value::to_string).collect();
    fs::write(desk.sandbox.folder.join("crds.yaml"), crds.join("\n---\n")).unwrap();
    let deployment = |name: &str| {
        format!(
            "---\n{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, namespace: olm}}, spec: {{selector: {{matchLabels: \
             {{app: {name}}}}}, template: {{metadata: {{labels: {{app: {name}}}}}, spec: {{containers: [{{name: a, image: olm}}]}}}}}}}}\n"
        )
    };
    let deployments: String = ["olm-operator", "catalog-operator", "packageserver"].map(deployment).concat();
    let group = "---\n{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: global, namespace: olm}, spec: {}}\n";
    let all = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: olm}}}}\n{deployments}{group}");
    fs::write(desk.sandbox.folder.join("olm.yaml"), all).unwrap();
    let outside = |line: &str| {
        let Output { status, stdout, stderr } = desk.command(line).output().unwrap();
        (status.code().unwrap(), String::from_utf8([stdout, stderr].concat()).unwrap())
    };
    let files = "--manifests crds.yaml --manifests olm.yaml";
    assert_eq!(outside("olm status").0, 1);
    let (code, text) = outside(&format!("olm install {files}"));
    assert_eq!(code, 0, "{text}");
    let (code, text) = outside(&format!("olm install {files}"));
    assert!(code == 1 && text.contains("the cluster has OLM v0 already"), "{text}");
    desk.controllers(Fault::None).during(|| desk.succeeds("run bundle v1", &[]));
    let (code, text) = outside("olm status");
    assert_eq!(code, 0, "{text}");
    for line in [
        "Deployment olm/olm-operator: runs",
        "CatalogSource operators/shop-catalog: READY",
        "operator operators/shop.v0.1.0: Succeeded",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let (code, text) = outside(&format!("olm uninstall {files}"));
    assert!(code == 1 && text.contains("operators/shop") && text.contains("opctl cleanup PACKAGE"), "{text}");
    desk.succeeds("cleanup shop", &[]);
    let (code, text) = outside(&format!("olm uninstall {files} --yes"));
    assert_eq!(code, 0, "{text}");
    let left = cluster.kubectl(&["get", "crd", "-o", "name"], "");
    assert!(!left.contains("operators.coreos.com"), "{left}");
    assert_eq!(outside("olm status").0, 1);
}
