use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
pub struct MemcachedSpec {
    pub size: i32,
}

pub mod v1 {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced, storage = false)]
    pub struct MemcachedSpec {
        pub replicas: i32,
    }
}

pub mod external {
    use super::*;

    // +opctl:external
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "cert-manager.io", version = "v1", kind = "Certificate", namespaced)]
    pub struct CertificateSpec {
        pub secret_name: String,
    }
}
