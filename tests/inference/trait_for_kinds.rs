use std::fmt::Debug;

use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

trait Fetch: Sized {
    async fn fetch(client: Client, name: &str) -> Option<Self>;
}

impl<K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned> Fetch for K {
    async fn fetch(client: Client, name: &str) -> Option<Self> {
        Api::<Self>::all(client).get_opt(name).await.ok().flatten()
    }
}

pub async fn run(client: Client) {
    let _ = Pod::fetch(client.clone(), "a").await;
    let _ = <Secret as Fetch>::fetch(client, "a").await;
}
