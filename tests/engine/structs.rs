use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "test.example.com",
    version = "v1beta1",
    kind = "Structs",
    plural = "structures",
    singular = "structure",
    shortname = "st",
    shortname = "str",
    category = "all",
    status = "StructsStatus",
    namespaced,
    served = true,
    deprecated = "use v1",
    doc = "Documentation of the root",
    annotation("a/b", "c"),
    label("d", "e"),
    selectable = ".spec.name",
    printcolumn(name = "Name", type_ = "string", json_path = ".spec.name", description = "its name", priority = 1),
    printcolumn = r#"{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}"#,
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.replicas")
)]
pub struct StructsSpec {
    /// # A title
    ///
    /// And a description
    /// over two lines.
    pub name: String,
    pub replicas: i32,
    /// The field's words.
    pub inner: Inner,
    pub undocumented: Inner,
    pub many: Vec<Inner>,
    pub maybe: Option<Inner>,
    pub empty: Empty,
    pub port: Port,
    pub wrapped: Wrapped,
    pub generic: Pair<String, Inner>,
    pub alias: Names,
}

/// The type's words.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Inner {
    pub first_field: u8,
    #[serde(rename = "SECOND")]
    pub second: Option<bool>,
    #[serde(skip)]
    pub skipped: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub third: Option<String>,
    #[serde(skip_deserializing)]
    pub only_out: String,
    #[serde(alias = "other")]
    pub aliased: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Empty {}

/// A port number.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Port(#[schemars(range(min = 1, max = 65535))] pub u16);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Wrapped {
    pub only: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Pair<A, B = i32> {
    pub left: A,
    pub right: Vec<B>,
}

pub type Names = std::collections::BTreeMap<String, Pair<u8>>;

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StructsStatus {
    pub replicas: i32,
    #[schemars(title = "T", description = "D")]
    pub described: Option<String>,
}
