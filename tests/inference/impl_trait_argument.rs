use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

trait Apis {
    fn pods(&self) -> Api<Pod>;
}

impl Apis for Client {
    fn pods(&self) -> Api<Pod> {
        Api::all(self.clone())
    }
}

async fn first(apis: &impl Apis) {
    let _ = apis.pods().get("a").await;
}

pub async fn run(client: Client) {
    first(&client).await;
}
