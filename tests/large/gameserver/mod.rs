//! Fleets of game servers.

pub mod fleet;
pub mod game_server;
pub mod autoscaler {
    //! Counters, buffers and schedules.

    use super::fleet::FleetRef;
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone)]
    #[kube(group = "play.example.gg", version = "v1", kind = "FleetAutoscaler", namespaced, shortname = "fas")]
    #[serde(rename_all = "camelCase")]
    pub struct FleetAutoscalerSpec {
        #[serde(rename = "fleetName")]
        pub fleet: FleetRef,
        pub policy: Policy,
        #[serde(default)]
        pub sync: Sync,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
    #[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
    pub enum Policy {
        /// Ready servers beside the allocated ones.
        Buffer { buffer_size: IntOrString, min_replicas: i32, max_replicas: i32 },
        /// Asks a service.
        Webhook(Webhook),
        /// Others, by time.
        Schedule { between: Between, policy: Box<BufferOnly> },
    }

    #[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
    #[serde(rename_all = "camelCase")]
    pub struct BufferOnly {
        pub buffer_size: IntOrString,
        pub max_replicas: i32,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
    pub struct Webhook {
        pub url: Option<String>,
        pub service: Option<k8s_openapi::api::admissionregistration::v1::ServiceReference>,
        #[serde(rename = "caBundle")]
        #[schemars(with = "Option<String>", extend("format" = "byte"))]
        pub ca: Option<k8s_openapi::ByteString>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
    pub struct Between {
        pub start: Option<chrono::DateTime<chrono::Utc>>,
        pub end: Option<chrono::DateTime<chrono::FixedOffset>>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
    #[serde(default, rename_all = "camelCase")]
    pub struct Sync {
        #[schemars(range(min = 1))]
        pub seconds: i32,
        pub r#type: SyncType,
    }

    impl Default for Sync {
        fn default() -> Self {
            Self { seconds: 30, r#type: SyncType::FixedInterval }
        }
    }

    #[derive(Serialize, Deserialize, JsonSchema, Debug, Clone)]
    pub enum SyncType {
        FixedInterval,
    }
}

pub use autoscaler::FleetAutoscaler;
pub use {fleet::Fleet, game_server::GameServer};

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt;
    vec![Fleet::crd(), GameServer::crd(), FleetAutoscaler::crd()]
}
