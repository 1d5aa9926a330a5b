use std::fmt::Debug;

use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

struct Cache<K> {
    api: Api<K>,
}

impl<K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned> Cache<K> {
    fn new(client: Client) -> Self {
        Self { api: Api::all(client) }
    }

    async fn fill(&self) {
        let _ = self.api.list(&Default::default()).await;
    }
}

pub async fn run(client: Client) {
    Cache::<Pod>::new(client.clone()).fill().await;
    let secrets: Cache<Secret> = Cache::new(client);
    secrets.fill().await;
}
