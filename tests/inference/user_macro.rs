use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

macro_rules! warned {
    ($result:expr) => {
        if let Err(error) = $result {
            tracing::warn!("{error}");
        }
    };
}

pub async fn run(client: Client) {
    let pods = Api::<Pod>::all(client);
    warned!(pods.get("a").await);
}
