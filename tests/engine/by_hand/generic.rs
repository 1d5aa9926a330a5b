use kube::CustomResource;
use schemars::JsonSchema;
use schemars::{json_schema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ByHandGeneric")]
pub struct Spec {
    pub one: Outer<u8>,
    pub other: Outer<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Outer<T>(pub Vec<T>);

impl<T: JsonSchema> JsonSchema for Outer<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Outer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": generator.subschema_for::<T>(), "maxItems": 3 })
    }
}
