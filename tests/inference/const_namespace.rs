use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};

const NAMESPACE: &str = "kube-system";

mod other {
    pub const NAMESPACE: &str = super::NAMESPACE;
}

pub async fn run(client: Client) {
    let _ = Api::<Secret>::namespaced(client.clone(), NAMESPACE).get("a").await;
    let _ = Api::<Secret>::namespaced(client.clone(), other::NAMESPACE).get("a").await;
    let namespace = "there".to_string();
    let _ = Api::<Secret>::namespaced(client.clone(), &namespace).get("a").await;
    let namespace = std::env::var("NAMESPACE").unwrap_or_default();
    let _ = Api::<Secret>::namespaced(client, &namespace).get("a").await;
}
