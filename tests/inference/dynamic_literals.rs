use kube::Client;

mod needed {
    pub use std::sync::Arc;

    pub use k8s_openapi::api::apps::v1::Deployment;
    pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    pub use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
    pub use kube::{Api, Client, Resource, ResourceExt};
}

mod literal_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let ar = ApiResource {
            group: "cert-manager.io".into(),
            version: "v1".into(),
            api_version: "cert-manager.io/v1".into(),
            kind: "Certificate".to_string(),
            plural: "certificates".to_owned(),
        };
        let api: Api<DynamicObject> = Api::namespaced_with(client, "x", &ar);
        let _ = api.get("a").await;
    }
}

mod plural_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let ar = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("g.io", "v1", "Fish"), "fish");
        let _ = Api::<DynamicObject>::all_with(client, &ar).list(&Default::default()).await;
    }
}

mod gvk_literal_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let gvk = GroupVersionKind { group: "g.io".to_string(), version: "v1".to_string(), kind: "Policy".to_string() };
        let _ = Api::<DynamicObject>::all_with(client, &ApiResource::from_gvk(&gvk)).list(&Default::default()).await;
    }
}

mod match_way {
    use super::needed::*;

    fn which(x: u8) -> ApiResource {
        match x {
            0 => ApiResource::erase::<Pod>(&()),
            1 => ApiResource::from_gvk(&GroupVersionKind::gvk("g.io", "v1", "Thing")),
            _ => ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("g.io", "v1", "Ox"), "oxen"),
        }
    }
    pub async fn run(client: Client) {
        let _ = Api::<DynamicObject>::all_with(client, &which(1)).get("a").await;
    }
}

mod if_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let ar = if client.default_namespace() == "x" {
            ApiResource::erase::<Pod>(&())
        } else {
            ApiResource::erase::<Secret>(&())
        };
        let _ = Api::<DynamicObject>::all_with(client, &ar).get("a").await;
    }
}

mod static_way {
    use super::needed::*;

    static AR: std::sync::LazyLock<ApiResource> =
        std::sync::LazyLock::new(|| ApiResource::from_gvk(&GroupVersionKind::gvk("g.io", "v1", "Thing")));
    pub async fn run(client: Client) {
        let _ = Api::<DynamicObject>::all_with(client, &AR).get("a").await;
    }
}

mod const_tuple_way {
    use super::needed::*;

    const T: (&str, &str, &str) = ("g.io", "v1", "Thing");
    pub async fn run(client: Client) {
        let ar = ApiResource::from_gvk(&GroupVersionKind::gvk(T.0, T.1, T.2));
        let _ = Api::<DynamicObject>::all_with(client, &ar).get("a").await;
    }
}

mod field_way {
    use super::needed::*;

    struct S {
        ar: ApiResource,
        c: Client,
    }
    impl S {
        fn new(c: Client) -> Self {
            S { ar: ApiResource::from_gvk(&GroupVersionKind::gvk("g.io", "v1", "Thing")), c }
        }
        async fn go(&self) {
            let _ = Api::<DynamicObject>::all_with(self.c.clone(), &self.ar).get("a").await;
        }
    }
    pub async fn run(client: Client) {
        S::new(client).go().await
    }
}

mod vec_way {
    use super::needed::*;

    pub async fn run(client: Client) {
        let all = vec![ApiResource::erase::<Pod>(&()), ApiResource::erase::<Secret>(&())];
        for ar in &all {
            let _ = Api::<DynamicObject>::all_with(client.clone(), ar).list(&Default::default()).await;
        }
    }
}

mod object_way {
    use super::needed::*;

    #[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
    struct Spec {}
    #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
    struct Status {}
    type Obj = kube::core::Object<Spec, Status>;
    pub async fn run(client: Client) {
        let ar = ApiResource::from_gvk(&GroupVersionKind::gvk("g.io", "v1", "Thing"));
        let _ = Api::<Obj>::all_with(client.clone(), &ar).get("a").await;
        let _ = Api::<kube::core::Object<Spec, kube::core::NotUsed>>::default_namespaced_with(
            client,
            &ApiResource::erase::<Pod>(&()),
        )
        .list(&Default::default())
        .await;
    }
}

mod gv_way {
    use super::needed::*;

    use kube::core::GroupVersion;
    pub async fn run(client: Client) {
        let ar = ApiResource::from_gvk(&GroupVersion::gv("g.io", "v1").with_kind("Thing"));
        let _ = Api::<DynamicObject>::all_with(client, &ar).get("a").await;
    }
}

mod assoc_way {
    use super::needed::*;

    struct K;
    impl K {
        const KIND: &'static str = "Thing";
        fn resource() -> ApiResource {
            ApiResource::from_gvk(&GroupVersionKind::gvk("g.io", "v1", Self::KIND))
        }
    }
    pub async fn run(client: Client) {
        let _ = Api::<DynamicObject>::all_with(client, &K::resource()).get("a").await;
    }
}

pub async fn run(client: Client) {
    literal_way::run(client.clone()).await;
    plural_way::run(client.clone()).await;
    gvk_literal_way::run(client.clone()).await;
    match_way::run(client.clone()).await;
    if_way::run(client.clone()).await;
    static_way::run(client.clone()).await;
    const_tuple_way::run(client.clone()).await;
    field_way::run(client.clone()).await;
    vec_way::run(client.clone()).await;
    object_way::run(client.clone()).await;
    gv_way::run(client.clone()).await;
    assoc_way::run(client.clone()).await;
}
