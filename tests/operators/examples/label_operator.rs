//! `examples/label-operator`: the label follows the annotation, with only the permissions to list, watch and patch
//! Pods.

use serde_json::{Value, json};

use super::eventually;
use super::example::Example;
use crate::control_plane::ControlPlane;
use crate::nightly::is_run;

const LABEL_OPERATOR: Example = Example { folder: "label-operator", name: "label-operator" };
const ANNOTATION: &str = "padok.fr/add-pod-name-label";
const LABEL: &str = "padok.fr/pod-name";

#[test]
fn the_label_of_a_pod_follows_its_annotation() {
    if !is_run("the example label-operator", "OPCTL_OPERATORS") {
        return;
    }
    let Some(cluster) = ControlPlane::start("label-operator", 1) else { return };
    let pods = Pods(&cluster);
    // One Pod exists before the operator starts, one is created afterwards.
    pods.create("early", "true");
    LABEL_OPERATOR.deploy(&cluster);
    let mut manager = LABEL_OPERATOR.run(&cluster, &[]);
    pods.create("late", "true");
    pods.create("other", "false");
    for name in ["early", "late"] {
        pods.await_label(name, Some(name));
    }

    pods.run(&["annotate", "--overwrite", "pod/late", &format!("{ANNOTATION}=false")]);
    pods.await_label("late", None);
    pods.run(&["annotate", "--overwrite", "pod/late", &format!("{ANNOTATION}=true")]);
    pods.await_label("late", Some("late"));
    pods.run(&["annotate", "pod/late", &format!("{ANNOTATION}-")]);
    pods.await_label("late", None);

    // Changes of the label by others are reverted; changes of other labels are kept.
    pods.run(&["label", "--overwrite", "pod/early", &format!("{LABEL}=someone"), "app=web"]);
    pods.await_label("early", Some("early"));
    pods.run(&["label", "pod/early", &format!("{LABEL}-")]);
    pods.await_label("early", Some("early"));
    pods.run(&["label", "pod/other", &format!("{LABEL}=other")]);
    pods.await_label("other", None);
    assert_eq!(pods.metadata("early")["labels"]["app"], "web");

    let (fits, too_long) = ("a".repeat(63), "b".repeat(64));
    pods.create(&fits, "true");
    pods.await_label(&fits, Some(&fits));
    pods.create(&too_long, "true");
    eventually("an event about the name", || {
        let of_it = format!("regarding.name={too_long},reason=NameTooLong");
        !pods.run(&["get", "events.v1.events.k8s.io", "--field-selector", &of_it, "-o", "name"]).is_empty()
    });
    pods.await_label(&too_long, None);

    // With two concurrent writers, each label is eventually correct, and a conflict does not count as a failure.
    let busy: Vec<String> = (0..20).map(|number| format!("busy-{number}")).collect();
    busy.iter().for_each(|name| pods.create(name, "false"));
    for round in 0..6 {
        let annotation = format!("{ANNOTATION}={}", round % 2 == 1);
        pods.run(&["annotate", "--overwrite", "pods", "--all", &annotation]);
        pods.run(&["label", "--overwrite", "pods", "--all", &format!("{LABEL}=someone"), &format!("round={round}")]);
    }
    busy.iter().for_each(|name| pods.await_label(name, Some(name)));
    assert!(!manager.metrics().contains("controller_reconcile_failures_total{"), "{}", manager.metrics());

    assert_eq!(manager.terminate().code(), Some(0));
    let log = manager.log();
    assert!(!log.contains("WARN") && !log.contains("ERROR"), "{log}");
}

/// The Pods in the namespace `default`.
struct Pods<'a>(&'a ControlPlane);

impl Pods<'_> {
    fn run(&self, arguments: &[&str]) -> String {
        self.0.kubectl(arguments, "")
    }

    fn create(&self, name: &str, annotation: &str) {
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": name, "annotations": { ANNOTATION: annotation } },
            "spec": { "containers": [{ "name": "web", "image": "nginx" }] },
        });
        self.0.kubectl(&["create", "-f", "-"], &pod.to_string());
    }

    fn metadata(&self, name: &str) -> Value {
        let pod: Value = serde_json::from_str(&self.run(&["get", "pod", name, "-o", "json"])).unwrap();
        pod["metadata"].clone()
    }

    fn await_label(&self, name: &str, value: Option<&str>) {
        eventually(&format!("the label of {name} as {value:?}"), || {
            self.metadata(name)["labels"].get(LABEL).and_then(Value::as_str) == value
        });
    }
}
