use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

pub struct Worker {
    pods: Api<Pod>,
}

mod work {
    impl super::Worker {
        pub async fn work(&self) {
            let _ = self.pods.get("a").await;
        }
    }
}

pub async fn run(client: Client) {
    Worker { pods: Api::all(client) }.work().await;
}
