use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

trait Count {
    async fn count(&self) -> usize;
}

struct Pods(Api<Pod>);

impl Count for Pods {
    async fn count(&self) -> usize {
        self.0.list(&Default::default()).await.map_or(0, |pods| pods.items.len())
    }
}

fn counter(client: Client) -> impl Count {
    Pods(Api::namespaced(client, "here"))
}

pub async fn run(client: Client) {
    counter(client).count().await;
}
