//! Every way to make an `Api`.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, Secret};
use kube::{Api, Client};

pub async fn run(client: Client) {
    let _ = Api::<Secret>::all(client.clone()).list(&Default::default()).await;
    let _ = Api::<Secret>::namespaced(client.clone(), "here").list(&Default::default()).await;
    let _ = Api::<Secret>::default_namespaced(client.clone()).list(&Default::default()).await;
    let maps: Api<ConfigMap> = Api::all(client.clone());
    let _ = maps.get("a").await;
    let nodes: Api<Node> = Api::all(client.clone());
    let _ = nodes.get_opt("a").await;
    let _ = Api::<Namespace>::all(client).delete("x", &Default::default()).await;
}
