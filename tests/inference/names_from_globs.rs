use kube::Client;

mod needed {
    pub use k8s_openapi::api::core::v1::*;
    pub use kube::api::*;
}

mod typed_way {
    use super::needed::*;
    use kube::Client;

    pub async fn run(client: Client) {
        let pods: Api<Pod> = Api::all(client);
        let _ = pods.get("a").await;
    }
}

mod dynamic_way {
    use kube::core::*;
    use kube::{Api, Client};

    pub async fn run(client: Client) {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("g.io", "v1", "Thing"));
        let _ = Api::<DynamicObject>::all_with(client, &resource).get("a").await;
    }
}

mod reexported_way {
    use super::needed::{Api, Secret};
    use kube::Client;

    pub async fn run(client: Client) {
        let _ = Api::<Secret>::namespaced(client, "here").list(&Default::default()).await;
    }
}

pub async fn run(client: Client) {
    typed_way::run(client.clone()).await;
    dynamic_way::run(client.clone()).await;
    reexported_way::run(client).await;
}
