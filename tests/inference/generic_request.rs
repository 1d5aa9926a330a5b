//! Requests of a generic function are reported at its callers.

use std::fmt::Debug;

use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

async fn exists<K>(api: &Api<K>, name: &str) -> bool
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    api.get_opt(name).await.is_ok_and(|found| found.is_some())
}

pub async fn run(client: Client) {
    exists(&Api::<Pod>::all(client.clone()), "a").await;
    exists(&Api::<Secret>::namespaced(client, "here"), "a").await;
}
