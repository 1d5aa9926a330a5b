//! Compares the CRDs of two releases, and determines who is broken by each change: stored objects, writers, readers, or
//! the API server.
//!
//! JSON in, [`Change`]s out; nothing is read or run. The rules are those of an API server with ratcheting (Kubernetes
//! 1.30 or newer): a value that it does not validate again while unchanged is no problem for stored objects.

pub mod diagnostics;
mod names;
mod probe;
mod schema;
mod values;

pub use names::refused as refused_names;
pub use probe::TEXTS;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::compat::diagnostics::{OP601, OP603, OP606, OP607, OP609};
use opctl_model::diagnostic::Code;
use opctl_model::{CrdLocation, Step};

/// The parties that a change affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Victim {
    /// Stored objects: they lose data, or cannot be updated.
    Stored,
    /// Clients that create or change objects: accepted values are rejected, or change their meaning.
    Writers,
    /// Clients and operators of the other release, which may fail to decode an object.
    Readers,
    /// The API server rejects the CRD.
    ApiServer,
}

impl Victim {
    pub fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored objects",
            Self::Writers => "writers",
            Self::Readers => "readers",
            Self::ApiServer => "the API server",
        }
    }
}

/// Severity of a change, independent of the maturity of its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// Harmless, but worth knowing.
    Note,
    /// May break somebody, usually in an acceptable way.
    Warning,
    /// Working clients or objects break.
    Breaking,
    /// Data of stored objects is lost, or the API server rejects the CRD. Never acceptable, not even in an alpha
    /// version.
    Loss,
}

/// One change of a CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub code: &'static Code,
    pub impact: Impact,
    pub victims: Vec<Victim>,
    /// `metadata.name` of the CRD.
    pub crd: String,
    /// The affected version; `None` for all versions.
    pub version: Option<String>,
    /// Location in the new CRD: the field, or the nearest parent of a removed field.
    pub location: CrdLocation,
    /// The JSON path in the schema, such as `spec.size`; empty for the root.
    pub path: String,
    pub message: String,
    /// The consequence, as a phrase.
    pub why: String,
    /// A safe way to make the change.
    pub help: Option<String>,
}

/// The changes from the old to the new CRDs, ordered by name, version and field.
pub fn compare(old: &[Value], new: &[Value]) -> Vec<Change> {
    let by_name = |crds: &[Value]| -> BTreeMap<String, Value> {
        crds.iter().map(|crd| (text(&crd["metadata"]["name"]).to_owned(), with_whole_numbers(crd))).collect()
    };
    let (old, new) = (by_name(old), by_name(new));
    let mut changes = Vec::new();
    for (name, old) in &old {
        let Some(new) = new.get(name) else {
            let twin = new.values().find(|it| it["spec"]["names"]["kind"] == old["spec"]["names"]["kind"]);
            changes.push(removed(name, twin));
            continue;
        };
        let stored = list(&old["status"]["storedVersions"]).iter().map(|it| text(it).to_owned()).collect();
        let mut crd = Crd { name, old: &old["spec"], new: &new["spec"], stored, changes: Vec::new() };
        crd.compare();
        changes.append(&mut crd.changes);
    }
    changes
}

fn removed(name: &str, twin: Option<&Value>) -> Change {
    let help = match twin {
        Some(twin) => format!(
            "`{}` is another CRD to the cluster; keep the plural and the group, or move the objects",
            text(&twin["metadata"]["name"])
        ),
        None => "first stop serving its versions, and delete the CRD once its objects are deleted".to_owned(),
    };
    Change {
        code: OP606,
        impact: Impact::Loss,
        victims: vec![Victim::Stored, Victim::Writers, Victim::Readers],
        crd: name.to_owned(),
        version: None,
        location: CrdLocation::Kind,
        path: String::new(),
        message: format!("the CRD `{name}` was removed"),
        why: "deleting a CRD deletes all of its objects".into(),
        help: Some(help),
    }
}

/// The specs of a CRD in two releases.
struct Crd<'a> {
    name: &'a str,
    old: &'a Value,
    new: &'a Value,
    stored: Vec<String>,
    changes: Vec<Change>,
}

impl Crd<'_> {
    fn compare(&mut self) {
        self.names();
        let (old, new) = (versions(self.old), versions(self.new));
        for (name, before) in &old {
            match new.get(name) {
                Some(after) => self.version(name, before, after),
                None => self.removed_version(name, before),
            }
        }
        for name in new.keys().filter(|name| !old.contains_key(*name)) {
            self.add(
                Impact::Note,
                OP609,
                &[],
                None,
                CrdLocation::Kind,
                format!("the version `{name}` is new"),
                "",
                None,
            );
        }
        self.storage();
        self.conversion();
    }

    #[expect(clippy::too_many_arguments, reason = "each is a field of the change")]
    fn add(
        &mut self,
        impact: Impact,
        code: &'static Code,
        victims: &[Victim],
        version: Option<&str>,
        location: CrdLocation,
        message: String,
        why: &str,
        help: Option<&str>,
    ) {
        self.changes.push(Change {
            code,
            impact,
            victims: victims.to_vec(),
            crd: self.name.to_owned(),
            version: version.map(str::to_owned),
            location,
            path: String::new(),
            message,
            why: why.to_owned(),
            help: help.map(str::to_owned),
        });
    }

    /// Compares the fields that the API server does not let anyone change, and the names that people use.
    fn names(&mut self) {
        let fields = [("scope", ""), ("names", "kind"), ("names", "plural")];
        for (outer, inner) in fields {
            let of = |spec: &Value| match inner {
                "" => spec[outer].clone(),
                inner => spec[outer][inner].clone(),
            };
            let (old, new) = (of(self.old), of(self.new));
            if old == new {
                continue;
            }
            let name = if inner.is_empty() { outer } else { inner };
            let victims = [Victim::ApiServer, Victim::Writers, Victim::Readers];
            let location = CrdLocation::Argument(if name == "scope" { "namespaced" } else { "kind" }, 0);
            let message = format!("the {name} changes from `{}` to `{}`", text(&old), text(&new));
            let why = "the API server refuses to change it: for a cluster, this is another CRD";
            let help = "keep it, or create a new kind and move the objects";
            self.add(Impact::Loss, OP606, &victims, None, location, message, why, Some(help));
        }
        for (field, victim, why) in [
            ("singular", Victim::Writers, "scripts may use it with kubectl"),
            ("listKind", Victim::Readers, "clients may check the kind of a list"),
        ] {
            let (old, new) = (&self.old["names"][field], &self.new["names"][field]);
            if old != new && !old.is_null() && !new.is_null() {
                let message = format!("the {field} changes from `{}` to `{}`", text(old), text(new));
                let location = CrdLocation::Argument("kind", 0);
                self.add(Impact::Warning, OP607, &[victim], None, location, message, why, None);
            }
        }
        for (field, argument) in [("shortNames", "shortname"), ("categories", "category")] {
            let new = list(&self.new["names"][field]).to_vec();
            for old in list(&self.old["names"][field]).to_vec() {
                if !new.contains(&old) {
                    let message = format!("`{}` is no longer one of the {field}", text(&old));
                    let why = "scripts may use it with kubectl";
                    let location = CrdLocation::Argument(argument, 0);
                    self.add(Impact::Note, OP607, &[Victim::Writers], None, location, message, why, None);
                }
            }
        }
    }

    fn removed_version(&mut self, name: &str, before: &Value) {
        let message = format!("the version `{name}` was removed");
        if self.stored.iter().any(|stored| stored == name) {
            let why = "the API server refuses to remove a version that is in `status.storedVersions`";
            let help = "migrate the stored objects first, and remove the version from `status.storedVersions`";
            let victims = [Victim::ApiServer, Victim::Stored];
            return self.add(Impact::Loss, OP601, &victims, None, CrdLocation::Kind, message, why, Some(help));
        }
        if before["served"] == false && !self.stored.is_empty() {
            return self.add(Impact::Note, OP609, &[], None, CrdLocation::Kind, message, "", None);
        }
        if before["served"] == false {
            let why = "objects that are still stored in it can no longer be read";
            let help = "make sure that `status.storedVersions` of the CRD no longer has it, in each cluster";
            let (location, victims) = (CrdLocation::Kind, [Victim::Stored]);
            return self.add(Impact::Warning, OP601, &victims, None, location, message, why, Some(help));
        }
        let why = "clients of this version fail, and objects that are stored in it can no longer be read";
        let help =
            "first deprecate it, then stop serving it (`served = false`), migrate the objects, and remove it last";
        let victims = [Victim::Stored, Victim::Writers, Victim::Readers];
        self.add(Impact::Loss, OP601, &victims, None, CrdLocation::Kind, message, why, Some(help));
    }

    fn version(&mut self, name: &str, before: &Value, after: &Value) {
        let is_on = |version: &Value, field: &str| version[field] == true;
        if is_on(before, "served") && !is_on(after, "served") {
            let impact = if is_on(before, "deprecated") { Impact::Warning } else { Impact::Breaking };
            let why = "every request to this version fails";
            let help = "deprecate it in one release, and stop serving it in a later one";
            let victims = [Victim::Writers, Victim::Readers];
            let location = CrdLocation::Argument("served", 0);
            let message = format!("the version `{name}` is no longer served");
            self.add(impact, OP603, &victims, Some(name), location, message, why, Some(help));
        }
        if !is_on(before, "deprecated") && is_on(after, "deprecated") {
            let message = format!("the version `{name}` is deprecated");
            let location = CrdLocation::Argument("deprecated", 0);
            self.add(Impact::Note, OP609, &[], Some(name), location, message, "", None);
        }
        self.subresources(name, before, after);
        let path = "/schema/openAPIV3Schema";
        if let (Some(old), Some(new)) = (before.pointer(path), after.pointer(path)) {
            let changes = schema::compare(old, new);
            self.changes.extend(changes.into_iter().map(|change| Change {
                crd: self.name.to_owned(),
                version: Some(name.to_owned()),
                ..change
            }));
        }
    }

    fn subresources(&mut self, version: &str, before: &Value, after: &Value) {
        let (old, new) = (&before["subresources"], &after["subresources"]);
        let version = Some(version);
        let place = |argument| CrdLocation::Argument(argument, 0);
        match (old["status"].is_object(), new["status"].is_object()) {
            (true, false) => {
                let why = "the API server leaves out the status of stored objects, and operators fail to write it";
                let victims = [Victim::Stored, Victim::Writers, Victim::Readers];
                let message = "the subresource `status` was removed".to_owned();
                let help = Some("keep `status = \"…\"`");
                self.add(Impact::Loss, OP601, &victims, version, CrdLocation::Kind, message, why, help);
            }
            (false, true) => {
                let why = "a status that is written together with the spec is ignored from now on";
                let message = "the subresource `status` is new".to_owned();
                self.add(Impact::Warning, OP607, &[Victim::Writers], version, place("status"), message, why, None);
            }
            _ => {}
        }
        if old["scale"].is_object() && old["scale"] != new["scale"] {
            let is_gone = !new["scale"].is_object();
            let message = format!("the subresource `scale` {}", if is_gone { "is gone" } else { "has other paths" });
            let why = "`kubectl scale` and autoscalers stop working, or scale something else";
            let location = if is_gone { CrdLocation::Kind } else { place("scale") };
            self.add(Impact::Breaking, OP607, &[Victim::Writers], version, location, message, why, None);
        }
        for field in list(&before["selectableFields"]) {
            if !list(&after["selectableFields"]).contains(field) {
                let message = format!("the selectable field `{}` was removed", text(&field["jsonPath"]));
                let why = "requests that select by this field fail";
                self.add(Impact::Breaking, OP607, &[Victim::Readers], version, CrdLocation::Kind, message, why, None);
            }
        }
        let columns =
            |it: &Value| list(&it["additionalPrinterColumns"]).iter().map(|it| it["name"].clone()).collect::<Vec<_>>();
        let new = columns(after);
        for column in columns(before).into_iter().filter(|column| !new.contains(column)) {
            let message = format!("the printer column `{}` was removed", text(&column));
            let why = "scripts may read it from the output of kubectl";
            self.add(Impact::Warning, OP607, &[Victim::Readers], version, CrdLocation::Kind, message, why, None);
        }
    }

    /// Compares the storage versions.
    fn storage(&mut self) {
        let (old, new) = (storage(self.old), storage(self.new));
        // A removed version is already reported.
        if old == new || old.is_empty() || new.is_empty() || !versions(self.new).contains_key(old) {
            return;
        }
        let was_served = versions(self.old).contains_key(new);
        let message = format!("objects are stored as `{new}` instead of `{old}`");
        let (impact, why, help) = match was_served {
            true => (
                Impact::Warning,
                "after the first write, a release that does not know this change cannot be rolled back to without a conversion",
                "make sure that the previous release converts between both versions",
            ),
            false => (
                Impact::Breaking,
                "the previous release does not have this version, so it cannot be rolled back to once an object is written",
                "serve the new version in one release, and store it in a later one",
            ),
        };
        let location = CrdLocation::Argument("storage", 0);
        self.add(impact, OP609, &[Victim::Stored], None, location, message, why, Some(help));
    }

    fn conversion(&mut self) {
        let strategy = |spec: &Value| spec["conversion"]["strategy"] == "Webhook";
        match (strategy(self.old), strategy(self.new)) {
            (false, true) if versions(self.old).len() > 1 => {
                let why = "until the webhook answers, objects cannot be read in another version than the stored one";
                let message = "objects are converted by a webhook".to_owned();
                self.add(Impact::Warning, OP609, &[Victim::Readers], None, CrdLocation::Kind, message, why, None);
            }
            (true, true) if versions(self.old).len() > 1 => {
                let (old, new) = (address(self.old), address(self.new));
                if old != new {
                    let why = "replicas of the previous release do not answer there, so objects cannot be read in another version than the stored one until all are replaced";
                    let message = format!("the conversion webhook is called at `{new}` instead of `{old}`");
                    let victims = [Victim::Readers, Victim::Writers];
                    self.add(Impact::Warning, OP609, &victims, None, CrdLocation::Kind, message, why, None);
                }
            }
            (_, false) => {
                let was_lossy = !strategy(self.old) && !lost_fields(self.old).is_empty();
                if let Some((version, field)) = lost_fields(self.new).into_iter().next().filter(|_| !was_lossy) {
                    let message = format!(
                        "no webhook converts between the versions, and `{}` does not have the field `{field}` of `{version}`",
                        storage(self.new)
                    );
                    let why = "the field is lost when such an object is written, also through another version";
                    let help = "`opctl create webhook --conversion` creates a conversion webhook; or add the field";
                    let victims = [Victim::Stored];
                    let location = CrdLocation::Kind;
                    self.add(Impact::Loss, OP601, &victims, Some(&version), location, message, why, Some(help));
                }
            }
            _ => {}
        }
    }
}

/// The fields of served versions that the storage version lacks, each with its version. Without a conversion, they are
/// lost. `spec` is that of a CRD.
pub fn lost_fields(spec: &Value) -> Vec<(String, String)> {
    let versions = versions(spec);
    let others = versions.iter().filter(|(_, version)| version["served"] == true && version["storage"] != true);
    let lost = others.flat_map(|(name, _)| {
        pruned_fields(spec, name).into_iter().map(|field| ((*name).to_owned(), field)).collect::<Vec<_>>()
    });
    lost.collect()
}

/// The fields of a version that the storage version lacks. `spec` is that of a CRD.
pub fn pruned_fields(spec: &Value, version: &str) -> Vec<String> {
    let versions = versions(spec);
    let schema = |version: &Value| version["schema"]["openAPIV3Schema"].clone();
    let stored = versions.values().find(|version| version["storage"] == true);
    match (versions.get(version), stored) {
        (Some(version), Some(stored)) => schema::unknown_fields(&schema(version), &schema(stored)),
        _ => Vec::new(),
    }
}

/// The versions, and the fields of common versions, that only the first of two CRDs has: `v2`, `` `spec.size` of v1 ``.
/// `spec` and `other` are those of the CRDs.
pub fn only_in(spec: &Value, other: &Value) -> Vec<String> {
    let others = versions(other);
    let mut found = Vec::new();
    for (name, version) in versions(spec) {
        let Some(other) = others.get(name) else {
            found.push(name.to_owned());
            continue;
        };
        let path = "/schema/openAPIV3Schema";
        if let (Some(schema), Some(other)) = (version.pointer(path), other.pointer(path)) {
            let fields = schema::unknown_fields(schema, other).into_iter();
            found.extend(fields.map(|field| format!("`{field}` of {name}")));
        }
    }
    found
}

/// The address of a conversion webhook: its URL, or the port and path of its Service, whose name kustomize may change.
fn address(spec: &Value) -> String {
    let client = &spec["conversion"]["webhook"]["clientConfig"];
    let service = &client["service"];
    let port = service["port"].as_u64().unwrap_or(443);
    client["url"].as_str().map_or_else(|| format!(":{port}{}", service["path"].as_str().unwrap_or("/")), str::to_owned)
}

fn storage(spec: &Value) -> &str {
    list(&spec["versions"]).iter().find(|it| it["storage"] == true).map(|it| text(&it["name"])).unwrap_or_default()
}

fn versions(spec: &Value) -> BTreeMap<&str, &Value> {
    list(&spec["versions"]).iter().map(|version| (text(&version["name"]), version)).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The value with `4` for `4.0` and `4e0`, which are equal for the API server.
#[expect(
    clippy::cast_possible_truncation,
    reason = "only whole numbers that a double represents exactly are converted"
)]
pub fn with_whole_numbers(value: &Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => (float as i64).into(),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(with_whole_numbers).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), with_whole_numbers(value))).collect(),
        other => other.clone(),
    }
}

/// A path for messages: `spec.servers[].size`, `spec.labels{}`.
pub fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Property(name) if text.is_empty() => text.push_str(name),
            Step::Property(name) => text.extend([".", name]),
            Step::Items => text.push_str("[]"),
            Step::Values => text.push_str("{}"),
        }
    }
    text
}

#[cfg(test)]
mod tests;
