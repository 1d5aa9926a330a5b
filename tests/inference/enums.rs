use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client};

enum Either {
    Pods(Api<Pod>),
    Secrets { api: Api<Secret> },
}

impl Either {
    async fn get(&self) {
        match self {
            Self::Pods(pods) => drop(pods.get("a").await),
            Either::Secrets { api } => drop(api.list(&Default::default()).await),
        }
    }
}

pub async fn run(client: Client) {
    Either::Pods(Api::all(client.clone())).get().await;
    Either::Secrets { api: Api::namespaced(client, "here") }.get().await;
}
