use kube::{Api, Client};

use crate::kinds::{Fleet, Memcached};

pub async fn run(client: Client) {
    let fleets: Api<Fleet> = Api::all(client.clone());
    let _ = fleets.list(&Default::default()).await;
    let _ = Api::<Memcached>::namespaced(client, "x").patch_status("a", &Default::default(), &kube::api::Patch::Merge(())).await;
}
