//! Determines the capability level of the Operator Framework that an operator reaches, as far as its source and
//! manifests show.
//!
//! Facts are collected first; the answers are functions of them. A question that only people can answer is open, and
//! does not affect the level.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::{Content, Target};
use opctl_charts::operator_chart;
use opctl_kustomize::config;
use opctl_kustomize::yaml::{self, Dialect, Node};
use opctl_model::diagnostic::{Diagnostic, SourceFile};
use opctl_model::project::{ProjectError, ProjectFile, ReadError, Tree};
use opctl_model::{Api, CrdLocation, Operator, Step, counted};
use opctl_source as source;
use opctl_source::emit;

/// The levels as in the annotations of bundles and charts, lowest first.
/// Source: <https://sdk.operatorframework.io/docs/overview/operator-capabilities/>
const LEVELS: [&str; 5] = ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"];
const NUMERALS: [&str; 5] = ["I", "II", "III", "IV", "V"];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// Fulfilled, with the position that shows it.
    Yes(String),
    /// Not fulfilled, with a suggestion.
    No(String),
    /// opctl cannot determine the answer.
    Open,
}

/// A question of a level. Levels start at 0.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Question {
    level: usize,
    what: &'static str,
    answer: Answer,
}

/// Facts about an operator, each with its first position.
#[derive(Debug, Default)]
struct Facts {
    kinds: Vec<Kind>,
    /// The kinds with several versions and no conversion between them.
    unconverted: Vec<String>,
    /// The resources that the operator writes, e.g. `deployments`.
    written: BTreeMap<String, Written>,
    /// The names of [`NAMES`] that the source or a chart contains.
    names: BTreeMap<&'static str, String>,
    /// The first metric that the operator registers.
    metrics: Option<String>,
    /// The environment variable of the operator with an image of the workload.
    related_image: Option<String>,
    serves_metrics: bool,
    alerts: Vec<Alert>,
}

#[derive(Debug, Default)]
struct Kind {
    name: String,
    place: String,
    has_conditions: bool,
    /// The first field of the spec without a description.
    undocumented: Option<String>,
    /// The first field of the spec that is an image.
    image: Option<String>,
}

#[derive(Debug)]
struct Written {
    place: String,
    /// Written with patch or update, so that objects of earlier versions change as well.
    is_kept_current: bool,
}

#[derive(Debug)]
struct Alert {
    name: String,
    place: String,
    has_runbook: bool,
    severity: String,
}

/// The names that are searched for in the source, and the corresponding lines in templates of charts.
const NAMES: [(&str, &str); 17] = [
    ("liveness_probe", "livenessProbe:"),
    ("livenessProbe", "livenessProbe:"),
    ("readiness_probe", "readinessProbe:"),
    ("readinessProbe", "readinessProbe:"),
    ("ResourceRequirements", "resources:"),
    ("resources", "resources:"),
    ("Recreate", "type: Recreate"),
    ("PodDisruptionBudget", "kind: PodDisruptionBudget"),
    ("HorizontalPodAutoscaler", "kind: HorizontalPodAutoscaler"),
    ("VerticalPodAutoscaler", "kind: VerticalPodAutoscaler"),
    ("ScaledObject", "kind: ScaledObject"),
    ("PrometheusRule", "kind: PrometheusRule"),
    ("ServiceMonitor", "kind: ServiceMonitor"),
    ("PodMonitor", "kind: PodMonitor"),
    ("StatefulSet", "kind: StatefulSet"),
    ("PersistentVolumeClaim", "kind: PersistentVolumeClaim"),
    (".event", "kind: Event"),
];

/// The workload kinds in templates of charts, and their resources.
const WORKLOADS: [(&str, &str); 6] = [
    ("kind: Deployment", "deployments"),
    ("kind: StatefulSet", "statefulsets"),
    ("kind: DaemonSet", "daemonsets"),
    ("kind: CronJob", "cronjobs"),
    ("kind: Job", "jobs"),
    ("kind: Pod", "pods"),
];

/// The calls of opctl-runtime that wait for created objects and report their state.
const WAITS: [&str; 2] = [".outcome", ".ready"];

/// The report about an operator.
pub struct Report {
    /// The levels with their questions and answers, as text.
    pub levels: String,
    /// The reached level, and the requirements of the next one.
    pub summary: String,
    reached: Option<usize>,
}

#[derive(Debug)]
pub enum CapabilityError {
    Source(Vec<Diagnostic>),
    Project(ProjectError),
    Read(ReadError),
}

impl From<Vec<Diagnostic>> for CapabilityError {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self::Source(diagnostics)
    }
}

impl From<ReadError> for CapabilityError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

pub fn examine(target: &Target) -> Result<Report, CapabilityError> {
    let questions = questions(&facts(target)?);
    let reached = reached(&questions);
    Ok(Report { levels: text(&questions), summary: summary(&questions, reached), reached })
}

impl Report {
    /// The problems with the levels that the operator's chart and bundle claim, each with its file.
    pub fn false_claims(&self, tree: &Tree) -> Result<Vec<String>, CapabilityError> {
        let problem =
            |(path, claim): (String, String)| match LEVELS.iter().position(|it| it.eq_ignore_ascii_case(&claim)) {
                Some(claimed) if self.reached.is_none_or(|reached| claimed > reached) => {
                    Some(format!("{path}: claims `{claim}`, which the operator does not reach"))
                }
                Some(_) => None,
                None => Some(format!("{path}: `{claim}` is not one of `{}`", LEVELS.join("`, `"))),
            };
        Ok(claims(tree)?.into_iter().filter_map(problem).collect())
    }
}

/// Reads the source and the manifests.
fn facts(target: &Target) -> Result<Facts, CapabilityError> {
    let Target { tree, .. } = target;
    let project = match ProjectFile::read(tree) {
        Ok(project) => Some(project),
        Err(ProjectError::Missing(_)) => None,
        Err(error) => return Err(CapabilityError::Project(error)),
    };
    let source = source::read_requests(tree, "");
    let errors: Vec<Diagnostic> = source.diagnostics.iter().filter(|it| it.is_error()).cloned().collect();
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let operator = &source.operator;
    let mut facts = Facts { unconverted: unconverted(operator), ..Facts::default() };
    for api in operator.apis.iter().filter(|api| api.served) {
        let crds = emit::crds(std::slice::from_ref(api))?;
        let crd = serde_json::to_value(&crds).expect("a CRD is JSON");
        let schema = &crd[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
        let place = |steps: Vec<Step>| {
            let path: Vec<&str> = steps.iter().filter_map(property).collect();
            let (path, location) = (path.join("."), CrdLocation::Schema(steps));
            let span = source.locate(&[(api, &location)]).remove(0);
            format!("`{path}` in {span}")
        };
        let spec = fields(&schema["spec"], vec![Step::Property("spec".into())]);
        facts.kinds.push(Kind {
            name: api.kind.clone(),
            place: api.span.to_string(),
            has_conditions: api.status_subresource && !schema["status"]["properties"]["conditions"].is_null(),
            undocumented: spec.iter().find(|(_, it)| !it["description"].is_string()).map(|(it, _)| place(it.clone())),
            image: spec.iter().find(|(steps, _)| is_image(steps)).map(|(steps, _)| place(steps.clone())),
        });
    }
    facts.written = written(operator);
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).chain(WAITS).collect();
    let mentions = source::read_mentions(tree, "", &names).map_err(|error| vec![error])?;
    for (name, places) in NAMES.iter().map(|(name, _)| *name).chain(WAITS).zip(mentions) {
        if let Some(first) = places.first() {
            facts.names.insert(name, first.to_string());
        }
    }
    if let Some(project) = project {
        for content in project.resources.iter().filter_map(target.content_of) {
            if let Content::Chart(folder) = content {
                facts.add_chart(tree, &folder)?;
            }
        }
    }
    let (metrics, _) = source::read_metrics(tree, "").map_err(|error| vec![error])?;
    facts.metrics = metrics.first().map(|metric| format!("`{}`", metric.name));
    let (objects, _) = config::read(tree, "");
    facts.serves_metrics = objects.iter().any(|object| operator_chart::serves_metrics(&object.json()));
    facts.related_image = objects.iter().flat_map(related_images).next();
    facts.alerts =
        objects.iter().filter(|it| it.text_at(&["kind"]) == Some("PrometheusRule")).flat_map(alerts).collect();
    Ok(facts)
}

impl Facts {
    /// Adds the facts in the templates of a chart. Each version of the operator applies the release again.
    fn add_chart(&mut self, tree: &Tree, folder: &str) -> Result<(), ReadError> {
        for path in tree.files_below(folder)?.into_iter().filter(|path| path.contains("/templates/")) {
            let text = tree.read(&path)?.unwrap_or_default();
            for (number, line) in text.lines().enumerate() {
                let line = line.trim_start_matches(['-', ' ']).trim_end();
                let place = || format!("{path}:{}", number + 1);
                for (name, _) in NAMES.iter().filter(|(_, yaml)| line == *yaml) {
                    self.names.entry(name).or_insert_with(place);
                }
                for (_, resource) in WORKLOADS.iter().filter(|(yaml, _)| line == *yaml) {
                    let written = || Written { place: place(), is_kept_current: true };
                    self.written.entry((*resource).into()).or_insert_with(written);
                }
            }
        }
        // The runtime reports a release as ready when its objects are ready.
        self.names.entry(WAITS[0]).or_insert_with(|| folder.to_owned());
        Ok(())
    }

    fn named(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.names.get(name).cloned())
    }

    /// The first of these resources that the operator writes, and its position.
    fn writes(&self, resources: &[&str]) -> Option<String> {
        resources.iter().find_map(|resource| {
            self.written.get(*resource).map(|written| format!("`{resource}` in {}", written.place))
        })
    }
}

fn property(step: &Step) -> Option<&str> {
    match step {
        Step::Property(name) => Some(name),
        Step::Items | Step::Values => None,
    }
}

/// The fields below a schema with their schemas, outer ones first. Fields of Kubernetes' own types have descriptions
/// already.
fn fields(schema: &Value, path: Vec<Step>) -> Vec<(Vec<Step>, &Value)> {
    let mut found = Vec::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = [path.clone(), vec![Step::Property(name.clone())]].concat();
        found.push((path.clone(), field));
        found.extend(fields(field, path.clone()));
        found.extend(fields(&field["items"], [path, vec![Step::Items]].concat()));
    }
    found
}

/// `true` for the field of an image: `image`, `serverImage`, but not `imagePullPolicy`.
fn is_image(steps: &[Step]) -> bool {
    steps.last().and_then(property).is_some_and(|name| name.to_lowercase().ends_with("image"))
}

fn unconverted(operator: &Operator) -> Vec<String> {
    let mut kinds: BTreeMap<(&str, &str), Vec<&Api>> = BTreeMap::new();
    for api in operator.apis.iter().filter(|api| api.served) {
        kinds.entry((&api.group, &api.kind)).or_default().push(api);
    }
    let is_converted = |group: &str, kind: &str| {
        operator.conversions.iter().any(|conversion| conversion.group == group && conversion.kind == kind)
    };
    let several = kinds.into_iter().filter(|(_, apis)| apis.len() > 1);
    several.filter(|((group, kind), _)| !is_converted(group, kind)).map(|((_, kind), _)| kind.to_owned()).collect()
}

/// The resources that the operator writes, except for its own kinds and those of the runtime, such as events.
fn written(operator: &Operator) -> BTreeMap<String, Written> {
    let mut written: BTreeMap<String, Written> = BTreeMap::new();
    for request in &operator.requests {
        let is_own = operator.apis.iter().any(|api| (&api.group, &api.plural) == (&request.group, &request.resource));
        let is_write = matches!(request.verb, "create" | "patch" | "update");
        let is_part = request.resource.split_once('/').is_some_and(|(_, part)| part != "scale");
        if !is_write || is_part || is_own || request.optional || matches!(&*request.resource, "events" | "leases") {
            continue;
        }
        let new = || Written { place: request.span.to_string(), is_kept_current: false };
        let entry = written.entry(request.resource.clone()).or_insert_with(new);
        entry.is_kept_current |= request.verb != "create";
    }
    written
}

/// The environment variables of a Deployment for images, according to the convention of bundles.
fn related_images(object: &Node) -> Vec<String> {
    let containers = object.items_at(&["spec", "template", "spec", "containers"]).iter();
    let names = containers.flat_map(|it| it.items_at(&["env"])).filter_map(|variable| variable.get("name"));
    let is_image = |name: &&Node| name.as_text().is_some_and(|name| name.starts_with("RELATED_IMAGE_"));
    names.filter(is_image).map(|name| format!("`{}` in {}", name.as_text().unwrap_or_default(), name.span)).collect()
}

fn alerts(rules: &Node) -> Vec<Alert> {
    let groups = rules.items_at(&["spec", "groups"]).iter();
    let rules = groups.flat_map(|group| group.items_at(&["rules"]));
    let alert = |rule: &Node| {
        Some(Alert {
            name: rule.text_at(&["alert"])?.to_owned(),
            place: rule.span.to_string(),
            has_runbook: rule.at(&["annotations", "runbook_url"]).is_some(),
            severity: rule.text_at(&["labels", "severity"]).unwrap_or_default().to_owned(),
        })
    };
    rules.filter_map(alert).collect()
}

/// The levels that the operator's chart and the base CSV of its bundle claim, each with its file.
fn claims(tree: &Tree) -> Result<Vec<(String, String)>, CapabilityError> {
    let bases = tree.files_below("config/manifests/bases")?.into_iter();
    let bases = bases.filter(|path| path.ends_with(".clusterserviceversion.yaml")).map(|path| (path, "capabilities"));
    let chart = [("dist/chart/Chart.yaml".to_owned(), "artifacthub.io/operatorCapabilities")];
    let mut claims = Vec::new();
    for (path, key) in chart.into_iter().chain(bases) {
        let Some(text) = tree.read(&path)? else { continue };
        let documents = yaml::documents(&SourceFile::new(&*path, text), Dialect::Kustomize);
        let documents = documents.map_err(|error| vec![*error])?;
        for document in documents {
            let annotations = document.at(&["metadata", "annotations"]).or(document.at(&["annotations"]));
            if let Some(claim) = annotations.and_then(|annotations| annotations.get(key)).and_then(Node::as_text) {
                claims.push((path.clone(), claim.to_owned()));
            }
        }
    }
    Ok(claims)
}

/// The guiding questions of all levels, in order.
fn questions(facts: &Facts) -> Vec<Question> {
    let mut all = Vec::new();
    let mut add = |level, what, answer| all.push(Question { level, what, answer });
    let found = |place: Option<String>, help: &str| place.map_or_else(|| Answer::No(help.into()), Answer::Yes);
    let workload = facts.writes(&WORKLOADS.map(|(_, resource)| resource));
    let place = |kind: &Kind| format!("`{}` in {}", kind.name, kind.place);

    let first = facts.written.iter().next().map(|(resource, it)| format!("`{resource}` in {}", it.place));
    let help = "create its resources with `Children::apply` in the controller";
    add(0, "each object is installed: the operator creates what it needs", found(workload.clone().or(first), help));
    let waits = facts.named(&WAITS);
    add(0, "the operator waits until these resources are healthy", waits.clone().map_or(Answer::Open, Answer::Yes));
    let answer = match facts.kinds.iter().find(|kind| !kind.has_conditions) {
        Some(kind) => Answer::No(format!("add a status with `conditions` to {}", place(kind))),
        None if facts.kinds.is_empty() => Answer::No("`opctl create api` adds a kind".into()),
        None => Answer::Yes(place(&facts.kinds[0])),
    };
    add(0, "every kind reports its state in status.conditions", answer);
    let undocumented = facts.kinds.iter().find_map(|kind| kind.undocumented.as_ref());
    let answer = match undocumented {
        Some(field) => Answer::No(format!("write a doc comment for {field}")),
        None => Answer::Yes("the doc comments of the types".into()),
    };
    add(0, "every field of a spec is documented", answer);
    if workload.is_some() {
        let image = facts.kinds.iter().find_map(|kind| kind.image.clone());
        let help =
            "add a field `image` to the spec, or read the image from a variable `RELATED_IMAGE_…` of the operator";
        add(0, "users can override the image of the workload", found(image.or(facts.related_image.clone()), help));
    }
    add(0, "the spec has all settings that an installation needs", Answer::Open);
    add(0, "a change of the spec reaches the workload without downtime", Answer::Open);

    let help = "operators that run no workload stay at level I";
    add(1, "the operator runs a workload", found(workload.clone(), help));
    let stale = facts.written.iter().find(|(_, written)| !written.is_kept_current);
    let answer = match (stale, facts.written.iter().next()) {
        (Some((resource, written)), _) => {
            Answer::No(format!("apply `{resource}` instead of only creating them, in {}", written.place))
        }
        (None, Some((resource, written))) => Answer::Yes(format!("`{resource}` in {}", written.place)),
        (None, None) => Answer::Open,
    };
    add(1, "a new version of the operator updates what earlier ones created", answer);
    let answer = match facts.unconverted.first() {
        Some(kind) => Answer::No(format!("opctl create webhook --kind {kind} --conversion")),
        None => Answer::Yes("each kind has one version, or a conversion".into()),
    };
    add(1, "objects of every served version are converted", answer);
    add(1, "the status shows the progress of an upgrade", waits.map_or(Answer::Open, Answer::Yes));
    add(1, "workloads of older versions are still managed, or the status says that they are not", Answer::Open);
    add(1, "the upgrade of a workload causes no downtime, or the status says so", Answer::Open);

    let stored = facts.named(&["StatefulSet", "PersistentVolumeClaim"]);
    let backup = facts.kinds.iter().find(|kind| kind.name.ends_with("Backup") || kind.name.ends_with("Restore"));
    let answer = match (backup, stored) {
        (Some(kind), _) => Answer::Yes(place(kind)),
        (None, Some(stored)) => Answer::No(format!("add kinds for backup and restore; data is stored in {stored}")),
        (None, None) => Answer::Open,
    };
    add(2, "data can be backed up and restored", answer);
    let help = "set `livenessProbe` in the containers of the workload";
    add(2, "the workload has liveness probes", found(facts.named(&["liveness_probe", "livenessProbe"]), help));
    let help = "set `readinessProbe` in the containers of the workload";
    add(2, "the workload has readiness probes", found(facts.named(&["readiness_probe", "readinessProbe"]), help));
    let help = "set requests and limits in the containers of the workload";
    add(2, "the workload has requests and limits", found(facts.named(&["ResourceRequirements", "resources"]), help));
    let answer = match (facts.named(&["Recreate"]), facts.writes(&["deployments", "statefulsets", "daemonsets"])) {
        (Some(place), _) => Answer::No(format!("use a rolling update instead of `Recreate` in {place}")),
        (None, Some(place)) => Answer::Yes(place),
        (None, None) => Answer::Open,
    };
    add(2, "the workload is updated by a rolling update", answer);
    let budget = facts.writes(&["poddisruptionbudgets"]).or_else(|| facts.named(&["PodDisruptionBudget"]));
    add(2, "the workload has a PodDisruptionBudget", found(budget, "create a `PodDisruptionBudget` for its Pods"));
    add(2, "reconfiguration keeps the order and the quorum of the workload", Answer::Open);

    let served = facts.serves_metrics.then(|| "config/default".to_owned());
    add(3, "the operator serves metrics", found(served, "set `--metrics-bind-address` in config/manager/manager.yaml"));
    let own =
        facts.writes(&["servicemonitors", "podmonitors"]).or_else(|| facts.named(&["ServiceMonitor", "PodMonitor"]));
    let help = "create a `ServiceMonitor` for the workload, or register metrics about it with `Metrics::register`";
    add(3, "there are metrics of the workload", found(own.or_else(|| facts.metrics.clone()), help));
    let rule = facts.writes(&["prometheusrules"]).or_else(|| facts.named(&["PrometheusRule"]));
    add(3, "there are alerts for the workload", found(rule, "create a `PrometheusRule` for the workload"));
    let answer = match facts.alerts.iter().find(|alert| !alert.has_runbook) {
        Some(Alert { name, place, .. }) => {
            Answer::No(format!("add the annotation `runbook_url` to `{name}` in {place}"))
        }
        None => found(facts.alerts.first().map(|alert| alert.place.clone()), "write alerts in config/prometheus"),
    };
    add(3, "each alert of the operator has a runbook", answer);
    let odd = facts.alerts.iter().find(|alert| !matches!(&*alert.severity, "critical" | "warning" | "info"));
    let critical = facts.alerts.iter().find(|alert| alert.severity == "critical");
    let answer = match odd {
        Some(Alert { name, place, .. }) => {
            Answer::No(format!("set the label `severity` of `{name}` to critical or warning, in {place}"))
        }
        None => found(critical.map(|alert| alert.place.clone()), "add a critical alert for when the service is down"),
    };
    add(3, "alerts are critical if the service is down, and warnings otherwise", answer);
    let help = "record events with `Context::event` in the controller";
    add(3, "the operator records events", found(facts.named(&[".event"]), help));

    let scalers = ["HorizontalPodAutoscaler", "VerticalPodAutoscaler", "ScaledObject"];
    let resources = ["horizontalpodautoscalers", "verticalpodautoscalers", "scaledobjects"];
    let scaler = facts.writes(&resources).or_else(|| facts.named(&scalers));
    add(
        4,
        "the workload is scaled with its load",
        found(scaler, "create a `HorizontalPodAutoscaler` for the workload"),
    );
    add(4, "the operator repairs an unhealthy workload", Answer::Open);
    add(4, "the operator tunes the workload, and moves it to better nodes", Answer::Open);
    add(4, "the operator learns the usual performance, and reports what differs from it", Answer::Open);
    all
}

/// The highest level up to which no question is answered with no.
fn reached(questions: &[Question]) -> Option<usize> {
    let missing = questions.iter().filter(|question| matches!(question.answer, Answer::No(_)));
    match missing.map(|question| question.level).min() {
        Some(level) => level.checked_sub(1),
        None => Some(LEVELS.len() - 1),
    }
}

fn text(questions: &[Question]) -> String {
    let mut text = String::new();
    let mut current = None;
    for Question { level, what, answer } in questions {
        if current.replace(level) != Some(level) {
            writeln!(text, "level {}: {}", NUMERALS[*level], LEVELS[*level]).expect("a String takes it");
        }
        let (word, rest) = match answer {
            Answer::Yes(place) => ("yes", format!("\n           {place}")),
            Answer::No(help) => ("no", format!("\n    help: {help}")),
            Answer::Open => ("?", String::new()),
        };
        writeln!(text, "  {word:8} {what}{rest}").expect("a String takes it");
    }
    text
}

fn summary(questions: &[Question], reached: Option<usize>) -> String {
    let count = |is_counted: fn(&Question, usize) -> bool, level: usize| {
        questions.iter().filter(|question| is_counted(question, level)).count()
    };
    let open = |level| {
        let open = count(|it, level| it.level <= level && it.answer == Answer::Open, level);
        match open {
            0 => String::new(),
            1 => "; one question (?) only you can answer".into(),
            open => format!("; {open} questions (?) only you can answer"),
        }
    };
    let named = |level: usize| format!("{} ({})", NUMERALS[level], LEVELS[level]);
    let reaches = match reached {
        Some(level) => format!("the operator reaches level {}{}", named(level), open(level)),
        None => "the operator does not reach level I (Basic Install)".to_owned(),
    };
    let next = reached.map_or(0, |level| level + 1);
    if next == LEVELS.len() {
        return reaches;
    }
    let missing = count(|it, level| it.level == level && matches!(it.answer, Answer::No(_)), next);
    format!("{reaches}\nmissing for level {}: {}", named(next), counted(missing, "answer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete() -> Facts {
        let names = NAMES.iter().map(|(name, _)| (*name, "here".to_owned()));
        let names = names.chain(WAITS.map(|name| (name, "here".to_owned()))).filter(|(name, _)| *name != "Recreate");
        let kind = Kind { image: Some("there".into()), has_conditions: true, ..kind("MemcachedBackup") };
        let alert = |severity: &str| Alert {
            name: "Down".into(),
            place: "here".into(),
            has_runbook: true,
            severity: severity.into(),
        };
        Facts {
            kinds: vec![kind],
            written: [("deployments".into(), Written { place: "here".into(), is_kept_current: true })].into(),
            names: names.collect(),
            serves_metrics: true,
            alerts: vec![alert("critical"), alert("warning")],
            ..Facts::default()
        }
    }

    fn kind(name: &str) -> Kind {
        Kind { name: name.into(), place: "here".into(), ..Kind::default() }
    }

    #[test]
    fn each_missing_piece_lowers_the_level_to_the_one_below_its_question() {
        assert_eq!(reached(&questions(&complete())), Some(4));
        let without = |change: fn(&mut Facts)| {
            let mut facts = complete();
            change(&mut facts);
            reached(&questions(&facts))
        };
        assert_eq!(without(|facts| facts.kinds[0].has_conditions = false), None);
        assert_eq!(without(|facts| facts.kinds[0].undocumented = Some("`spec.size`".into())), None);
        assert_eq!(without(|facts| facts.kinds[0].image = None), None);
        assert_eq!(without(|facts| facts.kinds.clear()), None);
        assert_eq!(without(|facts| facts.written.clear()), None);
        let created = |facts: &mut Facts| facts.written.values_mut().for_each(|it| it.is_kept_current = false);
        assert_eq!(without(created), Some(0));
        assert_eq!(without(|facts| facts.unconverted.push("Memcached".into())), Some(0));
        assert_eq!(without(|facts| facts.kinds[0].name = "Memcached".into()), Some(1), "data without a backup");
        let remove = |facts: &mut Facts, names: &[&str]| facts.names.retain(|name, _| !names.contains(name));
        for names in [
            &["liveness_probe", "livenessProbe"][..],
            &["readiness_probe", "readinessProbe"],
            &["ResourceRequirements", "resources"],
            &["PodDisruptionBudget"],
        ] {
            let mut facts = complete();
            remove(&mut facts, names);
            assert_eq!(reached(&questions(&facts)), Some(1), "{names:?}");
        }
        assert_eq!(without(|facts| _ = facts.names.insert("Recreate", "here".into())), Some(1));
        for names in [&["ServiceMonitor", "PodMonitor"][..], &["PrometheusRule"], &[".event"]] {
            let mut facts = complete();
            remove(&mut facts, names);
            assert_eq!(reached(&questions(&facts)), Some(2), "{names:?}");
        }
        assert_eq!(without(|facts| facts.serves_metrics = false), Some(2));
        assert_eq!(without(|facts| facts.alerts.clear()), Some(2));
        assert_eq!(without(|facts| facts.alerts[1].has_runbook = false), Some(2));
        assert_eq!(without(|facts| facts.alerts[1].severity = "page".into()), Some(2));
        let mut facts = complete();
        remove(&mut facts, &["HorizontalPodAutoscaler", "VerticalPodAutoscaler", "ScaledObject"]);
        assert_eq!(reached(&questions(&facts)), Some(3));
    }

    #[test]
    fn an_operator_without_a_workload_stays_at_level_one() {
        let mut facts = complete();
        facts.written = [("configmaps".into(), Written { place: "here".into(), is_kept_current: true })].into();
        assert_eq!(reached(&questions(&facts)), Some(0));
    }

    #[test]
    fn the_summary_counts_what_is_missing_and_what_is_open() {
        let mut facts = complete();
        facts.names.remove("PodDisruptionBudget");
        let questions = questions(&facts);
        let expected = "the operator reaches level II (Seamless Upgrades); 4 questions (?) only you can answer\n\
                        missing for level III (Full Lifecycle): 1 answer";
        assert_eq!(summary(&questions, reached(&questions)), expected);
    }
}
