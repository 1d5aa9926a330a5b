//! Objects from version to version: the API server sends them to `/convert` in a ConversionReview.
//!
//! One version of a kind is the hub, the others are spokes: from spoke to spoke, an object goes through the hub.

mod carry;
mod crds;
mod kept;
#[cfg(test)]
mod random;
#[cfg(test)]
pub mod round_trip;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kube::core::Status;
use kube::core::conversion::{ConversionRequest, ConversionResponse, ConversionReview};
use serde_json::Value;
use tracing::error;

use super::{Webhook, json};
use kept::Kept;

pub use carry::{Version, carry};
pub use crds::Crds;

/// Every kind that is converted.
pub fn all() -> Vec<Conversion> {
    vec![
        // `opctl create webhook` adds one line a kind.
    ]
}

/// The versions of a kind.
pub struct Conversion {
    /// The CustomResourceDefinition that sends the API server here.
    pub crd: &'static str,
    pub group: &'static str,
    pub kind: &'static str,
    /// The version that is stored.
    pub hub: &'static str,
    /// All others.
    pub spokes: fn() -> Vec<Spoke>,
}

/// Why an object stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum ConversionError {
    #[error("no conversion is known for `{0}`")]
    Unknown(String),
    #[error("it does not fit `{0}`: {1}")]
    Misfit(String, serde_json::Error),
    #[error("{0}")]
    Refused(String),
}

pub const WEBHOOK: Webhook = Webhook {
    path: "/convert",
    answer: |body, _| Box::pin(async move { answer(&body, &all()) }),
};

fn answer(body: &[u8], kinds: &[Conversion]) -> Response {
    let review: ConversionReview = match serde_json::from_slice(body) {
        Ok(review) => review,
        Err(error) => return refuse(format!("not a ConversionReview: {error}")),
    };
    let types = (&*review.types.api_version, &*review.types.kind);
    if types != ("apiextensions.k8s.io/v1", "ConversionReview") {
        let what = "not a ConversionReview of apiextensions.k8s.io/v1";
        return refuse(format!("{what}, but a {} of {}", types.1, types.0));
    }
    let mut request = match ConversionRequest::from_review(review) {
        Ok(request) => request,
        Err(error) => return refuse(error.to_string()),
    };
    let objects = std::mem::take(&mut request.objects).into_iter();
    let desired = &request.desired_api_version;
    let converted = objects
        .map(|object| convert(object, desired, kinds))
        .collect();
    let response = ConversionResponse::for_request(request);
    let response = match converted {
        Ok(objects) => response.success(objects),
        Err(why) => {
            error!("not converted: {why}");
            response.failure(Status::failure(&why, "Invalid").with_code(422))
        }
    };
    json(&response.into_review())
}

fn refuse(why: String) -> Response {
    (StatusCode::BAD_REQUEST, why).into_response()
}

/// The object in another version, or which object could not be converted and why.
fn convert(object: Value, desired: &str, kinds: &[Conversion]) -> Result<Value, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (given, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let [namespace, name] = ["namespace", "name"].map(|it| text(&object["metadata"][it]));
    let named = format!("{namespace}/{name}");
    let group = given.split('/').next();
    let mut kinds = kinds.iter();
    let conversion = kinds.find(|it| it.kind == kind && Some(it.group) == group);
    let conversion = conversion.ok_or_else(|| ConversionError::Unknown(format!("{given} {kind}")));
    let converted = conversion.and_then(|it| it.convert(object, desired));
    let named = named.trim_start_matches('/');
    converted.map_err(|why| format!("{kind} {named} from {given} to {desired}: {why}"))
}

impl Conversion {
    /// The object in the version `<group>/<version>`.
    pub fn convert(&self, object: Value, desired: &str) -> Result<Value, ConversionError> {
        let given = object["apiVersion"].as_str().unwrap_or_default();
        if given == desired {
            return Ok(object);
        }
        let (from, to) = (self.spoke(given)?, self.spoke(desired)?);
        let object = from.map_or(Ok(object.clone()), |spoke| (spoke.to_hub)(object))?;
        to.map_or(Ok(object.clone()), |spoke| (spoke.from_hub)(object))
    }

    /// None is the hub.
    fn spoke(&self, api_version: &str) -> Result<Option<Spoke>, ConversionError> {
        if api_version == format!("{}/{}", self.group, self.hub) {
            return Ok(None);
        }
        let mut spokes = (self.spokes)().into_iter();
        let spoke = spokes.find(|spoke| spoke.api_version == api_version);
        let unknown = || ConversionError::Unknown(api_version.to_owned());
        spoke.ok_or_else(unknown).map(Some)
    }
}

/// A version that is not stored, with the ways between it and the hub.
pub struct Spoke {
    api_version: String,
    to_hub: Convert,
    from_hub: Convert,
    /// The hub and the spoke as their types write them, with defaults.
    #[cfg(test)]
    typed: [Convert; 2],
}

type Convert = fn(Value) -> Result<Value, ConversionError>;

impl Spoke {
    /// Both implement `TryFrom` or `From` the other.
    pub fn of<Hub, T>() -> Self
    where
        Hub: Version + TryFrom<T, Error: ToString>,
        T: Version + TryFrom<Hub, Error: ToString>,
    {
        Self {
            api_version: T::api_version(&()).into_owned(),
            to_hub: translate::<T, Hub>,
            from_hub: translate::<Hub, T>,
            #[cfg(test)]
            typed: [translate::<Hub, Hub>, translate::<T, T>],
        }
    }
}

/// Converts, and finds by converting back what would be lost: that goes into an annotation, from which it is restored when the
/// object returns.
fn translate<A, B>(object: Value) -> Result<Value, ConversionError>
where
    A: Version + TryFrom<B, Error: ToString>,
    B: Version + TryFrom<A, Error: ToString>,
{
    let there = |object| B::try_from(object).map_err(|error| refused(&error));
    let back = |object| A::try_from(object).map_err(|error| refused(&error));

    let mut old: A = carry::read(object)?;
    let kept = Kept::take::<A, B>(&mut old);
    let mut new = there(old.clone())?;
    let mut returned = back(new.clone())?;
    // Only what the other version has no place for: nobody writes a status by an annotation.
    if let Some(restored) = kept.and_then(|kept| kept.restore(&new))
        && let Ok(again) = back(restored.clone())
        && (kept::same(&again, &old) || kept::same(&again, &returned))
    {
        (new, returned) = (restored, again);
    }
    if let Some(kept) = Kept::between(&old, &returned) {
        kept.put::<A, B>(&mut new);
    }
    carry::send(&new)
}

fn refused(error: &impl ToString) -> ConversionError {
    ConversionError::Refused(error.to_string())
}

#[cfg(test)]
mod tests;
