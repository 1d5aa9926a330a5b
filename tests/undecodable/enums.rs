//! Numbers in the variants of enums, however they are tagged.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "enums.example.com", version = "v1", kind = "K")]
pub struct Spec {
    external: Option<External>,
    internal: Option<Internal>,
    adjacent: Option<Adjacent>,
    untagged: Option<Untagged>,
    either: Option<Either>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum External {
    Struct { count: u32 },
    Newtype(u32),
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Disk { size: u32 },
    Bucket { name: String },
}

/// The second variant decodes the numbers that the first one rejects.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Narrow {
        #[schemars(with = "i64")]
        number: u32,
    },
    Wide { number: i64 },
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(with = "Flat")]
#[serde(tag = "type", rename_all = "camelCase")]
enum Internal {
    Disk { size: u32 },
    Nothing,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Flat {
    #[schemars(extend("enum" = ["disk", "nothing", "other"]))]
    r#type: String,
    size: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(with = "Tagged")]
#[serde(tag = "type", content = "value")]
enum Adjacent {
    Number(u32),
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Tagged {
    #[schemars(extend("enum" = ["Number"]))]
    r#type: String,
    value: i64,
}
