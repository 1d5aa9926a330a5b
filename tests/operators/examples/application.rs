//! `examples/application`: the three children of an Application and its status, with only the permissions of its role.

use serde_json::{Value, json};

use super::eventually;
use super::example::Example;
use super::namespace::Namespace;
use crate::control_plane::ControlPlane;
use crate::nightly::is_run;

const APPLICATION: Example = Example { folder: "application", name: "application" };
const CHILDREN: [&str; 3] = ["deployment", "service", "ingress"];

#[test]
fn keeps_the_parts_of_the_spec_and_no_others() {
    if !is_run("the example application", "OPCTL_OPERATORS") {
        return;
    }
    let Some(cluster) = ControlPlane::start("application", 2) else { return };
    APPLICATION.deploy(&cluster);
    let mut manager = APPLICATION.run(&cluster, &[]);
    let zoo = Namespace::create(&cluster);
    zoo.run(&["apply", "-k", APPLICATION.path().join("config/samples").to_str().unwrap()]);
    await_settled(&zoo, "application-sample", 2, "http://sample.example.com/");

    zoo.apply(&application("shop", json!({ "service": {}, "ingress": { "host": "shop.example.com" } })));
    let settled = || await_settled(&zoo, "shop", 1, "http://shop.example.com/");
    settled();

    // Changes of others are reverted, and deleted children are created again.
    for (child, patch) in [
        ("deployment", r#"{"spec":{"replicas":5}}"#),
        ("service", r#"{"spec":{"ports":[{"name":"http","port":81}]}}"#),
        ("ingress", r#"{"spec":{"rules":[{"host":"other.example.com"}]}}"#),
    ] {
        let before = zoo.get(child, "shop")["spec"].clone();
        zoo.run(&["patch", child, "shop", "--type=merge", "--patch", patch]);
        eventually(&format!("the {child} as it was"), || zoo.get(child, "shop")["spec"] == before);
        zoo.run(&["label", child, "shop", "app.kubernetes.io/managed-by-"]);
        settled();
        zoo.run(&["delete", child, "shop"]);
        settled();
    }

    // Removing a part of the spec deletes its child, and the address with it; adding it again creates the child.
    zoo.run(&["patch", "application", "shop", "--type=json", "--patch", r#"[{"op":"remove","path":"/spec/ingress"}]"#]);
    await_settled(&zoo, "shop", 1, "http://shop.zoo.svc:80");
    zoo.run(&["patch", "application", "shop", "--type=json", "--patch", r#"[{"op":"remove","path":"/spec/service"}]"#]);
    eventually("neither Service nor Ingress", || {
        let status = &zoo.get("application", "shop")["status"];
        there(&zoo, "shop") == ["deployment"] && status["address"] == Value::Null
    });
    zoo.apply(&application("shop", json!({ "service": {}, "ingress": { "host": "shop.example.com" } })));
    settled();

    // Objects of others are not changed, which is reported.
    zoo.run(&["create", "service", "clusterip", "taken", "--tcp=80"]);
    let before = zoo.get("service", "taken");
    zoo.apply(&application("taken", json!({ "service": {} })));
    let ready = || zoo.get("application", "taken")["status"]["conditions"][0].clone();
    eventually("a word about the other Service", || ready()["reason"] == "NameTaken");
    assert!(ready()["message"].to_string().contains("Service `taken`"), "{}", ready());
    zoo.run(&[
        "patch",
        "application",
        "taken",
        "--type=json",
        "--patch",
        r#"[{"op":"remove","path":"/spec/service"}]"#,
    ]);
    eventually("an end of the quarrel", || ready()["reason"] == "Available");
    assert_eq!(zoo.get("service", "taken"), before);

    for (spec, why) in [
        (json!({ "ingress": { "host": "shop.example.com" } }), "an ingress needs a service"),
        (json!({ "service": {}, "ingress": { "host": "a b" } }), "spec.ingress.host"),
        (json!({ "service": { "port": 0 } }), "spec.service.port"),
    ] {
        let refused = zoo.try_apply(&application("wrong", spec));
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && message.contains(why), "{message}");
    }
    assert!(!zoo.try_apply(&application("1st", json!({}))).status.success(), "the API server takes the name");

    zoo.run(&["delete", "application", "shop"]);
    eventually("an end of what belongs to it", || there(&zoo, "shop").is_empty());
    assert_eq!(manager.terminate().code(), Some(0));
    let log = manager.log();
    assert!(!log.contains("forbidden") && !log.contains("failed, it starts again"), "{log}");
}

fn application(name: &str, more: Value) -> Value {
    let mut spec = json!({ "deployment": { "image": "registry.example.com/shop:1", "port": 8080 } });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "apiVersion": "apps.example.com/v1alpha1", "kind": "Application", "metadata": { "name": name }, "spec": spec })
}

/// The existing children.
fn there(zoo: &Namespace, name: &str) -> Vec<&'static str> {
    CHILDREN.into_iter().filter(|child| !zoo.get(child, name).is_null()).collect()
}

/// Waits until the children match the spec and the status is up to date.
fn await_settled(zoo: &Namespace, name: &str, size: i32, address: &str) {
    eventually(&format!("{name} is ready at {address}"), || {
        let application = zoo.get("application", name);
        let (status, ready) = (&application["status"], &application["status"]["conditions"][0]);
        status["observedGeneration"] == application["metadata"]["generation"]
            && ready["status"] == "True"
            && ready["reason"] == "Available"
            && status["availableReplicas"] == size
            && status["address"] == address
            && CHILDREN.iter().all(|child| {
                let object = zoo.get(child, name);
                let metadata = &object["metadata"];
                let wanted = application["spec"][child].is_object();
                let owned = metadata["ownerReferences"][0]["uid"] == application["metadata"]["uid"]
                    && metadata["labels"]["app.kubernetes.io/managed-by"] == "application";
                wanted == owned && wanted != object.is_null()
            })
    });
}
