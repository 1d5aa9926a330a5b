//! `examples/nginx`: a release of helm's starter chart for each Nginx, with only the permissions of its role.

use serde_json::{Value, json};

use super::charts::{Releases, run};
use super::eventually;
use super::example::Example;
use super::namespace::Namespace;
use crate::control_plane::ControlPlane;
use crate::helm::has_helm;
use crate::nightly::is_run;

const NGINX: Example = Example { folder: "nginx", name: "nginx-operator" };
const SAMPLE: &str = "nginx-sample";

#[test]
fn installs_helms_starter_chart() {
    if !is_run("the example nginx", "OPCTL_OPERATORS") {
        return;
    }
    if !has_helm("examples/nginx") {
        return;
    }
    let Some(cluster) = ControlPlane::start("nginx", 2) else { return };
    NGINX.deploy(&cluster);
    let mut manager = run(NGINX, &cluster, &NGINX.path().join("helm-charts"));
    // The server of the chart listens on port 80 as root.
    let web = Namespace::unrestricted(&cluster, "web");
    let releases = Releases { namespace: &web, kind: "nginx" };
    web.run(&["apply", "-k", NGINX.path().join("config/samples").to_str().unwrap()]);
    assert_eq!(releases.becomes_ready(SAMPLE)["status"]["release"]["revision"], 1);
    let columns = web.run(&["get", "nginxes"]);
    let columns: Vec<_> = columns.split_whitespace().collect();
    assert_eq!(
        columns[..10],
        ["NAME", "READY", "REASON", "REVISION", "CHART", "AGE", SAMPLE, "True", "Available", "1"]
    );

    let deployment = || web.get("deployment", SAMPLE);
    let replicas = || deployment()["status"]["availableReplicas"].clone();
    releases.patch(SAMPLE, &json!({ "replicaCount": 3, "podAnnotations": { "team": "web" } }));
    let changed = releases.becomes_ready(SAMPLE);
    assert_eq!((&changed["status"]["release"]["revision"], replicas()), (&json!(2), json!(3)));

    let image = || deployment()["spec"]["template"]["spec"]["containers"][0]["image"].clone();
    let released = image();
    web.run(&["scale", "deployment", SAMPLE, "--replicas=5"]);
    web.run(&["set", "image", "deployment", SAMPLE, "nginx=nginx:other"]);
    web.run(&["annotate", "deployment", SAMPLE, "meta.helm.sh/release-name-"]);
    web.run(&["delete", "service", SAMPLE]);
    eventually("no drift", || {
        let deployment = deployment();
        image() == released
            && deployment["spec"]["replicas"] == 3
            && deployment["metadata"]["annotations"]["meta.helm.sh/release-name"] == SAMPLE
            && !web.get("service", SAMPLE).is_null()
    });
    assert_eq!(releases.becomes_ready(SAMPLE)["status"]["release"]["revision"], 2, "helm is not needed for it");
    let events = web.run(&[
        "get",
        "events",
        "--field-selector=reason=DriftCorrected",
        "-o",
        "jsonpath={.items[*].note}{.items[*].message}",
    ]);
    assert!(
        events.contains("Deployment nginx-sample: ") && events.contains("Service nginx-sample: it did not exist"),
        "{events}"
    );

    for (spec, reason) in [
        (json!({ "replicas": 3 }), r#"unknown field "spec.replicas""#),
        (json!({ "service": { "ports": 80 } }), r#"unknown field "spec.service.ports""#),
        (json!({ "replicaCount": "three" }), "must be of type integer"),
    ] {
        let object = json!({ "apiVersion": "web.example.com/v1", "kind": "Nginx", "metadata": { "name": "typo" }, "spec": spec });
        let refused = web.try_apply(&object);
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && message.contains(reason), "{spec}: {message}");
    }

    web.run(&["patch", "nginx", SAMPLE, "--type=json", "-p", r#"[{"op":"replace","path":"/spec","value":{}}]"#]);
    releases.becomes_ready(SAMPLE);
    assert_eq!((replicas(), &deployment()["spec"]["template"]["metadata"]["annotations"]), (json!(1), &Value::Null));

    web.run(&["delete", "nginx", SAMPLE]);
    assert_eq!(releases.left(), "");
    assert_eq!(manager.terminate().code(), Some(0));
    let log = manager.log();
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}
