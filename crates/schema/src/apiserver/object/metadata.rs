//! The metadata of an object: names, labels, annotations, owners, finalizers.
//!
//! Source: `ValidateObjectMetaAccessor` of `pkg/api/validation/objectmeta.go` of k8s.io/apimachinery, with the rules
//! for names of `pkg/registry/customresource/validator.go`.

use std::sync::LazyLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
use opctl_cel::format::{self, is_name_part, is_qualified_name};
use serde_json::{Map, Value};

use super::{ObjectFinding, ObjectStep, decode, shown};
use crate::apiserver::diagnostics::{OP452, OP457};
use crate::apiserver::value::{self, brief};
use crate::apiserver::{items, property, values};
use opctl_model::diagnostic::Code;
use opctl_model::names::is_dns_label;

pub enum Of<'a> {
    /// The object itself; contains its scope: `Namespaced` or `Cluster`.
    Kind(&'a str),
    Embedded,
}

const LARGEST_ANNOTATIONS: usize = 256 << 10;

/// Types of the fields. All fields are nullable.
static SCHEMA: LazyLock<JSONSchemaProps> = LazyLock::new(|| {
    let text = r#"{"type": "string", "nullable": true}"#;
    let time = r#"{"type": "string", "nullable": true, "format": "date-time"}"#;
    let texts = format!(r#"{{"type": "object", "nullable": true, "additionalProperties": {text}}}"#);
    let flag = r#"{"type": "boolean", "nullable": true}"#;
    let number = r#"{"type": "integer", "nullable": true}"#;
    let list = |fields: String| {
        format!(
            r#"{{"type": "array", "nullable": true, "items": {{"type": "object", "nullable": true, "properties": {{{fields}}}}}}}"#
        )
    };
    let owners = list(format!(
        r#""apiVersion": {text}, "kind": {text}, "name": {text}, "uid": {text}, "controller": {flag}, "blockOwnerDeletion": {flag}"#
    ));
    let managers = list(format!(
        r#""manager": {text}, "operation": {text}, "apiVersion": {text}, "time": {time}, "fieldsType": {text}, "subresource": {text},
           "fieldsV1": {{"x-kubernetes-preserve-unknown-fields": true}}"#
    ));
    let schema = format!(
        r#"{{"type": "object", "nullable": true, "properties": {{
            "name": {text}, "generateName": {text}, "namespace": {text}, "selfLink": {text}, "uid": {text},
            "resourceVersion": {text}, "generation": {number}, "creationTimestamp": {time}, "deletionTimestamp": {time},
            "deletionGracePeriodSeconds": {number}, "labels": {texts}, "annotations": {texts},
            "finalizers": {{"type": "array", "nullable": true, "items": {text}}},
            "ownerReferences": {owners}, "managedFields": {managers}
        }}}}"#
    );
    serde_json::from_str(&schema).expect("a schema")
});

/// `path` is that of the object.
pub fn check(metadata: Option<&Value>, of: Of, path: &mut Vec<ObjectStep>, findings: &mut Vec<ObjectFinding>) {
    let code = if matches!(of, Of::Kind(_)) { OP452 } else { OP457 };
    let mut walk = Walk { code, path, findings };
    walk.within("metadata", |walk| {
        let before = walk.findings.len();
        if let Some(metadata) = metadata {
            walk.unknown(metadata, Some(&SCHEMA));
            for mismatch in value::check(metadata, &SCHEMA) {
                let path = [walk.path.as_slice(), &mismatch.path].concat();
                let message = format!("{}: {}", shown(&path), mismatch.problem);
                walk.findings.push(ObjectFinding::error(walk.code, &path, message));
            }
        }
        let is_wrong = |finding: &ObjectFinding| finding.code == walk.code;
        if !walk.findings[before..].iter().any(is_wrong) {
            walk.fields(metadata.and_then(Value::as_object).unwrap_or(&Map::new()), &of);
        }
    });
}

struct Walk<'a> {
    code: &'static Code,
    path: &'a mut Vec<ObjectStep>,
    findings: &'a mut Vec<ObjectFinding>,
}

impl Walk<'_> {
    fn within<T>(&mut self, name: &str, check: impl FnOnce(&mut Walk) -> T) -> T {
        self.path.push(ObjectStep::Key(name.to_owned()));
        let result = check(self);
        self.path.pop();
        result
    }

    fn refuse(&mut self, problem: impl std::fmt::Display, help: &str) {
        let message = format!("{}: {problem}", shown(self.path));
        let finding = ObjectFinding::error(self.code, self.path, message);
        self.findings.push(if help.is_empty() { finding } else { finding.help(help) });
    }

    /// Reports unknown fields, as in the rest of the object.
    fn unknown(&mut self, value: &Value, schema: Option<&JSONSchemaProps>) {
        let Some(schema) = schema.filter(|schema| schema.x_kubernetes_preserve_unknown_fields != Some(true)) else {
            return;
        };
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    self.within(name, |walk| match property(schema, name).or_else(|| values(schema)) {
                        Some(schema) => walk.unknown(value, Some(schema)),
                        None => {
                            let known: Vec<&str> =
                                schema.properties.iter().flatten().map(|(name, _)| name.as_str()).collect();
                            walk.findings.push(decode::unknown(walk.path, name, &known));
                        }
                    });
                }
            }
            Value::Array(list) => {
                for (index, value) in list.iter().enumerate() {
                    self.path.push(ObjectStep::Index(index));
                    self.unknown(value, items(schema));
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    /// Checks the fields, whose types were already checked.
    fn fields(&mut self, metadata: &Map<String, Value>, of: &Of) {
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
        self.names(text("name"), text("generateName"), of);
        self.namespace(text("namespace"), of);
        if metadata.get("generation").and_then(Value::as_i64).is_some_and(|generation| generation < 0)
            && matches!(of, Of::Embedded)
        {
            self.within("generation", |walk| walk.refuse("it must not be negative", ""));
        }
        let pairs = |name: &str| metadata.get(name).and_then(Value::as_object).into_iter().flatten();
        self.within("labels", |walk| {
            for (key, value) in pairs("labels") {
                let value = value.as_str().unwrap_or_default();
                walk.within(key, |walk| {
                    if !is_qualified_name(key) {
                        walk.refuse(format!("no key of a label: {key:?}"), KEY);
                    }
                    if !value.is_empty() && !is_name_part(value) {
                        walk.refuse(
                            format!("no value of a label: {}", brief(&value.into())),
                            "use letters, digits, `-`, `_` and `.`, start and end with a letter or digit, at most 63 characters",
                        );
                    }
                });
            }
        });
        self.within("annotations", |walk| {
            let mut size = 0;
            for (key, value) in pairs("annotations") {
                size += key.len() + value.as_str().map_or(0, str::len);
                // Uppercase is accepted in the prefix.
                if !is_qualified_name(&key.to_lowercase()) {
                    walk.within(key, |walk| walk.refuse(format!("no key of an annotation: {key:?}"), KEY));
                }
            }
            if size > LARGEST_ANNOTATIONS {
                walk.refuse(format!("they have {size} bytes together, more than the 256 KiB that are allowed"), "");
            }
        });
        self.finalizers(metadata.get("finalizers").and_then(Value::as_array).into_iter().flatten());
        self.owners(metadata.get("ownerReferences").and_then(Value::as_array).into_iter().flatten());
    }

    fn names(&mut self, name: &str, generated: &str, of: &Of) {
        if matches!(of, Of::Embedded) {
            for (field, text) in [("name", name), ("generateName", generated)] {
                if text.contains(['/', '%']) || field == "name" && matches!(text, "." | "..") {
                    self.within(field, |walk| walk.refuse(format!("no name of an object: {text:?}"), ""));
                }
            }
            return;
        }
        const RULE: &str = "use lowercase letters, digits, `-` and `.`, each part starts and ends with a letter or digit, at most 253 characters";
        if !generated.is_empty() {
            // The generated suffix starts with a letter or digit.
            let masked = generated.strip_suffix('-').map_or_else(|| generated.to_owned(), |start| format!("{start}a"));
            if !format::is_long_name(&masked) {
                self.within("generateName", |walk| walk.refuse(format!("no beginning of a name: {generated:?}"), RULE));
            }
        } else if name.is_empty() {
            self.within("name", |walk| walk.refuse("the object has no name", "add `name`, or `generateName`"));
        }
        if !name.is_empty() && !format::is_long_name(name) {
            self.within("name", |walk| walk.refuse(format!("no name of an object: {}", brief(&name.into())), RULE));
        }
    }

    fn namespace(&mut self, namespace: &str, of: &Of) {
        if namespace.is_empty() {
            return;
        }
        if matches!(of, Of::Kind("Cluster")) {
            self.within("namespace", |walk| {
                walk.refuse("an object of this kind is in no namespace", "remove it: the kind's scope is `Cluster`");
            });
        } else if !is_dns_label(namespace) {
            self.within("namespace", |walk| walk.refuse(format!("no name of a namespace: {namespace:?}"), ""));
        }
    }

    fn finalizers<'v>(&mut self, finalizers: impl Iterator<Item = &'v Value>) {
        const OF_KUBERNETES: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];
        let mut deletes = Vec::new();
        self.within("finalizers", |walk| {
            for (index, finalizer) in finalizers.enumerate() {
                let finalizer = finalizer.as_str().unwrap_or_default();
                walk.path.push(ObjectStep::Index(index));
                if !is_qualified_name(finalizer) {
                    walk.refuse(format!("no finalizer: {finalizer:?}"), KEY);
                } else if !finalizer.contains('/') && !OF_KUBERNETES.contains(&finalizer) {
                    let message = format!("the API server warns of the finalizer `{finalizer}`, which has no domain");
                    let finding = ObjectFinding::warning(walk.code, walk.path, message);
                    walk.findings.push(finding.help("use a domain that is yours: `example.com/name`"));
                }
                walk.path.pop();
                if OF_KUBERNETES[..2].contains(&finalizer) && !deletes.contains(&finalizer) {
                    deletes.push(finalizer);
                }
            }
            if deletes.len() > 1 {
                walk.refuse("`orphan` and `foregroundDeletion` exclude each other", "");
            }
        });
    }

    fn owners<'v>(&mut self, owners: impl Iterator<Item = &'v Value>) {
        self.within("ownerReferences", |walk| {
            let mut controllers = 0;
            for (index, owner) in owners.enumerate() {
                walk.path.push(ObjectStep::Index(index));
                let text = |name: &str| owner.get(name).and_then(Value::as_str).unwrap_or_default();
                for name in ["apiVersion", "kind", "name", "uid"] {
                    if text(name).is_empty() {
                        walk.within(name, |walk| walk.refuse("it is required, and missing", ""));
                    }
                }
                let version = text("apiVersion");
                if version.matches('/').count() > 1 || version.ends_with('/') {
                    walk.within("apiVersion", |walk| walk.refuse(format!("no `apiVersion`: {version:?}"), ""));
                }
                if (version, text("kind")) == ("v1", "Event") {
                    walk.refuse("an Event owns nothing", "");
                }
                controllers += usize::from(owner.get("controller").and_then(Value::as_bool) == Some(true));
                walk.path.pop();
            }
            if controllers > 1 {
                walk.refuse(format!("{controllers} owners are controllers, and one can be"), "");
            }
        });
    }
}

const KEY: &str = "write `name` or `domain/name`, the name of letters, digits, `-`, `_` and `.`, at most 63 characters";
