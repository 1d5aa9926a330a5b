use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Code")]
pub struct CodeSpec {
    #[schemars(transform = change)]
    pub transformed: String,
    #[schemars(schema_with = "made")]
    pub made: String,
    pub by_hand: ByHand,
    #[schemars(length(max = limit()))]
    pub limited: String,
}

fn change(_: &mut schemars::Schema) {}

fn made(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let mut schema = generator.subschema_for::<String>();
    change(&mut schema);
    schema
}

fn limit() -> usize {
    std::mem::size_of::<String>()
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ByHand;

impl JsonSchema for ByHand {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ByHand".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.root_schema_for::<u8>()
    }
}
