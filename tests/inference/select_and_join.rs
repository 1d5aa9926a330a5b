use k8s_openapi::api::core::v1::{Node, Pod, Secret};
use kube::{Api, Client};

pub async fn run(client: Client) {
    let (pods, secrets) = (Api::<Pod>::all(client.clone()), Api::<Secret>::all(client.clone()));
    let _ = tokio::join!(pods.get("a"), secrets.get("a"));
    let _ = tokio::try_join!(pods.get("b"), async { secrets.get("b").await });
    tokio::select! {
        found = pods.get("c") => drop(found),
        _ = async {}, if false => {
            let _ = secrets.get("c").await;
        }
        else => {}
    }
    tracing::info!(node = ?Api::<Node>::all(client.clone()).get("a").await.is_ok(), "looked");
}
