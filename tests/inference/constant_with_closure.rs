use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

pub struct Task {
    pub run: fn(Client) -> BoxFuture<'static, ()>,
}

const TASK: Task = Task {
    run: |client| {
        Box::pin(async move {
            let _ = Api::<Pod>::all(client).get("a").await;
        })
    },
};

pub async fn run(client: Client) {
    (TASK.run)(client).await;
}
