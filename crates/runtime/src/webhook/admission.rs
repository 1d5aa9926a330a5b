//! Decodes an AdmissionReview to the request for the functions of webhooks, and encodes the response.

use std::fmt;

use http::StatusCode;
use hyper::body::Bytes;
use kube::Resource;
use kube::core::admission::{AdmissionRequest, AdmissionResponse, Operation};
use kube::core::admission::{META_API_VERSION_V1, META_KIND};
use kube::core::{GroupVersionKind, Status, TypeMeta};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{Answer, Review, UNKNOWN, WebhookResult};
use crate::Context;

/// Warnings for the user about an allowed change; `kubectl` prints each in a line.
pub type Warnings = Vec<String>;

/// A request to change an object.
#[non_exhaustive]
pub struct Request<T: Resource> {
    /// The request of the AdmissionReview, with user and operation. Its objects are those that the functions get.
    pub review: AdmissionRequest<T>,
    /// The context of the operator, with its client.
    pub ctx: Context,
}

impl<T: Resource> fmt::Debug for Request<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AdmissionRequest { uid, kind, namespace, name, operation, .. } = &self.review;
        let mut text = f.debug_struct("Request");
        text.field("uid", uid).field("kind", kind).field("namespace", namespace).field("name", name);
        text.field("operation", operation).finish_non_exhaustive()
    }
}

/// A decoded request.
pub(super) struct Read<T: Resource> {
    pub request: Request<T>,
    pub warnings: Warnings,
    pub operation: &'static str,
}

/// The part of a request that can be decoded if its objects cannot.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    uid: String,
    kind: GroupVersionKind,
    operation: Operation,
    #[serde(borrow, default)]
    old_object: Option<&'a RawValue>,
}

/// Decodes a request. The error is the response to one that cannot be decoded.
pub(super) fn read<T>(body: &Bytes, ctx: Context) -> Result<Read<T>, Box<Answer>>
where
    T: Resource<DynamicType = ()> + DeserializeOwned,
{
    let bad = |why: String| Box::new(Answer::failed(UNKNOWN, StatusCode::BAD_REQUEST, why));
    let review: Review<Head> =
        serde_json::from_slice(body).map_err(|error| bad(format!("not an AdmissionReview: {error}")))?;
    let types = TypeMeta { api_version: review.api_version, kind: review.kind };
    let is_v1 = types.api_version == META_API_VERSION_V1 && types.kind == META_KIND;
    let Some(head) = review.request.filter(|_| is_v1) else {
        return Err(bad("not the request of an AdmissionReview of admission.k8s.io/v1".to_owned()));
    };
    let operation = operation(&head.operation);
    let (version, kind) = (T::api_version(&()), T::kind(&()));
    if (head.kind.api_version(), &*head.kind.kind) != (version.to_string(), &*kind) {
        let (other_version, other) = (head.kind.api_version(), &head.kind.kind);
        let why = format!("this webhook is for {kind} of {version}, not for {other} of {other_version}");
        return Err(refuse(operation, deny(head.uid, 400, "BadRequest", why)).into());
    }

    let mut warnings = Warnings::new();
    let mut request = decode::<T>(body);
    if let (Err(why), Some(old)) = (&request, head.old_object) {
        // An undecodable stored object must not prevent its repair or deletion: it is treated as missing.
        let without_old = decode(&[before(body, old), b"null", after(body, old)].concat());
        if without_old.is_ok() {
            warnings.push(format!("the stored {kind} does not match its type: {why}"));
        }
        request = without_old;
    }
    let mut review = request.map_err(|why| {
        let why = format!("the {kind} does not match its type: {why}");
        refuse(operation, deny(head.uid, 422, "Invalid", why))
    })?;
    review.types = types;
    let request = Request { review, ctx };
    Ok(Read { request, warnings, operation })
}

fn decode<T>(body: &[u8]) -> Result<AdmissionRequest<T>, serde_json::Error>
where
    T: Resource + DeserializeOwned,
{
    let review: Review<AdmissionRequest<T>> = serde_json::from_slice(body)?;
    review.request.ok_or_else(|| serde::de::Error::missing_field("request"))
}

/// The text before a value.
fn before<'a>(body: &'a [u8], value: &RawValue) -> &'a [u8] {
    let start = value.get().as_ptr().addr() - body.as_ptr().addr();
    &body[..start]
}

fn after<'a>(body: &'a [u8], value: &RawValue) -> &'a [u8] {
    &body[before(body, value).len() + value.get().len()..]
}

fn operation(operation: &Operation) -> &'static str {
    match operation {
        Operation::Create => "CREATE",
        Operation::Update => "UPDATE",
        Operation::Delete => "DELETE",
        Operation::Connect => "CONNECT",
    }
}

/// Denies a request, with a code and a reason of the Kubernetes API.
pub(super) fn deny(uid: String, code: u16, reason: &str, message: String) -> AdmissionResponse {
    let mut response = AdmissionResponse::invalid("");
    response.uid = uid;
    response.result = Status::failure(&message, reason).with_code(code);
    response
}

pub(super) fn allow(operation: &'static str, mut response: AdmissionResponse, warnings: Warnings) -> Answer {
    response.warnings = (!warnings.is_empty()).then_some(warnings);
    Answer::of(operation, WebhookResult::Allowed, &response.into_review())
}

pub(super) fn refuse(operation: &'static str, response: AdmissionResponse) -> Answer {
    Answer::of(operation, WebhookResult::Refused, &response.into_review())
}
