use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};

#[derive(Clone, Default)]
struct Registry {
    apis: Arc<Mutex<HashMap<String, Option<Api<Pod>>>>>,
}

pub async fn run(client: Client) {
    let registry = Registry::default();
    registry.apis.lock().unwrap().insert("a".into(), Some(Api::all(client)));
    let api = registry.apis.lock().unwrap().get("a").cloned().flatten();
    if let Some(api) = api {
        let _ = api.get("a").await;
    }
}
