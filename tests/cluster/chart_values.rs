//! The CRD of a chart's kind accepts the same values as helm, tested with a real API server.
#![cfg(unix)]

use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::helm::has_helm;
use crate::sandbox::Sandbox;

#[test]
fn a_default_does_not_narrow_what_a_value_may_be() {
    let Some(cluster) = ControlPlane::start("chart-values", 0) else { return };
    if !has_helm("the values of a chart") {
        return;
    }
    let mut sandbox = Sandbox::new();
    let mut opctl = |line: &str| {
        let output = sandbox.command("sh").args(["-c", &format!("opctl {line}")]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        sandbox.folder.push("demo");
    };
    opctl("init demo --domain example.com --license none --yes");
    opctl("create api --group web --version v1 --kind Site --helm-chart \"$CHARTS/scalars\"");
    sandbox.folder.pop();
    let crd = sandbox.folder.join("config/crd/bases/web.example.com_sites.yaml");
    cluster.kubectl(&["apply", "-f", crd.to_str().unwrap()], "");
    cluster.kubectl(&["wait", "--for=condition=Established", "crd/sites.web.example.com"], "");
    let accepts = |spec: &Value| {
        let object =
            json!({ "apiVersion": "web.example.com/v1", "kind": "Site", "metadata": { "name": "a" }, "spec": spec });
        cluster
            .run(&["apply", "--dry-run=server", "--validate=strict", "-f", "-"], &object.to_string())
            .status
            .success()
    };
    for spec in [
        json!({ "nodePort": 30080, "minAvailable": "50%", "targetPort": 8080, "maxBytes": 10_737_418_240_u64 }),
        json!({ "nodePort": "http", "ratio": "500m", "affinity": { "nodeAffinity": {} }, "metrics": true }),
        json!({ "ratio": 2, "affinity": 1.5, "annotations": "a: b", "args": ["-v", 2] }),
        json!({ "urls": "a,b", "labels": "a: b", "debug": "verbose" }),
        json!({ "urls": ["a", 2], "labels": { "a": "b" }, "debug": true, "selector": { "os": "{{ .Values.selector.arch }}", "arch": "arm64" } }),
        json!({ "global": { "zone": "a" }, "selector": { "os": "{{ .Values.global.zone }}" } }),
        json!({ "nodePort": null, "minAvailable": null, "annotations": { "a": "b" }, "password": "1", "replicas": 2 }),
    ] {
        assert!(accepts(&spec), "{spec}");
    }
    for spec in [
        json!({ "nodePort": [80] }),
        json!({ "nodePort": { "http": 80 } }),
        json!({ "flag": "yes" }),
        json!({ "selector": "linux" }),
        json!({ "args": "-v" }),
        json!({ "password": 1 }),
        json!({ "replicas": "2" }),
        json!({ "port": "http" }),
        json!({ "nodeport": 80 }),
    ] {
        assert!(!accepts(&spec), "{spec}");
    }
}
