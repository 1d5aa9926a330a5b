//! Objects with an untyped spec and status, of kinds that Rust knows only by name.

use std::fmt::Debug;
use std::marker::PhantomData;

use kube::Resource;
use kube::api::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An object without loss: a typed one would drop nulls and unknown fields.
#[derive(Deserialize, Serialize)]
#[serde(bound = "")]
pub(crate) struct Untyped<K> {
    pub metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub spec: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub status: Value,
    /// The other top-level fields, such as the `data` of a ConfigMap.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

#[cfg(feature = "helm")]
impl<K: Resource<DynamicType = ()> + serde::de::DeserializeOwned> Untyped<K> {
    pub fn typed(&self) -> crate::Result<K> {
        let object = serde_json::json!({
            "apiVersion": K::api_version(&()),
            "kind": K::kind(&()),
            "metadata": self.metadata,
            "spec": self.spec,
            "status": self.status,
        });
        serde_json::from_value(object).map_err(|error| crate::Error::new("InvalidSpec", error.to_string()).permanent())
    }
}

impl<K> Clone for Untyped<K> {
    fn clone(&self) -> Self {
        Self {
            metadata: self.metadata.clone(),
            spec: self.spec.clone(),
            status: self.status.clone(),
            rest: self.rest.clone(),
            kind: PhantomData,
        }
    }
}

impl<K> Debug for Untyped<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Untyped").field("name", &self.metadata.name).finish_non_exhaustive()
    }
}

impl<K: Resource<DynamicType = ()>> Resource for Untyped<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn kind((): &()) -> std::borrow::Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> std::borrow::Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> std::borrow::Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> std::borrow::Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
