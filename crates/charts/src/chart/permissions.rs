//! Derives RBAC markers for the permissions that an operator needs to install a chart.
//!
//! They cover every kind in a rendering or in the text of a template, and all rules of the chart's own roles, since
//! Kubernetes only lets the operator grant permissions that it has. No cluster is queried, so the result is the same on
//! every machine.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::release::{NAMESPACE, RELEASE};
use super::switches::Switch;
use super::uses::{Part, Token, parts, uses};
use super::{Chart, ChartError};
use crate::spec::{Known, group, written};
use opctl_model::names::default_plural;
use opctl_model::yaml;

/// The output of helm for a chart with some values.
#[derive(Clone, Debug)]
pub struct Render {
    pub cause: Cause,
    pub text: String,
}

/// The values of a rendering that differ from the defaults.
#[derive(Clone, Debug)]
pub enum Cause {
    None,
    /// These switches are inverted.
    Changed(Vec<Switch>),
    EverySwitchOn,
}

impl Cause {
    /// The values that enable a template in this rendering; empty for default values.
    fn of(&self, template: &str) -> String {
        match self {
            Self::None => String::new(),
            Self::EverySwitchOn => "every switch on".into(),
            Self::Changed(switches) => {
                let own: Vec<&Switch> = switches.iter().filter(|it| it.templates.contains(template)).collect();
                let own = if own.is_empty() { switches.iter().collect() } else { own };
                own.iter().map(|it| format!("{}={}", it.path.join("."), !it.default)).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.of("")[..] {
            "" => "the default values",
            cause => cause,
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The markers, with comments.
    pub text: String,
    /// Warnings about uncertain permissions.
    pub notes: Vec<String>,
}

/// An object of a rendering.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered<'a> {
    /// The path of the template in the chart.
    pub template: &'a str,
    pub group: String,
    pub kind: String,
    pub object: Arc<Value>,
}

impl Rendered<'_> {
    pub fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }
}

/// The origin of a permission.
type Reason = String;

const RBAC: &str = "rbac.authorization.k8s.io";
/// The verbs that helm needs, and the operator that watches the objects.
const VERBS: &str = "create;delete;get;list;patch;watch";
/// Helm never deletes CRDs of the folder `crds`.
const VERBS_FOR_CRDS: &str = "create;get;list;patch;watch";

/// The permissions to install these renderings of a chart.
///
/// # Errors
///
/// If the plural of a kind is unknown.
pub fn permissions(chart: &Chart, renders: &[Render], known: &Known) -> Result<Permissions, Vec<ChartError>> {
    let mut known = known.clone();
    let rendered: Vec<(&Cause, Vec<Rendered>)> = renders.iter().map(|it| &it.cause).zip(objects(renders)).collect();
    let all = || rendered.iter().flat_map(|(cause, objects)| objects.iter().map(move |object| (*cause, object)));
    let packaged: Vec<(String, Value)> = packaged(chart, "");
    let crds = all().map(|(_, it)| &*it.object).chain(packaged.iter().map(|(_, crd)| crd));
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
        reasons.add(object.template, &cause.of(object.template));
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
                "`{template}` may create a `{}`, but no rendering included it, so its group is unknown",
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
            None if reasons.are_optional() => {
                let ChartError { message, help } = unknown(group, kind, reasons);
                notes.push(format!("{message}, so it gets no permission; to add one, {help}"));
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
            granted.entry((what, rule)).or_default().add(object.template, &cause.of(object.template));
        };
        match object.kind.as_str() {
            "Role" | "ClusterRole" => {
                let rules = object.object["rules"].as_array().into_iter().flatten();
                for rule in rules {
                    // The release does not exist yet, so its names are unknown, and any name is granted.
                    let names = rule["resourceNames"].as_array().into_iter().flatten().filter_map(Value::as_str);
                    let what = match names.into_iter().any(is_of_rendering) {
                        true => "granted, by names that depend on the release, by",
                        false => "granted by",
                    };
                    marker(rule).into_iter().for_each(|rule| grant(what, rule));
                    if has(&rule["apiGroups"], "core") {
                        notes.push(format!(
                            "`{}` grants permissions in a group called `core`, which does not exist (`{}`): markers use this name for \
                             the group of Pods, so the operator gets them in all groups",
                            object.name(),
                            object.template
                        ));
                    }
                }
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
                if is_of_rendering(name) && !roles.contains(&(kind, name)) {
                    notes.push(format!(
                        "`{}` binds a role that no rendering includes, and whose name depends on the release: add a marker that permits to \
                         `bind` it",
                        object.template
                    ));
                } else if !roles.contains(&(kind, name)) && !name.is_empty() {
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
    let rendered_rules: BTreeSet<Grant> = all()
        .filter(|(_, it)| it.group == RBAC && is_role(&it.kind))
        .flat_map(|(_, it)| it.object["rules"].as_array().into_iter().flatten().flat_map(grants))
        .collect();
    for (template, text) in templates(chart, "") {
        let has_role = written(text).iter().any(|it| it.group.as_deref() == Some(RBAC) && is_role(&it.kind));
        if !has_role {
            continue;
        }
        let WrittenRules { rules, is_complete } = written_rules(text);
        let is_rendered = all().any(|(_, it)| it.template == template && is_role(&it.kind));
        if !is_complete && !is_rendered {
            notes.push(format!(
                "`{template}` creates a role, but no rendering included it, so its rules are unknown: add markers for them"
            ));
            continue;
        }
        for rule in rules.iter().filter(|rule| !grants(rule).is_subset(&rendered_rules)) {
            if let Some(rule) = marker(rule) {
                granted.entry(("granted by", rule)).or_insert_with(|| Reasons::unrendered(&template));
            }
        }
    }
    rules.extend(granted.into_iter().map(|((what, rule), reasons)| (format!("{what} {}", reasons.text()), rule)));
    notes.extend(any_objects(chart, "").into_iter().map(|(value, template)| {
        format!(
            "`{value}` takes objects of any kind (`{template}`): the operator has permissions for those in this file only; add markers for \
             the kinds that users may put there"
        )
    }));
    notes.sort();
    notes.dedup();
    Ok(Permissions { text: print(&rules), notes })
}

/// The paths and texts of the templates of a chart and its subcharts. `folder` is that of the chart.
fn templates<'a>(chart: &'a Chart, folder: &str) -> BTreeMap<String, &'a str> {
    let own = chart.templates().map(|(path, text)| (format!("{folder}{path}"), text));
    let below = chart.subcharts.iter().flat_map(|(_, it)| templates(it, &format!("{folder}charts/{}/", it.name)));
    own.chain(below).collect()
}

fn is_role(kind: &str) -> bool {
    kind == "Role" || kind == "ClusterRole"
}

/// The rules of all roles in the text of a template.
struct WrittenRules {
    /// Those that do not depend on values.
    rules: Vec<Value>,
    /// There are no others.
    is_complete: bool,
}

fn written_rules(text: &str) -> WrittenRules {
    let mut is_complete = true;
    let mut outside = String::new();
    let parts = parts(text);
    for (at, part) in parts.iter().enumerate() {
        match (part, parts.get(at + 1)) {
            (Part::Text(text), _) => outside.push_str(text),
            (Part::Action(tokens), next) => {
                let after = if let Some(Part::Text(after)) = next { after } else { "" };
                let around = [outside.rsplit('\n').next(), after.split('\n').next()];
                if around.into_iter().flatten().any(|text| !text.trim().is_empty()) {
                    outside.push_str(RELEASE);
                } else if !is_control(tokens)
                    && outside.rsplit("\n---").next().is_some_and(|text| text.contains("\nrules:"))
                {
                    is_complete = false;
                }
            }
        }
    }
    let objects = yaml::read_all::<Value>(&outside).unwrap_or_else(|_| {
        is_complete = false;
        Vec::new()
    });
    let mut rules = Vec::new();
    for role in objects.into_iter().filter(|object| object["kind"].as_str().is_some_and(is_role)) {
        is_complete &= role["rules"].is_array();
        rules.extend(role["rules"].as_array().into_iter().flatten().cloned());
    }
    let is_known_list = |list: &Value| {
        let mut items = list.as_array().into_iter().flatten().filter_map(Value::as_str).peekable();
        items.peek().is_some() && !items.any(is_of_rendering)
    };
    let all = rules.len();
    rules.retain(|rule| {
        let has_resources = ["apiGroups", "resources"].iter().all(|key| is_known_list(&rule[*key]));
        is_known_list(&rule["verbs"]) && (has_resources || is_known_list(&rule["nonResourceURLs"]))
    });
    WrittenRules { is_complete: is_complete && rules.len() == all, rules }
}

/// A permission for one verb: API group, resource, URL, name and verb. Those that do not apply are empty.
type Grant = [String; 5];

/// The permissions that a rule of a role combines.
fn grants(rule: &Value) -> BTreeSet<Grant> {
    let list = |key: &str| {
        let items: Vec<&str> = rule[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        if items.is_empty() { vec![""] } else { items }
    };
    let mut names = list("resourceNames");
    // A name that depends on the release permits any name, as in `marker`.
    if names.iter().any(|name| is_of_rendering(name)) {
        names = vec![""];
    }
    let mut grants = BTreeSet::new();
    for group in list("apiGroups") {
        for resource in list("resources") {
            for url in list("nonResourceURLs") {
                for name in &names {
                    grants.extend(
                        list("verbs").into_iter().map(|verb| [group, resource, url, name, verb].map(str::to_owned)),
                    );
                }
            }
        }
    }
    grants
}

/// `true` if an action prints nothing itself.
fn is_control(tokens: &[Token]) -> bool {
    const WORDS: [&str; 7] = ["if", "else", "end", "range", "with", "define", "block"];
    match tokens {
        [Token::Word(_), Token::Sign('='), ..] => true,
        [Token::Word(word), ..] => WORDS.contains(&word.as_str()),
        _ => false,
    }
}

/// Prints the markers. Rules with the same reason share a comment.
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

/// Values that a template prints verbatim, so that they may contain objects of any kind (`extraObjects`,
/// `extraDeploy`), and the template.
fn any_objects(chart: &Chart, above: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, text) in chart.templates().filter(|(path, _)| path.ends_with("yaml") || path.ends_with("yml")) {
        let outside: String = parts(text)
            .into_iter()
            .map(|part| match part {
                Part::Text(text) => text,
                Part::Action(_) => "",
            })
            .collect();
        let has_text = |line: &str| !line.is_empty() && line != "---" && !line.starts_with('#');
        let prints = ["toYaml", "tpl"].iter().any(|function| text.contains(function));
        if prints && !outside.lines().map(str::trim).any(has_text) {
            let values = uses(text).into_iter().filter(|it| it.is_whole && !it.path.is_empty());
            found.extend(values.map(|it| (format!("{above}{}", it.path.join(".")), path.to_owned())));
        }
    }
    for (key, subchart) in &chart.subcharts {
        found.extend(any_objects(subchart, &format!("{above}{key}.")));
    }
    found
}

/// `true` if the name depends on the release or its namespace.
fn is_of_rendering(name: &str) -> bool {
    name.contains(RELEASE) || name.contains(NAMESPACE)
}

/// `true` for a file in the folder `crds` of a chart or subchart, which helm installs first. Templates elsewhere may
/// contain CRDs, too.
fn is_crd_file(path: &str) -> bool {
    let mut rest = path;
    while let Some((_, below)) = rest.strip_prefix("charts/").and_then(|rest| rest.split_once('/')) {
        rest = below;
    }
    rest.starts_with("crds/")
}

/// The templates that need a permission, each with the value that enables it; `None` if it is enabled by default.
#[derive(Clone, Debug, Default)]
struct Reasons(BTreeMap<String, Option<String>>);

impl Reasons {
    fn add(&mut self, template: &str, cause: &str) {
        let cause = (!cause.is_empty()).then(|| format!("with {cause}"));
        // A template that is enabled by default has no cause. Otherwise the first cause wins, which is that of a single
        // value.
        let known = self.0.entry(template.to_owned()).or_insert_with(|| cause.clone());
        if cause.is_none() {
            *known = None;
        }
    }

    fn unrendered(template: &str) -> Self {
        Self([(template.to_owned(), Some("which no rendering included".into()))].into())
    }

    /// `true` if all templates are in folders `crds`.
    fn are_crds(&self) -> bool {
        self.0.keys().all(|template| is_crd_file(template))
    }

    /// `true` if no template is enabled by default.
    fn are_optional(&self) -> bool {
        self.0.values().all(Option::is_some)
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

/// The objects of each rendering, including the items of lists. Most renderings of a chart have the same documents,
/// which are parsed once.
pub fn objects(renders: &[Render]) -> Vec<Vec<Rendered<'_>>> {
    let mut known: HashMap<&str, Vec<Rendered>> = HashMap::new();
    let mut objects = |document| known.entry(document).or_insert_with(|| parsed(document)).clone();
    renders.iter().map(|render| documents(&render.text).into_iter().flat_map(&mut objects).collect()).collect()
}

/// The objects of a document, which begins with a comment that names its template.
fn parsed(document: &str) -> Vec<Rendered<'_>> {
    let source = document.lines().find_map(|line| line.strip_prefix("# Source: ")).unwrap_or_default();
    let template = source.split_once('/').map_or(source, |(_, path)| path);
    // Helm has parsed the document already.
    let Ok(mut object) = yaml::read::<Value>(document) else { return Vec::new() };
    let is_list = object["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
    let items = match object.get_mut("items").filter(|_| is_list) {
        Some(Value::Array(items)) => std::mem::take(items),
        _ => vec![object],
    };
    let objects = items.into_iter().map(|object| {
        let (group, kind) = group_and_kind(&object);
        Rendered { template, group, kind, object: object.into() }
    });
    objects.filter(|object| !object.kind.is_empty()).collect()
}

/// The documents between `---` lines.
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

/// The CRDs of folders `crds` of a chart and its subcharts, with their paths. Helm installs them first and with any
/// values, so they are not in renderings. `folder` is that of the chart.
fn packaged(chart: &Chart, folder: &str) -> Vec<(String, Value)> {
    let is_yaml = |path: &str| [".json", ".yaml", ".yml"].iter().any(|end| path.ends_with(end));
    let files = chart.files.iter().filter(|(path, _)| path.starts_with("crds/") && is_yaml(path));
    let crds = files.flat_map(|(path, text)| documents(text).into_iter().map(move |document| (path, document)));
    let crds =
        crds.filter_map(|(path, document)| Some((format!("{folder}{path}"), yaml::read::<Value>(document).ok()?)));
    let mut crds: Vec<_> = crds.filter(|(_, object)| object["kind"].is_string()).collect();
    // A subchart with several aliases has its CRDs once.
    let subcharts: BTreeMap<&str, &Chart> = chart.subcharts.iter().map(|(_, it)| (it.name.as_str(), &**it)).collect();
    crds.extend(subcharts.into_iter().flat_map(|(name, it)| packaged(it, &format!("{folder}charts/{name}/"))));
    crds
}

/// The APIs that templates check for, as values of `--api-versions`: they render the optional parts for them.
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

/// `true` if a list of a role's rule contains this text.
fn has(list: &Value, text: &str) -> bool {
    list.as_array().is_some_and(|items| items.iter().any(|item| item == text))
}

/// The arguments of a marker for a role's rule.
fn marker(rule: &Value) -> Option<String> {
    let list = |key: &str| {
        let values = rule[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        values.map(|text| if text.is_empty() { "core".to_owned() } else { value(text) }).collect::<Vec<_>>().join(";")
    };
    let (urls, verbs) = (list("nonResourceURLs"), list("verbs"));
    if verbs.is_empty() {
        return None;
    }
    // In markers, `core` is the group without a name, so only `*` includes a group called `core`.
    let groups = if has(&rule["apiGroups"], "core") { "*".into() } else { list("apiGroups") };
    let mut arguments = match urls.is_empty() {
        true => vec![format!("groups={groups}"), format!("resources={}", list("resources"))],
        false => vec![format!("urls={urls}")],
    };
    let names = list("resourceNames");
    let is_known =
        !rule["resourceNames"].as_array().into_iter().flatten().filter_map(Value::as_str).any(is_of_rendering);
    if !names.is_empty() && is_known {
        arguments.push(format!("resourceNames={names}"));
    }
    arguments.push(format!("verbs={verbs}"));
    Some(arguments.join(","))
}

/// Quotes a value of a marker if necessary.
fn value(text: &str) -> String {
    let is_plain = text
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '/' | '_' | '*' | ':'));
    if is_plain { text.to_owned() } else { format!("{text:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_called_core_is_not_the_group_of_pods() {
        let chart = Chart::parse(&[("Chart.yaml".into(), "name: a\nversion: 1.0.0\n".into())].into()).unwrap();
        let text = "# Source: a/templates/role.yaml\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n\
                    metadata: { name: web }\nrules:\n- { apiGroups: [core], resources: [services], verbs: [list] }\n\
                    - { apiGroups: [\"\"], resources: [pods], verbs: [get] }\n";
        let render = Render { cause: Cause::None, text: text.into() };
        let Permissions { text, notes } = permissions(&chart, &[render], &Known::with([])).unwrap();
        assert!(text.contains("rbac:groups=*,resources=services,verbs=list\n"), "{text}");
        assert!(text.contains("rbac:groups=core,resources=pods,verbs=get\n"), "{text}");
        assert!(matches!(&notes[..], [note] if note.contains("`core`")), "{notes:?}");
    }

    #[test]
    fn crds_of_subcharts_are_known_without_a_rendering() {
        let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec:\n  group: example.com\n\
                   \x20 names: { kind: Ox, plural: oxen }\n";
        let files = [
            ("Chart.yaml", "name: a\nversion: 1.0.0\n"),
            ("charts/b/Chart.yaml", "name: b\nversion: 1.0.0\n"),
            ("charts/b/crds/all.yaml", &format!("{crd}---\n{crd}")),
        ];
        let chart = Chart::parse(&files.map(|(path, text)| (path.to_owned(), text.to_owned())).into()).unwrap();
        let text = "---\n# Source: a/templates/a.yaml\napiVersion: example.com/v1\nkind: Ox\n";
        let renders = [Cause::None, Cause::EverySwitchOn].map(|cause| Render { cause, text: text.into() });
        let Permissions { text, notes } = permissions(&chart, &renders, &Known::with([])).unwrap();
        let crds = "groups=apiextensions.k8s.io,resources=customresourcedefinitions";
        assert_eq!(
            text,
            format!(
                "\n// charts/b/crds/all.yaml\n// +kubebuilder:rbac:{crds},verbs={VERBS_FOR_CRDS}\n\n// templates/a.yaml\n\
                 // +kubebuilder:rbac:groups=example.com,resources=oxen,verbs={VERBS}\n"
            )
        );
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn a_rule_that_no_rendering_includes_is_granted_by_its_text() {
        let role = "kind: Role\napiVersion: rbac.authorization.k8s.io/v1\nmetadata:\n  name: {{ .Release.Name }}\nrules:\n\
                    - apiGroups: [\"\"]\n  resources: [pods, secrets]\n  resourceNames: [\"{{ .Release.Name }}\"]\n  verbs: [get, list]\n\
                    {{- if gt (int .Values.replicas) 1 }}\n- apiGroups: [\"\"]\n  resources: [nodes]\n  verbs: [get]\n{{- end }}\n\
                    {{- if eq .Values.mode \"list\" }}\n- apiGroups: [\"\"]\n  resources: [secrets]\n  verbs: [list]\n{{- end }}\n\
                    {{- toYaml .Values.rules | nindent 0 }}\n";
        let files = [("Chart.yaml", "name: a\nversion: 1.0.0\n"), ("templates/role.yaml", role)];
        let chart = Chart::parse(&files.map(|(path, text)| (path.to_owned(), text.to_owned())).into()).unwrap();
        let text = format!(
            "---\n# Source: a/templates/role.yaml\nkind: Role\napiVersion: rbac.authorization.k8s.io/v1\nrules:\n- apiGroups: ['']\n\
             \x20 resources: [pods, secrets]\n  resourceNames: [{RELEASE}]\n  verbs: [get, list]\n"
        );
        let renders = [Render { cause: Cause::None, text }];
        let Permissions { text, notes } = permissions(&chart, &renders, &Known::with([])).unwrap();
        let granted = Vec::from_iter(text.lines().filter(|line| line.contains("verbs=get")));
        assert_eq!(
            granted,
            [
                "// +kubebuilder:rbac:groups=core,resources=nodes,verbs=get",
                "// +kubebuilder:rbac:groups=core,resources=pods;secrets,verbs=get;list"
            ]
        );
        assert!(text.contains("// granted by templates/role.yaml which no rendering included\n"), "{text}");
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn a_role_that_no_rendering_includes_is_granted_by_its_text() {
        let head = "{{ template \"x\" . }}\n{{ if gt (int .Values.replicas) 1 }}\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n\
                    \x20 name: {{ .Release.Name }}\nrules:\n";
        let rules = |rules: &str| {
            let role = format!("{head}{rules}{{{{ end }}}}\n");
            let files = [("Chart.yaml", "name: a\nversion: 1.0.0\n"), ("templates/role.yaml", &role)];
            let chart = Chart::parse(&files.map(|(path, text)| (path.to_owned(), text.to_owned())).into()).unwrap();
            let Permissions { text, notes } = permissions(&chart, &[], &Known::with([])).unwrap();
            let granted: Vec<String> = text
                .lines()
                .filter(|line| line.contains("pods"))
                .map(|line| line.trim_start_matches("// ").into())
                .collect();
            (granted, notes.len())
        };
        let marker = |rule: &str| (vec![format!("+kubebuilder:rbac:{rule}")], 0);
        for (text, expected) in [
            (
                "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs:\n  {{- if .Values.a }}\n  - get\n  {{- end }}\n",
                marker("groups=core,resources=pods,verbs=get"),
            ),
            (
                "- { apiGroups: [\"\"], resources: [pods], resourceNames: [\"{{ .Release.Name }}-a\"], verbs: [get] }\n",
                marker("groups=core,resources=pods,verbs=get"),
            ),
            ("- { apiGroups: [\"\"], resources: [pods], verbs: [\"{{ .Values.verb }}\"] }\n", (vec![], 1)),
            ("- apiGroups: [\"\"]\n  resources: [pods]\n  verbs:\n  {{- toYaml .Values.verbs }}\n", (vec![], 1)),
            (
                "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs:\n  - get\n  {{- toYaml .Values.verbs }}\n",
                (vec![], 1),
            ),
            ("{{- toYaml .Values.rules }}\n", (vec![], 1)),
        ] {
            assert_eq!(rules(text), expected, "{text}");
        }
    }
}
