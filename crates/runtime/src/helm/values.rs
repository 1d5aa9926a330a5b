//! Values from Secrets and ConfigMaps.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Client;
use kube::api::Api;
use serde_json::{Map, Value};

use crate::{Error, Result};

/// Values in a Secret or a ConfigMap: YAML text under a key, or one value for one place.
///
/// ```
/// use opctl_runtime::helm::ValuesFrom;
///
/// let all = ValuesFrom::secret("web-values").key("values.yaml");
/// let password = ValuesFrom::secret("web-db").key("password").at("database.password");
/// ```
// +kubebuilder:rbac:groups=core,resources=configmaps;secrets,verbs=get;list;watch
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ValuesFrom {
    source: Source,
    name: String,
    key: String,
    at: Option<String>,
    is_optional: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Source {
    Secret,
    ConfigMap,
}

impl ValuesFrom {
    fn new(source: Source, name: impl Into<String>) -> Self {
        Self { source, name: name.into(), key: "values.yaml".to_owned(), at: None, is_optional: false }
    }

    /// The YAML text under the key `values.yaml` of a Secret in the namespace of the release.
    pub fn secret(name: impl Into<String>) -> Self {
        Self::new(Source::Secret, name)
    }

    /// The same of a ConfigMap.
    pub fn config_map(name: impl Into<String>) -> Self {
        Self::new(Source::ConfigMap, name)
    }

    /// Another key than `values.yaml`.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// The whole text is one value, a string, at this place: names separated by dots.
    #[must_use]
    pub fn at(self, place: impl Into<String>) -> Self {
        Self { at: Some(place.into()), ..self }
    }

    /// Without it, or without the key, there are no values; otherwise that is an error.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    pub(super) fn is_secret(&self, name: &str) -> bool {
        self.source == Source::Secret && self.name == name
    }

    pub(super) fn is_config_map(&self, name: &str) -> bool {
        self.source == Source::ConfigMap && self.name == name
    }

    pub(super) async fn read(&self, client: &Client, namespace: &str) -> Result<Value> {
        let text = match self.source {
            Source::Secret => {
                let secret = Api::<Secret>::namespaced(client.clone(), namespace).get_opt(&self.name).await?;
                let data = secret.and_then(|secret| secret.data?.remove(&self.key));
                data.map(|data| String::from_utf8(data.0)).transpose().map_err(|_| self.error("is not UTF-8"))?
            }
            Source::ConfigMap => {
                let map = Api::<ConfigMap>::namespaced(client.clone(), namespace).get_opt(&self.name).await?;
                map.and_then(|map| map.data?.remove(&self.key))
            }
        };
        match (text, &self.at) {
            (None, _) if self.is_optional => Ok(Value::Null),
            (None, _) => Err(self.error("does not exist")),
            (Some(text), Some(place)) => {
                let value = Value::from(text);
                Ok(place.rsplit('.').fold(value, |value, name| Map::from_iter([(name.to_owned(), value)]).into()))
            }
            // Without the reason: it may quote the text.
            (Some(text), None) => serde_saphyr::from_str(&text).map_err(|_| self.error("is not YAML")),
        }
    }

    fn error(&self, what: &str) -> Error {
        let Self { source, name, key, .. } = self;
        Error::new("InvalidValues", format!("the key `{key}` of the {source:?} `{name}` {what}"))
    }
}

/// Puts `more` into `values`: objects are merged, everything else is replaced.
pub(super) fn merge(values: &mut Value, more: Value) {
    match (values, more) {
        (Value::Object(values), Value::Object(more)) => {
            for (name, value) in more {
                merge(values.entry(name).or_insert(Value::Null), value);
            }
        }
        (values, more) => *values = more,
    }
}
