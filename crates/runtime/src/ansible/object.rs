//! Reads an object from the API server at the start of a run, since a watch may be behind.

use kube::api::{ListParams, Request};
use kube::{Resource, ResourceExt};
use serde::Deserialize;
use serde_json::Value;

use crate::untyped::Untyped;
use crate::{Context, Result};

/// An object as read from the API server.
pub(super) struct Fresh<K> {
    pub object: Untyped<K>,
    /// The complete response.
    pub json: Value,
}

/// Reads an object again; `None` if it was deleted, or recreated with the same name. Uses a list request, which every
/// controller is permitted to send.
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
    // Items in lists of Kubernetes' own kinds have neither.
    json["apiVersion"] = K::api_version(&()).into();
    json["kind"] = K::kind(&()).into();
    Ok(Some(Fresh { object: serde_json::from_value(json.clone())?, json }))
}

#[derive(Deserialize)]
struct Found {
    items: Vec<Value>,
}
