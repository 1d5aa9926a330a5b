use std::fmt::Debug;

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

async fn again<K: Resource + Clone + Debug + DeserializeOwned>(api: Api<K>, times: u8) {
    let _ = api.get("a").await;
    if times > 0 {
        Box::pin(again(api, times - 1)).await;
    }
}

pub async fn run(client: Client) {
    again(Api::<Pod>::all(client), 2).await;
}
