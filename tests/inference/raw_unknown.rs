mod needed {
    pub use std::sync::Arc;

    pub use k8s_openapi::api::apps::v1::Deployment;
    pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    pub use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
    pub use kube::{Api, Client, Resource, ResourceExt};
}

mod http_var_way {
    use super::needed::*;

    pub async fn go(client: Client, path: &str) {
        let req = http::Request::get(path).body(vec![]).unwrap();
        let _ = client.request_text(req).await;
    }
    pub async fn ask(client: Client) {
        go(client, "/api/v1/pods").await
    }
}

mod url_format_way {
    use super::needed::*;

    pub async fn ask(client: Client) {
        let req = http::Request::get(format!("{}/x/log", Pod::url_path(&(), Some("n")))).body(vec![]).unwrap();
        let _ = client.request_text(req).await;
    }
}

mod arg_request_way {
    use super::needed::*;

    async fn send(c: &Client, r: http::Request<Vec<u8>>) {
        let _ = c.request_text(r).await;
    }
    pub async fn ask(client: Client) {
        send(&client, http::Request::get("/api/v1/pods").body(vec![]).unwrap()).await
    }
}
