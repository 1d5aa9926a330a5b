//! The operator without metrics. `opctl edit` cannot turn them off, so this is done to the objects.

use serde_json::Value;

const PORT: &str = "metrics";

/// Whether an object runs the operator with metrics, as the scaffold does.
pub fn serves_metrics(object: &Value) -> bool {
    containers(object).iter().any(|container| items(&container["args"]).iter().any(is_argument))
}

/// Takes out what is there for metrics: arguments, ports, and the objects that are about these only.
pub fn without_metrics(objects: &mut Vec<Value>) {
    objects.retain(|object| match object["kind"].as_str() {
        Some("ServiceMonitor" | "PodMonitor" | "PrometheusRule") => false,
        Some("Service") => !items(&object["spec"]["ports"]).iter().all(|port| port["targetPort"] == PORT),
        Some("ClusterRole") => !grants_metrics(object),
        Some("ClusterRoleBinding") => {
            !object["roleRef"]["name"].as_str().is_some_and(|name| name.ends_with("metrics-auth-role"))
        }
        _ => true,
    });
    for object in objects {
        if let Some(Value::Array(containers)) = object.pointer_mut("/spec/template/spec/containers") {
            for container in containers {
                remove(container, "args", is_argument);
                remove(container, "ports", |port| port["name"] == PORT);
            }
        }
        if object["kind"] == "NetworkPolicy"
            && let Some(spec) = object.get_mut("spec")
        {
            remove(spec, "ingress", |rule| items(&rule["ports"]).iter().any(|port| port["port"] == PORT));
        }
    }
}

/// Permission to read metrics, or to ask who reads them.
fn grants_metrics(role: &Value) -> bool {
    let is_about = |rule: &Value| {
        let reads = items(&rule["nonResourceURLs"]).iter().any(|url| url == "/metrics");
        let asks = items(&rule["apiGroups"])
            .iter()
            .any(|group| group == "authentication.k8s.io" || group == "authorization.k8s.io");
        reads || asks
    };
    let rules = items(&role["rules"]);
    let is_own = role["metadata"]["name"]
        .as_str()
        .is_some_and(|name| name.ends_with("metrics-auth-role") || name.ends_with("metrics-reader"));
    is_own && !rules.is_empty() && rules.iter().all(is_about)
}

fn is_argument(argument: &Value) -> bool {
    argument.as_str().is_some_and(|text| text.starts_with("--metrics-"))
}

fn containers(object: &Value) -> &[Value] {
    object.pointer("/spec/template/spec/containers").map_or(&[], items)
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Removes items, and the list if none is left.
fn remove(object: &mut Value, key: &str, is: impl Fn(&Value) -> bool) {
    let Some(Value::Array(list)) = object.get_mut(key) else { return };
    list.retain(|item| !is(item));
    if list.is_empty()
        && let Some(object) = object.as_object_mut()
    {
        object.remove(key);
    }
}
