//! Conversion webhooks: the API server sends objects to `/convert` in a ConversionReview.
//!
//! One version of a kind is the hub, the others are spokes. Objects are converted between spokes through the hub.

mod carry;
pub(super) mod crds;
mod kept;
#[cfg(feature = "testing")]
mod random;
#[cfg(feature = "testing")]
pub(crate) mod round_trip;

use std::fmt;
use std::marker::PhantomData;

use http::StatusCode;
use kube::core::conversion::{ConversionRequest, ConversionResponse};
use kube::core::{Status, TypeMeta};
use serde_json::Value;
use tracing::error;

use super::{Answer, Review, Serves, Webhook, WebhookResult};
use kept::Kept;

pub use carry::{Version, carry};

pub(super) const PATH: &str = "/convert";

/// A conversion webhook for the versions of a kind, at `/convert`.
///
/// `Hub` is the stored version. Each other version is a [`Spoke`]; its type and `Hub` implement `TryFrom` or `From` for
/// each other. Fields that a version lacks are preserved in an annotation, and restored when the object is converted
/// back.
///
/// The operator needs the verbs `get` and `patch` on the CustomResourceDefinition.
///
/// ```
/// use opctl_runtime::webhook::{Conversion, ConversionError, Spoke, Webhook, carry};
///
/// mod v1 {
/// #   use kube::{CustomResource, KubeSchema};
/// #   use serde::{Deserialize, Serialize};
///     #[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
///     #[kube(group = "example.com", version = "v1", kind = "Book")]
///     pub struct BookSpec { pub title: String, pub pages: i32 }
/// }
///
/// mod v1alpha1 {
/// #   use kube::{CustomResource, KubeSchema};
/// #   use serde::{Deserialize, Serialize};
///     #[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, Serialize)]
///     #[kube(group = "example.com", version = "v1alpha1", kind = "Book", storage = false)]
///     pub struct BookSpec { pub title: String, pub leaves: i32 }
/// }
///
/// impl TryFrom<v1alpha1::Book> for v1::Book {
///     type Error = ConversionError;
///
///     fn try_from(old: v1alpha1::Book) -> Result<Self, ConversionError> {
///         let mut new: Self = carry(&old)?;
///         new.spec.pages = 2 * old.spec.leaves;
///         Ok(new)
///     }
/// }
///
/// impl TryFrom<v1::Book> for v1alpha1::Book {
///     type Error = ConversionError;
///
///     fn try_from(old: v1::Book) -> Result<Self, ConversionError> {
///         let mut new: Self = carry(&old)?;
///         new.spec.leaves = old.spec.pages / 2;
///         Ok(new)
///     }
/// }
///
/// fn webhook() -> Webhook {
///     Conversion::<v1::Book>::new(vec![Spoke::of::<v1alpha1::Book>()]).into()
/// }
/// # assert_eq!(webhook().path(), "/convert");
/// ```
#[derive(Clone)]
pub struct Conversion<Hub> {
    versions: Versions,
    hub: PhantomData<fn() -> Hub>,
}

impl<Hub: Version> Conversion<Hub> {
    /// Creates the webhook for the hub and these versions.
    pub fn new(spokes: Vec<Spoke<Hub>>) -> Self {
        let versions = Versions {
            crd: Hub::crd_name().to_owned(),
            group: Hub::group(&()).into_owned(),
            kind: Hub::kind(&()).into_owned(),
            hub: Hub::version(&()).into_owned(),
            spokes: spokes.into_iter().map(|spoke| spoke.ways).collect(),
        };
        Self { versions, hub: PhantomData }
    }

    /// Converts an object to the version `<group>/<version>`.
    ///
    /// # Errors
    ///
    /// If there is no such version, or the object does not decode into one of the versions in between.
    pub fn convert(&self, object: Value, desired: &str) -> Result<Value, ConversionError> {
        self.versions.convert(object, desired)
    }
}

impl<Hub> fmt::Debug for Conversion<Hub> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spokes = self.versions.spokes.iter().map(|it| &*it.api_version);
        let mut text = f.debug_struct("Conversion");
        text.field("crd", &self.versions.crd).field("hub", &self.versions.hub);
        text.field("spokes", &Vec::from_iter(spokes)).finish()
    }
}

impl<Hub> From<Conversion<Hub>> for Webhook {
    fn from(conversion: Conversion<Hub>) -> Self {
        Self { path: PATH, serves: Serves::Conversion(conversion.versions) }
    }
}

/// A version that is not stored, and its conversions from and to the stored one.
pub struct Spoke<Hub> {
    ways: Ways,
    hub: PhantomData<fn() -> Hub>,
}

impl<Hub: Version> Spoke<Hub> {
    /// Creates the spoke of the version `T`.
    pub fn of<T>() -> Self
    where
        Hub: TryFrom<T, Error: ToString>,
        T: Version + TryFrom<Hub, Error: ToString>,
    {
        let ways = Ways {
            api_version: T::api_version(&()).into_owned(),
            to_hub: translate::<T, Hub>,
            from_hub: translate::<Hub, T>,
            #[cfg(feature = "testing")]
            typed: [translate::<Hub, Hub>, translate::<T, T>],
        };
        Self { ways, hub: PhantomData }
    }
}

impl<Hub> fmt::Debug for Spoke<Hub> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Spoke").field(&self.ways.api_version).finish()
    }
}

/// The error of a conversion.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// The operator does not convert this version or kind.
    #[error("no conversion is known for `{0}`")]
    Unknown(String),
    /// The object does not decode into the type of a version.
    #[error("it does not match `{0}`: {1}")]
    Misfit(String, serde_json::Error),
    /// A custom error.
    #[error("{0}")]
    Refused(String),
}

/// The versions of a kind, without their Rust types.
#[derive(Clone)]
pub(super) struct Versions {
    pub crd: String,
    group: String,
    kind: String,
    /// The stored version.
    hub: String,
    spokes: Vec<Ways>,
}

#[derive(Clone)]
struct Ways {
    api_version: String,
    to_hub: Convert,
    from_hub: Convert,
    /// Normalize the hub and the spoke: decoded and encoded by their types, with defaults.
    #[cfg(feature = "testing")]
    typed: [Convert; 2],
}

type Convert = fn(Value) -> Result<Value, ConversionError>;

impl Versions {
    fn convert(&self, object: Value, desired: &str) -> Result<Value, ConversionError> {
        let given = object["apiVersion"].as_str().unwrap_or_default();
        if given == desired {
            return Ok(object);
        }
        let (from, to) = (self.spoke(given)?, self.spoke(desired)?);
        let object = match from {
            Some(spoke) => (spoke.to_hub)(object)?,
            None => object,
        };
        match to {
            Some(spoke) => (spoke.from_hub)(object),
            None => Ok(object),
        }
    }

    /// The spoke of a version; `None` for the hub.
    fn spoke(&self, api_version: &str) -> Result<Option<&Ways>, ConversionError> {
        if api_version == format!("{}/{}", self.group, self.hub) {
            return Ok(None);
        }
        let spoke = self.spokes.iter().find(|spoke| spoke.api_version == api_version);
        let unknown = || ConversionError::Unknown(api_version.to_owned());
        spoke.ok_or_else(unknown).map(Some)
    }
}

const OPERATION: &str = "CONVERT";

pub(super) fn answer(body: &[u8], kinds: &[Versions]) -> Answer {
    let bad = |why| Answer::failed(OPERATION, StatusCode::BAD_REQUEST, why);
    let review: Review<ConversionRequest> = match serde_json::from_slice(body) {
        Ok(review) => review,
        Err(error) => return bad(format!("not a ConversionReview: {error}")),
    };
    let types = TypeMeta { api_version: review.api_version, kind: review.kind };
    let is_v1 = types.api_version == "apiextensions.k8s.io/v1" && types.kind == "ConversionReview";
    let Some(mut request) = review.request.filter(|_| is_v1) else {
        return bad("not the request of a ConversionReview of apiextensions.k8s.io/v1".to_owned());
    };
    request.types = Some(types);
    let objects = std::mem::take(&mut request.objects).into_iter();
    let desired = &request.desired_api_version;
    let converted = objects.map(|object| convert(object, desired, kinds)).collect();
    let response = ConversionResponse::for_request(request);
    let (result, response) = match converted {
        Ok(objects) => (WebhookResult::Allowed, response.success(objects)),
        Err(why) => {
            error!("cannot convert {why}");
            let status = Status::failure(&why, "Invalid").with_code(422);
            (WebhookResult::Failed, response.failure(status))
        }
    };
    Answer::of(OPERATION, result, &response.into_review())
}

/// Converts an object to another version. The error names the object and the cause.
fn convert(object: Value, desired: &str, kinds: &[Versions]) -> Result<Value, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (given, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let [namespace, name] = ["namespace", "name"].map(|it| text(&object["metadata"][it]));
    let named = format!("{namespace}/{name}");
    let group = given.split('/').next();
    let versions = kinds.iter().find(|it| it.kind == kind && Some(&*it.group) == group);
    let versions = versions.ok_or_else(|| ConversionError::Unknown(format!("{given} {kind}")));
    let converted = versions.and_then(|it| it.convert(object, desired));
    let named = named.trim_start_matches('/');
    converted.map_err(|why| format!("{kind} {named} from {given} to {desired}: {why}"))
}

/// Converts an object, and finds the lost fields by converting it back. An annotation preserves them until the object
/// is converted back.
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
    // Restores only fields that the other version lacks: an annotation must not write anything else, such as a status.
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
