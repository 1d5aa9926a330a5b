use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesImplsOfAliases")]
pub struct Spec {
    #[serde(default)]
    pub by_alias: First,
    pub by_hand: Second,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct First {
    pub x: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Second {
    pub x: i32,
}

type Alias = First;
type AliasOfAlias = Alias;
use self::Second as Renamed;

impl Default for AliasOfAlias {
    fn default() -> Self {
        Self { x: 4 }
    }
}

impl JsonSchema for Renamed {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Second".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}
