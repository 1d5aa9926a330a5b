use kube::CustomResource;
use schemars::JsonSchema;
use schemars::{json_schema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ByHandChangedByTransforms")]
pub struct Spec {
    pub value: Vec<Value>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Value(pub String);

impl JsonSchema for Value {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let list = generator.subschema_for::<Vec<Option<u8>>>();
        let name: String = format!("{}-{}", "a", 1);
        json_schema!({ "type": ["object", "null"], "properties": { name: list, "b": { "const": 1 }, "c": true }, "examples": [1] })
    }
}
