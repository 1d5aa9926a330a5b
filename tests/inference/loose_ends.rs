use kube::Client;

mod needed {
    pub use std::sync::Arc;

    pub use k8s_openapi::api::apps::v1::Deployment;
    pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    pub use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
    pub use kube::{Api, Client, Resource, ResourceExt};
}

mod json_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let _ = serde_json::json!({ "a": [Api::<Pod>::all(client).get("a").await.is_ok()], "b": { "c": 1 } });
    }
}

mod loop_break_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let a = 'l: loop {
            loop {
                break 'l Api::<Pod>::all(client);
            }
        };
        let _ = a.get("a").await;
    }
}

mod guard_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let a = Api::<Pod>::all(client);
        match 1 {
            _ if a.get("x").await.is_ok() => {}
            _ => {}
        }
    }
}

mod fold_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let a = Some(client).into_iter().fold(None, |_, c| Some(Api::<Pod>::all(c))).unwrap();
        let _ = a.get("x").await;
    }
}

mod take_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let mut o = Some(Api::<Pod>::all(client));
        let a = std::mem::take(&mut o).unwrap();
        let _ = a.get("x").await;
    }
}

mod repeat_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        for a in std::iter::repeat_with(|| Api::<Pod>::all(client.clone())).take(1) {
            let _ = a.get("x").await;
        }
    }
}

mod from_fn_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let mut c = Some(client);
        let mut it = std::iter::from_fn(move || c.take().map(Api::<Pod>::all));
        let _ = it.next().unwrap().get("x").await;
    }
}

mod then_some_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        if let Some(a) = true.then(|| Api::<Pod>::all(client)) {
            let _ = a.get("x").await;
        }
    }
}

mod option_map_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let a = Some("ns").map_or_else(|| Api::<Pod>::all(client.clone()), |ns| Api::namespaced(client.clone(), ns));
        let _ = a.get("x").await;
    }
}

mod unfold_way {
    use super::needed::*;

    use futures::StreamExt;
    pub async fn run(client: Client) {
        let s =
            futures::stream::unfold(Api::<Pod>::all(client), |a| async move { a.get("x").await.ok().map(|p| (p, a)) });
        let _ = s.collect::<Vec<_>>().await;
    }
}

mod let_else_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let Some(a) = Some(Api::<Pod>::all(client)) else { return };
        let _ = a.get("a").await;
    }
}

mod const_block_way {
    use super::needed::*;

    struct Hidden;
    const _: () = {
        impl Hidden {
            pub async fn hidden(c: Client) {
                let _ = Api::<Pod>::all(c).get("x").await;
            }
        }
    };
    pub async fn run(client: Client) {
        Hidden::hidden(client).await
    }
}

pub async fn run(client: Client) {
    json_way::run(client.clone()).await;
    loop_break_way::run(client.clone()).await;
    guard_way::run(client.clone()).await;
    fold_way::run(client.clone()).await;
    take_way::run(client.clone()).await;
    repeat_way::run(client.clone()).await;
    from_fn_way::run(client.clone()).await;
    then_some_way::run(client.clone()).await;
    option_map_way::run(client.clone()).await;
    unfold_way::run(client.clone()).await;
    let_else_way::run(client.clone()).await;
    const_block_way::run(client.clone()).await;
}
