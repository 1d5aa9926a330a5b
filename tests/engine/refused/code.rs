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
    #[serde(default = "computed")]
    pub computed: i32,
    #[schemars(length(max = limit()))]
    pub limited: String,
}

fn change(_: &mut schemars::Schema) {}

fn made(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let schema = generator.subschema_for::<String>();
    schema
}

fn computed() -> i32 {
    std::env::args().count() as i32
}

const fn limit() -> usize {
    7
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ByHand;

impl JsonSchema for ByHand {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ByHand".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let inner = generator.subschema_for::<u8>();
        inner
    }
}
