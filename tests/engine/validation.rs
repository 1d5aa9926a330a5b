use kube::{CustomResource, KubeSchema};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::{Deserialize, Serialize};

const MAX: usize = 1 << 6;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, KubeSchema)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "Validated",
    status = "ValidatedStatus",
    validation = "self.metadata.name.size() < 20",
    validation = ("self.spec.size > 0", "size must be positive")
)]
#[x_kube(validation = Rule::new("self.size < 10").message("too large").field_path(".size").reason(Reason::FieldValueInvalid))]
#[serde(rename_all = "camelCase")]
pub struct ValidatedSpec {
    /// How many.
    #[schemars(range(min = 1, max = 9))]
    #[x_kube(validation = "self != 5")]
    pub size: i32,
    #[schemars(length(min = 1, max = MAX), regex(pattern = r"^[a-z]+$"))]
    pub name: String,
    #[schemars(length(max = 3), inner(length(max = 10)))]
    pub list: Vec<String>,
    #[schemars(range(min = -0.5, max = 1.5))]
    pub ratio: f64,
    #[schemars(email)]
    pub mail: Option<String>,
    #[schemars(url)]
    pub link: String,
    #[schemars(contains(pattern = "x.y"), extend("x-test" = [1, "two", { "three": null }]))]
    pub contains: String,
    #[schemars(required)]
    pub needed: Option<String>,
    #[schemars(with = "String")]
    pub with: std::time::Duration,
    #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
    pub free: std::collections::BTreeMap<String, serde_json::Value>,
    #[schemars(example = 5, example = 6)]
    pub example: u32,
    #[schemars(schema_with = "anything")]
    pub any: serde_json::Value,
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub set: Vec<String>,
    #[x_kube(merge_strategy = MapMerge::Atomic)]
    pub map: std::collections::BTreeMap<String, String>,
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true })
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidatedStatus {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
    pub observed_generation: Option<i64>,
}
