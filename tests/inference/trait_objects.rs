use kube::Client;

mod needed {
    pub use std::sync::Arc;

    pub use k8s_openapi::api::apps::v1::Deployment;
    pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    pub use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
    pub use kube::{Api, Client, Resource, ResourceExt};
}

mod dyn_generic_way {
    use super::needed::*;

    #[async_trait::async_trait]
    trait Ask: Send + Sync {
        async fn ask(&self);
    }
    struct L<K>(Api<K>);
    #[async_trait::async_trait]
    impl<K> Ask for L<K>
    where
        K: Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug + Send + Sync + 'static,
    {
        async fn ask(&self) {
            let _ = self.0.list(&ListParams::default()).await;
        }
    }
    pub async fn run(client: Client) {
        let all: Vec<Box<dyn Ask>> =
            vec![Box::new(L(Api::<Pod>::all(client.clone()))), Box::new(L(Api::<Secret>::all(client)))];
        for a in &all {
            a.ask().await
        }
    }
}

mod dyn_push_way {
    use super::needed::*;

    #[async_trait::async_trait]
    trait Ask: Send + Sync {
        async fn ask(&self);
    }
    struct L<K>(Api<K>);
    #[async_trait::async_trait]
    impl<K> Ask for L<K>
    where
        K: Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug + Send + Sync + 'static,
    {
        async fn ask(&self) {
            let _ = self.0.list(&ListParams::default()).await;
        }
    }
    pub async fn run(client: Client) {
        let mut all: Vec<Arc<dyn Ask>> = Vec::new();
        all.push(Arc::new(L::<Pod>(Api::all(client.clone()))));
        for a in all {
            a.ask().await
        }
    }
}

mod dyn_return_way {
    use super::needed::*;

    #[async_trait::async_trait]
    trait Ask: Send + Sync {
        async fn ask(&self);
    }
    struct L<K>(Api<K>);
    #[async_trait::async_trait]
    impl<K> Ask for L<K>
    where
        K: Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug + Send + Sync + 'static,
    {
        async fn ask(&self) {
            let _ = self.0.list(&ListParams::default()).await;
        }
    }
    fn make(c: Client) -> Box<dyn Ask> {
        Box::new(L::<ConfigMap>(Api::all(c)))
    }
    pub async fn run(client: Client) {
        make(client).ask().await
    }
}

mod provided_way {
    use super::needed::*;

    #[async_trait::async_trait]
    trait HasApi {
        type K: Resource<DynamicType = ()>
            + Clone
            + serde::de::DeserializeOwned
            + std::fmt::Debug
            + Send
            + Sync
            + 'static;
        fn api(&self) -> Api<Self::K>;
        async fn go(&self)
        where
            Self: Sync,
        {
            let _ = self.api().list(&ListParams::default()).await;
        }
    }
    struct P(Client);
    #[async_trait::async_trait]
    impl HasApi for P {
        type K = Pod;
        fn api(&self) -> Api<Pod> {
            Api::all(self.0.clone())
        }
    }
    pub async fn run(client: Client) {
        P(client).go().await
    }
}

mod provided_dyn_way {
    use super::needed::*;

    #[async_trait::async_trait]
    trait Go: Sync {
        fn api(&self) -> Api<Pod>;
        async fn go(&self) {
            let _ = self.api().list(&ListParams::default()).await;
        }
    }
    struct P(Client);
    impl Go for P {
        fn api(&self) -> Api<Pod> {
            Api::all(self.0.clone())
        }
    }
    pub async fn run(client: Client) {
        let b: Box<dyn Go> = Box::new(P(client));
        b.go().await
    }
}

mod boxfn_way {
    use super::needed::*;

    type F = Box<dyn Fn(Client) -> futures::future::BoxFuture<'static, ()> + Send>;
    fn fs() -> Vec<F> {
        vec![Box::new(|c| {
            Box::pin(async move {
                let _ = Api::<Pod>::all(c).get("a").await;
            })
        })]
    }
    pub async fn run(client: Client) {
        for f in fs() {
            f(client.clone()).await
        }
    }
}

mod static_fn_table_way {
    use super::needed::*;

    type Ask = for<'a> fn(&'a Client) -> futures::future::BoxFuture<'a, ()>;
    async fn pods(c: &Client) {
        let _ = Api::<Pod>::all(c.clone()).get("x").await;
    }
    static ASKS: &[Ask] = &[
        |c| Box::pin(pods(c)),
        |c| {
            Box::pin(async move {
                let _ = Api::<Secret>::all(c.clone()).get("x").await;
            })
        },
    ];
    pub async fn run(client: Client) {
        for a in ASKS {
            a(&client).await
        }
    }
}

mod generic_trait_static_way {
    use super::needed::*;

    trait Reconcile {
        type K;
        async fn go(c: Client);
    }
    struct R<K>(std::marker::PhantomData<K>);
    impl<K: Resource<DynamicType = ()> + Clone + serde::de::DeserializeOwned + std::fmt::Debug> Reconcile for R<K> {
        type K = K;
        async fn go(c: Client) {
            let _ = Api::<K>::all(c).get("x").await;
        }
    }
    async fn drive<T: Reconcile>(c: Client) {
        T::go(c).await
    }
    pub async fn run(client: Client) {
        drive::<R<Pod>>(client).await
    }
}

pub async fn run(client: Client) {
    dyn_generic_way::run(client.clone()).await;
    dyn_push_way::run(client.clone()).await;
    dyn_return_way::run(client.clone()).await;
    provided_way::run(client.clone()).await;
    provided_dyn_way::run(client.clone()).await;
    boxfn_way::run(client.clone()).await;
    static_fn_table_way::run(client.clone()).await;
    generic_trait_static_way::run(client.clone()).await;
}
