use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

mod sum_way {
    use kube::Client;

    pub async fn run(client: Client) {
        let namespace = std::env::var("NAMESPACE").unwrap();
        let path = "/api/v1/namespaces/".to_owned() + &namespace + "/secrets";
        let _ = client.request_text(http::Request::get(path).body(vec![]).unwrap()).await;
    }
}

mod concat_way {
    use kube::Client;

    pub async fn run(client: Client) {
        let path = concat!("/api/v1/", "nodes");
        let _ = client.request_text(http::Request::get(path).body(vec![]).unwrap()).await;
    }
}

/// A text that changes is known only at run time.
mod changed_way {
    use super::*;

    fn extend(text: &mut String) {
        text.push_str("-b");
    }

    pub async fn run(client: Client) {
        let mut namespace = String::from("a");
        extend(&mut namespace);
        let _ = Api::<Pod>::namespaced(client, &namespace).get("a").await;
    }

    /// Only a literal path is read.
    pub async fn path(client: Client, namespace: &str) {
        let mut path = String::from("/api/v1/namespaces/");
        path += namespace;
        path.push_str("/pods");
        let _ = client.request_text(http::Request::get(path).body(vec![]).unwrap()).await;
    }
}

macro_rules! getter {
    ($name:ident, $kind:ty) => {
        async fn $name(&self, client: Client) {
            let _ = Api::<$kind>::all(client).get("a").await;
        }
    };
}

#[allow(async_fn_in_trait)]
trait Getter {
    getter!(pod, Pod);
}

impl Getter for () {}

pub async fn run(client: Client) {
    sum_way::run(client.clone()).await;
    concat_way::run(client.clone()).await;
    changed_way::run(client.clone()).await;
    ().pod(client).await;
}
