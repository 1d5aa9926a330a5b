//! An object as it is at the start of a run, whatever a watch has seen.

use http_body_util::BodyExt;
use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::rfc2822;
use kube::api::{ListParams, Request};
use kube::client::Body;
use kube::core::Status;
use kube::{Resource, ResourceExt};
use serde::Deserialize;
use serde_json::Value;

use crate::untyped::Untyped;
use crate::{Context, Result};

/// An object, and when it was read.
pub(super) struct Fresh<K> {
    pub object: Untyped<K>,
    /// Everything that the API server has answered.
    pub json: Value,
    /// By the clock of the API server.
    pub now: Timestamp,
}

/// Reads an object again; `None` if it is gone, or another one has its name. As a list, which every controller may read.
pub(super) async fn fresh<K: Resource<DynamicType = ()>>(
    object: &Untyped<K>,
    ctx: &Context,
) -> Result<Option<Fresh<K>>> {
    let requests = Request::new(Untyped::<K>::url_path(&(), object.namespace().as_deref()));
    let params = ListParams::default().fields(&format!("metadata.name={}", object.name_any()));
    let request = requests.list(&params).map_err(kube::Error::BuildRequest)?;
    let answer = ctx.client.send(request.map(Body::from)).await?;
    let date = answer.headers().get(http::header::DATE).and_then(|date| date.to_str().ok());
    let date = date.and_then(|date| rfc2822::parse(date).ok()).map(|date| date.timestamp());
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    if !status.is_success() {
        let error: Status = serde_json::from_slice(&body)
            .unwrap_or_else(|_| Status::failure(&format!("the API server has answered {status}"), "Unknown"));
        return Err(kube::Error::Api(error.into()).into());
    }
    let Found { items } = serde_json::from_slice(&body)?;
    let Some(mut json) =
        items.into_iter().find(|item| item["metadata"]["uid"].as_str() == object.meta().uid.as_deref())
    else {
        return Ok(None);
    };
    // Lists of Kubernetes' own kinds have none.
    json["apiVersion"] = K::api_version(&()).into();
    json["kind"] = K::kind(&()).into();
    let object = serde_json::from_value(json.clone())?;
    Ok(Some(Fresh { object, json, now: date.unwrap_or_else(Timestamp::now) }))
}

#[derive(Deserialize)]
struct Found {
    items: Vec<Value>,
}
