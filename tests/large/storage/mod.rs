//! Storage clusters on the nodes' own disks. Everything that belongs together is in one module; there are no folders.

pub mod cluster {
    use std::collections::BTreeMap;

    use k8s_openapi::api::core::v1::{
        NodeAffinity, PodAffinity, PodAntiAffinity, ResourceRequirements, Toleration, TopologySpreadConstraint,
    };
    use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::disk::{DeviceFilter, Selection};

    /// A daemon that the cluster runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Daemon {
        All,
        Mon,
        Mgr,
        Osd,
        PrepareOsd,
    }

    #[derive(Clone, Debug, CustomResource, Serialize, Deserialize, JsonSchema)]
    #[kube(group = "blocks.storage.example", version = "v1", kind = "StorageCluster", namespaced)]
    #[kube(status = "Status", shortname = "sc", label("app", "blocks"), annotation("team", "storage"))]
    #[kube(printcolumn(name = "Health", type_ = "string", json_path = ".status.health.status"))]
    #[serde(rename_all = "camelCase")]
    pub struct StorageClusterSpec {
        #[serde(default)]
        pub version: Version,
        #[schemars(length(min = 1), regex(pattern = r"^/\S+"))]
        #[serde(default = "data_dir")]
        pub data_dir_host_path: std::path::PathBuf,
        #[serde(default)]
        pub mon: Monitors,
        /// By daemon; those of `all` hold for every one.
        #[serde(default)]
        pub placement: BTreeMap<Daemon, Placement>,
        #[serde(default)]
        pub resources: BTreeMap<Daemon, ResourceRequirements>,
        #[serde(default)]
        pub labels: BTreeMap<Daemon, BTreeMap<String, String>>,
        #[serde(default)]
        pub priority_class_names: BTreeMap<Daemon, String>,
        pub storage: Storage,
        #[serde(default)]
        pub network: Network,
        #[serde(default, skip_serializing_if = "is_off")]
        pub external: bool,
    }

    fn data_dir() -> std::path::PathBuf {
        "/var/lib/blocks".into()
    }

    fn is_off(external: &bool) -> bool {
        !*external
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", default)]
    pub struct Version {
        pub image: String,
        pub allow_unsupported: bool,
    }

    impl Default for Version {
        fn default() -> Self {
            Version { image: IMAGE.into(), allow_unsupported: Default::default() }
        }
    }

    const IMAGE: &str = concat!("registry.example/blocks", ":", "v", 19);

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Monitors {
        #[schemars(range(min = 1, max = 9))]
        pub count: u8,
        #[serde(default)]
        pub allow_multiple_per_node: bool,
        pub zones: Option<Vec<Zone>>,
    }

    impl Default for Monitors {
        fn default() -> Self {
            Self { count: 3, allow_multiple_per_node: false, zones: None }
        }
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    pub struct Zone {
        pub name: String,
        #[serde(default)]
        pub arbiter: bool,
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Placement {
        pub node_affinity: Option<NodeAffinity>,
        pub pod_affinity: Option<PodAffinity>,
        pub pod_anti_affinity: Option<PodAntiAffinity>,
        #[serde(default)]
        pub tolerations: Vec<Toleration>,
        #[serde(default)]
        pub topology_spread_constraints: Vec<TopologySpreadConstraint>,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Storage {
        #[serde(default)]
        pub use_all_nodes: bool,
        #[serde(flatten)]
        pub selection: Selection,
        #[serde(default)]
        pub nodes: Vec<Node>,
        #[schemars(range(min = 0.0, max = 1.0))]
        pub full_ratio: Option<f64>,
        #[serde(default)]
        pub device_classes: Vec<DeviceFilter>,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    pub struct Node {
        pub name: String,
        #[serde(default)]
        pub config: BTreeMap<String, String>,
        #[serde(flatten)]
        pub selection: Selection,
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Network {
        pub provider: Option<Provider>,
        #[serde(default)]
        pub connections: Connections,
        #[serde(default, rename = "ipFamily")]
        pub family: Family,
        #[serde(default)]
        pub dual_stack: bool,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Provider {
        Host,
        Multus,
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Connections {
        #[serde(default)]
        pub encryption: Toggle,
        #[serde(default)]
        pub compression: Toggle,
        pub require_msgr2: Option<bool>,
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    pub struct Toggle {
        #[serde(default)]
        pub enabled: bool,
    }

    #[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
    pub enum Family {
        #[default]
        IPv4,
        IPv6,
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    pub struct Status {
        pub phase: String,
        pub health: Option<Health>,
        pub capacity: Capacity,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    pub struct Health {
        pub status: String,
        #[serde(default)]
        pub details: BTreeMap<String, Message>,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    pub struct Message {
        pub severity: String,
        pub message: String,
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    pub struct Capacity {
        pub total: Option<Quantity>,
        pub used: Option<Quantity>,
    }
}

pub mod disk {
    use k8s_openapi::api::core::v1::PersistentVolumeClaim;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use serde::{Deserialize, Serialize};
    use std::borrow::Cow;

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Selection {
        #[serde(default)]
        pub use_all_devices: Option<bool>,
        pub device_filter: Option<String>,
        #[serde(default)]
        pub devices: Vec<Device>,
        #[schemars(schema_with = "claims")]
        #[serde(default)]
        pub volume_claim_templates: Vec<PersistentVolumeClaim>,
    }

    fn claims(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "array",
            "items": {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": true,
                "x-kubernetes-embedded-resource": true,
            },
        })
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(untagged)]
    pub enum Device {
        ByName { name: String },
        ByPath { #[serde(rename = "fullpath")] path: String },
    }

    /// Either one text, or bounds.
    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub struct DeviceFilter(serde_json::Value);

    impl JsonSchema for DeviceFilter {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            Cow::Borrowed("DeviceFilter")
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "description": "Which disks count.",
                "type": "object",
                "properties": {
                    "model": { "type": "string" },
                    "minSize": { "x-kubernetes-int-or-string": true },
                },
                "required": ["model"],
            })
        }
    }
}

pub mod pool {
    //! Pools are cluster-wide, and say their fields at the root.

    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, CustomResource, Serialize, Deserialize, JsonSchema)]
    #[kube(group = "blocks.storage.example", version = "v1", kind = "BlockPool", no_spec, status = "PoolStatus")]
    #[serde(rename_all = "camelCase")]
    pub struct BlockPoolSpec {
        pub failure_domain: String,
        #[serde(flatten)]
        pub durability: Durability,
        #[serde(default)]
        pub compression_mode: super::cluster::Family,
        pub quotas: Option<Quotas>,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub enum Durability {
        Replicated { #[schemars(range(min = 1))] size: u32 },
        #[serde(rename_all = "camelCase")]
        ErasureCoded { data_chunks: u32, coding_chunks: u32 },
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    pub struct Quotas {
        #[serde(rename = "maxSize")]
        pub size: Option<k8s_openapi::apimachinery::pkg::api::resource::Quantity>,
        #[serde(rename = "maxObjects")]
        pub objects: Option<u64>,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    pub struct PoolStatus {
        pub phase: Option<String>,
    }
}

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt;
    vec![cluster::StorageCluster::crd(), pool::BlockPool::crd()]
}
