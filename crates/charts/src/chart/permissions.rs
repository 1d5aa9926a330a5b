//! The permissions that an operator needs to install a chart, as markers.
//!
//! They are those for every kind that any rendering has, or that stands in the text of a template, and all that the chart's own roles
//! grant: nobody may grant what they lack. Nothing is asked of a cluster, so the result is the same on every machine.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Chart, ChartError};
use crate::spec::{Known, group, written};
use opctl_model::names::default_plural;
use opctl_model::yaml;

/// What helm made of the chart with some values.
#[derive(Clone, Debug)]
pub struct Render {
    /// Which value is another than by default; empty: none.
    pub cause: String,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The markers, with comments.
    pub text: String,
    /// What is not certain.
    pub notes: Vec<String>,
}

/// An object of a rendering.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered<'a> {
    /// The template, from the folder of the chart.
    pub template: &'a str,
    pub group: String,
    pub kind: String,
    pub object: Value,
}

impl Rendered<'_> {
    pub fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }
}

/// Where a permission comes from.
type Reason = String;

const RBAC: &str = "rbac.authorization.k8s.io";
/// What helm does with objects, and the operator that watches them.
const VERBS: &str = "create;delete;get;list;patch;watch";
/// Helm never deletes what is in `crds`.
const VERBS_FOR_CRDS: &str = "create;get;list;patch;watch";

/// The permissions for these renderings of a chart.
///
/// # Errors
///
/// If the plural of a kind is not known.
pub fn permissions(chart: &Chart, renders: &[Render], known: &Known) -> Result<Permissions, Vec<ChartError>> {
    let mut known = known.clone();
    let rendered: Vec<(&str, Vec<Rendered>)> =
        renders.iter().map(|it| (it.cause.as_str(), objects(&it.text))).collect();
    let all = || rendered.iter().flat_map(|(cause, objects)| objects.iter().map(move |object| (*cause, object)));
    let packaged: Vec<(String, Value)> = chart.all().iter().flat_map(|chart| packaged(chart)).collect();
    let crds = all().map(|(_, it)| &it.object).chain(packaged.iter().map(|(_, crd)| crd));
    for names in crds.filter(|object| object["kind"] == "CustomResourceDefinition").map(|crd| &crd["spec"]) {
        if let [Some(group), Some(kind), Some(plural)] =
            [&names["group"], &names["names"]["kind"], &names["names"]["plural"]].map(Value::as_str)
        {
            known.add(group, kind, plural);
        }
    }

    let mut kinds: BTreeMap<(String, String), Reasons> = BTreeMap::new();
    for (cause, object) in all() {
        let reasons = kinds.entry((object.group.clone(), object.kind.clone())).or_default();
        reasons.add(object.template, cause);
    }
    for (template, crd) in &packaged {
        let (group, kind) = group_and_kind(crd);
        kinds.entry((group, kind)).or_default().add(template, "");
    }
    let mut notes = Vec::new();
    let seen: BTreeSet<String> = kinds.keys().map(|(_, kind)| kind.clone()).collect();
    for (template, found) in chart
        .all()
        .iter()
        .flat_map(|chart| chart.templates())
        .flat_map(|(path, text)| written(text).into_iter().map(move |found| (path, found)))
    {
        let groups: Vec<String> = match &found.group {
            Some(group) => vec![group.clone()],
            None if seen.contains(&found.kind) => continue,
            None => known.groups(&found.kind).map(str::to_owned).collect(),
        };
        if groups.is_empty() {
            notes.push(format!(
                "`{template}` may create a `{}`, whose group only a rendering tells, and none included it",
                found.kind
            ));
        }
        for group in groups {
            kinds.entry((group, found.kind.clone())).or_insert_with(|| Reasons::unrendered(template));
        }
    }

    let mut rules: BTreeSet<(Reason, String)> = BTreeSet::new();
    let mut resources: BTreeMap<(Reason, String, &str), BTreeSet<String>> = BTreeMap::new();
    let mut errors = Vec::new();
    for ((group, kind), reasons) in &kinds {
        match known.plural(group, kind) {
            Some(plural) => {
                let verbs = if reasons.are_crds() { VERBS_FOR_CRDS } else { VERBS };
                resources.entry((reasons.text(), group.clone(), verbs)).or_default().insert(plural.to_owned());
            }
            None => errors.push(unknown(group, kind, reasons)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    for ((reason, group, verbs), plurals) in resources {
        let plurals: Vec<&str> = plurals.iter().map(String::as_str).collect();
        let group = if group.is_empty() { "core" } else { &group };
        rules.insert((reason, format!("groups={group},resources={},verbs={verbs}", plurals.join(";"))));
    }

    let mut granted: BTreeMap<(&str, String), Reasons> = BTreeMap::new();
    let roles: BTreeSet<(&str, &str)> =
        all().filter(|(_, it)| it.group == RBAC).map(|(_, it)| (it.kind.as_str(), it.name())).collect();
    for (cause, object) in all().filter(|(_, it)| it.group == RBAC) {
        let mut grant = |what: &'static str, rule: String| {
            granted.entry((what, rule)).or_default().add(object.template, cause);
        };
        match object.kind.as_str() {
            "Role" | "ClusterRole" => {
                let rules = object.object["rules"].as_array().into_iter().flatten();
                rules.filter_map(marker).for_each(|rule| grant("granted by", rule));
                if object.object.get("aggregationRule").is_some() {
                    notes.push(format!(
                        "`{}` is an aggregated role (`{}`): the API server lets only those create it who may `escalate` roles",
                        object.name(),
                        object.template
                    ));
                }
            }
            "RoleBinding" | "ClusterRoleBinding" => {
                let role = &object.object["roleRef"];
                let (kind, name) =
                    (role["kind"].as_str().unwrap_or_default(), role["name"].as_str().unwrap_or_default());
                if !roles.contains(&(kind, name)) && !name.is_empty() {
                    let plural = if kind == "Role" { "roles" } else { "clusterroles" };
                    grant(
                        "bound by",
                        format!("groups={RBAC},resources={plural},resourceNames={},verbs=bind", value(name)),
                    );
                    notes.push(format!("`{}` binds the existing role `{name}` (`{}`)", object.name(), object.template));
                }
            }
            _ => {}
        }
    }
    rules.extend(granted.into_iter().map(|((what, rule), reasons)| (format!("{what} {}", reasons.text()), rule)));
    notes.sort();
    notes.dedup();
    Ok(Permissions { text: print(&rules), notes })
}

/// Rules with the same reason share the comment.
fn print(rules: &BTreeSet<(Reason, String)>) -> String {
    let mut text = String::new();
    let mut last = "";
    for (reason, rule) in rules {
        if reason != last {
            text += &format!("\n// {reason}\n");
            last = reason;
        }
        text += &format!("// +kubebuilder:rbac:{rule}\n");
    }
    text
}

/// The templates that have something, and what enables each; no cause: nothing has to.
#[derive(Clone, Debug, Default)]
struct Reasons(BTreeMap<String, Option<String>>);

impl Reasons {
    fn add(&mut self, template: &str, cause: &str) {
        let cause = (!cause.is_empty()).then(|| format!("with {cause}"));
        // What is there by default needs no cause, and the first cause is that of a single value.
        let known = self.0.entry(template.to_owned()).or_insert_with(|| cause.clone());
        if cause.is_none() {
            *known = None;
        }
    }

    fn unrendered(template: &str) -> Self {
        Self([(template.to_owned(), Some("which no rendering included".into()))].into())
    }

    /// Whether all are in the folder `crds` of a chart.
    fn are_crds(&self) -> bool {
        self.0.keys().all(|template| template.starts_with("crds/") || template.contains("/crds/"))
    }

    fn text(&self) -> Reason {
        let templates = self.0.iter().map(|(template, cause)| match cause {
            Some(cause) => format!("{template} {cause}"),
            None => template.clone(),
        });
        templates.collect::<Vec<_>>().join(", ")
    }
}

fn unknown(group: &str, kind: &str, reasons: &Reasons) -> ChartError {
    let plural = default_plural(&kind.to_lowercase());
    ChartError {
        message: format!("the plural of the kind `{kind}` in the group `{group}` is not known ({})", reasons.text()),
        help: format!("specify it, as `kubectl api-resources` lists it: `--helm-kind {kind}.{group}={plural}`"),
    }
}

/// The objects of a rendering; lists are taken apart.
pub fn objects(text: &str) -> Vec<Rendered<'_>> {
    let mut template = "";
    let mut found = Vec::new();
    for document in documents(text) {
        if let Some(source) = document.lines().find_map(|line| line.strip_prefix("# Source: ")) {
            template = source.split_once('/').map_or(source, |(_, path)| path);
        }
        // Helm has read it already.
        let Ok(object) = yaml::read::<Value>(document) else { continue };
        let items = match object["kind"].as_str().filter(|kind| kind.ends_with("List")).and(object["items"].as_array())
        {
            Some(items) => items.clone(),
            None => vec![object],
        };
        for object in items {
            let (group, kind) = group_and_kind(&object);
            if !kind.is_empty() {
                found.push(Rendered { template, group, kind, object });
            }
        }
    }
    found
}

/// The texts between lines of `---`.
fn documents(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            documents.push(&text[start..at]);
            start = at + line.len();
        }
        at += line.len();
    }
    documents.push(&text[start..]);
    documents
}

fn group_and_kind(object: &Value) -> (String, String) {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    (group(text("apiVersion")), text("kind").to_owned())
}

/// The CRDs that helm installs before everything else, whatever the values.
fn packaged(chart: &Chart) -> Vec<(String, Value)> {
    let files = chart.files.iter().filter(|(path, _)| path.starts_with("crds/") && path.ends_with("yaml"));
    let crds = files.flat_map(|(path, text)| documents(text).into_iter().map(move |document| (path, document)));
    crds.filter_map(|(path, document)| Some((path.clone(), yaml::read::<Value>(document).ok()?)))
        .filter(|(_, object)| object["kind"].is_string())
        .collect()
}

/// What `--api-versions` may say, so that a chart renders what it has for kinds that a cluster may serve.
pub fn served(chart: &Chart) -> Vec<String> {
    let mut served = BTreeSet::new();
    for (_, text) in chart.all().iter().flat_map(|chart| chart.templates()) {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once("APIVersions.Has") {
            let quoted = after.trim_start_matches([' ', '(']).strip_prefix('"').and_then(|text| text.split_once('"'));
            served.extend(quoted.map(|(version, _)| version.to_owned()));
            rest = after;
        }
    }
    served.into_iter().collect()
}

/// The arguments of a marker for a rule of a role.
fn marker(rule: &Value) -> Option<String> {
    let list = |key: &str| {
        let values = rule[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        values.map(|text| if text.is_empty() { "core".to_owned() } else { value(text) }).collect::<Vec<_>>().join(";")
    };
    let (urls, verbs) = (list("nonResourceURLs"), list("verbs"));
    if verbs.is_empty() {
        return None;
    }
    let mut arguments = match urls.is_empty() {
        true => vec![format!("groups={}", list("apiGroups")), format!("resources={}", list("resources"))],
        false => vec![format!("urls={urls}")],
    };
    let names = list("resourceNames");
    if !names.is_empty() {
        arguments.push(format!("resourceNames={names}"));
    }
    arguments.push(format!("verbs={verbs}"));
    Some(arguments.join(","))
}

/// Quoted, if a marker would not read it otherwise.
fn value(text: &str) -> String {
    let is_plain = text
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '/' | '_' | '*' | ':'));
    if is_plain { text.to_owned() } else { format!("{text:?}") }
}
