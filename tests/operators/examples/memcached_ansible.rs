//! `examples/memcached-ansible`: the role of operator-sdk's tutorial for each Memcached, with only the permissions of
//! its role.

use serde_json::{Value, json};

use super::eventually;
use super::example::Example;
use super::namespace::Namespace;
use crate::ansible::has_ansible;
use crate::control_plane::ControlPlane;
use crate::nightly::is_run;

const MEMCACHED: Example = Example { folder: "memcached-ansible", name: "memcached-ansible" };
const SAMPLE: &str = "memcached-sample";

#[test]
fn runs_the_role_of_operator_sdks_tutorial() {
    if !is_run("the example memcached-ansible", "OPCTL_OPERATORS") {
        return;
    }
    if !has_ansible("examples/memcached-ansible") {
        return;
    }
    let Some(cluster) = ControlPlane::start("memcached-ansible", 2) else { return };
    MEMCACHED.deploy(&cluster);
    let mut manager =
        MEMCACHED.run(&cluster, &["--ansible-project", MEMCACHED.path().to_str().unwrap(), "--ansible-processes", "1"]);
    let cache = Namespace::unrestricted(&cluster, "cache");
    let becomes_ready = || {
        eventually("Ready", || {
            let object = cache.get("memcached", SAMPLE);
            let mut conditions = object["status"]["conditions"].as_array().into_iter().flatten();
            let ready = conditions.find(|condition| condition["type"] == "Ready").cloned().unwrap_or_default();
            ready["status"] == "True" && ready["observedGeneration"] == object["metadata"]["generation"]
        });
    };
    let deployment = || cache.get("deployment", "memcached-sample-memcached");
    cache.run(&["apply", "-k", MEMCACHED.path().join("config/samples").to_str().unwrap()]);
    becomes_ready();
    assert_eq!(deployment()["spec"]["replicas"], 3);
    assert_eq!(deployment()["metadata"]["ownerReferences"][0]["name"], SAMPLE);

    cache.run(&["patch", "memcached", SAMPLE, "--type=merge", "-p", r#"{"spec":{"size":2}}"#]);
    becomes_ready();
    assert_eq!(deployment()["spec"]["replicas"], 2);
    cache.run(&["scale", "deployment", "memcached-sample-memcached", "--replicas=5"]);
    eventually("no drift", || deployment()["spec"]["replicas"] == 2);

    for (spec, reason) in [
        (json!({ "replicas": 3 }), r#"unknown field "spec.replicas""#),
        (json!({ "size": "three" }), "must be of type integer"),
    ] {
        let object = json!({
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": { "name": "typo" }, "spec": spec,
        });
        let refused = cache.try_apply(&object);
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && message.contains(reason), "{spec}: {message}");
    }

    cache.run(&["delete", "memcached", SAMPLE]);
    eventually("nothing is left", || deployment() == Value::Null);
    assert_eq!(manager.terminate().code(), Some(0));
}
