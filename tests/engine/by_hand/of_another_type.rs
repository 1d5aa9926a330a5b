use kube::CustomResource;
use schemars::JsonSchema;
use schemars::{json_schema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ByHandOfAnotherType")]
pub struct Spec {
    pub value: Value,
    pub maybe: Option<Value>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Value(pub String);

impl JsonSchema for Value {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
