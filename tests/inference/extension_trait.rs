use std::fmt::Debug;

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

trait ApiExt<K> {
    async fn has(&self, name: &str) -> bool;
}

impl<K: Resource + Clone + Debug + DeserializeOwned> ApiExt<K> for Api<K> {
    async fn has(&self, name: &str) -> bool {
        self.get_opt(name).await.is_ok_and(|found| found.is_some())
    }
}

pub async fn run(client: Client) {
    Api::<Pod>::all(client).has("a").await;
}
