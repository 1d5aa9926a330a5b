use kube::Client;

mod needed {
    pub use std::sync::Arc;

    pub use k8s_openapi::api::apps::v1::Deployment;
    pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    pub use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
    pub use kube::{Api, Client, Resource, ResourceExt};
}

mod impl_deref_way {
    use super::needed::*;

    async fn go(a: impl std::ops::Deref<Target = Api<Pod>>) {
        let _ = a.list(&Default::default()).await;
    }
    pub async fn run(client: Client) {
        go(&Api::all(client)).await
    }
}

mod asref_way {
    use super::needed::*;

    async fn go<A: AsRef<Client>>(a: A) {
        let _ = Api::<Pod>::all(a.as_ref().clone()).get("a").await;
    }
    struct S(Client);
    impl AsRef<Client> for S {
        fn as_ref(&self) -> &Client {
            &self.0
        }
    }
    pub async fn run(client: Client) {
        go(S(client)).await
    }
}

mod own_deref_way {
    use super::needed::*;

    struct W(Api<Pod>);
    impl std::ops::Deref for W {
        type Target = Api<Pod>;
        fn deref(&self) -> &Api<Pod> {
            &self.0
        }
    }
    pub async fn run(client: Client) {
        let _ = W(Api::all(client)).get("a").await;
    }
}

mod into_way {
    use super::needed::*;

    impl From<&S> for Api<Pod> {
        fn from(s: &S) -> Api<Pod> {
            Api::all(s.0.clone())
        }
    }
    struct S(Client);
    pub async fn run(client: Client) {
        let a: Api<Pod> = (&S(client)).into();
        let _ = a.get("a").await;
    }
}

pub async fn run(client: Client) {
    impl_deref_way::run(client.clone()).await;
    asref_way::run(client.clone()).await;
    own_deref_way::run(client.clone()).await;
    into_way::run(client.clone()).await;
}
