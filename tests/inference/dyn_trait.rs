use std::sync::Arc;

use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client};

#[async_trait::async_trait]
trait Step: Send + Sync {
    async fn go(&self, client: Client);
}

struct First;
struct Second;

#[async_trait::async_trait]
impl Step for First {
    async fn go(&self, client: Client) {
        let _ = Api::<Pod>::all(client).get("a").await;
    }
}

#[async_trait::async_trait]
impl Step for Second {
    async fn go(&self, client: Client) {
        let _ = Api::<Secret>::all(client).get("a").await;
    }
}

pub async fn run(client: Client) {
    let steps: Vec<Arc<dyn Step>> = vec![Arc::new(First), Arc::new(Second)];
    for step in &steps {
        step.go(client.clone()).await;
    }
}
