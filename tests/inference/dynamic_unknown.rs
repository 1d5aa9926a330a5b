//! The kind is unknown, which is reported.

use kube::api::{ApiResource, DynamicObject};
use kube::{Api, Client};

pub async fn all(client: Client, resource: ApiResource) {
    let api: Api<DynamicObject> = Api::all_with(client, &resource);
    let _ = api.list(&Default::default()).await;
}
