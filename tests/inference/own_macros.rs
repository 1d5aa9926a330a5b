use kube::Client;

mod needed {
    pub use std::sync::Arc;

    pub use k8s_openapi::api::apps::v1::Deployment;
    pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    pub use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
    pub use kube::{Api, Client, Resource, ResourceExt};
}

mod expr_way {
    use super::needed::*;

    macro_rules! fetch {
        ($c:expr, $k:ty) => {
            Api::<$k>::all($c).get("a").await
        };
    }
    pub async fn run(client: Client) {
        let _ = fetch!(client, Pod);
    }
}

mod stmts_way {
    use super::needed::*;

    macro_rules! all { ($c:ident: $($k:ty),+ $(,)?) => { $( let api: Api<$k> = Api::all($c.clone()); let _ = api.list(&ListParams::default()).await; )+ } }
    pub async fn run(client: Client) {
        all!(client: Pod, Secret,);
    }
}

mod item_fn_way {
    use super::needed::*;

    macro_rules! getter {
        ($n:ident, $k:ident) => {
            pub async fn $n(c: Client) {
                let _ = Api::<$k>::all(c).get("a").await;
            }
        };
    }
    getter!(pods, Pod);
    getter!(secrets, Secret);
    pub async fn run(client: Client) {
        pods(client.clone()).await;
        secrets(client).await
    }
}

mod item_api_way {
    use super::needed::*;

    macro_rules! api_of {
        ($n:ident, $k:ty) => {
            fn $n(c: Client) -> Api<$k> {
                Api::default_namespaced(c)
            }
        };
    }
    api_of!(pods, Pod);
    pub async fn run(client: Client) {
        let _ = pods(client).list(&Default::default()).await;
    }
}

mod impl_way {
    use super::needed::*;

    struct S {
        c: Client,
    }
    macro_rules! impls { ($($t:ident => $m:ident),*) => { impl S { $( async fn $m(&self) { let _ = Api::<$t>::all(self.c.clone()).delete("a", &DeleteParams::default()).await; } )* } } }
    impls!(Pod => p, ConfigMap => m);
    pub async fn run(client: Client) {
        let s = S { c: client };
        s.p().await;
        s.m().await
    }
}

mod in_impl_way {
    use super::needed::*;

    struct S {
        c: Client,
    }
    macro_rules! method {
        ($t:ident, $m:ident) => {
            async fn $m(&self) {
                let _ = Api::<$t>::all(self.c.clone()).get("a").await;
            }
        };
    }
    impl S {
        method!(Pod, p);
        method!(Secret, s);
    }
    pub async fn run(client: Client) {
        let s = S { c: client };
        s.p().await;
        s.s().await
    }
}

mod trait_impl_way {
    use super::needed::*;

    #[async_trait::async_trait]
    trait Sync_ {
        async fn sync(&self, c: Client);
    }
    struct A;
    struct B;
    macro_rules! syncs { ($($t:ty, $k:ty);+) => { $( #[async_trait::async_trait] impl Sync_ for $t { async fn sync(&self, c: Client) { let _ = Api::<$k>::all(c).list(&Default::default()).await; } } )+ } }
    syncs!(A, Pod; B, Secret);
    pub async fn run(client: Client) {
        A.sync(client.clone()).await;
        B.sync(client).await;
    }
}

mod nested_way {
    use super::needed::*;

    macro_rules! inner {
        ($a:expr) => {
            $a.get("x").await
        };
    }
    macro_rules! outer {
        ($c:expr) => {
            inner!(Api::<Pod>::all($c))
        };
    }
    pub async fn run(client: Client) {
        let _ = outer!(client);
    }
}

mod local_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        macro_rules! go {
            ($k:ty) => {
                Api::<$k>::all(client.clone()).get("x").await
            };
        }
        let _ = go!(Pod);
        let _ = go!(Secret);
    }
}

mod recursive_way {
    use super::needed::*;

    macro_rules! each { ($c:expr;) => {}; ($c:expr; $k:ty $(, $r:ty)*) => { let _ = Api::<$k>::all($c.clone()).get("x").await; each!($c; $($r),*); } }
    pub async fn run(client: Client) {
        each!(client; Pod, Secret, ConfigMap);
    }
}

mod closure_way {
    use super::needed::*;

    macro_rules! lazy {
        ($e:expr) => {
            || async { $e.await }
        };
    }
    pub async fn run(client: Client) {
        let api = Api::<Pod>::all(client);
        let f = lazy!(api.get("a"));
        let _ = f().await;
    }
}

mod method_name_way {
    use super::needed::*;

    macro_rules! call { ($a:ident . $m:ident ( $($x:expr),* )) => { $a.$m($($x),*).await } }
    pub async fn run(client: Client) {
        let api = Api::<Pod>::all(client);
        let _ = call!(api.get("a"));
    }
}

mod in_foreign_way {
    use super::needed::*;

    macro_rules! got {
        ($k:ty, $c:expr) => {
            Api::<$k>::all($c).get("x").await.is_ok()
        };
    }
    pub async fn run(client: Client) {
        let v = vec![got!(Pod, client.clone())];
        assert!(v.len() == 1);
        tracing::info!("{}", got!(Secret, client));
    }
}

mod block_way {
    use super::needed::*;

    macro_rules! retry {
        ($b:block) => {
            loop {
                if $b.is_ok() {
                    break;
                }
                break;
            }
        };
    }
    pub async fn run(client: Client) {
        retry!({ Api::<Pod>::all(client.clone()).get("a").await });
    }
}

mod makes_macro_way {
    use super::needed::*;

    macro_rules! make {
        ($n:ident, $k:ty) => {
            macro_rules! $n {
                ($c:expr) => {
                    Api::<$k>::all($c).get("x").await
                };
            }
        };
    }
    make!(podget, Pod);
    pub async fn run(client: Client) {
        let _ = podget!(client);
    }
}

mod struct_way {
    use super::needed::*;

    macro_rules! ctx { ($n:ident { $($f:ident : $k:ty),* }) => { struct $n { $($f: Api<$k>),* } impl $n { fn new(c: Client) -> Self { Self { $($f: Api::all(c.clone())),* } } } } }
    ctx!(Ctx { pods: Pod, secrets: Secret });
    pub async fn run(client: Client) {
        let c = Ctx::new(client);
        let _ = c.pods.get("a").await;
        let _ = c.secrets.list(&Default::default()).await;
    }
}

mod match_way {
    use super::needed::*;

    macro_rules! by_kind { ($k:expr, $c:expr, $($n:literal => $t:ty),*) => { match $k { $($n => { let _ = Api::<$t>::all($c).get("x").await; })* _ => {} } } }
    pub async fn run(client: Client) {
        by_kind!("pod", client, "pod" => Pod, "secret" => Secret)
    }
}

pub async fn run(client: Client) {
    expr_way::run(client.clone()).await;
    stmts_way::run(client.clone()).await;
    item_fn_way::run(client.clone()).await;
    item_api_way::run(client.clone()).await;
    impl_way::run(client.clone()).await;
    in_impl_way::run(client.clone()).await;
    trait_impl_way::run(client.clone()).await;
    nested_way::run(client.clone()).await;
    local_way::run(client.clone()).await;
    recursive_way::run(client.clone()).await;
    closure_way::run(client.clone()).await;
    method_name_way::run(client.clone()).await;
    in_foreign_way::run(client.clone()).await;
    block_way::run(client.clone()).await;
    makes_macro_way::run(client.clone()).await;
    struct_way::run(client.clone()).await;
    match_way::run(client.clone()).await;
}
