//! Converts the manifests of an operator to a Helm chart that installs it.
//!
//! No text is replaced. The manifests are rendered with all combinations of the optional parts
//! ([`Operator::combinations`]), and differences between the renderings become conditions. Known fields of the
//! operator's Deployment become values, and names and namespaces that depend on the kustomization depend on the
//! release. With the values of a combination, the chart renders the same objects as kustomize, except for the labels of
//! helm.

mod condition;
mod manager;
mod merge;
mod metrics;
mod names;
mod same;
mod template;
mod values;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

pub use self::condition::Combination;
use self::condition::{Renderings, Set, join, settings};
pub use self::manager::image;
use self::manager::{Manager, Port};
use self::merge::{Part, Tree, merge};
pub use self::metrics::{serves_metrics, without_metrics};
use self::names::Names;
pub use self::same::{difference, normal};
use self::template::{COLUMN, INDENT, Printer};
use self::values::Values;
pub use self::values::{Entry, completed, schema, text, unknown};
use opctl_model::yaml;

/// An optional part of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Switch {
    Namespaced,
    Webhooks,
    CertManager,
    Metrics,
    Prometheus,
    NetworkPolicy,
    /// Enabled with more than one replica.
    LeaderElection,
}

impl Switch {
    pub const ALL: [Self; 7] = [
        Self::Namespaced,
        Self::Webhooks,
        Self::CertManager,
        Self::Metrics,
        Self::Prometheus,
        Self::NetworkPolicy,
        Self::LeaderElection,
    ];

    /// The name in messages, the value of the chart, and the component of `config/default`.
    fn row(self) -> (&'static str, &'static str, Option<&'static str>) {
        match self {
            Self::Namespaced => ("namespaced", "rbac.namespaced", None),
            Self::Webhooks => ("webhooks", "webhook.enabled", None),
            Self::CertManager => ("cert-manager", "certManager.enabled", None),
            Self::Metrics => ("metrics", "metrics.enabled", None),
            Self::Prometheus => ("prometheus", "prometheus.enabled", Some("prometheus")),
            Self::NetworkPolicy => ("network-policy", "networkPolicy.enabled", Some("network-policy")),
            Self::LeaderElection => ("leader-election", "manager.replicas", Some("leader-election")),
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The path of the value that turns it on and off.
    fn value(self) -> &'static str {
        self.row().1
    }

    /// The component of `config/default` that this switch enables; `None` if it changes more than that.
    pub fn component(self) -> Option<&'static str> {
        self.row().2
    }

    fn expression(self) -> String {
        match self {
            Self::LeaderElection => format!("gt (int .Values.{}) 1", self.value()),
            _ => format!(".Values.{}", self.value()),
        }
    }

    /// The values that enable or disable it.
    pub fn values(self, is_on: bool) -> Value {
        let value = match self {
            Self::LeaderElection => json!(if is_on { 2 } else { 1 }),
            _ => json!(is_on),
        };
        self.value().rsplit('.').fold(value, |value, key| json!({ key: value }))
    }
}

/// An operator as rendered by kustomize.
#[derive(Debug)]
pub struct Operator {
    /// The name of the project.
    pub name: String,
    /// `namePrefix` and `namespace` of `config/default`.
    pub prefix: String,
    pub namespace: String,
    /// The optional parts, with `true` for those that `config/default` enables.
    pub switches: Vec<(Switch, bool)>,
    /// The objects with each of the [combinations](Self::combinations). Most objects are the same in all.
    pub renderings: BTreeMap<Combination, Vec<Arc<Value>>>,
    /// The image of the operator: a repository, and a tag or a digest.
    pub image: Option<(String, String)>,
}

impl Operator {
    /// The release name that results in the names of `config/default`.
    pub fn release(&self) -> &str {
        match self.prefix.trim_end_matches('-') {
            "" => &self.name,
            stem => stem,
        }
    }

    /// The switches that are on in `config/default`.
    pub fn by_default(&self) -> Combination {
        self.switches.iter().filter(|(_, is_on)| *is_on).map(|(switch, _)| *switch).collect()
    }

    /// All combinations of the switches. [`chart`] requires a rendering of each, since a part may depend on any number
    /// of switches.
    pub fn combinations(&self) -> Vec<Combination> {
        settings(&self.switches.iter().map(|(switch, _)| *switch).collect())
    }

    fn rendered(&self) -> Renderings<'_> {
        Renderings::of(self.ordered().map(|(combination, _)| combination))
    }

    /// The renderings, in the order of their indices in a [`Set`]. Those with few switches are first, and define the
    /// order of parts.
    fn ordered(&self) -> impl Iterator<Item = (&Combination, &[Arc<Value>])> {
        let mut all: Vec<_> =
            self.renderings.iter().map(|(combination, objects)| (combination, &objects[..])).collect();
        all.sort_by_key(|(combination, _)| combination.len());
        all.into_iter()
    }
}

/// A generated chart.
#[derive(Debug)]
pub struct Chart {
    /// Templates and helpers by their paths in the chart.
    pub templates: BTreeMap<String, String>,
    pub values: Vec<Entry>,
    pub chart: String,
    pub notes: String,
}

impl Chart {
    /// All files of a new chart.
    pub fn files(&self, header: &str) -> BTreeMap<String, String> {
        let mut files = self.templates.clone();
        files.insert("Chart.yaml".into(), self.chart.clone());
        files.insert("values.yaml".into(), text(&self.values));
        files.insert("values.schema.json".into(), schema(&self.values, header));
        files
    }
}

/// An operator that cannot be converted to a chart.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ChartError {
    pub message: String,
    pub help: String,
}

/// Converts an operator to a chart. `header` is the first line of each template.
///
/// # Errors
///
/// If no Deployment runs the operator.
///
/// # Panics
///
/// If `config/default` itself is not among the renderings.
pub fn chart(operator: &Operator, header: &str) -> Result<Chart, ChartError> {
    let names = Names::of(operator);
    let renderings = operator.rendered();
    let actions = names.actions();
    let printer = Printer { renderings: &renderings, actions: &actions };
    let objects = collected(operator);
    let manager = manager::find(&objects)?;
    let mut values = values::common(operator);
    let replicas = manager::replicas(&operator.renderings[&operator.by_default()]);
    values.set("manager.replicas", replicas.unwrap_or(1).into());
    values.ports(&manager.ports);
    if objects.keys().any(|id| id.kind == DISRUPTIONS) {
        values.entries.retain(|entry| !entry.path.starts_with("podDisruptionBudget."));
    }
    let bound = bound_roles(&objects);
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, variants) in &objects {
        let set = present(variants);
        let mut conditions: Vec<String> = renderings.condition(&set, &Set::ALL).into_iter().collect();
        conditions.extend(own_condition(id, &manager.id, &bound));
        let tree = template(id, variants, operator, &names, &manager, &mut values)?;
        let name = names.short(&id.name);
        let text = only_if(&conditions, printer.object(&tree, &set));
        files.entry(format!("templates/{}/{name}.yaml", folder(id))).or_default().push(text);
        if let Some(test) = connection(id, &variants[0].1, operator, &names, &manager) {
            conditions.push(RUNS.into());
            conditions.extend(is_closed(id, operator).then(|| format!("not {}", Switch::NetworkPolicy.expression())));
            files.entry(format!("templates/tests/{name}.yaml")).or_default().push(only_if(&conditions, test));
        }
    }
    let mut templates: BTreeMap<String, String> =
        files.into_iter().map(|(path, texts)| (path, format!("{header}\n{}", texts.join("---\n")))).collect();
    if values.entries.iter().any(|entry| entry.path.starts_with("podDisruptionBudget.")) {
        let name = format!("templates/manager/{}-disruptions.yaml", names.short(&manager.id.name));
        templates.insert(name, format!("{header}\n{}", disruptions(&operator.name, &names, &manager)));
    }
    templates.insert("templates/_helpers.tpl".into(), format!("{header}\n{}", names.helpers(&manager.service_account)));
    Ok(Chart {
        templates,
        values: values.entries,
        chart: chart_file(&operator.name),
        notes: notes(&operator.name, &names.in_template(&manager.id.name)),
    })
}

/// The variants of an object, with the renderings that contain each.
type Variants = Vec<(Set, Arc<Value>)>;

/// The objects of all renderings, except for the Namespace of the release.
fn collected(operator: &Operator) -> BTreeMap<Id, Variants> {
    let mut objects: BTreeMap<Id, Variants> = BTreeMap::new();
    for (rendering, (_, rendered)) in operator.ordered().enumerate() {
        for object in rendered.iter().filter(|object| !is_namespace(object, &operator.namespace)) {
            let variants = objects.entry(Id::of(object)).or_default();
            match variants.iter_mut().find(|(_, known)| known == object) {
                Some((set, _)) => set.insert(rendering),
                None => variants.push((rendering.into(), Arc::clone(object))),
            }
        }
    }
    objects
}

/// The renderings that have an object.
fn present(variants: &Variants) -> Set {
    variants.iter().fold(Set::NONE, |set, (one, _)| &set | one)
}

/// `true` for the Namespace of the release, which `helm --create-namespace` creates.
fn is_namespace(object: &Value, namespace: &str) -> bool {
    object["kind"] == "Namespace" && object["metadata"]["name"] == namespace
}

/// The template of an object, with the release and the values applied.
fn template(
    id: &Id,
    variants: &Variants,
    operator: &Operator,
    names: &Names,
    manager: &Manager,
    values: &mut Values,
) -> Result<Tree, ChartError> {
    let replaced: Vec<(Set, Value)> =
        variants.iter().map(|(set, object)| (set.clone(), names.replace(object))).collect();
    let mut tree = merge(&replaced.iter().map(|(set, object)| (set.clone(), object)).collect::<Vec<_>>());
    label(&mut tree, &operator.name, id);
    if let Some(spec) = tree.get(&["spec"]) {
        select(spec, &manager.labels);
    }
    for port in &manager.ports {
        manager::port(&mut tree, id, port);
    }
    if *id == manager.id {
        manager::template(&mut tree, &operator.name, &manager.ports, values)?;
    }
    match id.kind.as_str() {
        // An uninstall keeps the CRD, and with it all objects of its kind.
        "CustomResourceDefinition" => annotate(&mut tree, "crd.keep", "helm.sh/resource-policy: keep"),
        "ServiceAccount" => annotate(&mut tree, "serviceAccount.annotations", &to_yaml(INDENT)),
        _ => {}
    }
    names.service_account(&mut tree, &manager.service_account);
    Ok(tree)
}

/// Template action that prints a value as YAML, in a block at this column.
fn to_yaml(column: &str) -> String {
    format!("{{{{- toYaml . | nindent {column} }}}}")
}

/// Parses the objects in the output of kustomize or helm.
///
/// # Errors
///
/// If it is not YAML.
pub fn objects(text: &str) -> Result<Vec<Value>, String> {
    let objects = yaml::read_all::<Value>(text).map_err(|error| error.to_string())?;
    Ok(objects.into_iter().filter(|object| !object.is_null()).collect())
}

/// Identifies an object across renderings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Id {
    kind: String,
    group: String,
    namespace: String,
    name: String,
}

impl Id {
    fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let version = text(&object["apiVersion"]);
        Self {
            kind: text(&object["kind"]),
            group: version.split_once('/').map_or_else(String::new, |(group, _)| group.into()),
            namespace: text(&object["metadata"]["namespace"]),
            name: text(&object["metadata"]["name"]),
        }
    }
}

/// The folder of a template, as in kubebuilder's charts.
fn folder(id: &Id) -> &'static str {
    match (id.kind.as_str(), id.group.as_str()) {
        ("CustomResourceDefinition", _) => "crd",
        ("ServiceAccount", _) | (_, "rbac.authorization.k8s.io") => "rbac",
        ("Deployment", _) => "manager",
        ("Service", _) if id.name.ends_with("webhook-service") => "webhook",
        ("Service", _) if id.name.ends_with("metrics-service") => "metrics",
        (_, "admissionregistration.k8s.io") => "webhook",
        (_, "cert-manager.io") => "cert-manager",
        (_, "monitoring.coreos.com") => "prometheus",
        ("NetworkPolicy", _) => "network-policy",
        _ => "extras",
    }
}

/// Kind and name of the roles that a binding refers to.
fn bound_roles(objects: &BTreeMap<Id, Variants>) -> Vec<(String, String)> {
    let bindings = objects.iter().filter(|(id, _)| id.kind.ends_with("RoleBinding"));
    let roles = bindings.flat_map(|(_, variants)| variants).map(|(_, binding)| &binding["roleRef"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    roles.map(|role| (text(&role["kind"]), text(&role["name"]))).collect()
}

/// The condition for parts that run the operator.
const RUNS: &str = ".Values.manager.enabled";

/// The value that enables an object, in addition to the switches.
fn own_condition(id: &Id, manager: &Id, bound: &[(String, String)]) -> Option<String> {
    let is_role = id.group == "rbac.authorization.k8s.io" && id.kind.ends_with("Role");
    match id.kind.as_str() {
        "CustomResourceDefinition" => Some(".Values.crd.enabled".into()),
        "ServiceAccount" => Some(".Values.serviceAccount.enabled".into()),
        _ if id == manager => Some(RUNS.into()),
        // A role without a binding is a helper for users.
        _ if is_role && !bound.contains(&(id.kind.clone(), id.name.clone())) => {
            Some(".Values.rbac.helpers.enabled".into())
        }
        _ => None,
    }
}

/// Labels that the release sets instead of kustomize.
const RELEASE_LABELS: [&str; 4] =
    ["app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"];

/// Adds the labels of the release to those of an object.
fn label(tree: &mut Tree, chart: &str, id: &Id) {
    let Some(metadata) = tree.get(&["metadata"]) else { return };
    if metadata.entry("labels").is_none() {
        metadata.put(Set::ALL, "labels", Tree::Same(json!({})));
    }
    let Some(labels) = metadata.get(&["labels"]) else { return };
    let mut own = vec![format!("{{{{- include \"{chart}.labels\" . | nindent {COLUMN} }}}}")];
    let extra = match id.kind.as_str() {
        "ServiceAccount" => Some("serviceAccount.labels"),
        "Deployment" => Some("manager.labels"),
        _ => None,
    };
    own.extend(extra.iter().flat_map(|path| with(path, &[&to_yaml(COLUMN)])));
    if let Tree::Map(entries) = labels.open() {
        entries.retain(|entry| !RELEASE_LABELS.contains(&entry.it.0.as_str()));
        entries.insert(0, Part { set: Set::ALL, it: (String::new(), Tree::Lines(own)) });
    }
}

/// Template lines for a value, as `.`, if it is not empty.
fn with(path: &str, lines: &[&str]) -> Vec<String> {
    let first = format!("{{{{- with .Values.{path} }}}}");
    [first].into_iter().chain(lines.iter().map(|line| (*line).to_owned())).chain(["{{- end }}".to_owned()]).collect()
}

/// Adds the name of the release to each selector of the operator's Pods, and to the Pods' labels. `pods` are the labels
/// of the selector.
fn select(tree: &mut Tree, pods: &Map<String, Value>) {
    const INSTANCE: &str = "app.kubernetes.io/instance";
    let is_ours = |labels: &Value| {
        let Some(labels) = labels.as_object() else { return false };
        !pods.is_empty() && pods.iter().all(|(key, value)| labels.get(key) == Some(value))
    };
    match tree {
        Tree::Same(value) if is_ours(value) => {
            tree.put(Set::ALL, INSTANCE, Tree::Lines(vec![format!("{INSTANCE}: {{{{ .Release.Name | quote }}}}")]));
        }
        Tree::Same(value) if contains(value, &is_ours) => select(tree.open(), pods),
        Tree::Map(entries) => entries.iter_mut().for_each(|entry| select(&mut entry.it.1, pods)),
        Tree::List(items) => items.iter_mut().for_each(|item| select(&mut item.it, pods)),
        Tree::Choice(choices) => choices.iter_mut().for_each(|choice| select(&mut choice.it, pods)),
        Tree::Same(_) | Tree::Lines(_) => {}
    }
}

fn contains(value: &Value, is: &impl Fn(&Value) -> bool) -> bool {
    is(value)
        || match value {
            Value::Array(items) => items.iter().any(|item| contains(item, is)),
            Value::Object(entries) => entries.values().any(|value| contains(value, is)),
            _ => false,
        }
}

/// Adds a line to the annotations of an object if `value` is not empty.
fn annotate(tree: &mut Tree, value: &str, line: &str) {
    let Some(metadata) = tree.get(&["metadata"]) else { return };
    match metadata.get(&["annotations"]) {
        Some(annotations) => append(annotations, value, &line.replace(INDENT, COLUMN)),
        None => {
            let lines = with(value, &["annotations:", &format!("  {line}")]);
            metadata.put(Set::ALL, "annotations", Tree::Lines(lines));
        }
    }
}

/// Adds a line to a mapping if a value is not empty.
fn append(tree: &mut Tree, value: &str, line: &str) {
    if let Tree::Map(entries) = tree.open() {
        entries.push(Part { set: Set::ALL, it: (String::new(), Tree::Lines(with(value, &[line]))) });
    }
}

/// Wraps the text of a template in conditions.
fn only_if(conditions: &[String], text: String) -> String {
    match conditions {
        [] => text,
        conditions => format!("{{{{- if {} }}}}\n{text}{{{{- end }}}}\n", join("and", conditions.to_vec())),
    }
}

/// `true` if the network policy restricts access to a Service to some namespaces.
fn is_closed(id: &Id, operator: &Operator) -> bool {
    let has_policy = operator.switches.iter().any(|(switch, _)| *switch == Switch::NetworkPolicy);
    has_policy && id.name.ends_with("metrics-service")
}

/// A `helm test` Pod that connects to a Service of the operator. It fails unless a Pod of the operator is ready, since
/// a Service selects only ready Pods.
fn connection(id: &Id, object: &Value, operator: &Operator, names: &Names, manager: &Manager) -> Option<String> {
    let spec = &object["spec"];
    if id.kind != "Service" || spec["selector"].as_object() != Some(&manager.labels) {
        return None;
    }
    let (chart, name, service) = (&operator.name, names.short(&id.name), names.in_template(&id.name));
    let port = &spec["ports"][0];
    let own = manager.ports.iter().find(|known| known.is_of(port));
    let port = own.map_or_else(|| port["port"].to_string(), Port::action);
    Some(format!(
        r#"apiVersion: v1
kind: Pod
metadata:
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  labels:
    {{{{- include "{chart}.labels" . | nindent 4 }}}}
  name: {service}-test
  namespace: {{{{ .Release.Namespace | quote }}}}
spec:
  containers:
  - name: {name}
    image: {{{{ .Values.tests.image }}}}
    command: [nc, -z, -w, "10", {service}, "{port}"]
    securityContext:
      allowPrivilegeEscalation: false
      capabilities:
        drop:
        - ALL
  restartPolicy: Never
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    seccompProfile:
      type: RuntimeDefault
"#
    ))
}

/// The kind that [`disruptions`] creates.
const DISRUPTIONS: &str = "PodDisruptionBudget";

/// A PodDisruptionBudget for the operator's Pods.
fn disruptions(chart: &str, names: &Names, manager: &Manager) -> String {
    let name = names.in_template(&manager.id.name);
    let labels = manager.labels.iter().map(|(key, value)| {
        let [key, value] = [&Value::from(key.as_str()), value].map(yaml::scalar);
        format!("      {key}: {value}\n")
    });
    let labels: String = labels.collect();
    format!(
        r#"{{{{- if and {RUNS} .Values.podDisruptionBudget.enabled }}}}
apiVersion: policy/v1
kind: {DISRUPTIONS}
metadata:
  labels:
    {{{{- include "{chart}.labels" . | nindent 4 }}}}
  name: {name}
  namespace: {{{{ .Release.Namespace | quote }}}}
spec:
  maxUnavailable: {{{{ .Values.podDisruptionBudget.maxUnavailable }}}}
  selector:
    matchLabels:
      app.kubernetes.io/instance: {{{{ .Release.Name | quote }}}}
{labels}{{{{- end }}}}
"#
    )
}

fn chart_file(name: &str) -> String {
    format!(
        // Quoted, since some names such as `n` are not strings in YAML.
        "apiVersion: v2\nname: {name:?}\ndescription: Installs {name} and the CRDs of its kinds.\ntype: application\n\
         # The version of the chart: raise it with each release.\nversion: 0.1.0\n# The version of the operator.\nappVersion: \"0.1.0\"\n\
         annotations:\n  artifacthub.io/operator: \"true\"\n  \
         # `opctl doctor --capabilities` shows which level you can claim.\n  artifacthub.io/operatorCapabilities: Basic Install\n"
    )
}

fn notes(chart: &str, deployment: &str) -> String {
    format!(
        "{{{{- if {RUNS} -}}}}\n{chart} runs as the Deployment {deployment} in the namespace {{{{ .Release.Namespace }}}}.\n\n\
         Wait until it is ready:\n\n  \
         kubectl --namespace {{{{ .Release.Namespace }}}} rollout status deployment {deployment}\n\
         {{{{- else -}}}}\nThe chart does not run {chart}: the value manager.enabled is false.\n{{{{- end }}}}\n\
         {{{{- if and .Values.crd.enabled .Values.crd.keep }}}}\n\n\
         `helm uninstall` keeps the CRDs and the objects of their kinds. To install the chart again under another name or in another\n\
         namespace, add --take-ownership to `helm install`: the new release takes the CRDs over.\n{{{{- end }}}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The condition of a part may be any function of the switches.
    #[test]
    fn a_part_may_depend_on_any_number_of_switches() {
        use Switch::{CertManager, LeaderElection, Metrics, Namespaced, NetworkPolicy, Prometheus, Webhooks};

        type Holds = fn(&Combination) -> bool;
        let parts: [(&str, Holds); 10] = [
            ("always", |_| true),
            ("one", |on| on.contains(&Webhooks)),
            ("neither", |on| !on.contains(&Namespaced) && !on.contains(&Metrics)),
            ("different", |on| on.contains(&CertManager) != on.contains(&LeaderElection)),
            ("odd", |on| [Webhooks, CertManager, NetworkPolicy].iter().filter(|it| on.contains(it)).count() % 2 == 1),
            ("three", |on| on.is_superset(&[Metrics, Prometheus, CertManager].into())),
            ("four", |on| {
                on.is_superset(&[Namespaced, Webhooks].into()) && on.is_disjoint(&[Metrics, CertManager].into())
            }),
            // Each of these exists with three switches on and others off, which differs from `config/default` in
            // several switches.
            ("five", |on| {
                on.is_superset(&[Namespaced, Webhooks, Prometheus].into())
                    && on.is_disjoint(&[Metrics, CertManager].into())
            }),
            ("all", |on| *on == [Namespaced, CertManager, NetworkPolicy].into()),
            ("never", |_| false),
        ];
        let switches = Switch::ALL.map(|switch| (switch, switch == Metrics)).into();
        let object = |on: &Combination| {
            let data = parts.iter().filter(|(_, holds)| holds(on)).map(|(name, _)| ((*name).into(), json!("")));
            Arc::new(
                json!({ "kind": "ConfigMap", "metadata": { "name": "parts" }, "data": data.collect::<Map<_, _>>() }),
            )
        };
        let mut operator = operator(switches);
        operator.renderings = operator.combinations().into_iter().map(|on| (on.clone(), vec![object(&on)])).collect();
        assert_eq!(operator.renderings.len(), 1 << Switch::ALL.len());

        let renderings = operator.rendered();
        let objects = collected(&operator);
        let variants = objects.values().next().unwrap();
        let variants: Vec<_> = variants.iter().map(|(set, object)| (set.clone(), &**object)).collect();
        let mut tree = merge(&variants);
        let data = tree.entry("data").unwrap();
        assert_eq!(data.set, Set::ALL);
        for (name, holds) in parts {
            let set = data.it.1.entry(name).map_or(Set::NONE, |entry| entry.set.clone());
            let table = renderings.table(&set, &Set::ALL);
            let relevant: Combination = table.keys().flatten().copied().collect();
            for on in operator.combinations() {
                assert_eq!(table[&(&on & &relevant)], holds(&on), "{name}: {on:?}");
            }
        }
    }

    #[test]
    fn a_part_of_five_switches_has_them_in_its_condition() {
        use Switch::{CertManager, LeaderElection, Metrics, Namespaced, Webhooks};

        let switches =
            vec![(Namespaced, false), (Webhooks, true), (CertManager, false), (Metrics, true), (LeaderElection, false)];
        let mut operator = operator(switches);
        let deployment = |on: &Combination| {
            let mut labels = json!({ "app": "shop" });
            if *on == [Namespaced, CertManager, LeaderElection].into() {
                labels["five"] = "yes".into();
            }
            Arc::new(json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "shop-manager", "namespace": "shop" },
                "spec": { "selector": { "matchLabels": { "app": "shop" } }, "template": {
                    "metadata": { "labels": labels },
                    "spec": { "containers": [{ "name": "manager", "image": "shop", "command": ["/operator"] }] },
                } },
            }))
        };
        operator.renderings =
            operator.combinations().into_iter().map(|on| (on.clone(), vec![deployment(&on)])).collect();
        let chart = chart(&operator, "# header").unwrap();
        let text = &chart.templates["templates/manager/manager.yaml"];
        let (_, condition) = text.split_once("five").unwrap_or_else(|| panic!("{text}"));
        let before = &text[..text.len() - condition.len()];
        let condition = before.lines().rev().find(|line| line.contains("if")).unwrap();
        assert_eq!(
            condition.trim(),
            "{{- if and .Values.rbac.namespaced (not .Values.webhook.enabled) .Values.certManager.enabled \
             (not .Values.metrics.enabled) (gt (int .Values.manager.replicas) 1) }}"
        );
    }

    fn operator(switches: Vec<(Switch, bool)>) -> Operator {
        Operator {
            name: "shop".into(),
            prefix: "shop-".into(),
            namespace: "shop".into(),
            switches,
            renderings: BTreeMap::new(),
            image: None,
        }
    }
}
