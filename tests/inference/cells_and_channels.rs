use kube::Client;

mod needed {
    pub use std::sync::Arc;

    pub use k8s_openapi::api::apps::v1::Deployment;
    pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    pub use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
    pub use kube::{Api, Client, Resource, ResourceExt};
}

mod oncelock_way {
    use super::needed::*;

    static C: std::sync::OnceLock<Client> = std::sync::OnceLock::new();
    pub async fn run(client: Client) {
        let _ = C.set(client);
        let _ = Api::<Pod>::all(C.get().unwrap().clone()).get("a").await;
    }
}

mod oncecell_api_way {
    use super::needed::*;

    static A: tokio::sync::OnceCell<Api<Pod>> = tokio::sync::OnceCell::const_new();
    pub async fn run(client: Client) {
        let _ = A.set(Api::all(client));
        let _ = A.get().unwrap().get("a").await;
    }
}

mod mpsc_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let (tx, mut rx) = tokio::sync::mpsc::unbounded_channel();
        tx.send(Api::<Pod>::all(client)).unwrap();
        let a = rx.recv().await.unwrap();
        let _ = a.get("a").await;
    }
}

mod std_mpsc_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let (tx, rx) = std::sync::mpsc::channel();
        tx.send(Api::<Pod>::all(client)).unwrap();
        let a = rx.recv().unwrap();
        let _ = a.get("a").await;
    }
}

mod oneshot_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let (tx, rx) = tokio::sync::oneshot::channel();
        let _ = tx.send(Api::<Pod>::all(client));
        let a = rx.await.unwrap();
        let _ = a.get("a").await;
    }
}

mod watch_ch_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let (_tx, rx) = tokio::sync::watch::channel(Api::<Pod>::all(client));
        let a = rx.borrow().clone();
        let _ = a.get("a").await;
    }
}

mod btreemap_way {
    use super::needed::*;

    use std::collections::HashMap;
    pub async fn run(client: Client) {
        let mut m: HashMap<&str, Api<Pod>> = HashMap::new();
        m.entry("a").or_insert_with(|| Api::all(client.clone()));
        let _ = m["a"].get("x").await;
    }
}

mod vecdeque_way {
    use super::needed::*;

    use std::collections::VecDeque;
    pub async fn run(client: Client) {
        let mut q = VecDeque::new();
        q.push_back(Api::<Pod>::all(client));
        while let Some(a) = q.pop_front() {
            let _ = a.get("x").await;
        }
    }
}

mod either_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let e: futures::future::Either<Api<Pod>, Api<Secret>> = futures::future::Either::Left(Api::all(client));
        match e {
            futures::future::Either::Left(a) => {
                let _ = a.get("a").await;
            }
            futures::future::Either::Right(a) => {
                let _ = a.list(&Default::default()).await;
            }
        }
    }
}

mod joinset_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let mut s = tokio::task::JoinSet::new();
        s.spawn(async move { Api::<Pod>::all(client) });
        while let Some(Ok(a)) = s.join_next().await {
            let _ = a.get("a").await;
        }
    }
}

mod thread_local_way {
    use super::needed::*;

    thread_local! { static A: std::cell::RefCell<Option<Api<Pod>>> = const { std::cell::RefCell::new(None) }; }
    pub async fn run(client: Client) {
        A.with(|a| *a.borrow_mut() = Some(Api::all(client)));
        let a = A.with(|a| a.borrow().clone()).unwrap();
        let _ = a.get("a").await;
    }
}

pub async fn run(client: Client) {
    oncelock_way::run(client.clone()).await;
    oncecell_api_way::run(client.clone()).await;
    mpsc_way::run(client.clone()).await;
    std_mpsc_way::run(client.clone()).await;
    oneshot_way::run(client.clone()).await;
    watch_ch_way::run(client.clone()).await;
    btreemap_way::run(client.clone()).await;
    vecdeque_way::run(client.clone()).await;
    either_way::run(client.clone()).await;
    joinset_way::run(client.clone()).await;
    thread_local_way::run(client.clone()).await;
}
