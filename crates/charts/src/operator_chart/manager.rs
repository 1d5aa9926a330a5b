//! Templates the operator's Deployment: fields that are values of the chart.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::condition::Set;
use super::merge::{Part, Tree};
use super::template::{COLUMN, INDENT};
use super::values::Values;
use super::{ChartError, Id, Variants, annotate, append, to_yaml, with};

/// The Deployment of the operator.
pub struct Manager {
    pub id: Id,
    /// The `matchLabels` of its selector.
    pub labels: Map<String, Value>,
    pub service_account: String,
    pub ports: Vec<Port>,
}

/// A port of the operator that is a value of the chart.
pub struct Port {
    /// The path of the value.
    pub value: &'static str,
    /// Its name in the container.
    name: &'static str,
    /// The name of the address argument without `--`; in upper case, of the environment variable.
    argument: &'static str,
    pub number: i64,
    /// `true` if an argument sets the address; otherwise the port is the operator's default.
    is_argument: bool,
}

/// The value, the container port name and the argument of each port.
const PORTS: [(&str, &str, &str); 3] = [
    ("metrics.port", "metrics", "metrics-bind-address"),
    ("webhook.port", "webhook", "webhook-bind-address"),
    ("manager.healthProbe.port", "probes", "health-probe-bind-address"),
];

impl Port {
    /// The ports of a container, except for those whose address is more than a port.
    fn all(container: &Value) -> Vec<Self> {
        let items = |key: &str| container[key].as_array().map_or(&[][..], Vec::as_slice);
        let of = |&(value, name, argument): &(&'static str, &'static str, &'static str)| {
            let number = items("ports").iter().find(|port| port["name"] == name)?["containerPort"].as_i64()?;
            let mut port = Self { value, name, argument, number, is_argument: false };
            let is_variable = items("env").iter().any(|variable| variable["name"] == port.variable());
            let address = format!("--{argument}");
            for argument in items("args").iter().filter_map(Value::as_str).filter(|it| it.starts_with(&address)) {
                if argument != port.written(number) {
                    return None;
                }
                port.is_argument = true;
            }
            (port.is_argument || !is_variable).then_some(port)
        };
        PORTS.iter().filter_map(of).collect()
    }

    fn written(&self, number: impl Display) -> String {
        format!("--{}=:{number}", self.argument)
    }

    fn variable(&self) -> String {
        self.argument.replace('-', "_").to_uppercase()
    }

    /// `true` if this port of a Service has the operator's port number.
    pub fn is_of(&self, service: &Value) -> bool {
        service["targetPort"] == self.name && service["port"] == self.number
    }

    /// The template action that prints the number.
    pub fn action(&self) -> String {
        format!("{{{{ .Values.{} }}}}", self.value)
    }

    /// Template lines that set the environment variable if the port is not the default.
    fn env(&self) -> Vec<String> {
        vec![
            format!("{{{{- if {} }}}}", self.is_changed()),
            format!("- name: {}", self.variable()),
            format!("  value: \":{}\"", self.action()),
            "{{- end }}".into(),
        ]
    }

    fn is_changed(&self) -> String {
        format!("ne (int .Values.{}) {}", self.value, self.number)
    }
}

/// The name of the operator's container in the scaffold.
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
    let container = containers(object).iter().min_by_key(|container| container["name"] != CONTAINER);
    let ports = container.map(Port::all).unwrap_or_default();
    Ok(Manager { id: (*id).clone(), labels, service_account: account.into(), ports })
}

fn containers(object: &Value) -> &[Value] {
    object["spec"]["template"]["spec"]["containers"].as_array().map_or(&[], Vec::as_slice)
}

/// The Deployment of the operator, and its container.
fn deployment(objects: &[Arc<Value>]) -> Option<(&Value, &Value)> {
    let deployments = objects.iter().map(Arc::as_ref).filter(|object| object["kind"] == "Deployment");
    let all = deployments.flat_map(|object| containers(object).iter().map(move |container| (object, container)));
    all.min_by_key(|(_, container)| container["name"] != CONTAINER)
}

/// The image of the operator.
pub fn image(objects: &[Arc<Value>]) -> Option<String> {
    Some(deployment(objects)?.1["image"].as_str()?.to_owned())
}

/// The number of replicas of the operator.
pub fn replicas(objects: &[Arc<Value>]) -> Option<i64> {
    deployment(objects)?.0["spec"]["replicas"].as_i64()
}

/// Replaces fields of the Deployment by values, with the rendered fields as their defaults.
pub fn template(tree: &mut Tree, chart: &str, ports: &[Port], values: &mut Values) -> Result<(), ChartError> {
    let missing = || ChartError {
        message: "the operator's Deployment has no Pod template with containers".into(),
        help: "`opctl check` shows what is wrong under `config`".into(),
    };
    annotate(tree, "manager.annotations", &to_yaml(INDENT));
    let spec = tree.get(&["spec"]).ok_or_else(missing)?;
    spec.put(Set::ALL, "replicas", Tree::Lines(vec!["replicas: {{ .Values.manager.replicas }}".into()]));
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
    container.put(Set::ALL, "image", Tree::Lines(vec![format!("image: {{{{ include \"{chart}.image\" . }}}}")]));
    value(container, "imagePullPolicy", "manager.image.pullPolicy", values);
    value(container, "resources", "manager.resources", values);
    value(container, "securityContext", "manager.securityContext", values);
    let args = "manager.args";
    items(container, "args", args, with(args, &[&to_yaml(COLUMN)]), &list("args", args), values);
    env(container, ports, values);
    extra(container, "volumeMounts", "manager.extraVolumeMounts");
    Ok(())
}

/// A field whose default is in the values. If it varies between renderings or contains names of the release, the
/// default stays in the template and applies unless the value is set.
fn value(tree: &mut Tree, key: &str, path: &str, values: &mut Values) {
    let plain =
        tree.entry(key).filter(|entry| entry.set == Set::ALL).and_then(|entry| entry.it.1.same()).filter(is_plain);
    let Some(default) = plain else {
        values.clear(path);
        return value_or(tree, key, path);
    };
    let lines = match default {
        Value::Object(_) | Value::Array(_) => filled(key, path),
        _ => vec![format!("{key}: {{{{ .Values.{path} }}}}")],
    };
    values.set(path, default);
    tree.put(Set::ALL, key, Tree::Lines(lines));
}

/// An entry for a value that is not empty.
fn filled(key: &str, path: &str) -> Vec<String> {
    with(path, &[&format!("{key}:"), &format!("  {}", to_yaml(INDENT))])
}

/// A field whose rendered content, if any, stays in the template and applies unless the value is set.
fn value_or(tree: &mut Tree, key: &str, path: &str) {
    let mut lines = match key {
        "imagePullPolicy" | "priorityClassName" | "terminationGracePeriodSeconds" => {
            with(path, &[&format!("{key}: {{{{ . }}}}")])
        }
        _ => filled(key, path),
    };
    let Tree::Map(entries) = tree.open() else { return };
    let Some(at) = entries.iter().position(|entry| entry.it.0 == key) else {
        return tree.put(Set::ALL, key, Tree::Lines(lines));
    };
    let line = |lines| Part { set: Set::ALL, it: (String::new(), Tree::Lines(lines)) };
    let end = lines.pop().into_iter().collect();
    lines.push("{{- else }}".into());
    entries.insert(at + 1, line(end));
    entries.insert(at, line(lines));
}

/// The environment variables. Each can also be set by name: `--set manager.envOverrides.RUST_LOG=debug`.
fn env(container: &mut Tree, ports: &[Port], values: &mut Values) {
    let ports: Vec<&Port> = ports.iter().filter(|port| !port.is_argument).collect();
    let own: Vec<String> = [
        "{{- range .Values.manager.env }}",
        "{{- if not (hasKey $.Values.manager.envOverrides .name) }}",
        &format!("{{{{- toYaml (list .) | nindent {COLUMN} }}}}"),
        "{{- end }}",
        "{{- end }}",
        "{{- range $name, $value := .Values.manager.envOverrides }}",
        "- name: {{ $name }}",
        "  value: {{ $value | quote }}",
        "{{- end }}",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain(ports.iter().flat_map(|port| port.env()))
    .collect();
    let changed: String = ports.iter().map(|port| format!(" ({})", port.is_changed())).collect();
    let mut alone = vec![format!("{{{{- if or .Values.manager.env .Values.manager.envOverrides{changed} }}}}")];
    alone.push("env:".into());
    alone.extend(own.iter().cloned());
    alone.push("{{- end }}".into());
    items(container, "env", "manager.env", own, &alone, values);
}

/// A sequence. Its longest run of items that are the same for every release becomes the default of a value. `own` are
/// the lines that render the value, and `alone` those to use if no rendering has the sequence.
fn items(tree: &mut Tree, key: &str, path: &str, own: Vec<String>, alone: &[String], values: &mut Values) {
    let Some(entry) = tree.entry(key).filter(|entry| entry.set == Set::ALL) else {
        return more(tree, key, own, alone);
    };
    let Tree::List(items) = entry.it.1.open() else { return };
    let plain: Vec<Option<Value>> =
        items.iter().map(|item| item.it.same().filter(|value| item.set == Set::ALL && is_plain(value))).collect();
    // The longest run of plain items.
    let mut run = 0..0;
    for start in 0..plain.len() {
        let end = start + plain[start..].iter().take_while(|item| item.is_some()).count();
        if end - start > run.len() {
            run = start..end;
        }
    }
    values.set(path, plain[run.clone()].iter().flatten().cloned().collect());
    items.splice(run, [Part { set: Set::ALL, it: Tree::Lines(own) }]);
}

/// Appends the items of a value to a sequence.
fn extra(tree: &mut Tree, key: &str, path: &str) {
    more(tree, key, with(path, &[&to_yaml(COLUMN)]), &list(key, path));
}

/// An entry for a list, if it is not empty.
fn list(key: &str, path: &str) -> Vec<String> {
    with(path, &[&format!("{key}:"), &to_yaml(COLUMN)])
}

/// Appends lines to a sequence. In renderings without the sequence, `alone` is the entry.
fn more(tree: &mut Tree, key: &str, own: Vec<String>, alone: &[String]) {
    let Tree::Map(entries) = tree.open() else { return };
    let Some(at) = entries.iter().position(|entry| entry.it.0 == key) else {
        return tree.put(Set::ALL, key, Tree::Lines(alone.to_vec()));
    };
    let Part { set, it: (_, tree) } = &mut entries[at];
    if let Tree::List(items) = tree.open() {
        items.push(Part { set: Set::ALL, it: Tree::Lines(own) });
    }
    if *set != Set::ALL {
        let choices =
            [Part { set: set.clone(), it: tree.clone() }, Part { set: !&*set, it: Tree::Lines(alone.to_vec()) }];
        (*set, *tree) = (Set::ALL, Tree::Choice(choices.into()));
    }
}

/// `true` if the value contains no names of the release.
fn is_plain(value: &Value) -> bool {
    !value.to_string().contains("Opctl")
}

/// Replaces a port by its value, where the operator listens and where others connect.
pub fn port(tree: &mut Tree, id: &Id, port: &Port) {
    let put =
        |tree: &mut Tree, key: &str| tree.put(Set::ALL, key, Tree::Lines(vec![format!("{key}: {}", port.action())]));
    let is =
        |tree: &mut Tree, key: &str, value: &Value| matches!(tree.get(&[key]), Some(Tree::Same(is)) if is == value);
    let (name, number) = (Value::from(port.name), Value::from(port.number));
    match id.kind.as_str() {
        "Deployment" => {
            let Some(containers) = tree.get(&["spec", "template", "spec", "containers"]) else { return };
            let written = Value::from(port.written(port.number));
            for container in containers.items() {
                for arg in container.it.get(&["args"]).into_iter().flat_map(Tree::items) {
                    if matches!(&arg.it, Tree::Same(arg) if *arg == written) {
                        arg.it = Tree::Lines(vec![format!("- {}", port.written(port.action()))]);
                    }
                }
                for item in container.it.get(&["ports"]).into_iter().flat_map(Tree::items) {
                    if is(&mut item.it, "name", &name) {
                        put(&mut item.it, "containerPort");
                    }
                }
            }
        }
        // If the Service port has the operator's number, it follows the value, too.
        "Service" => {
            for item in tree.get(&["spec", "ports"]).into_iter().flat_map(Tree::items) {
                if is(&mut item.it, "targetPort", &name) && is(&mut item.it, "port", &number) {
                    put(&mut item.it, "port");
                }
            }
        }
        "NetworkPolicy" => {
            for rule in tree.get(&["spec", "ingress"]).into_iter().flat_map(Tree::items) {
                for item in rule.it.get(&["ports"]).into_iter().flat_map(Tree::items) {
                    if is(&mut item.it, "port", &number) {
                        put(&mut item.it, "port");
                    }
                }
            }
        }
        _ => {}
    }
}
