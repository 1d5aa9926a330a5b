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
    pub optional: Optional,
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

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Optional(Option<u8>);

impl JsonSchema for Optional {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Optional".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <Option<u8>>::json_schema(generator)
    }
    fn _schemars_private_is_option() -> bool {
        true
    }
}
