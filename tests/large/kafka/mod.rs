//! A message broker: clusters of brokers, topics, users. Configuration is passed through as it is.

pub mod api {
    //! Everything that is in the CRDs.

    pub mod broker;
    pub mod listener;
    pub mod topic;
    pub mod user;

    pub mod prelude {
        pub use super::broker::*;
        pub use super::listener::{Listener, ListenerKind};
        pub use k8s_openapi::api::core::v1 as corev1;
        pub use k8s_openapi::apimachinery::pkg::apis::meta::v1 as metav1;
        pub use kube::CustomResource;
        pub use schemars::{self, JsonSchema, Schema, SchemaGenerator};
        pub use serde::{Deserialize, Serialize};
        pub use std::collections::{BTreeMap, HashMap};
    }
}

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt;
    vec![api::broker::Kafka::crd(), api::topic::KafkaTopic::crd(), api::user::KafkaUser::crd()]
}
