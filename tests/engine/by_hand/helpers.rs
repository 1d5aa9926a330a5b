use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ByHandHelpers")]
pub struct Spec {
    #[schemars(schema_with = "made")]
    pub made: String,
    pub of_type: OfType,
}

fn made(generator: &mut SchemaGenerator) -> Schema {
    let first = helper(generator);
    json_schema!({
        "type": "object",
        "properties": { "first": first, "second": Inner::json_schema(generator), "third": limited(generator, 5) },
    })
}

fn helper(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Inner>()
}

fn limited(generator: &mut schemars::generate::SchemaGenerator, limit: u8) -> Schema {
    json_schema!({ "type": "array", "items": helper(generator), "maxItems": limit })
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Inner {
    pub text: String,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct OfType(u8);

impl JsonSchema for OfType {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "OfType".into()
    }

    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "properties": { "x": Self::part(g) } })
    }
}

impl OfType {
    fn part(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<u8>()
    }
}
