use std::fmt::Debug;

use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

async fn inner<K: Resource + Clone + Debug + DeserializeOwned>(api: Api<K>) {
    let _ = api.get("a").await;
}

async fn outer<K: Resource + Clone + Debug + DeserializeOwned>(api: Api<K>, client: Client) {
    inner(api).await;
    inner(Api::<Secret>::all(client)).await;
}

pub async fn run(client: Client) {
    outer(Api::<Pod>::all(client.clone()), client).await;
}
