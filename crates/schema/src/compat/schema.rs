//! Compares the schemas of one version.

use std::collections::BTreeSet;

use serde_json::Value;

use super::values;
use super::{Change, Impact, Victim, list, shown, text};
use crate::apiserver::is_same_rule;
use crate::compat::diagnostics::{OP601, OP602, OP603, OP604, OP605, OP608, OP610};
use opctl_model::diagnostic::Code;
use opctl_model::without_texts;
use opctl_model::{CrdLocation, Step};

/// The changes of a schema and of all nested schemas. The name and version of the CRD are left empty.
pub fn compare(old: &Value, new: &Value) -> Vec<Change> {
    let mut comparison = Comparison::default();
    comparison.schema(old, new);
    comparison.changes
}

/// The fields of a schema that the API server would prune with the other schema.
pub fn unknown_fields(schema: &Value, other: &Value) -> Vec<String> {
    let mut found = Vec::new();
    pruned(schema, other, &mut Vec::new(), &mut found);
    found
}

fn pruned(schema: &Value, other: &Value, path: &mut Vec<Step>, found: &mut Vec<String>) {
    if keeps_unknown(other) {
        return;
    }
    for (name, field) in properties(schema) {
        // The API server adds these to every object.
        if path.is_empty() && matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            continue;
        }
        path.push(Step::Property(name.clone()));
        match other["properties"].get(name).or_else(|| values_of(other)) {
            Some(other) => pruned(field, other, path, found),
            None => found.push(shown(path)),
        }
        path.pop();
    }
    for (key, step) in [("items", Step::Items), ("additionalProperties", Step::Values)] {
        if schema[key].is_object() && other[key].is_object() {
            path.push(step);
            pruned(&schema[key], &other[key], path, found);
            path.pop();
        }
    }
}

#[derive(Default)]
struct Comparison {
    path: Vec<Step>,
    changes: Vec<Change>,
}

use Impact::{Breaking, Loss, Note, Warning};
use Victim::{Readers, Stored, Writers};

const STORED_TOO: &str = "give it a default, or make it optional and check it in the controller";
const NEW_VERSION: &str = "keep it, and change it in a new version of the kind";
const LENIENT: &str = "let Rust types decode what they do not know: `Option`, or a variant with `#[serde(other)]`";

impl Comparison {
    fn add(
        &mut self,
        (impact, code): (Impact, &'static Code),
        victims: &[Victim],
        message: impl Into<String>,
        why: &str,
        help: Option<&str>,
    ) {
        self.changes.push(Change {
            code,
            impact,
            victims: victims.to_vec(),
            crd: String::new(),
            version: None,
            location: CrdLocation::Schema(self.path.clone()),
            path: shown(&self.path),
            message: message.into(),
            why: why.to_owned(),
            help: help.map(str::to_owned),
        });
    }

    /// The name of the field for messages.
    fn name(&self) -> String {
        match shown(&self.path) {
            path if path.is_empty() => "the object".to_owned(),
            path => format!("`{path}`"),
        }
    }

    fn is_status(&self) -> bool {
        matches!(self.path.first(), Some(Step::Property(name)) if name == "status")
    }

    fn within(&mut self, step: Step, what: impl FnOnce(&mut Self)) {
        self.path.push(step);
        what(self);
        self.path.pop();
    }

    fn schema(&mut self, old: &Value, new: &Value) {
        if old == new {
            return;
        }
        if !self.r#type(old, new) {
            // All other keywords depend on the type.
            return;
        }
        self.nullable(old, new);
        self.defaults(old, new);
        self.values(old, new);
        self.rules(old, new);
        self.logic(old, new);
        self.merging(old, new);
        self.unknown(old, new);
        self.properties(old, new);
        if old["items"].is_object() && new["items"].is_object() {
            self.within(Step::Items, |this| this.schema(&old["items"], &new["items"]));
        }
        if let (Some(old), Some(new)) = (values_of(old), values_of(new)) {
            self.within(Step::Values, |this| this.schema(old, new));
        }
        self.others(old, new);
    }

    /// Compares the types. Returns `true` if the other keywords are comparable.
    fn r#type(&mut self, old: &Value, new: &Value) -> bool {
        let (was, is) = (type_of(old), type_of(new));
        if was == is {
            return true;
        }
        let name = self.name();
        let message = format!("{name} is now {is} instead of {was}");
        let widened =
            matches!((was, is), ("an integer", "a number") | ("an integer" | "a string", "an integer or a string"));
        if widened || is == "of any type" {
            let why = "clients that decode only the old type fail on other values";
            self.add((Warning, OP605), &[Readers], message, why, Some(LENIENT));
            return widened;
        }
        let why = "stored values stay as they are, which new clients cannot decode, and what writers send is refused";
        self.add((Breaking, OP602), &[Stored, Writers, Readers], message, why, Some(NEW_VERSION));
        false
    }

    fn nullable(&mut self, old: &Value, new: &Value) {
        let name = self.name();
        match (old["nullable"] == true, new["nullable"] == true) {
            (true, false) => {
                let why = "a stored null is left out when it is read, and refused if the field is required";
                self.add(
                    (Breaking, OP602),
                    &[Stored, Writers],
                    format!("{name} may no longer be null"),
                    why,
                    Some("keep it an `Option` without `skip_serializing_if`"),
                );
            }
            (false, true) => {
                let why = "clients that do not expect null fail to decode the object";
                self.add((Warning, OP605), &[Readers], format!("{name} may be null"), why, Some(LENIENT));
            }
            _ => {}
        }
    }

    fn defaults(&mut self, old: &Value, new: &Value) {
        let name = self.name();
        match (old.get("default"), new.get("default")) {
            (None, Some(new)) => {
                let why = "stored objects without a value get it at once, as if someone had set it";
                self.add((Warning, OP604), &[Stored], format!("{name} has a default: `{new}`"), why, None);
            }
            (Some(old), Some(new)) if old != new => {
                let why =
                    "objects that were stored without a value change their meaning, the others keep the old default";
                let message = format!("the default of {name} changes from `{old}` to `{new}`");
                self.add(
                    (Breaking, OP604),
                    &[Stored, Writers],
                    message,
                    why,
                    Some("keep the default, and change it in a new version of the kind"),
                );
            }
            (Some(old), None) => {
                let why = "objects without a value no longer have one, which readers may not expect";
                let message = format!("the default of {name}, `{old}`, was removed");
                self.add(
                    (Breaking, OP604),
                    &[Stored, Readers],
                    message,
                    why,
                    Some("keep the default, and change it in a new version of the kind"),
                );
            }
            _ => {}
        }
    }

    /// Compares enums, limits, patterns and formats.
    fn values(&mut self, old: &Value, new: &Value) {
        let name = self.name();
        let tightened = "writers of such values are refused; stored values stay valid until they are changed";
        let unseen = "stored objects that break it cannot be changed, not even their labels: where fields have no schema, the API server does not see that a value is the same";
        for difference in values::compare(old, new) {
            let values::Difference { message, effect } = difference;
            let message = format!("{name}: {message}");
            match effect {
                values::Effect::Tighter if hides_sameness(new) => {
                    self.add((Breaking, OP602), &[Stored, Writers], message, unseen, Some(NEW_VERSION));
                }
                values::Effect::Tighter => {
                    self.add((Breaking, OP603), &[Writers], message, tightened, Some(NEW_VERSION));
                }
                values::Effect::TighterThanTypes => {
                    let why = "writers of such values are refused; types of the previous format could not decode them";
                    self.add((Warning, OP603), &[Writers], message, why, None);
                }
                values::Effect::Wider => {
                    let (impact, why) = match self.is_status() {
                        true => {
                            (Breaking, "the operator writes values that clients of the previous release cannot decode")
                        }
                        false => (Warning, "clients of the previous release may not decode the values that are new"),
                    };
                    self.add((impact, OP605), &[Readers], message, why, Some(LENIENT));
                }
                values::Effect::Looser => self.add((Note, OP605), &[Readers], message, "", None),
            }
        }
    }

    /// Compares CEL rules.
    fn rules(&mut self, old: &Value, new: &Value) {
        let rules = |schema: &Value| list(&schema["x-kubernetes-validations"]).to_vec();
        let before = rules(old);
        let name = self.name();
        let has_fields =
            !properties(new).is_empty() || values_of(new).is_some() || new["items"].is_object() || hides_sameness(new);
        let rules = rules(new);
        let is_old = |rule: &&str| before.iter().any(|before| is_same_rule(text(&before["rule"]), rule));
        for added in rules.iter().map(|rule| text(&rule["rule"])).filter(|rule| !is_old(rule)) {
            let message = format!("{name} has a new rule: `{added}`");
            if added.contains("oldSelf") {
                let why = "changes of stored objects that break it are refused";
                self.add((Breaking, OP602), &[Stored, Writers], message, why, Some(NEW_VERSION));
            } else if has_fields {
                let why = "stored objects that break it cannot be changed in any field below, until they follow it";
                let help = "let it hold for old objects: `optionalOldSelf: true`, and `oldSelf.hasValue() || …`";
                self.add((Breaking, OP602), &[Stored, Writers], message, why, Some(help));
            } else {
                let why = "writers of such values are refused; stored values stay valid until they are changed";
                self.add((Breaking, OP603), &[Writers], message, why, Some(NEW_VERSION));
            }
        }
    }

    /// Compares `allOf`, `anyOf`, `oneOf`, `not`.
    fn logic(&mut self, old: &Value, new: &Value) {
        let name = self.name();
        let frozen = "stored objects that break it cannot be changed, until they follow it";
        for key in ["allOf", "anyOf", "oneOf", "not"] {
            let (was, is) = (without_texts(&old[key]), without_texts(&new[key]));
            if was == is {
                continue;
            }
            let has_int_or_string = |schema: &Value| schema["x-kubernetes-int-or-string"] == true;
            if key == "anyOf" && has_int_or_string(old) && has_int_or_string(new) {
                continue;
            }
            if was.is_null() {
                let message = format!("{name} has an `{key}`, and had none");
                self.add((Breaking, OP602), &[Stored, Writers], message, frozen, Some(NEW_VERSION));
                continue;
            }
            if is.is_null() {
                self.add((Note, OP605), &[Readers], format!("{name} has no `{key}` any more"), "", None);
                continue;
            }
            let branches = |schema: &Value| list(schema).to_vec();
            let added = branches(&is).into_iter().filter(|it| !branches(&was).contains(it)).count();
            let removed = branches(&was).into_iter().filter(|it| !branches(&is).contains(it)).count();
            let is_choice = |schema: &Value| {
                list(schema).iter().all(|it| it.as_object().is_some_and(|it| it.keys().eq(["required"])))
            };
            match (key, added, removed) {
                // The order changed.
                ("allOf" | "anyOf" | "oneOf", 0, 0) => {}
                ("allOf", 0, _) => {
                    self.add((Note, OP605), &[Readers], format!("`allOf` of {name} has fewer conditions"), "", None);
                }
                ("allOf", _, 0) => {
                    let message = format!("`allOf` of {name} has more conditions");
                    self.add((Breaking, OP602), &[Stored, Writers], message, frozen, Some(NEW_VERSION));
                }
                ("anyOf" | "oneOf", _, 0) if key == "anyOf" || is_choice(&was) && is_choice(&is) => {
                    let why = "clients of the previous release may not decode the new alternative";
                    let message = format!("{name} has more alternatives (`{key}`)");
                    self.add((Warning, OP605), &[Readers], message, why, Some(LENIENT));
                }
                ("anyOf" | "oneOf", 0, _) => {
                    let message = format!("{name} has fewer alternatives (`{key}`)");
                    self.add((Breaking, OP602), &[Stored, Writers], message, frozen, Some(NEW_VERSION));
                }
                _ => {
                    let message = format!("`{key}` of {name} changes from `{was}` to `{is}`");
                    let why = "opctl cannot tell whether all values that were valid still are";
                    self.add((Warning, OP610), &[Stored, Writers, Readers], message, why, None);
                }
            }
        }
    }

    /// Compares the merge strategies of server-side apply.
    fn merging(&mut self, old: &Value, new: &Value) {
        let name = self.name();
        let of = |schema: &Value, key: &str, default: &str| schema[key].as_str().unwrap_or(default).to_owned();
        let (was, is) = (of(old, "x-kubernetes-list-type", "atomic"), of(new, "x-kubernetes-list-type", "atomic"));
        let keys = |schema: &Value| -> BTreeSet<String> {
            list(&schema["x-kubernetes-list-map-keys"]).iter().map(|key| text(key).to_owned()).collect()
        };
        if was != is && is == "atomic" {
            let why = "server-side apply replaces the whole list, also the items of other field managers";
            let message = format!("the items of {name} are no longer merged (list type `{was}` → `atomic`)");
            self.add((Warning, OP608), &[Writers], message, why, None);
        } else if was != is || keys(old) != keys(new) {
            let why = "lists with duplicates are refused, and server-side apply merges items by other keys";
            let message = match was != is {
                true => format!("the list type of {name} changes from `{was}` to `{is}`"),
                false => format!("the items of {name} have other keys"),
            };
            self.add((Breaking, OP608), &[Writers], message, why, Some(NEW_VERSION));
        }
        let (was, is) = (of(old, "x-kubernetes-map-type", "granular"), of(new, "x-kubernetes-map-type", "granular"));
        if was != is {
            let why = "server-side apply merges or replaces the fields of other field managers";
            let message = format!("the map type of {name} changes from `{was}` to `{is}`");
            self.add((Warning, OP608), &[Writers], message, why, None);
        }
    }

    fn unknown(&mut self, old: &Value, new: &Value) {
        let name = self.name();
        match (preserves(old), preserves(new)) {
            (true, false) => {
                let why = "fields that the schema does not name are left out when stored objects are read, and lost when they are written";
                let message = format!("{name} no longer keeps unknown fields");
                self.add((Loss, OP601), &[Stored, Writers, Readers], message, why, Some(NEW_VERSION));
            }
            (false, true) => {
                let why = "clients may not expect fields that the schema does not name";
                self.add((Warning, OP605), &[Readers], format!("{name} keeps unknown fields"), why, None);
            }
            _ => {}
        }
    }

    fn properties(&mut self, old: &Value, new: &Value) {
        let required = |schema: &Value| -> BTreeSet<String> {
            list(&schema["required"]).iter().map(|it| text(it).to_owned()).collect()
        };
        let (was_required, is_required) = (required(old), required(new));
        let was_map = values_of(old);
        if was_map.is_some() && values_of(new).is_none() && !keeps_unknown(new) {
            let message = format!("{} is no longer a map", self.name());
            let why = "entries that the schema does not name are left out when stored objects are read, and lost when they are written";
            self.add((Loss, OP601), &[Stored, Writers, Readers], message, why, Some(NEW_VERSION));
            return;
        }
        for (name, field) in properties(old) {
            match new["properties"].get(name).or_else(|| values_of(new)) {
                Some(field_now) => self.within(Step::Property(name.clone()), |this| {
                    this.schema(field, field_now);
                    this.required((was_required.contains(name), field), (is_required.contains(name), field_now));
                }),
                None => self.removed_field(name, new),
            }
        }
        for (name, field) in properties(new) {
            if old["properties"].get(name).is_some() {
                continue;
            }
            self.within(Step::Property(name.clone()), |this| {
                let shown = this.name();
                match (is_required.contains(name), field.get("default")) {
                    (true, None) => {
                        let why = "objects without it are refused, so no field of a stored object can be changed until it is set";
                        let message = format!("{shown} is new and required");
                        this.add((Breaking, OP602), &[Stored, Writers], message, why, Some(STORED_TOO));
                    }
                    (is_required, Some(default)) => {
                        let impact = if is_required { Warning } else { Note };
                        let why = "stored objects get the default at once";
                        this.add((impact, OP604), &[Stored], format!("{shown} is new, with the default `{default}`"), why, None);
                    }
                    (false, None) => this.add((Note, OP605), &[], format!("{shown} is new"), "", None),
                }
                if keeps_unknown(old) || was_map.is_some() {
                    let why = "values that were stored without a schema may not fit it";
                    let message = format!("{shown} has a schema, and had none");
                    this.add((Warning, OP610), &[Stored, Writers], message, why, None);
                }
            });
        }
    }

    /// Compares the required fields. Each pair is the old or new state: required or not, and the schema.
    fn required(&mut self, (was, old): (bool, &Value), (is, new): (bool, &Value)) {
        let name = self.name();
        let must_be_set = |required: bool, field: &Value| required && field.get("default").is_none();
        match (was, is) {
            _ if must_be_set(is, new) && !must_be_set(was, old) => {
                let why =
                    "objects without it are refused, so no field of a stored object can be changed until it is set";
                let message = format!("{name} is required{}", if was { ", and no longer has a default" } else { "" });
                self.add((Breaking, OP602), &[Stored, Writers], message, why, Some(STORED_TOO));
            }
            (false, true) => {
                self.add((Note, OP605), &[], format!("{name} is required, and has a default"), "", None);
            }
            (true, false) => {
                let why = "clients whose type has no `Option` for it fail to decode objects without it";
                self.add((Warning, OP605), &[Readers], format!("{name} is no longer required"), why, Some(LENIENT));
            }
            _ => {}
        }
    }

    /// Reports a removed field at the path of its parent.
    fn removed_field(&mut self, name: &str, new: &Value) {
        let mut path = self.path.clone();
        path.push(Step::Property(name.to_owned()));
        let shown = shown(&path);
        if keeps_unknown(new) {
            let why = "its values are kept, but no longer checked";
            self.add((Warning, OP605), &[Readers], format!("the schema of `{shown}` was removed"), why, None);
            return;
        }
        let why = "it is left out when stored objects are read, and lost when they are written";
        let help =
            "keep it beside the new one, deprecated in its doc comment, and remove it in a new version of the kind";
        self.add(
            (Loss, OP601),
            &[Stored, Writers, Readers],
            format!("the field `{shown}` was removed"),
            why,
            Some(help),
        );
    }

    /// Reports all other differences.
    fn others(&mut self, old: &Value, new: &Value) {
        let keys =
            |schema: &Value| schema.as_object().into_iter().flat_map(|it| it.keys().cloned()).collect::<BTreeSet<_>>();
        let name = self.name();
        for key in keys(old).union(&keys(new)).filter(|key| !KNOWN.contains(&key.as_str()) && !values::knows(key)) {
            if old[key] != new[key] {
                let message = format!("`{key}` of {name} changes from `{}` to `{}`", old[key], new[key]);
                let why = "opctl does not know what it means for objects";
                self.add((Warning, OP610), &[Stored, Writers, Readers], message, why, None);
            }
        }
    }
}

/// Keywords that are compared above, or have no effect on objects.
const KNOWN: [&str; 22] = [
    "additionalProperties",
    "allOf",
    "anyOf",
    "default",
    "description",
    "example",
    "externalDocs",
    "items",
    "not",
    "nullable",
    "oneOf",
    "properties",
    "required",
    "title",
    "type",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
    "$schema",
];

fn type_of(schema: &Value) -> &'static str {
    if schema["x-kubernetes-int-or-string"] == true {
        return "an integer or a string";
    }
    match schema["type"].as_str() {
        Some("object") => "an object",
        Some("array") => "a list",
        Some("string") => "a string",
        Some("integer") => "an integer",
        Some("number") => "a number",
        Some("boolean") => "a boolean",
        _ => "of any type",
    }
}

fn preserves(schema: &Value) -> bool {
    schema["x-kubernetes-preserve-unknown-fields"] == true
}

/// `true` if the API server keeps undeclared fields of the value, as for an embedded resource without declared fields.
fn keeps_unknown(schema: &Value) -> bool {
    preserves(schema)
        || schema["additionalProperties"] == true
        || schema["x-kubernetes-embedded-resource"] == true && properties(schema).is_empty()
}

/// `true` if the API server may consider an unchanged value as changed, and so apply new rules to a stored object. It
/// compares values field by field, items by their keys, and finds no old value for a field without a schema.
fn hides_sameness(schema: &Value) -> bool {
    let fields = properties(schema).into_iter().map(|(_, field)| field).chain(values_of(schema));
    let items = (schema["x-kubernetes-list-type"] == "map").then_some(&schema["items"]);
    keeps_unknown(schema) || schema["x-kubernetes-embedded-resource"] == true || fields.chain(items).any(hides_sameness)
}

/// The schema of the values of a map.
fn values_of(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|values| values.is_object())
}

fn properties(schema: &Value) -> Vec<(&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten().collect()
}
