use kube::Client;

mod needed {
    pub use std::sync::Arc;

    pub use k8s_openapi::api::apps::v1::Deployment;
    pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    pub use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
    pub use kube::{Api, Client, Resource, ResourceExt};
}

mod request_new_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let req = kube::core::Request::new(Pod::url_path(&(), Some("here"))).get("a", &Default::default()).unwrap();
        let _ = client.request::<Pod>(req).await;
    }
}

mod request_lit_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let req = kube::core::Request::new("/api/v1/namespaces/here/secrets").list(&Default::default()).unwrap();
        let _ = client.request_text(req).await;
    }
}

mod http_lit_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let req = http::Request::get("/api/v1/namespaces/here/pods/x").body(vec![]).unwrap();
        let _ = client.request_text(req).await;
    }
}

mod http_format_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let ns = "n".to_string();
        let req = http::Request::builder()
            .method("POST")
            .uri(format!("/apis/apps/v1/namespaces/{ns}/deployments"))
            .body(vec![])
            .unwrap();
        let _ = client.request::<Deployment>(req).await;
    }
}

mod http_method_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let req = http::Request::builder()
            .method(http::Method::DELETE)
            .uri("/api/v1/namespaces/a/pods/b")
            .body(vec![])
            .unwrap();
        let _ = client.request_status::<Pod>(req).await;
    }
}

mod url_path_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let req = http::Request::get(Pod::url_path(&(), None)).body(vec![]).unwrap();
        let _ = client.request_text(req).await;
    }
}

mod send_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let req = http::Request::get("/api/v1/nodes").body(kube::client::Body::empty()).unwrap();
        let _ = client.send(req).await;
    }
}

mod const_way {
    use super::needed::*;

    const PODS: &str = "/api/v1/pods";
    pub async fn run(client: Client) {
        let _ = client.request_text(http::Request::get(PODS).body(vec![]).unwrap()).await;
    }
}

mod resource_url_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let api = Api::<Pod>::all(client.clone());
        let _ = client.request_text(http::Request::get(api.resource_url()).body(vec![]).unwrap()).await;
    }
}

pub async fn run(client: Client) {
    request_new_way::run(client.clone()).await;
    request_lit_way::run(client.clone()).await;
    http_lit_way::run(client.clone()).await;
    http_format_way::run(client.clone()).await;
    http_method_way::run(client.clone()).await;
    url_path_way::run(client.clone()).await;
    send_way::run(client.clone()).await;
    const_way::run(client.clone()).await;
    resource_url_way::run(client.clone()).await;
}
