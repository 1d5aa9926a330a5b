use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::{Api, Client};

use crate::kinds::Fleet;

pub async fn run(client: Client) {
    let _ = Api::<ClusterRole>::all(client.clone()).get("a").await;
    let _ = Api::<Fleet>::all(client).get("a").await;
}
