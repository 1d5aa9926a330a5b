use kube::api::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};

const KIND: &str = "Certificate";

fn certificates() -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("cert-manager.io", "v1", KIND))
}

pub async fn run(client: Client) {
    let deployments = ApiResource::from_gvk(&GroupVersionKind::gvk("apps", "v1", "Deployment"));
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &deployments);
    let _ = api.get("a").await;
    let api = Api::<DynamicObject>::namespaced_with(client, "here", &certificates());
    let _ = api.list(&Default::default()).await;
}
