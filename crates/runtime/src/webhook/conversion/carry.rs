//! Default conversion of an object to another version: fields of the same name and type.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use kube::{CustomResourceExt, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ConversionError;

/// A version of a kind: a type with `#[derive(CustomResource)]`.
pub trait Version:
    CustomResourceExt + Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize + 'static
{
}

impl<T> Version for T where
    T: CustomResourceExt + Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize + 'static
{
}

/// Converts an object to another version, with every field that has the same name and type in both. Other fields that
/// the new version requires get the zero value of their type, such as `0` or `""`, as in Go.
///
/// # Errors
///
/// If the result does not decode into the type of the new version nevertheless.
pub fn carry<A: Version, B: Version>(old: &A) -> Result<B, ConversionError> {
    let mut object = write(old)?;
    object["apiVersion"] = B::api_version(&()).into();
    if let Some(schema) = schema::<B>() {
        fits(&mut object, schema);
    }
    read(object)
}

/// Decodes an object, or a part of one: server-side apply removes fields before it requests the conversion of the rest.
pub(super) fn read<T: Version>(mut object: Value) -> Result<T, ConversionError> {
    if let Ok(whole) = T::deserialize(&object) {
        return Ok(whole);
    }
    if let Some(schema) = schema::<T>() {
        fill(&mut object, schema);
    }
    serde_json::from_value(object).map_err(misfit::<T>)
}

pub(super) fn write<T: Version>(object: &T) -> Result<Value, ConversionError> {
    serde_json::to_value(object).map_err(misfit::<T>)
}

/// Encodes an object for the response: without a `null` that means the same as a missing field. Server-side apply
/// distinguishes them: a field that is present keeps its owners.
pub(super) fn send<T: Version>(object: &T) -> Result<Value, ConversionError> {
    let mut object = write(object)?;
    if let Some(schema) = schema::<T>() {
        omit(&mut object, schema);
    }
    Ok(object)
}

fn omit(value: &mut Value, schema: &JSONSchemaProps) {
    match value {
        Value::Object(map) => map.retain(|name, value| {
            let named = schema.properties.as_ref().and_then(|it| it.get(name));
            let required = schema.required.iter().flatten().any(|it| it == name);
            if value.is_null() {
                return required || named.is_none_or(|it| it.default.is_some());
            }
            if let Some(schema) = property(schema, name) {
                omit(value, schema);
            }
            true
        }),
        Value::Array(list) => {
            if let Some(schema) = items(schema) {
                list.iter_mut().for_each(|value| omit(value, schema));
            }
        }
        _ => {}
    }
}

fn misfit<T: Version>(error: serde_json::Error) -> ConversionError {
    ConversionError::Misfit(T::api_version(&()).into_owned(), error)
}

/// The schema of a version, cached since generating it takes longer than a conversion.
fn schema<T: Version>() -> Option<&'static JSONSchemaProps> {
    static CRDS: LazyLock<Mutex<HashMap<TypeId, &CustomResourceDefinition>>> = LazyLock::new(Mutex::default);
    let mut crds = CRDS.lock().unwrap_or_else(PoisonError::into_inner);
    let crd = crds.entry(TypeId::of::<T>()).or_insert_with(|| Box::leak(T::crd().into()));
    let schema = crd.spec.versions.first()?.schema.as_ref();
    schema?.open_api_v3_schema.as_ref()
}

/// `true` if the value has this type after fields of another type are removed.
fn fits(value: &mut Value, schema: &JSONSchemaProps) -> bool {
    if value.is_null() {
        return schema.nullable == Some(true);
    }
    if let Some(allowed) = &schema.enum_ {
        return allowed.iter().any(|one| one.0 == *value);
    }
    match (schema.type_.as_deref(), value) {
        (Some("object"), Value::Object(map)) => {
            map.retain(|name, value| property(schema, name).is_none_or(|it| fits(value, it)));
            true
        }
        (Some("array"), Value::Array(list)) => {
            let mut list = list.iter_mut();
            items(schema).is_none_or(|schema| list.all(|value| fits(value, schema)))
        }
        (Some("integer"), Value::Number(number)) => match schema.format.as_deref() {
            Some("int32") => number.as_i64().is_some_and(|it| i32::try_from(it).is_ok()),
            _ => !number.is_f64(),
        },
        (Some(name), value) => matches!(
            (name, value),
            ("string", Value::String(_)) | ("boolean", Value::Bool(_)) | ("number", Value::Number(_))
        ),
        (None, _) => true,
    }
}

/// Adds missing required fields.
fn fill(value: &mut Value, schema: &JSONSchemaProps) {
    match value {
        Value::Object(map) => {
            for name in schema.required.iter().flatten() {
                if let Some(schema) = property(schema, name) {
                    map.entry(name).or_insert_with(|| empty(schema));
                }
            }
            for (name, value) in map {
                if let Some(schema) = property(schema, name) {
                    fill(value, schema);
                }
            }
        }
        Value::Array(list) => {
            if let Some(schema) = items(schema) {
                list.iter_mut().for_each(|value| fill(value, schema));
            }
        }
        _ => {}
    }
}

fn empty(schema: &JSONSchemaProps) -> Value {
    if let Some(first) = schema.enum_.as_ref().and_then(|it| it.first()) {
        return first.0.clone();
    }
    match (schema.type_.as_deref(), schema.format.as_deref()) {
        (Some("object"), _) => json!({}),
        (Some("array"), _) => json!([]),
        (Some("boolean"), _) => json!(false),
        (Some("string"), Some("date-time")) => json!("1970-01-01T00:00:00Z"),
        (Some("string"), _) => json!(""),
        (Some("integer" | "number"), _) => json!(0),
        _ if schema.x_kubernetes_int_or_string == Some(true) => json!(0),
        _ => Value::Null,
    }
}

pub(super) fn property<'a>(schema: &'a JSONSchemaProps, name: &str) -> Option<&'a JSONSchemaProps> {
    let named = schema.properties.as_ref().and_then(|it| it.get(name));
    named.or(match &schema.additional_properties {
        Some(JSONSchemaPropsOrBool::Schema(schema)) => Some(schema),
        _ => None,
    })
}

pub(super) fn items(schema: &JSONSchemaProps) -> Option<&JSONSchemaProps> {
    match &schema.items {
        Some(JSONSchemaPropsOrArray::Schema(schema)) => Some(schema),
        _ => None,
    }
}
