//! From the API server's question, an AdmissionReview, to the functions of a webhook, and back.

mod rejection;

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kube::Resource;
use kube::core::admission::{AdmissionRequest, AdmissionResponse, AdmissionReview, Operation};
use kube::core::admission::{META_API_VERSION_V1, META_KIND};
use kube::core::{DynamicObject, Status};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{json, patch};
use crate::manager::Context;

pub use rejection::Rejection;

/// What a user is told with a change that is made nevertheless; `kubectl` shows each in a line.
pub type Warnings = Vec<String>;

/// A change that somebody asks for.
pub struct Request<T: Resource> {
    /// Who asks for what. The objects in it are those that the functions are given.
    pub review: AdmissionRequest<T>,
    pub ctx: Context,
}

/// Answers for a webhook that fills in.
pub async fn default<T, F>(body: Bytes, ctx: Context, fill_in: F) -> Response
where
    T: Resource<DynamicType = ()> + Clone + DeserializeOwned + Serialize,
    F: AsyncFn(&mut T, &Request<T>) -> Result<(), Rejection>,
{
    let (request, warnings) = match read::<T>(&body, ctx) {
        Ok(read) => read,
        Err(unfit) => return unfit.into_response(),
    };
    let response = AdmissionResponse::from(&request.review);
    let Some(before) = request.review.object.clone() else {
        return write(response);
    };
    let mut after = before.clone();
    if let Err(rejection) = fill_in(&mut after, &request).await {
        return write(rejection.of(&request.review));
    }
    match with_patch(response, &body, &before, &after) {
        Ok(response) => write(warn(response, warnings)),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// Answers for a webhook that judges.
pub async fn validate<T, C, U, D>(
    body: Bytes,
    ctx: Context,
    create: C,
    update: U,
    delete: D,
) -> Response
where
    T: Resource<DynamicType = ()> + DeserializeOwned,
    C: AsyncFn(&T, &Request<T>) -> Result<Warnings, Rejection>,
    U: AsyncFn(&T, &T, &Request<T>) -> Result<Warnings, Rejection>,
    D: AsyncFn(&T, &Request<T>) -> Result<Warnings, Rejection>,
{
    let (request, mut warnings) = match read::<T>(&body, ctx) {
        Ok(read) => read,
        Err(unfit) => return unfit.into_response(),
    };
    let review = &request.review;
    let verdict = match (&review.operation, &review.old_object, &review.object) {
        (Operation::Update, Some(old), Some(new)) => update(old, new, &request).await,
        // An update too, of an object that could not be read.
        (Operation::Create | Operation::Update, None, Some(new)) => create(new, &request).await,
        (Operation::Delete, Some(old), _) => delete(old, &request).await,
        _ => Ok(Warnings::new()),
    };
    write(match verdict {
        Ok(more) => {
            warnings.extend(more);
            warn(AdmissionResponse::from(review), warnings)
        }
        Err(rejection) => rejection.of(review),
    })
}

/// Why a webhook's functions are not asked.
enum Unfit {
    /// It is not even known to whose request an answer would belong.
    Review(String),
    Object(Box<AdmissionResponse>),
}

impl IntoResponse for Unfit {
    fn into_response(self) -> Response {
        match self {
            Self::Review(why) => (StatusCode::BAD_REQUEST, why).into_response(),
            Self::Object(refusal) => write(*refusal),
        }
    }
}

/// The request, or what to answer where it is none.
fn read<T>(body: &[u8], ctx: Context) -> Result<(Request<T>, Warnings), Unfit>
where
    T: Resource<DynamicType = ()> + DeserializeOwned,
{
    let mut warnings = Warnings::new();
    let review = match serde_json::from_slice::<AdmissionReview<T>>(body) {
        Ok(review) => review,
        Err(error) => without_old::<T>(body, &error, &mut warnings)?,
    };
    let AdmissionReview { types, request, .. } = review;
    let is_v1 = types.api_version == META_API_VERSION_V1 && types.kind == META_KIND;
    let Some(mut review) = request.filter(|_| is_v1) else {
        let why = "this is no request in an AdmissionReview of admission.k8s.io/v1";
        return Err(Unfit::Review(why.to_owned()));
    };
    review.types = types;
    expect::<T, _>(&review)?;
    Ok((Request { review, ctx }, warnings))
}

/// Whether the request is about the kind and the version of the type.
fn expect<T, U>(review: &AdmissionRequest<U>) -> Result<(), Unfit>
where
    T: Resource<DynamicType = ()>,
    U: Resource,
{
    let asked = &review.kind;
    let (version, kind) = (T::api_version(&()), T::kind(&()));
    if (asked.api_version(), &*asked.kind) == (version.to_string(), &*kind) {
        return Ok(());
    }
    let (other_version, other) = (asked.api_version(), &asked.kind);
    let why = format!("this webhook knows {kind} of {version}, and no {other} of {other_version}");
    Err(Unfit::Object(deny(review, 400, "BadRequest", why).into()))
}

/// A stored object that fits its type no more is no reason to refuse its repair or its end: it counts as none. An object that
/// does not fit is refused.
fn without_old<T>(
    body: &[u8],
    why: &serde_json::Error,
    warnings: &mut Warnings,
) -> Result<AdmissionReview<T>, Unfit>
where
    T: Resource<DynamicType = ()> + DeserializeOwned,
{
    let no_review = || Unfit::Review(format!("this is no AdmissionReview: {why}"));
    let mut review = serde_json::from_slice::<Value>(body).map_err(|_| no_review())?;
    if let Some(old) = review.pointer_mut("/request/oldObject") {
        old.take();
    }
    match serde_json::from_value(review.clone()) {
        Ok(review) => {
            warnings.push(format!(
                "the stored {} is not as its type says: {why}",
                T::kind(&())
            ));
            Ok(review)
        }
        Err(why) => match serde_json::from_value::<AdmissionReview<DynamicObject>>(review) {
            Ok(AdmissionReview {
                types,
                request: Some(mut request),
                ..
            }) => {
                request.types = types;
                expect::<T, _>(&request)?;
                let why = format!("the {} is not as its type says: {why}", T::kind(&()));
                Err(Unfit::Object(deny(&request, 422, "Invalid", why).into()))
            }
            _ => Err(no_review()),
        },
    }
}

fn with_patch<T: Serialize>(
    response: AdmissionResponse,
    body: &[u8],
    before: &T,
    after: &T,
) -> Result<AdmissionResponse, serde_json::Error> {
    let (before, after) = (serde_json::to_value(before)?, serde_json::to_value(after)?);
    if before == after {
        return Ok(response);
    }
    let sent: Value = serde_json::from_slice(body)?;
    let patch = patch::changes(&sent["request"]["object"], &before, &after);
    let patch = serde_json::from_value(patch.into())?;
    Ok(response.with_patch(patch).expect("a patch is JSON"))
}

fn warn(mut response: AdmissionResponse, warnings: Warnings) -> AdmissionResponse {
    response.warnings = (!warnings.is_empty()).then_some(warnings);
    response
}

/// A refusal with the code and the reason of Kubernetes' errors.
fn deny<T: Resource>(
    review: &AdmissionRequest<T>,
    code: u16,
    reason: &str,
    message: String,
) -> AdmissionResponse {
    let mut response = AdmissionResponse::from(review).deny("");
    response.result = Status::failure(&message, reason).with_code(code);
    response
}

fn write(response: AdmissionResponse) -> Response {
    json(&response.into_review())
}
