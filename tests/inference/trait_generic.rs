//! A trait's function is that of the type that it is called for.

use std::fmt::Debug;

use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

trait Cleaner {
    type Kind: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned;

    async fn clean(&self, client: Client) {
        let _ = Api::<Self::Kind>::all(client).delete("a", &Default::default()).await;
    }
}

struct Pods;
struct Secrets;

impl Cleaner for Pods {
    type Kind = Pod;
}

impl Cleaner for Secrets {
    type Kind = Secret;
}

async fn clean<C: Cleaner>(cleaner: C, client: Client) {
    cleaner.clean(client).await;
}

pub async fn run(client: Client) {
    Pods.clean(client.clone()).await;
    clean(Secrets, client).await;
}
