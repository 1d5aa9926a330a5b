use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

struct Context {
    pods: Api<Pod>,
}

async fn reconcile(ctx: Arc<Context>) {
    let _ = ctx.pods.get("a").await;
}

pub async fn run(client: Client) {
    let ctx = Arc::new(Context { pods: Api::namespaced(client, "here") });
    reconcile(ctx.clone()).await;
}
