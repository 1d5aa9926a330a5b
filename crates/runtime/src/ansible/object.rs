//! An object as it is at the start of a run, whatever a watch has seen.

use kube::api::{ListParams, Request};
use kube::{Resource, ResourceExt};
use serde::Deserialize;
use serde_json::Value;

use crate::untyped::Untyped;
use crate::{Context, Result};

/// An object as it was read.
pub(super) struct Fresh<K> {
    pub object: Untyped<K>,
    /// Everything that the API server has answered.
    pub json: Value,
}

/// Reads an object again; `None` if it is gone, or another one has its name. As a list, which every controller may read.
pub(super) async fn fresh<K: Resource<DynamicType = ()>>(
    object: &Untyped<K>,
    ctx: &Context,
) -> Result<Option<Fresh<K>>> {
    let requests = Request::new(Untyped::<K>::url_path(&(), object.namespace().as_deref()));
    let params = ListParams::default().fields(&format!("metadata.name={}", object.name_any()));
    let text = ctx.client.request_text(requests.list(&params).map_err(kube::Error::BuildRequest)?).await?;
    let Found { items } = serde_json::from_str(&text)?;
    let Some(mut json) =
        items.into_iter().find(|item| item["metadata"]["uid"].as_str() == object.meta().uid.as_deref())
    else {
        return Ok(None);
    };
    // Lists of Kubernetes' own kinds have none.
    json["apiVersion"] = K::api_version(&()).into();
    json["kind"] = K::kind(&()).into();
    Ok(Some(Fresh { object: serde_json::from_value(json.clone())?, json }))
}

#[derive(Deserialize)]
struct Found {
    items: Vec<Value>,
}
