use self::prelude::*;

mod prelude {
    pub use k8s_openapi::api::apps::v1::Deployment as Workload;
    pub use kube::{Api as Objects, Client};
}

pub async fn run(client: Client) {
    let _ = Objects::<Workload>::all(client).get("a").await;
}
