//! `values.yaml` and `values.schema.json`.

use serde_json::{Map, Value, json};

use super::manager::Port;
use super::{Operator, Switch};
use opctl_model::yaml;

/// A value of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The path, separated by dots: `manager.image.tag`.
    pub path: &'static str,
    pub default: Value,
    /// Its purpose, on one line.
    pub comment: &'static str,
    /// The JSON types that its schema accepts.
    pub r#type: &'static [&'static str],
}

/// The values of a chart while it is generated.
pub struct Values {
    pub entries: Vec<Entry>,
}

impl Values {
    /// Empties a default, so that the template or Kubernetes decides unless users set the value.
    pub fn clear(&mut self, path: &str) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.path == path) {
            entry.default = match entry.default {
                Value::Object(_) => json!({}),
                Value::Array(_) => json!([]),
                _ => Value::Null,
            };
        }
    }

    /// Sets the port values, and removes those of ports that the operator does not have.
    pub fn ports(&mut self, ports: &[Port]) {
        self.entries
            .retain(|entry| !entry.path.ends_with(".port") || ports.iter().any(|port| port.value == entry.path));
        ports.iter().for_each(|port| self.set(port.value, port.number.into()));
    }

    /// Sets a default.
    pub fn set(&mut self, path: &str, default: Value) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.path == path) {
            entry.default = default;
        }
    }
}

const OBJECT: &[&str] = &["object"];
const LIST: &[&str] = &["array"];
const TEXT: &[&str] = &["string"];
const BOOL: &[&str] = &["boolean"];
const NUMBER: &[&str] = &["integer"];

/// The values that every chart has, and those of the switches.
pub fn common(operator: &Operator) -> Values {
    let (repository, tag) = operator.image.clone().unwrap_or_default();
    let (tag, digest) = match tag.strip_prefix('@') {
        Some(digest) => (String::new(), digest.to_owned()),
        None => (tag, String::new()),
    };
    let name = if operator.release() == operator.name { "" } else { operator.release() };
    let table: Vec<(&'static str, Value, &'static str, &'static [&'static str])> = vec![
        ("nameOverride", json!(name), "Instead of the chart's name, in the names of all objects", TEXT),
        (
            "fullnameOverride",
            json!(""),
            "Instead of the release's and the chart's name, in the names of all objects",
            TEXT,
        ),
        (
            "manager.enabled",
            json!(true),
            "Whether the chart runs the operator; otherwise it installs only what the operator needs",
            BOOL,
        ),
        ("manager.replicas", json!(1), "With more than one, one of the replicas leads and the others wait", NUMBER),
        ("manager.image.repository", json!(repository), "", TEXT),
        ("manager.image.tag", json!(tag), "If it is empty, the appVersion of the chart", &["string", "number"]),
        ("manager.image.digest", json!(digest), "Counts instead of the tag: sha256:…", TEXT),
        ("manager.image.pullPolicy", json!("IfNotPresent"), "", TEXT),
        ("manager.imagePullSecrets", json!([]), "", LIST),
        ("manager.args", json!([]), "Arguments, beside those of the parts that are enabled below", LIST),
        ("manager.env", json!([]), "Variables, beside those of the parts that are enabled below", LIST),
        ("manager.envOverrides", json!({}), "Variables by name, for --set manager.envOverrides.NAME=value", OBJECT),
        ("manager.healthProbe.port", json!(8081), "", NUMBER),
        ("manager.resources", json!({}), "", OBJECT),
        ("manager.podSecurityContext", json!({}), "", OBJECT),
        ("manager.securityContext", json!({}), "", OBJECT),
        ("manager.affinity", json!({}), "", OBJECT),
        ("manager.nodeSelector", json!({}), "", OBJECT),
        ("manager.tolerations", json!([]), "", LIST),
        ("manager.topologySpreadConstraints", json!([]), "", LIST),
        ("manager.strategy", json!({}), "If it is empty, the one that fits the number of replicas", OBJECT),
        ("manager.priorityClassName", json!(""), "", TEXT),
        ("manager.terminationGracePeriodSeconds", json!(30), "", NUMBER),
        ("manager.labels", json!({}), "Of the Deployment", OBJECT),
        ("manager.annotations", json!({}), "Of the Deployment", OBJECT),
        ("manager.pod.labels", json!({}), "", OBJECT),
        ("manager.pod.annotations", json!({}), "", OBJECT),
        ("manager.extraVolumes", json!([]), "", LIST),
        ("manager.extraVolumeMounts", json!([]), "", LIST),
        (
            "podDisruptionBudget.enabled",
            json!(false),
            "Whether nodes that are drained wait for the operator's other replicas",
            BOOL,
        ),
        (
            "podDisruptionBudget.maxUnavailable",
            json!(1),
            "How many replicas may be gone at a time: a number or a percentage",
            &["integer", "string"],
        ),
        ("serviceAccount.enabled", json!(true), "Whether the chart creates it", BOOL),
        ("serviceAccount.name", json!(""), "If it is empty, a name with that of the release", TEXT),
        ("serviceAccount.annotations", json!({}), "E.g. those by which a cloud provider grants permissions", OBJECT),
        ("serviceAccount.labels", json!({}), "", OBJECT),
        ("rbac.helpers.enabled", json!(true), "Roles for people: admin, editor and viewer of each kind", BOOL),
        (
            "rbac.namespaced",
            json!(false),
            "Watch the namespace of the release, with Roles, instead of the cluster",
            BOOL,
        ),
        (
            "crd.enabled",
            json!(true),
            "Whether the chart creates the CRDs; helm upgrade upgrades them, too, and helm install --take-ownership takes over those that exist",
            BOOL,
        ),
        ("crd.keep", json!(true), "Whether helm uninstall keeps the CRDs, and so all objects of their kinds", BOOL),
        ("metrics.enabled", json!(true), "", BOOL),
        ("metrics.port", json!(8443), "", NUMBER),
        ("webhook.enabled", json!(true), "", BOOL),
        ("webhook.port", json!(9443), "", NUMBER),
        (
            "certManager.enabled",
            json!(false),
            "Certificates of cert-manager for metrics and webhooks instead of the operator's own",
            BOOL,
        ),
        (
            "prometheus.enabled",
            json!(false),
            "A ServiceMonitor and alerts; they need the CRDs of the Prometheus operator",
            BOOL,
        ),
        ("networkPolicy.enabled", json!(false), "Allow only connections to metrics and webhooks", BOOL),
        ("tests.image", json!("busybox:1.37"), "For `helm test`; it needs `nc`", TEXT),
    ];
    let entries = table.into_iter().map(|(path, default, comment, r#type)| Entry { path, default, comment, r#type });
    let mut values = Values { entries: entries.collect() };
    for switch in Switch::ALL.into_iter().filter(|switch| *switch != Switch::LeaderElection) {
        let on = operator.switches.iter().find(|(known, _)| *known == switch).map(|(_, on)| *on);
        match on {
            Some(on) => values.set(switch.value(), on.into()),
            None => values.entries.retain(|entry| entry.path != switch.value()),
        }
    }
    values
}

/// The paths of the scalars in a value.
fn paths(value: &Value) -> Vec<String> {
    match value {
        Value::Object(entries) if !entries.is_empty() => entries
            .iter()
            .flat_map(|(key, value)| {
                let inner = paths(value).into_iter();
                inner.map(move |path| if path.is_empty() { key.clone() } else { format!("{key}.{path}") })
            })
            .collect(),
        _ => vec![String::new()],
    }
}

/// `values.yaml`.
pub fn text(entries: &[Entry]) -> String {
    let mut text = String::from("# The values of the chart, with their defaults.\n");
    block(entries, 0, &mut text);
    text
}

/// The entries below a common path of `depth` keys.
fn block(entries: &[Entry], depth: usize, text: &mut String) {
    let key = |entry: &Entry| entry.path.split('.').nth(depth).unwrap_or_default().to_owned();
    let mut rest = entries;
    while let Some(first) = rest.first() {
        let (own, others) = rest.split_at(rest.iter().take_while(|entry| key(entry) == key(first)).count());
        if depth == 0 {
            text.push('\n');
        }
        let indent = "  ".repeat(depth);
        if first.path.split('.').count() == depth + 1 {
            text.push_str(&lines(first, depth));
        } else {
            text.push_str(&format!("{indent}{}:\n", key(first)));
            block(own, depth + 1, text);
        }
        rest = others;
    }
}

/// The lines of one value.
fn lines(entry: &Entry, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let key = entry.path.rsplit('.').next().unwrap_or_default();
    let value = Value::Object(Map::from_iter([(key.to_owned(), entry.default.clone())]));
    let text = yaml::documents("", &[value]);
    let text = text.trim_start_matches('\n').trim_start_matches("---\n");
    let comment = if entry.comment.is_empty() { String::new() } else { format!("{indent}# {}.\n", entry.comment) };
    comment + &text.lines().map(|line| format!("{indent}{line}\n")).collect::<String>()
}

/// The user's `values.yaml` with missing values added; `None` if it is complete.
///
/// # Errors
///
/// The missing lines, if no place for them is found; or the error, if the text is not YAML.
pub fn completed(text: &str, entries: &[Entry]) -> Result<Option<String>, String> {
    let own: Value = yaml::read(text).map_err(|error| error.to_string())?;
    let own = if own.is_null() { json!({}) } else { own };
    let missing: Vec<Entry> = entries.iter().filter(|entry| is_missing(&own, entry)).cloned().collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let (mut result, mut wanted) = (text.to_owned(), own.clone());
    for entry in &missing {
        let keys: Vec<&str> = entry.path.split('.').collect();
        let known = known_keys(&wanted, &keys);
        let at = block_end(&result, &keys[..known]).ok_or_else(|| self::text(&missing))?;
        let mut lines_of = String::new();
        let blank = if known == 0 { "\n" } else { "" };
        for (depth, key) in keys.iter().enumerate().take(keys.len() - 1).skip(known) {
            lines_of.push_str(&format!("{}{key}:\n", "  ".repeat(depth)));
        }
        lines_of.push_str(&lines(entry, keys.len() - 1));
        let newline = if at > 0 && !result[..at].ends_with('\n') { "\n" } else { "" };
        result.insert_str(at, &format!("{newline}{blank}{lines_of}"));
        set(&mut wanted, &keys, entry.default.clone());
    }
    match yaml::read::<Value>(&result) {
        Ok(read) if read == wanted => Ok(Some(result)),
        _ => Err(self::text(&missing)),
    }
}

/// Paths in the text that are no values of the chart.
pub fn unknown(text: &str, entries: &[Entry]) -> Vec<String> {
    let Ok(own) = yaml::read::<Value>(text) else { return Vec::new() };
    let is_known = |path: &str| {
        let is_same = |known: &str| {
            known == path || known.starts_with(&format!("{path}.")) || path.starts_with(&format!("{known}."))
        };
        path == "global" || path.starts_with("global.") || entries.iter().any(|entry| is_same(entry.path))
    };
    paths(&own).into_iter().filter(|path| !path.is_empty() && !is_known(path)).collect()
}

/// `true` if the value is not set. A null or a scalar in place of a mapping is the user's decision, so nothing below it
/// is missing.
fn is_missing(own: &Value, entry: &Entry) -> bool {
    let mut at = own;
    entry.path.split('.').any(|key| match at {
        Value::Object(entries) => match entries.get(key) {
            Some(next) => {
                at = next;
                false
            }
            None => true,
        },
        _ => false,
    })
}

/// The number of leading keys that exist.
fn known_keys(value: &Value, keys: &[&str]) -> usize {
    let mut at = value;
    keys.iter().take_while(|key| at.get(**key).map(|next| at = next).is_some()).count()
}

fn set(value: &mut Value, keys: &[&str], default: Value) {
    let mut at = value;
    for key in keys {
        at = &mut at[*key];
    }
    *at = default;
}

/// The end of the block below these keys, each indented by two more spaces.
fn block_end(text: &str, keys: &[&str]) -> Option<usize> {
    let mut range = 0..text.len();
    for (depth, key) in keys.iter().enumerate() {
        let head = format!("{}{key}:", "  ".repeat(depth));
        let mut offset = range.start;
        let mut start = None;
        let mut end = range.end;
        for line in text[range.clone()].split_inclusive('\n') {
            let content = line.trim_start();
            let indent = line.len() - content.len();
            if start.is_some() && !content.is_empty() && !content.starts_with('#') && indent <= depth * 2 {
                end = offset;
                break;
            }
            offset += line.len();
            // `key: {}` has no block.
            if start.is_none()
                && line
                    .strip_prefix(&head)
                    .is_some_and(|rest| rest.trim_start().is_empty() || rest.trim_start().starts_with('#'))
            {
                start = Some(offset);
            }
        }
        range = start?..end;
    }
    // Blank lines and comments at the end belong to the following block.
    let block = &text[range.clone()];
    let kept: usize = {
        let lines: Vec<&str> = block.split_inclusive('\n').collect();
        let is_content =
            |line: &&str| !line.trim().is_empty() && (keys.is_empty() || !line.trim_start().starts_with('#'));
        let last = lines.iter().rposition(is_content).map_or(0, |at| at + 1);
        lines[..last].iter().map(|line| line.len()).sum()
    };
    Some(range.start + kept)
}

/// `values.schema.json`. Unknown values are errors, except below `global`, which parent charts may set.
pub fn schema(entries: &[Entry], comment: &str) -> String {
    let mut root = json!({
        "$comment": comment,
        "$schema": "http://json-schema.org/draft-07/schema#",
        "additionalProperties": false,
        "properties": { "global": { "type": "object" } },
        "type": "object",
    });
    for entry in entries {
        let mut at = &mut root;
        let mut keys = entry.path.split('.').peekable();
        while let Some(key) = keys.next() {
            at = &mut at["properties"][key];
            match keys.peek() {
                Some(_) if at.is_null() => {
                    *at = json!({ "additionalProperties": false, "properties": {}, "type": "object" })
                }
                Some(_) => {}
                None => *at = leaf(entry),
            }
        }
    }
    serde_json::to_string_pretty(&root).expect("a JSON value can be written") + "\n"
}

fn leaf(entry: &Entry) -> Value {
    let mut leaf = Map::new();
    let nullable = entry.default.is_null().then_some("null");
    let types: Vec<&str> = entry.r#type.iter().copied().chain(nullable).collect();
    leaf.insert("type".into(), if let [one] = types[..] { json!(one) } else { json!(types) });
    if !entry.comment.is_empty() {
        leaf.insert("description".into(), entry.comment.into());
    }
    let bounds: &[(&str, Value)] = match entry.path {
        "manager.replicas" | "manager.terminationGracePeriodSeconds" => &[("minimum", json!(0))],
        path if path.ends_with(".port") => &[("minimum", json!(1)), ("maximum", json!(65535))],
        "manager.image.pullPolicy" => &[("enum", json!(["Always", "IfNotPresent", "Never"]))],
        "manager.image.digest" => &[("pattern", json!("^(sha256:[0-9a-f]{64})?$"))],
        _ => &[],
    };
    let bounds = if entry.default.is_null() { &[] } else { bounds };
    leaf.extend(bounds.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    leaf.into()
}
