use k8s_openapi::api::core::v1::Pod;
use kube::api::{ApiResource, DynamicObject};
use kube::{Api, Client, Resource};

use crate::kinds::Memcached;

async fn remove<K: Resource<DynamicType = ()>>(client: Client, object: &K) {
    let resource = ApiResource::erase::<K>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(client, &object.meta().namespace.clone().unwrap(), &resource);
    let _ = api.delete("a", &Default::default()).await;
}

pub async fn run(client: Client) {
    let _ = Api::<DynamicObject>::all_with(client.clone(), &ApiResource::erase::<Memcached>(&())).get("a").await;
    let pod = Pod { metadata: kube::core::ObjectMeta { namespace: Some("x".into()), ..Default::default() }, ..Default::default() };
    remove(client, &pod).await;
}
