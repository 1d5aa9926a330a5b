//! The operator's Deployment: the fields that are values.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::condition::Set;
use super::merge::{Part, Tree};
use super::template::{COLUMN, INDENT};
use super::values::Values;
use super::{ChartError, Id, Variants, annotate, append, to_yaml, with};

/// Where the operator runs.
pub struct Manager {
    pub id: Id,
    /// What selectors select its Pods by.
    pub labels: Map<String, Value>,
    pub service_account: String,
    /// Of the container's port `metrics`.
    pub metrics_port: Option<i64>,
}

/// The name of the container in the scaffold; of several containers, it is the operator's.
const CONTAINER: &str = "manager";

/// The Deployment of the operator: the one with a container `manager`, or the only one.
pub fn find(objects: &BTreeMap<Id, Variants>) -> Result<Manager, ChartError> {
    let deployments: Vec<_> = objects.iter().filter(|(id, _)| id.kind == "Deployment").collect();
    let is_manager = |object: &Value| containers(object).iter().any(|container| container["name"] == CONTAINER);
    let named = deployments.iter().find(|(_, variants)| variants.iter().all(|(_, object)| is_manager(object)));
    let Some((id, variants)) = named.or(deployments.first().filter(|_| deployments.len() == 1)) else {
        return Err(ChartError {
            message: "no Deployment in `config/default` has a container `manager`".into(),
            help: "the operator's container must have this name, so that the values of the chart apply to it".into(),
        });
    };
    // The rendering with most parts has all ports.
    let (_, object) = variants.iter().max_by_key(|(_, object)| object.to_string().len()).unwrap_or(&variants[0]);
    let labels = object["spec"]["selector"]["matchLabels"].as_object().cloned().unwrap_or_default();
    let account = object["spec"]["template"]["spec"]["serviceAccountName"].as_str().unwrap_or("default");
    let ports = containers(object).iter().flat_map(|container| container["ports"].as_array().into_iter().flatten());
    let metrics_port = ports.filter(|port| port["name"] == "metrics").find_map(|port| port["containerPort"].as_i64());
    Ok(Manager { id: (*id).clone(), labels, service_account: account.into(), metrics_port })
}

fn containers(object: &Value) -> &[Value] {
    object["spec"]["template"]["spec"]["containers"].as_array().map_or(&[], Vec::as_slice)
}

/// The Deployment of the operator, and its container.
fn deployment(objects: &[Value]) -> Option<(&Value, &Value)> {
    let deployments = objects.iter().filter(|object| object["kind"] == "Deployment");
    let all = deployments.flat_map(|object| containers(object).iter().map(move |container| (object, container)));
    all.min_by_key(|(_, container)| container["name"] != CONTAINER)
}

/// The image of the operator.
pub fn image(objects: &[Value]) -> Option<String> {
    Some(deployment(objects)?.1["image"].as_str()?.to_owned())
}

/// How many replicas of the operator there are.
pub fn replicas(objects: &[Value]) -> Option<i64> {
    deployment(objects)?.0["spec"]["replicas"].as_i64()
}

/// Has the fields of the Deployment depend on values, whose defaults are what is rendered.
pub fn template(tree: &mut Tree, chart: &str, values: &mut Values) -> Result<(), ChartError> {
    let missing = || ChartError {
        message: "the operator's Deployment has no Pod template with containers".into(),
        help: "`opctl check` shows what is wrong under `config`".into(),
    };
    annotate(tree, "manager.annotations", &to_yaml(INDENT));
    let spec = tree.get(&["spec"]).ok_or_else(missing)?;
    spec.put(Set::MAX, "replicas", Tree::Lines(vec!["replicas: {{ .Values.manager.replicas }}".into()]));
    value_or(spec, "strategy", "manager.strategy");
    let pod = spec.get(&["template"]).ok_or_else(missing)?;
    annotate(pod, "manager.pod.annotations", &to_yaml(INDENT));
    if let Some(labels) = pod.get(&["metadata", "labels"]) {
        append(labels, "manager.pod.labels", &to_yaml(COLUMN));
    }
    let spec = pod.get(&["spec"]).ok_or_else(missing)?;
    value(spec, "securityContext", "manager.podSecurityContext", values);
    value(spec, "terminationGracePeriodSeconds", "manager.terminationGracePeriodSeconds", values);
    for key in [
        "affinity",
        "imagePullSecrets",
        "nodeSelector",
        "priorityClassName",
        "tolerations",
        "topologySpreadConstraints",
    ] {
        value_or(spec, key, &format!("manager.{key}"));
    }
    extra(spec, "volumes", "manager.extraVolumes");
    let containers = spec.get(&["containers"]).ok_or_else(missing)?.items();
    let is_only = containers.len() == 1;
    let is_manager =
        |container: &mut Part<Tree>| matches!(container.it.get(&["name"]), Some(Tree::Same(name)) if name == CONTAINER);
    let at = containers.iter_mut().position(|container| is_only || is_manager(container)).ok_or_else(missing)?;
    let container = &mut containers[at].it;
    container.put(Set::MAX, "image", Tree::Lines(vec![format!("image: {{{{ include \"{chart}.image\" . }}}}")]));
    value(container, "imagePullPolicy", "manager.image.pullPolicy", values);
    value(container, "resources", "manager.resources", values);
    value(container, "securityContext", "manager.securityContext", values);
    items(container, "args", "manager.args", values);
    items(container, "env", "manager.env", values);
    extra(container, "volumeMounts", "manager.extraVolumeMounts");
    Ok(())
}

/// A field whose default is in the values. One that varies, or contains names of the release, is in the template unless a value is set.
fn value(tree: &mut Tree, key: &str, path: &str, values: &mut Values) {
    let plain =
        tree.entry(key).filter(|entry| entry.set == Set::MAX).and_then(|entry| entry.it.1.same()).filter(is_plain);
    let Some(default) = plain else {
        values.clear(path);
        return value_or(tree, key, path);
    };
    let lines = match default {
        Value::Object(_) | Value::Array(_) => filled(key, path),
        _ => vec![format!("{key}: {{{{ .Values.{path} }}}}")],
    };
    values.set(path, default);
    tree.put(Set::MAX, key, Tree::Lines(lines));
}

/// An entry for a value that is not empty.
fn filled(key: &str, path: &str) -> Vec<String> {
    with(path, &[&format!("{key}:"), &format!("  {}", to_yaml(INDENT))])
}

/// A field that the template has, if it is there at all, unless a value is set.
fn value_or(tree: &mut Tree, key: &str, path: &str) {
    let mut lines = match key {
        "imagePullPolicy" | "priorityClassName" | "terminationGracePeriodSeconds" => {
            with(path, &[&format!("{key}: {{{{ . }}}}")])
        }
        _ => filled(key, path),
    };
    let Tree::Map(entries) = tree.open() else { return };
    let Some(at) = entries.iter().position(|entry| entry.it.0 == key) else {
        return tree.put(Set::MAX, key, Tree::Lines(lines));
    };
    let line = |lines| Part { set: Set::MAX, it: (String::new(), Tree::Lines(lines)) };
    let end = lines.pop().into_iter().collect();
    lines.push("{{- else }}".into());
    entries.insert(at + 1, line(end));
    entries.insert(at, line(lines));
}

/// A sequence, of which those items that are the same for every release are values, as far as they stand beside each other.
fn items(tree: &mut Tree, key: &str, path: &str, values: &mut Values) {
    let own = match key {
        // Some may be given by name alone: `--set manager.envOverrides.RUST_LOG=debug`.
        "env" => vec![
            format!("{{{{- range .Values.{path} }}}}"),
            "{{- if not (hasKey $.Values.manager.envOverrides .name) }}".into(),
            format!("{{{{- toYaml (list .) | nindent {COLUMN} }}}}"),
            "{{- end }}".into(),
            "{{- end }}".into(),
            "{{- range $name, $value := .Values.manager.envOverrides }}".into(),
            "- name: {{ $name }}".into(),
            "  value: {{ $value | quote }}".into(),
            "{{- end }}".into(),
        ],
        _ => with(path, &[&to_yaml(COLUMN)]),
    };
    let Some(entry) = tree.entry(key).filter(|entry| entry.set == Set::MAX) else {
        return more(tree, key, path, own);
    };
    let Tree::List(items) = entry.it.1.open() else { return };
    let plain: Vec<Option<Value>> =
        items.iter().map(|item| item.it.same().filter(|value| item.set == Set::MAX && is_plain(value))).collect();
    // The longest run of them.
    let mut run = 0..0;
    for start in 0..plain.len() {
        let end = start + plain[start..].iter().take_while(|item| item.is_some()).count();
        if end - start > run.len() {
            run = start..end;
        }
    }
    values.set(path, plain[run.clone()].iter().flatten().cloned().collect());
    items.splice(run, [Part { set: Set::MAX, it: Tree::Lines(own) }]);
}

/// Adds the items of a value to a sequence.
fn extra(tree: &mut Tree, key: &str, path: &str) {
    more(tree, key, path, with(path, &[&to_yaml(COLUMN)]));
}

/// Adds items by lines of a template to a sequence, which only some renderings may have.
fn more(tree: &mut Tree, key: &str, path: &str, own: Vec<String>) {
    let alone = with(path, &[&format!("{key}:"), &to_yaml(COLUMN)]);
    let Tree::Map(entries) = tree.open() else { return };
    let Some(at) = entries.iter().position(|entry| entry.it.0 == key) else {
        return tree.put(Set::MAX, key, Tree::Lines(alone));
    };
    let Part { set, it: (_, tree) } = &mut entries[at];
    if let Tree::List(items) = tree.open() {
        items.push(Part { set: Set::MAX, it: Tree::Lines(own) });
    }
    if *set != Set::MAX {
        let choices = [Part { set: *set, it: tree.clone() }, Part { set: !*set, it: Tree::Lines(alone) }];
        (*set, *tree) = (Set::MAX, Tree::Choice(choices.into()));
    }
}

/// Without names of the release.
fn is_plain(value: &Value) -> bool {
    !value.to_string().contains("Opctl")
}

/// Has the port of the metrics be a value: where the operator listens, and where the Service does.
pub fn metrics_port(tree: &mut Tree, id: &Id, port: i64) {
    const VALUE: &str = "{{ .Values.metrics.port }}";
    match id.kind.as_str() {
        "Deployment" => {
            let Some(containers) = tree.get(&["spec", "template", "spec", "containers"]) else { return };
            for container in containers.items() {
                if let Some(args) = container.it.get(&["args"]) {
                    for arg in args.items() {
                        let bound = format!("--metrics-bind-address=:{port}");
                        if matches!(&arg.it, Tree::Same(Value::String(text)) if *text == bound) {
                            arg.it = Tree::Lines(vec![format!("- --metrics-bind-address=:{VALUE}")]);
                        }
                    }
                }
                for item in container.it.get(&["ports"]).into_iter().flat_map(|ports| ports.items()) {
                    if matches!(item.it.get(&["name"]), Some(Tree::Same(name)) if name == "metrics") {
                        item.it.put(Set::MAX, "containerPort", Tree::Lines(vec![format!("containerPort: {VALUE}")]));
                    }
                }
            }
        }
        "Service" => {
            for item in tree.get(&["spec", "ports"]).into_iter().flat_map(|ports| ports.items()) {
                if matches!(item.it.get(&["targetPort"]), Some(Tree::Same(target)) if target == "metrics") {
                    item.it.put(Set::MAX, "port", Tree::Lines(vec![format!("port: {VALUE}")]));
                }
            }
        }
        _ => {}
    }
}
