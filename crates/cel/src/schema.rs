//! The parts of an OpenAPI schema that CEL uses.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

/// The part of a structural schema that CEL uses: the `openAPIV3Schema` of a CustomResourceDefinition, or a schema
/// within it.
///
/// Deserializes from the whole schema; other fields are ignored.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Schema {
    /// `string`, `object`, …
    #[serde(rename = "type")]
    pub type_: Option<String>,
    /// `date-time`, …
    pub format: Option<String>,
    /// `true` if null is a valid value.
    pub nullable: bool,
    /// The default.
    pub default: Option<Json>,
    /// The values of an `enum`; empty means any.
    #[serde(rename = "enum")]
    pub enum_: Vec<Json>,
    /// Maximum length of a string, in characters.
    pub max_length: Option<i64>,
    /// Maximum number of items of a list.
    pub max_items: Option<i64>,
    /// Maximum number of entries of a map.
    pub max_properties: Option<i64>,
    /// The schema of the items of a list.
    #[serde(deserialize_with = "schema")]
    pub items: Option<Box<Schema>>,
    /// The schema of the values of a map.
    #[serde(deserialize_with = "schema")]
    pub additional_properties: Option<Box<Schema>>,
    /// The fields of an object.
    pub properties: Option<BTreeMap<String, Schema>>,
    /// The names of required fields.
    pub required: Vec<String>,
    /// `x-kubernetes-int-or-string`
    #[serde(rename = "x-kubernetes-int-or-string")]
    pub int_or_string: bool,
    /// `x-kubernetes-embedded-resource`
    #[serde(rename = "x-kubernetes-embedded-resource")]
    pub embedded_resource: bool,
    /// `x-kubernetes-preserve-unknown-fields`
    #[serde(rename = "x-kubernetes-preserve-unknown-fields")]
    pub preserve_unknown_fields: bool,
    /// `x-kubernetes-list-type`
    #[serde(rename = "x-kubernetes-list-type")]
    pub list_type: Option<String>,
    /// `x-kubernetes-list-map-keys`
    #[serde(rename = "x-kubernetes-list-map-keys")]
    pub list_map_keys: Vec<String>,
}

impl Schema {
    pub(crate) fn type_(&self) -> &str {
        self.type_.as_deref().unwrap_or_default()
    }

    pub(crate) fn format(&self) -> &str {
        self.format.as_deref().unwrap_or_default()
    }

    pub(crate) fn property(&self, name: &str) -> Option<&Schema> {
        self.properties.as_ref()?.get(name)
    }
}

/// Returns `None` for `additionalProperties: true` and for lists of schemas in `items`, which declare no type.
fn schema<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<Schema>>, D::Error> {
    let value = Option::<Json>::deserialize(deserializer)?.filter(Json::is_object);
    value.map(serde_json::from_value).transpose().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_the_fields_of_a_whole_schema() {
        let schema: Schema = serde_json::from_value(json!({
            "type": "object",
            "description": "ignored",
            "properties": {
                "list": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "any": {"additionalProperties": true, "x-kubernetes-preserve-unknown-fields": true},
            },
        }))
        .unwrap();
        let list = schema.property("list").unwrap();
        assert_eq!((list.items.as_ref().unwrap().type_(), list.list_type.as_deref()), ("string", Some("set")));
        let any = schema.property("any").unwrap();
        assert!(any.additional_properties.is_none() && any.preserve_unknown_fields);
        let wrong = json!({"items": {"items": {"maxLength": "1"}}});
        assert!(serde_json::from_value::<Schema>(wrong).unwrap_err().to_string().contains("invalid type"));
    }
}
