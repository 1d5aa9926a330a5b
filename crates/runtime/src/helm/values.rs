//! Values from Secrets and ConfigMaps.

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Client;
use kube::api::Api;
use serde_json::{Map, Value};

use crate::{Error, Result};

/// Values in a Secret or a ConfigMap: YAML text under a key, or a single string.
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

    /// YAML text under the key `values.yaml` of a Secret in the namespace of the release.
    pub fn secret(name: impl Into<String>) -> Self {
        Self::new(Source::Secret, name)
    }

    /// YAML text under the key `values.yaml` of a ConfigMap in the namespace of the release.
    pub fn config_map(name: impl Into<String>) -> Self {
        Self::new(Source::ConfigMap, name)
    }

    /// Sets the key. The default is `values.yaml`.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// Uses the text as the string value at this path, with names separated by dots.
    #[must_use]
    pub fn at(self, place: impl Into<String>) -> Self {
        Self { at: Some(place.into()), ..self }
    }

    /// Allows that the object or the key is missing. By default, this is an error.
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
            // The reason is omitted, since it may quote the text, which may be secret.
            (Some(text), None) => serde_saphyr::from_str(&text).map_err(|_| self.error("is not YAML")),
        }
    }

    fn error(&self, what: &str) -> Error {
        let Self { source, name, key, .. } = self;
        Error::new("InvalidValues", format!("the key `{key}` of the {source:?} `{name}` {what}"))
    }
}

/// Merges `more` into `values`: maps are merged, other values are replaced.
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_merged_and_null_removes_a_default() {
        let mut values = json!({ "image": { "tag": "1", "pull": "Always" }, "hosts": ["a"], "port": 1 });
        merge(&mut values, json!({ "image": { "tag": null, "name": "web" }, "hosts": ["b"], "port": { "http": 80 } }));
        let expected = json!({
            "image": { "tag": null, "pull": "Always", "name": "web" }, "hosts": ["b"], "port": { "http": 80 },
        });
        assert_eq!(values, expected);
    }
}
