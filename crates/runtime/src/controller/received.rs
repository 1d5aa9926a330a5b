//! Objects as the API server sends them: decoded one by one, so that one that does not fit its type does not hide the others.

use std::borrow::Cow;
use std::fmt::Debug;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Resource;
use kube::api::ObjectMeta;
use kube::core::DynamicResourceScope;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// An object of kind `K` that may not fit the type.
#[derive(Clone, Debug)]
pub enum Received<K> {
    Fits(Box<K>),
    Misfit(Box<Misfit>),
}

/// What can be read of an object that does not fit its type.
#[derive(Clone, Debug, Default)]
pub struct Misfit {
    pub metadata: ObjectMeta,
    /// Those of its status that can be read.
    pub conditions: Vec<Condition>,
    /// The field and what is wrong with it.
    pub why: String,
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Received<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        if let Ok(object) = serde_json::from_str(text.get()) {
            return Ok(Self::Fits(Box::new(object)));
        }
        let object: Value = serde_json::from_str(text.get()).map_err(D::Error::custom)?;
        // Without metadata that can be read there is nothing to name it by: an error of the watch, as ever.
        let metadata = ObjectMeta::deserialize(&object["metadata"]).map_err(D::Error::custom)?;
        let conditions = super::outcome::conditions_in(&object["status"]["conditions"]);
        let why = match serde_path_to_error::deserialize::<_, K>(object) {
            Ok(_) => "it cannot be read".to_owned(),
            Err(error) => match error.path().to_string().as_str() {
                "." => error.inner().to_string(),
                path => format!("{path}: {}", error.inner()),
            },
        };
        Ok(Self::Misfit(Box::new(Misfit { metadata, conditions, why })))
    }
}

impl<K: Resource<DynamicType = ()>> Resource for Received<K> {
    type DynamicType = ();
    // Namespaced or not, as `K` is: `Api` has no other way for both.
    type Scope = DynamicResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Fits(object) => object.meta(),
            Self::Misfit(misfit) => &misfit.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Fits(object) => object.meta_mut(),
            Self::Misfit(misfit) => &mut misfit.metadata,
        }
    }
}

/// What a controller needs of a child of kind `C`, which every object has: so there is none that does not fit.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "")]
pub struct Child<C> {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub status: Observed,
    #[serde(skip)]
    kind: std::marker::PhantomData<C>,
}

impl<C: Resource<DynamicType = ()>> Child<C> {
    /// Whether the controller of its kind has seen its spec.
    pub fn is_observed(&self) -> bool {
        match self.status.0 {
            Some(observed) => Some(observed) == self.metadata.generation,
            None => !super::readiness::reports_generation(&C::group(&()), &C::kind(&())),
        }
    }
}

/// Which spec the status is about; anything else in it is ignored.
#[derive(Clone, Debug, Default)]
pub struct Observed(pub Option<i64>);

impl<'de> Deserialize<'de> for Observed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let status = Value::deserialize(deserializer)?;
        Ok(Self(status["observedGeneration"].as_i64()))
    }
}

impl<C: Resource<DynamicType = ()>> Resource for Child<C> {
    type DynamicType = ();
    type Scope = DynamicResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        C::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        C::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        C::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        C::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
