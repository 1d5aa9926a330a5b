//! Objects and releases of operator-sdk's Helm operator, which the imported operator takes over.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::Operator;
use crate::control_plane::ControlPlane;
use crate::manager::Manager;

const TEXT: &str = "by operator-sdk";

pub fn proves(operator: &Operator, cluster: &ControlPlane, manager: &Path) {
    let crds = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/import/web-operator/config/crd/bases");
    // Like its Makefile.
    cluster.kubectl(&["apply", "-f", crds], "");
    for crd in ["pages", "indices"] {
        cluster
            .kubectl(&["wait", "--for=condition=Established", "crd", &format!("{crd}.pages.charts.example.com")], "");
    }
    // A value that the chart does not have, and one of another type.
    let page = json!({ "image": { "tag": "1" }, "replicas": "2", "text": null });
    releases(cluster, "Page", "page", &page, &page);
    let index = json!({ "replicas": 3, "labels": { "a": "b" } });
    let values =
        json!({ "replicas": 3, "labels": { "a": "b", "example.com/tier": "1" }, "text": format!("from {TEXT}") });
    releases(cluster, "Index", "index", &index, &values);

    operator.installs(cluster);
    // The new schema neither prunes nor rejects values that the previous one accepted.
    for (kind, name, spec) in [("pages", "page", &page), ("indices", "index", &index)] {
        assert_eq!(get(cluster, kind, name)["spec"], *spec);
        cluster.kubectl(&["annotate", kind, name, "example.com/edited=yes"], "");
    }
    let [helm, starts] = ["helm", "starts"].map(|name| cluster.folder.join(name));
    let real = cluster.kubectl.with_file_name("helm");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = version ] || echo \"$*\" >> {}\nexec {} \"$@\"\n",
        starts.display(),
        real.display()
    );
    fs::write(&helm, script).unwrap();
    fs::set_permissions(&helm, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(&starts, "").unwrap();
    let kubeconfig = operator.service_account(cluster);
    let arguments = ["--helm-program", helm.to_str().unwrap()];

    let mut without = Manager::start_in(&operator.folder, manager, &kubeconfig, "without", &arguments);
    assert!(!without.exit().success() && without.log().contains("`WEB_OPERATOR_TEXT` is missing"), "{}", without.log());

    let env = [("WEB_OPERATOR_TEXT", TEXT)];
    let mut manager = Manager::start_with(&operator.folder, manager, &kubeconfig, "manager", &arguments, &env);
    manager.becomes_ready();
    for (kind, name, spec) in [("pages", "page", &page), ("indices", "index", &index)] {
        cluster.kubectl(&["wait", "--for=condition=Ready", kind, name, "--timeout=60s"], "");
        let object = get(cluster, kind, name);
        assert_eq!((&object["spec"], &object["status"]["release"]["revision"]), (spec, &json!(1)));
        let conditions = object["status"]["conditions"].as_array().unwrap();
        let types: Vec<&str> = conditions.iter().map(|it| it["type"].as_str().unwrap()).collect();
        assert!(!types.contains(&"Initialized") && !types.contains(&"Irreconcilable"), "{types:?}");
        assert_eq!(object["status"]["deployedRelease"], Value::Null);
        assert_eq!(object["metadata"]["finalizers"], json!([FINALIZER]));
    }
    let records = cluster.kubectl(&["get", "secrets", "-l", "owner=helm", "-o", "name"], "");
    assert_eq!(records, "secret/sh.helm.release.v1.index.v1\nsecret/sh.helm.release.v1.page.v1\n");
    assert_eq!(fs::read_to_string(&starts).unwrap(), "");

    // An upgrade, and the values of an object without its own.
    let patch = json!({ "spec": { "replicas": 4, "labels": null } }).to_string();
    cluster.kubectl(&["patch", "indices", "index", "--type=merge", "-p", &patch], "");
    cluster.kubectl(&["wait", "--for=jsonpath={.status.release.revision}=2", "indices", "index", "--timeout=60s"], "");
    let map = get(cluster, "configmaps", "index");
    assert_eq!(map["data"], json!({ "replicas": "4", "text": format!("from {TEXT}") }));
    assert_eq!(map["metadata"]["labels"]["example.com/tier"], "1");
    for (kind, name) in [("pages", "page"), ("indices", "index")] {
        cluster.kubectl(&["delete", kind, name, "--timeout=60s"], "");
    }
    let left = cluster.kubectl(&["get", "configmaps,secrets", "-o", "name"], "");
    assert_eq!(left, "configmap/kube-root-ca.crt\n");
    assert_eq!(manager.terminate().code(), Some(0));
}

const FINALIZER: &str = "helm.sdk.operatorframework.io/uninstall-release";

/// Creates an object, its release, and its status, like operator-sdk.
fn releases(cluster: &ControlPlane, kind: &str, name: &str, spec: &Value, values: &Value) {
    let object = json!({
        "apiVersion": "pages.charts.example.com/v1alpha1",
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": "default",
            "finalizers": [FINALIZER],
            "labels": { "example.com/web": "index" },
        },
        "spec": spec,
    });
    let created: Value =
        serde_json::from_str(&cluster.kubectl(&["create", "-f", "-", "-o", "json"], &object.to_string())).unwrap();
    let file = cluster.folder.join("values.json");
    fs::write(&file, values.to_string()).unwrap();
    let mut helm = Command::new(cluster.kubectl.with_file_name("helm"));
    helm.args(["install", name, concat!(env!("CARGO_MANIFEST_DIR"), "/tests/import/web-operator/helm-charts/web")]);
    // Helm 3 has no server-side apply.
    helm.args(["--server-side=false", "--values"]).arg(&file).env("KUBECONFIG", &cluster.kubeconfig);
    crate::common::output(helm);
    let owner = json!({ "metadata": {
        "labels": { "helm.sdk.operatorframework.io/chart": "web" },
        "ownerReferences": [{
            "apiVersion": object["apiVersion"],
            "kind": kind,
            "name": name,
            "uid": created["metadata"]["uid"],
            "controller": true,
            "blockOwnerDeletion": true,
        }],
    } });
    let patch = ["patch", "configmap", name, "--field-manager=helm-operator", "--type=merge", "-p", &owner.to_string()];
    cluster.kubectl(&patch, "");
    let time = "2024-01-02T03:04:05Z";
    let status = json!({ "status": {
        "conditions": [
            { "type": "Initialized", "status": "True", "lastTransitionTime": time },
            {
                "type": "Deployed",
                "status": "True",
                "lastTransitionTime": time,
                "reason": "InstallSuccessful",
                "message": "NOTES:\nGet the text\n",
            },
            { "type": "Irreconcilable", "status": "True", "lastTransitionTime": time, "reason": "ReconcileError" },
        ],
        "deployedRelease": { "name": name, "manifest": "---\napiVersion: v1\nkind: Secret\n" },
    } });
    let plural = if kind == "Page" { "pages" } else { "indices" };
    let patch = ["patch", plural, name, "--subresource=status", "--type=merge", "-p", &status.to_string()];
    cluster.kubectl(&[&patch[..], &["--field-manager=helm-operator"]].concat(), "");
}

fn get(cluster: &ControlPlane, kind: &str, name: &str) -> Value {
    serde_json::from_str(&cluster.kubectl(&["get", kind, name, "-o", "json"], "")).unwrap()
}
