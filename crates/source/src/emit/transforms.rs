//! The schema transforms of each release of kube, in its order, by kube-core's own code. Those of kube 3.0 are a
//! combination of kube 2's and the ones below.

use kube_core::schema::{OptionalEnum, OptionalIntOrString, StructuralSchemaRewriter};
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Value, json};

use opctl_model::versions::{Joins, Kube};

/// Adds the transforms of a release after schemars' own.
pub fn add(settings: SchemaSettings, kube: Kube) -> SchemaSettings {
    let settings = match kube.has_late_rewriter() {
        true => settings.with_transform(StructuralSchemaRewriter),
        false => settings.with_transform(kube_core_2::schema::StructuralSchemaRewriter),
    };
    let settings = match kube.has_late_rewriter() || !kube.opens_objects() {
        true => settings,
        false => settings.with_transform(Open),
    };
    match kube.joins_options() {
        Joins::None => settings,
        Joins::BareEnums => settings.with_transform(EnumsOnly { bare: true }).with_transform(OptionalIntOrString),
        Joins::Enums => settings.with_transform(EnumsOnly { bare: false }).with_transform(OptionalIntOrString),
        Joins::All => settings.with_transform(OptionalEnum).with_transform(OptionalIntOrString),
    }
}

/// The transform that kube 3.0.1 added to the rewriter.
#[derive(Clone, Debug)]
struct Open;

impl Transform for Open {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let has_properties = schema.get("properties").and_then(Value::as_object).is_some_and(|it| !it.is_empty());
        if has_properties && schema.get("additionalProperties") == Some(&json!(false)) {
            schema.remove("additionalProperties");
        }
    }
}

/// `OptionalEnum` of kube 3.0; `bare` in 3.0.0.
#[derive(Clone, Debug)]
struct EnumsOnly {
    bare: bool,
}

impl Transform for EnumsOnly {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut().filter(|object| !self.bare || object.len() == 1) else { return };
        let Some([Value::Object(first), second]) = object.get("anyOf").and_then(Value::as_array).map(Vec::as_slice)
        else {
            return;
        };
        let is_null = second.get("enum") == Some(&json!([null])) && second.get("nullable") == Some(&json!(true));
        if is_null && first.contains_key("enum") && !first.contains_key("nullable") {
            let mut first = first.clone();
            object.remove("anyOf");
            object.append(&mut first);
            object.insert("nullable".into(), true.into());
        }
    }
}
