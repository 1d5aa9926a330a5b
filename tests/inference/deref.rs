use std::ops::Deref;

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

struct Pods(Api<Pod>);

impl Deref for Pods {
    type Target = Api<Pod>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

pub async fn run(client: Client) {
    let pods = Pods(Api::all(client));
    let _ = pods.get("a").await;
}
