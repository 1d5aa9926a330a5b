//! Defaulting (mutating) webhooks.

use std::fmt;
use std::sync::Arc;

use futures::FutureExt;
use http::StatusCode;
use hyper::body::Bytes;
use kube::Resource;
use kube::core::admission::{AdmissionRequest, AdmissionResponse};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::admission::{Read, allow, read, refuse};
use super::{Answer, Function, Handler, Rejection, Request, Review, Serves, Webhook, patch};
use crate::Context;

/// A defaulting (mutating) webhook: sets fields of an object before it is validated and stored.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use opctl_runtime::webhook::{Defaulting, Rejection, Request, Webhook};
///
/// async fn default(object: &mut ConfigMap, _: &Request<ConfigMap>) -> Result<(), Rejection> {
///     object.immutable.get_or_insert(false);
///     Ok(())
/// }
///
/// fn webhook() -> Webhook {
///     Defaulting::new("/mutate-v1-configmap", default).into()
/// }
/// ```
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,\
//     resourceNames={operator}-mutating-webhook-configuration,verbs=get;patch
pub struct Defaulting {
    path: &'static str,
    handler: Handler,
}

impl Defaulting {
    /// Creates a webhook that calls `default` with each object that the API server sends to this path. Its changes
    /// become a patch of the object as the API server sent it, so fields that the type lacks are kept.
    ///
    /// The API server calls it again after other webhooks have changed the object; it must then change nothing more.
    pub fn new<T, F>(path: &'static str, default: F) -> Self
    where
        T: Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize + Send + Sync + 'static,
        F: for<'a> Function<'a, (&'a mut T, &'a Request<T>), Result<(), Rejection>>,
    {
        let default = Arc::new(default);
        let handler: Handler = Arc::new(move |body, ctx| {
            let default = default.clone();
            async move { answer(body, ctx, &*default).await }.boxed()
        });
        Self { path, handler }
    }
}

impl fmt::Debug for Defaulting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Defaulting").field("path", &self.path).finish_non_exhaustive()
    }
}

impl From<Defaulting> for Webhook {
    fn from(Defaulting { path, handler }: Defaulting) -> Self {
        Self { path, serves: Serves::Mutating(handler) }
    }
}

async fn answer<T, F>(body: Bytes, ctx: Context, default: &F) -> Answer
where
    T: Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize + Send + Sync + 'static,
    F: for<'a> Function<'a, (&'a mut T, &'a Request<T>), Result<(), Rejection>>,
{
    let Read { request, warnings, operation } = match read::<T>(&body, ctx) {
        Ok(read) => read,
        Err(answer) => return *answer,
    };
    let response = AdmissionResponse::from(&request.review);
    let Some(mut object) = request.review.object.clone() else {
        return allow(operation, response, warnings);
    };
    if let Err(rejection) = default.call((&mut object, &request)).await {
        return refuse(operation, rejection.of(&request.review));
    }
    match with_patch(response, &body, &request.review, &object) {
        Ok(response) => allow(operation, response, warnings),
        Err(error) => Answer::failed(operation, StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

fn with_patch<T: Resource + Serialize>(
    response: AdmissionResponse,
    body: &[u8],
    request: &AdmissionRequest<T>,
    after: &T,
) -> Result<AdmissionResponse, serde_json::Error> {
    #[derive(Deserialize)]
    struct Sent<'a> {
        #[serde(borrow)]
        object: &'a RawValue,
    }

    let before = serde_json::to_value(&request.object)?;
    let after = serde_json::to_value(after)?;
    if before == after {
        return Ok(response);
    }
    let review: Review<Sent> = serde_json::from_slice(body)?;
    let sent = review.request.map_or(Ok(Value::Null), |it| serde_json::from_str(it.object.get()))?;
    let patch = patch::changes(&sent, &before, &after);
    let patch = serde_json::from_value(patch.into())?;
    response.with_patch(patch).map_err(serde::ser::Error::custom)
}
