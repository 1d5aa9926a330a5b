use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

pub struct Pods {
    api: Api<Pod>,
}

impl Pods {
    pub fn new(client: Client) -> Self {
        Self { api: Api::namespaced(client, "here") }
    }

    pub async fn count(&self) -> usize {
        self.api.list(&Default::default()).await.map_or(0, |pods| pods.items.len())
    }
}

pub async fn run(client: Client) {
    Pods::new(client).count().await;
}
