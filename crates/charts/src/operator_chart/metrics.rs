//! Removes metrics from the rendered objects of an operator, which `opctl edit` cannot do to the project.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

const PORT: &str = "metrics";
/// The Pod spec of a workload.
const POD: &str = "/spec/template/spec";

/// `true` if a workload runs the operator with metrics, as in the scaffold.
pub fn serves_metrics(object: &Value) -> bool {
    containers(object).iter().any(|container| items(&container["args"]).iter().any(is_argument))
}

/// Removes everything that serves metrics: arguments, variables, ports, a certificate, and objects for metrics only.
pub fn without_metrics(objects: &mut Vec<Arc<Value>>) {
    objects.retain(|object| match object["kind"].as_str() {
        Some("ServiceMonitor" | "PodMonitor" | "PrometheusRule") => false,
        Some("Service") => !items(&object["spec"]["ports"]).iter().all(|port| port["targetPort"] == PORT),
        Some("ClusterRole") => !grants_metrics(object),
        Some("ClusterRoleBinding") => {
            !object["roleRef"]["name"].as_str().is_some_and(|name| name.ends_with("metrics-auth-role"))
        }
        _ => true,
    });
    let mut secrets = BTreeSet::new();
    let is_concerned = |object: &Value| object["kind"] == "NetworkPolicy" || object.pointer(POD).is_some();
    for object in objects.iter_mut().filter(|object| is_concerned(object)) {
        let object = Arc::make_mut(object);
        let mut volumes = BTreeSet::new();
        if let Some(Value::Array(containers)) = object.pointer_mut("/spec/template/spec/containers") {
            for container in containers {
                remove(container, "args", is_argument);
                remove(container, "ports", |port| port["name"] == PORT);
                remove_certificate(container, &mut volumes);
            }
        }
        if let Some(pod) = object.pointer_mut(POD) {
            let is_certificate = |volume: &Value| volume["name"].as_str().is_some_and(|name| volumes.contains(name));
            let of_certificate = items(&pod["volumes"]).iter().filter(|volume| is_certificate(volume));
            secrets
                .extend(of_certificate.filter_map(|volume| volume["secret"]["secretName"].as_str().map(str::to_owned)));
            remove(pod, "volumes", is_certificate);
        }
        if object["kind"] == "NetworkPolicy"
            && let Some(spec) = object.get_mut("spec")
        {
            remove(spec, "ingress", |rule| items(&rule["ports"]).iter().any(|port| port["port"] == PORT));
        }
    }
    let is_issued = |secret: &Value| secret.as_str().is_some_and(|secret| secrets.contains(secret));
    objects.retain(|object| object["kind"] != "Certificate" || !is_issued(&object["spec"]["secretName"]));
}

/// Removes the certificate folder, and adds the names of the volumes mounted there to `volumes`.
fn remove_certificate(container: &mut Value, volumes: &mut BTreeSet<String>) {
    let folder = |variable: &&Value| variable["name"] == "METRICS_CERT_PATH";
    let folder = items(&container["env"]).iter().find(folder).map(|variable| variable["value"].clone());
    remove(container, "env", |variable| variable["name"].as_str().is_some_and(|name| name.starts_with("METRICS_")));
    let Some(folder) = folder else { return };
    let mounts = items(&container["volumeMounts"]).iter().filter(|mount| mount["mountPath"] == folder);
    volumes.extend(mounts.filter_map(|mount| mount["name"].as_str().map(str::to_owned)));
    remove(container, "volumeMounts", |mount| mount["mountPath"] == folder);
}

/// `true` for permissions to read metrics, or to authenticate and authorize their readers.
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

/// Removes items, and the list if it is empty then.
fn remove(object: &mut Value, key: &str, is: impl Fn(&Value) -> bool) {
    let Some(Value::Array(list)) = object.get_mut(key) else { return };
    list.retain(|item| !is(item));
    if list.is_empty()
        && let Some(object) = object.as_object_mut()
    {
        object.remove(key);
    }
}
