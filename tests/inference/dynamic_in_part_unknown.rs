mod needed {
    pub use std::sync::Arc;

    pub use k8s_openapi::api::apps::v1::Deployment;
    pub use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    pub use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams};
    pub use kube::{Api, Client, Resource, ResourceExt};
}

mod serde_way {
    use super::needed::*;

    pub async fn ask(client: Client) {
        let ar: ApiResource = serde_json::from_str("{}").unwrap();
        let _ = Api::<DynamicObject>::all_with(client, &ar).get("a").await;
    }
}

mod half_way {
    use super::needed::*;

    fn pick(x: bool) -> ApiResource {
        if x { ApiResource::erase::<Pod>(&()) } else { serde_json::from_str("{}").unwrap() }
    }
    pub async fn ask(client: Client) {
        let _ = Api::<DynamicObject>::all_with(client, &pick(true)).get("a").await;
    }
}

mod mutated_way {
    use super::needed::*;

    pub async fn ask(client: Client) {
        let mut ar = ApiResource::from_gvk(&GroupVersionKind::gvk("g.io", "v1", "Thing"));
        ar.plural = "thingz".into();
        let _ = Api::<DynamicObject>::all_with(client, &ar).get("a").await;
    }
}

mod list_way {
    use super::needed::*;

    pub async fn ask(client: Client) {
        for (g, k) in [("g.io", "Thing"), ("h.io", "Other")] {
            let ar = ApiResource::from_gvk(&GroupVersionKind::gvk(g, "v1", k));
            let _ = Api::<DynamicObject>::all_with(client.clone(), &ar).get("a").await;
        }
    }
}

mod fn_args_way {
    use super::needed::*;

    fn res(kind: &str) -> ApiResource {
        ApiResource::from_gvk(&GroupVersionKind::gvk("g.io", "v1", kind))
    }
    pub async fn ask(client: Client) {
        let _ = Api::<DynamicObject>::all_with(client, &res("Thing")).get("a").await;
    }
}

mod discovery_way {
    use super::needed::*;

    pub async fn ask(client: Client) {
        let g = kube::discovery::group(&client, "g.io").await.unwrap();
        let (ar, _) = g.recommended_kind("Thing").unwrap();
        let _ = Api::<DynamicObject>::all_with(client, &ar).get("a").await;
    }
}
