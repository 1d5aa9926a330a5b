use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Users who may do the same.
#[derive(CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(group = "iam.example.id", version = "v1beta1", kind = "Group", namespaced)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec {
    #[serde(default)]
    pub members: Vec<Member>,
    #[serde(default)]
    pub roles: Vec<Role>,
}

/// A user, or another group; a bare name is not enough.
#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(untagged)]
pub enum Member {
    User {
        user: String,
        /// Until when, if not for ever.
        until: Option<chrono::NaiveDate>,
    },
    Group {
        group: String,
    },
    ServiceAccount {
        #[serde(rename = "serviceAccount")]
        account: String,
        namespace: Option<String>,
    },
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct Role {
    pub name: String,
    #[schemars(schema_with = "free")]
    #[serde(default)]
    pub parameters: serde_json::Value,
}

fn free(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true, "default": {} })
}
