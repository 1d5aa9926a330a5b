//! `examples/mysrv`: a server and its Service for each MySrv, with only the permissions of its role.

use serde_json::json;

use super::eventually;
use super::example::Example;
use super::namespace::Namespace;
use crate::control_plane::ControlPlane;
use crate::nightly::is_run;

const MYSRV: Example = Example { folder: "mysrv", name: "mysrv" };
const SAMPLE: &str = "mysrv-sample";

#[test]
fn runs_a_server_of_a_name_on_a_port() {
    if !is_run("the example mysrv", "OPCTL_OPERATORS") {
        return;
    }
    let Some(cluster) = ControlPlane::start("mysrv", 2) else { return };
    MYSRV.deploy(&cluster);
    let mut manager = MYSRV.run(&cluster, &[]);
    let zoo = Namespace::create(&cluster);
    zoo.run(&["apply", "-k", MYSRV.path().join("config/samples").to_str().unwrap()]);

    let settled = |port: i32, name: &str| {
        eventually(&format!("{name} on port {port}"), || {
            let object = zoo.get("mysrv", SAMPLE);
            let (deployment, service) = (zoo.get("deployment", SAMPLE), zoo.get("service", SAMPLE));
            let container = &deployment["spec"]["template"]["spec"]["containers"][0];
            let ready = &object["status"]["conditions"][0];
            object["status"]["observedGeneration"] == object["metadata"]["generation"]
                && (&ready["status"], &ready["reason"]) == (&json!("True"), &json!("Available"))
                && container["args"] == json!([format!("-listen=:{port}"), format!("-text={name}")])
                && service["spec"]["ports"].as_array().is_some_and(|ports| ports.len() == 1)
                && service["spec"]["ports"][0]["port"] == port
                && [&deployment, &service]
                    .iter()
                    .all(|child| child["metadata"]["ownerReferences"][0]["uid"] == object["metadata"]["uid"])
        });
    };
    settled(8080, "hello");
    zoo.run(&["patch", "mysrv", SAMPLE, "--type=merge", "--patch", r#"{"spec":{"port":8081,"name":"world"}}"#]);
    settled(8081, "world");
    zoo.run(&["scale", "deployment", SAMPLE, "--replicas=0"]);
    settled(8081, "world");
    // Another port of the same name, which conflicts with an apply of its own port.
    zoo.run(&[
        "patch",
        "service",
        SAMPLE,
        "--type=merge",
        "--patch",
        r#"{"spec":{"ports":[{"name":"http","port":81}]}}"#,
    ]);
    settled(8081, "world");
    for child in ["deployment", "service"] {
        zoo.run(&["delete", child, SAMPLE]);
        settled(8081, "world");
    }

    for spec in [json!({ "port": 80, "name": "low" }), json!({ "port": 8080, "name": "" }), json!({ "port": 8080 })] {
        let object = json!({
            "apiVersion": "myapp.idcos.com/v1alpha1", "kind": "MySrv", "metadata": { "name": "wrong" }, "spec": spec,
        });
        assert!(!zoo.try_apply(&object).status.success(), "the API server takes {spec}");
    }

    zoo.run(&["delete", "mysrv", SAMPLE]);
    eventually("an end of what belongs to it", || {
        zoo.get("deployment", SAMPLE).is_null() && zoo.get("service", SAMPLE).is_null()
    });
    assert_eq!(manager.terminate().code(), Some(0));
    let log = manager.log();
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}
