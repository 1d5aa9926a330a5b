use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

#[derive(Clone)]
struct Context {
    pods: Api<Pod>,
    name: String,
}

fn renamed(ctx: &Context) -> Context {
    Context { name: "b".into(), ..ctx.clone() }
}

pub async fn run(client: Client) {
    let ctx = Context { pods: Api::namespaced(client, "here"), name: "a".into() };
    let ctx = renamed(&ctx);
    let _ = ctx.pods.get(&ctx.name).await;
}
