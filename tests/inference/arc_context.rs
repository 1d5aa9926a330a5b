use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

struct Context {
    client: Client,
    namespace: String,
}

async fn reconcile(ctx: Arc<Context>) {
    let pods: Api<Pod> = Api::namespaced(ctx.client.clone(), &ctx.namespace);
    let _ = pods.create(&Default::default(), &Pod::default()).await;
}

pub async fn run(client: Client) {
    let ctx = Arc::new(Context { client, namespace: "here".into() });
    reconcile(Arc::clone(&ctx)).await;
}
