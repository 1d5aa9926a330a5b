use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::{Api, Client};

struct Both {
    pods: Api<Pod>,
    secrets: Api<Secret>,
}

pub async fn run(client: Client) {
    let (pods, [secrets]) = (Api::<Pod>::all(client.clone()), [Api::<Secret>::all(client.clone())]);
    let both = Both { pods, secrets };
    let Both { pods: first, secrets } = both;
    let _ = first.get("a").await;
    let _ = secrets.get("a").await;
}
