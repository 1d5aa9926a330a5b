//! Structural schemas: every value has exactly one type, which does not depend on `anyOf` and similar keywords.
//!
//! Source: `pkg/apiserver/schema/validation.go`, `complete.go` and `convert.go`.

use std::collections::HashMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use opctl_cel::pattern;

use super::{Finding, inside, is_empty, items, junctors, property, shown, text};
use crate::apiserver::diagnostics::{OP313, OP314, OP315, OP316, OP317, OP318, OP319, OP320, OP321, OP322, OP328};
use opctl_model::diagnostic::{Code, Severity};
use opctl_model::{CrdLocation, Step};

pub fn check(root: &JSONSchemaProps, has_status: bool, findings: &mut Vec<Finding>) {
    let mut walk = Walk { path: Vec::new(), validated_at: Vec::new(), patterns: HashMap::new(), findings };
    walk.root(root, has_status);
    walk.schema(root, Meta::Resource);
}

/// The object that a schema describes: a resource (the root, or embedded), its `metadata`, or neither.
#[derive(Clone, Copy, PartialEq)]
enum Meta {
    Resource,
    Metadata,
    No,
}

struct Walk<'a> {
    path: Vec<Step>,
    /// The path of the value whose `anyOf` or similar keyword is being checked.
    validated_at: Vec<Step>,
    patterns: HashMap<String, Result<(), String>>,
    findings: &'a mut Vec<Finding>,
}

impl Walk<'_> {
    fn refuse(&mut self, code: &'static Code, message: impl FnOnce(String) -> String) -> &mut Finding {
        let message = message(shown(&self.path));
        self.findings.push(Finding::error(code, CrdLocation::Schema(self.path.clone()), message));
        self.findings.last_mut().expect("just pushed")
    }

    fn root(&mut self, root: &JSONSchemaProps, has_status: bool) {
        if root.additional_properties.is_some() {
            self.refuse(OP319, |_| "a resource cannot have fields of any name at its top".into())
                .help
                .push("put the map into a separate field".into());
        }
        if root.nullable == Some(true) {
            self.refuse(OP319, |_| "a resource cannot be null, and this one's schema is nullable".into());
        }
        if !matches!(text(&root.type_), "object" | "") {
            self.refuse(OP319, |_| format!("a resource is an object, and this one is of type `{}`", text(&root.type_)))
                .help
                .push("use a struct with named fields".into());
        }
        if has_status && let Some(word) = no_place_beside_status(root) {
            self.refuse(OP319, |_| {
                format!("with a status, `{word}` is not allowed at the top level of a resource: the API server could not validate spec and status separately")
            })
            .help
            .push("move it into the spec: without `no_spec`, and with an enum in a field of its own".into());
        }
        for name in ["apiVersion", "kind", "metadata"] {
            if property(root, name).is_some_and(|schema| schema.default.is_some()) {
                self.at(Step::Property(name.into()), |walk| {
                    walk.refuse(OP328, |at| format!("{at} of a resource cannot have a default"));
                });
            }
        }
        if let Some(metadata) = property(root, "metadata")
            && !says_no_more_than_names(metadata)
        {
            self.at(Step::Property("metadata".into()), |walk| {
                walk.refuse(OP320, |_| {
                    "`metadata` of a resource is Kubernetes' own: its schema can restrict `name` and `generateName` only"
                        .into()
                })
                .help
                .push("rename the field, or leave `metadata` out of the schema".into());
            });
        }
    }

    fn at(&mut self, step: Step, look: impl FnOnce(&mut Self)) {
        self.path.push(step);
        look(self);
        self.path.pop();
    }

    fn schema(&mut self, schema: &JSONSchemaProps, meta: Meta) {
        let is_embedded = schema.x_kubernetes_embedded_resource == Some(true);
        let is_int_or_string = schema.x_kubernetes_int_or_string == Some(true);
        let preserves = schema.x_kubernetes_preserve_unknown_fields == Some(true);
        self.keywords(schema);
        if text(&schema.type_).is_empty() && !is_int_or_string && !preserves && !is_embedded {
            self.refuse(OP313, |at| format!("{at} has no type: the API server requires one type for each value"))
                .help
                .extend([
                    "use a type that is always an object, an array, a string, a number or a boolean; for nothing at all (`()`), leave the field out".into(),
                    "for a value of any type: `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`; for a number or a string: `IntOrString`".into(),
                ]);
        }
        if text(&schema.type_) == "array" && schema.items.is_none() {
            self.refuse(OP314, |at| format!("{at} is an array without a schema for its items"));
        }
        let has_properties = schema.properties.as_ref().is_some_and(|properties| !properties.is_empty());
        let restricts_others = !matches!(schema.additional_properties, None | Some(JSONSchemaPropsOrBool::Bool(true)));
        if has_properties && restricts_others {
            let denied = schema.additional_properties == Some(JSONSchemaPropsOrBool::Bool(false));
            let finding =
                self.refuse(OP316, |at| format!("{at} has named fields and a rule for fields of other names"));
            finding.help.push(if denied {
                "remove `#[serde(deny_unknown_fields)]`: the API server drops unknown fields and warns `kubectl` users"
                    .into()
            } else {
                "put the map into a separate field".into()
            });
        }
        if is_embedded {
            self.embedded(schema, has_properties, preserves);
        }
        if is_int_or_string && (preserves || is_embedded) {
            self.refuse(OP321, |at| format!("{at} is an int-or-string, so it cannot be an object as well"));
        }
        if is_embedded && meta == Meta::Metadata {
            self.refuse(OP321, |at| format!("{at} is in the metadata of a resource, where no resource can be"));
        }
        self.validations(schema);

        let resource = is_embedded || meta == Meta::Resource;
        for (step, inner) in inside(schema) {
            let inner_meta = match &step {
                Step::Property(name) if resource && matches!(name.as_str(), "metadata" | "kind" | "apiVersion") => {
                    self.type_meta(name, inner);
                    Meta::Metadata
                }
                _ if meta == Meta::Metadata => Meta::Metadata,
                _ => Meta::No,
            };
            if meta == Meta::Metadata && step == Step::Values {
                self.no_defaults_in(inner);
            }
            self.at(step, |walk| walk.schema(inner, inner_meta));
        }
    }

    fn type_meta(&mut self, name: &str, schema: &JSONSchemaProps) {
        let expected = if name == "metadata" { "object" } else { "string" };
        if text(&schema.type_) != expected {
            self.at(Step::Property(name.into()), |walk| {
                walk.refuse(OP320, |at| format!("{at} of a resource must be of type `{expected}`"))
                    .help
                    .push("rename the field: Kubernetes has this name for itself".into());
            });
        }
    }

    fn no_defaults_in(&mut self, schema: &JSONSchemaProps) {
        let mut found = schema.default.is_some();
        super::each(schema, &mut Vec::new(), &mut |schema, _| found |= schema.default.is_some());
        if found {
            self.refuse(OP328, |at| format!("{at} is metadata, and its entries cannot have a default"));
        }
    }

    fn embedded(&mut self, schema: &JSONSchemaProps, has_properties: bool, preserves: bool) {
        let why = if text(&schema.type_) != "object" {
            "it must be of type `object`"
        } else if schema.additional_properties.is_some() {
            "it cannot have fields of any name"
        } else if !has_properties && !preserves {
            "it must have named fields, or preserve unknown ones"
        } else {
            return;
        };
        self.refuse(OP321, |at| format!("{at} is an embedded resource: {why}")).help.push(
            "use `serde_json::Value` with `#[schemars(extend(\"type\" = \"object\", \"x-kubernetes-embedded-resource\" = true, \"x-kubernetes-preserve-unknown-fields\" = true))]`".into(),
        );
    }

    /// Checks keywords that are not allowed in any schema.
    fn keywords(&mut self, schema: &JSONSchemaProps) {
        if matches!(schema.items, Some(JSONSchemaPropsOrArray::Schemas(_))) {
            self.refuse(OP314, |at| {
                format!(
                    "{at} has a schema for each of its items, as a tuple has; the API server wants one schema for all"
                )
            })
            .help
            .push("use a struct with named fields, or a `Vec` if all items are of one type".into());
        }
        if schema.unique_items == Some(true) {
            self.refuse(OP315, |at| format!("{at} asks for unique items, which the API server does not check"))
                .help
                .push("declare it as a set: `#[x_kube(merge_strategy = ListMerge::Set)]`, or `#[schemars(extend(\"uniqueItems\" = false, \"x-kubernetes-list-type\" = \"set\"))]`".into());
        }
        match text(&schema.type_) {
            "" | "string" | "number" | "integer" | "boolean" | "array" | "object" => {}
            "null" => {
                self.refuse(OP315, |at| format!("{at} is always null, and the API server has no such type"))
                    .help
                    .push("leave the field out, or use a struct without fields".into());
            }
            other => {
                self.refuse(OP315, |at| format!("{at} has the type `{other}`, which the API server does not know"));
            }
        }
        if schema.x_kubernetes_preserve_unknown_fields == Some(false) {
            self.refuse(OP315, |at| {
                format!("{at} sets `x-kubernetes-preserve-unknown-fields: false`; only `true` is allowed")
            });
        }
        let unknown = [
            ("$ref", schema.ref_path.is_some()),
            ("$schema", !text(&schema.schema).is_empty()),
            ("id", !text(&schema.id).is_empty()),
            ("definitions", schema.definitions.as_ref().is_some_and(|map| !map.is_empty())),
            ("dependencies", schema.dependencies.is_some()),
            ("patternProperties", schema.pattern_properties.as_ref().is_some_and(|map| !map.is_empty())),
            ("additionalItems", schema.additional_items.is_some()),
        ];
        for (word, _) in unknown.iter().filter(|(_, is_said)| *is_said) {
            self.refuse(OP315, |at| format!("{at} sets `{word}`, which the API server does not accept"))
                .help
                .push("write the schema out with `properties`, `items` and `additionalProperties`".into());
        }
        let Some(pattern) = &schema.pattern else { return };
        // A few patterns occur often, above all that of quantities.
        let compiled = self.patterns.entry(pattern.clone());
        let compiled = compiled.or_insert_with(|| pattern::check(pattern));
        if let Err(reason) = compiled.clone() {
            self.refuse(OP322, |at| {
                format!("the pattern `{pattern}` of {at} is not one that the API server can read: {reason}")
            })
            .help
            .push(
                "use Go's syntax: <https://golang.org/s/re2syntax>; it has no look-around and no back references"
                    .into(),
            );
        }
    }

    fn without_structure(&mut self, word: &str) {
        let is_at_root = self.validated_at.is_empty();
        let finding = self.refuse(OP318, |at| {
            format!("{at} appears only inside `{word}`: without a type outside of it, the API server drops the field")
        });
        finding.help.push("add it to the schema outside as well".into());
        // The API server checks this only at the root of the schema.
        if !is_at_root {
            finding.severity = Severity::Warning;
        }
    }

    /// Checks the schemas in `anyOf` and similar keywords. The two ways to declare the types of an int-or-string there
    /// are accepted.
    fn validations(&mut self, schema: &JSONSchemaProps) {
        self.validated_at.clone_from(&self.path);
        for (nth, (word, inner)) in junctors(schema).enumerate() {
            if word == "anyOf" && is_int_or_string(&schema.any_of) {
                continue;
            }
            if word == "allOf" && nth == 0 && is_int_or_string(&inner.any_of) {
                let rest = JSONSchemaProps { any_of: None, ..inner.clone() };
                self.nested(word, &rest, Some(schema));
            } else {
                self.nested(word, inner, Some(schema));
            }
        }
    }

    fn nested(&mut self, word: &str, schema: &JSONSchemaProps, structure: Option<&JSONSchemaProps>) {
        self.keywords(schema);
        let said = [
            ("type", !text(&schema.type_).is_empty()),
            ("default", schema.default.is_some()),
            ("title", !text(&schema.title).is_empty()),
            ("description", !text(&schema.description).is_empty()),
            ("nullable", schema.nullable == Some(true)),
            (
                "additionalProperties",
                !matches!(schema.additional_properties, None | Some(JSONSchemaPropsOrBool::Bool(false))),
            ),
            ("x-kubernetes-preserve-unknown-fields", schema.x_kubernetes_preserve_unknown_fields == Some(true)),
            ("x-kubernetes-embedded-resource", schema.x_kubernetes_embedded_resource == Some(true)),
            ("x-kubernetes-int-or-string", schema.x_kubernetes_int_or_string == Some(true)),
            ("x-kubernetes-list-map-keys", !is_empty(&schema.x_kubernetes_list_map_keys)),
            ("x-kubernetes-list-type", schema.x_kubernetes_list_type.is_some()),
            ("x-kubernetes-map-type", schema.x_kubernetes_map_type.is_some()),
            ("x-kubernetes-validations", !is_empty(&schema.x_kubernetes_validations)),
        ];
        for (keyword, _) in said.iter().filter(|(_, is_said)| *is_said) {
            self.refuse(OP317, |at| format!("{at} sets `{keyword}` inside `{word}`, where only validations are allowed"))
                .help
                .extend([
                    "an enum must become one type: give all variants fields, or none, and no rules or attributes of their own".into(),
                    "else specify the schema: `#[schemars(schema_with = \"…\")]`".into(),
                ]);
        }
        if property(schema, "metadata").is_some() {
            self.refuse(OP317, |at| format!("{at} names `metadata` inside `{word}`"))
                .help
                .push("rename the field: Kubernetes has this name for itself".into());
        }
        let Some(structure) = structure else { return self.without_structure(word) };
        for (inner_word, inner) in junctors(schema) {
            self.nested(inner_word, inner, Some(structure));
        }
        if let Some(inner) = items(schema) {
            self.at(Step::Items, |walk| walk.nested(word, inner, items(structure)));
        }
        for (name, inner) in schema.properties.iter().flatten() {
            self.at(Step::Property(name.clone()), |walk| walk.nested(word, inner, property(structure, name)));
        }
    }
}

/// `true` for the exact `anyOf` of an int-or-string.
fn is_int_or_string(any_of: &Option<Vec<JSONSchemaProps>>) -> bool {
    let of_type = |type_: &str| JSONSchemaProps { type_: Some(type_.into()), ..JSONSchemaProps::default() };
    any_of.as_ref().is_some_and(|list| *list == [of_type("integer"), of_type("string")])
}

fn no_place_beside_status(root: &JSONSchemaProps) -> Option<&'static str> {
    let said = [
        ("allOf", !is_empty(&root.all_of)),
        ("anyOf", !is_empty(&root.any_of)),
        ("oneOf", !is_empty(&root.one_of)),
        ("not", root.not.is_some()),
        ("enum", !is_empty(&root.enum_)),
        ("default", root.default.is_some()),
        ("minProperties", root.min_properties.is_some()),
        ("maxProperties", root.max_properties.is_some()),
        ("x-kubernetes-embedded-resource", root.x_kubernetes_embedded_resource == Some(true)),
        ("x-kubernetes-int-or-string", root.x_kubernetes_int_or_string == Some(true)),
        ("x-kubernetes-list-map-keys", !is_empty(&root.x_kubernetes_list_map_keys)),
        ("x-kubernetes-list-type", root.x_kubernetes_list_type.is_some()),
        ("x-kubernetes-map-type", root.x_kubernetes_map_type.is_some()),
    ];
    said.iter().find(|(_, is_said)| *is_said).map(|(word, _)| *word)
}

fn says_no_more_than_names(metadata: &JSONSchemaProps) -> bool {
    let mut rest = JSONSchemaProps { type_: None, default: None, ..metadata.clone() };
    if let Some(properties) = &mut rest.properties {
        properties.retain(|name, _| name != "name" && name != "generateName");
    }
    rest.properties.take_if(|properties| properties.is_empty());
    rest == JSONSchemaProps::default()
}
