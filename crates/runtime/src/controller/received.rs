//! Decoding of objects one by one, so that one that does not decode into its Rust type neither hides the others of a
//! list nor ends a watch.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, OwnerReference, Time};
use k8s_openapi::jiff::Timestamp;
use kube::Resource;
use kube::api::ObjectMeta;
use kube::core::DynamicResourceScope;
use serde::de::{self, DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::error::shortened;

/// An object of kind `K`, decoded if possible.
#[derive(Clone, Debug)]
pub(super) enum Received<K> {
    Fits(K),
    Undecodable(Box<Undecodable>),
}

/// An object that does not decode into its type.
#[derive(Clone, Debug, Default)]
pub(super) struct Undecodable {
    /// The identity of the object, and its deletion; without labels and annotations.
    pub metadata: ObjectMeta,
    /// The conditions of its status, as JSON.
    pub conditions: Vec<Value>,
    /// The field and its problem, in one line.
    pub why: String,
}

impl<'de, K: DeserializeOwned> Deserialize<'de> for Received<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = json_text(deserializer)?;
        match decode(&text) {
            Ok(object) => Ok(Self::Fits(object)),
            Err(why) => Undecodable::read(&text, why)
                .map(|object| Self::Undecodable(Box::new(object)))
                .map_err(D::Error::custom),
        }
    }
}

impl Undecodable {
    /// Fails only for JSON that is not a Kubernetes object.
    fn read(text: &str, why: String) -> serde_json::Result<Self> {
        /// Other fields are skipped, at any depth of nesting.
        #[derive(Deserialize)]
        struct Outline {
            metadata: Identity,
            #[serde(default)]
            status: Lenient<Status>,
        }
        #[derive(Default, Deserialize)]
        struct Status {
            #[serde(default)]
            conditions: Lenient<Vec<Value>>,
        }
        let Outline { metadata, status } = serde_json::from_str(text)?;
        Ok(Self { metadata: metadata.into(), conditions: status.0.conditions.0, why })
    }
}

/// Decodes an object. The error names the first invalid field, and its problem.
pub(super) fn decode<K: DeserializeOwned>(text: &str) -> Result<K, String> {
    parse(text).or_else(|why| match without_managed_fields(text) {
        Ok(text) => parse(&text),
        Err(_) => Err(why),
    })
}

/// Removes `managedFields`. Controllers do not need them, and any client can make them undecodable: Kubernetes accepts
/// years of five digits in them, and they are nested as deeply as the object.
fn without_managed_fields(text: &str) -> serde_json::Result<String> {
    type Fields<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;
    let mut object: Fields<'_> = serde_json::from_str(text)?;
    let metadata = match object.get("metadata") {
        Some(metadata) => {
            let mut metadata: Fields<'_> = serde_json::from_str(metadata.get())?;
            metadata.remove("managedFields");
            to_raw_value(&metadata)?
        }
        None => RawValue::NULL.to_owned(),
    };
    object.insert("metadata".into(), &metadata);
    serde_json::to_string(&object)
}

/// Decodes every kind, always with the path: a second way without it would compile each kind twice.
fn parse<K: DeserializeOwned>(text: &str) -> Result<K, String> {
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(text)).map_err(why)
}

fn why(error: serde_path_to_error::Error<serde_json::Error>) -> String {
    let (path, error) = (error.path().to_string(), error.into_inner());
    // Other fields of the object change the position.
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = error.to_string();
    // The message is part of a condition, an event and a log line.
    let message = shortened(message.strip_suffix(&position).unwrap_or(&message), 300);
    let why = match path.as_str() {
        "." => message.to_owned(),
        path if path.len() > 200 => format!("{}…: {message}", shortened(path, 200)),
        path => format!("{path}: {message}"),
    };
    why.replace(char::is_control, " ")
}

/// The JSON text of the next value, borrowed from the response if possible. A value that serde has buffered, such as
/// the object of a watch event that precedes its type, is serialized again.
fn json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    /// `serde_json` recognizes its `RawValue` by this name, and passes a map with the text as its only value. Otherwise
    /// (another format or version), every value is serialized again.
    const RAW: &str = "$serde_json::private::RawValue";

    struct Text;

    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

    impl<'de> Visitor<'de> for Text {
        type Value = Cow<'de, str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let entry = map.next_entry::<de::IgnoredAny, Borrowed<'de>>()?;
            entry.map(|(_, Borrowed(text))| text).ok_or_else(|| A::Error::custom("no JSON text"))
        }

        fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            Ok(Value::deserialize(deserializer)?.to_string().into())
        }
    }

    deserializer.deserialize_newtype_struct(RAW, Text)
}

/// A field that is treated as absent if it has another type.
#[derive(Default)]
pub(super) struct Lenient<T>(pub T);

impl<'de, T: Default + DeserializeOwned> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = json_text(deserializer)?;
        Ok(Self(serde_json::from_str(&text).unwrap_or_default()))
    }
}

/// The metadata that controllers need. Times are omitted: Kubernetes accepts years in `managedFields` that `ObjectMeta`
/// refuses.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identity {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    generation: Option<i64>,
    deletion_timestamp: Option<de::IgnoredAny>,
    finalizers: Option<Vec<String>>,
    owner_references: Option<Vec<OwnerReference>>,
    managed_fields: Option<Vec<Manager>>,
}

#[derive(Deserialize)]
struct Manager {
    manager: Option<String>,
    operation: Option<String>,
    subresource: Option<String>,
}

impl From<Identity> for ObjectMeta {
    fn from(identity: Identity) -> Self {
        let entry = |Manager { manager, operation, subresource }| ManagedFieldsEntry {
            manager,
            operation,
            subresource,
            ..ManagedFieldsEntry::default()
        };
        Self {
            name: identity.name,
            namespace: identity.namespace,
            uid: identity.uid,
            resource_version: identity.resource_version,
            generation: identity.generation,
            // Only the presence matters.
            deletion_timestamp: identity.deletion_timestamp.map(|_| Time(Timestamp::UNIX_EPOCH)),
            finalizers: identity.finalizers,
            owner_references: identity.owner_references,
            managed_fields: identity.managed_fields.map(|all| all.into_iter().map(entry).collect()),
            ..Self::default()
        }
    }
}

/// The part of an object of kind `C` that its owner's controller needs. Every object has it, so none is undecodable.
#[derive(Clone)]
pub(super) struct Child<C> {
    /// The identity of the object, its owners and field managers.
    pub metadata: ObjectMeta,
    pub observed_generation: Option<i64>,
    kind: PhantomData<fn() -> C>,
}

impl<'de, C> Deserialize<'de> for Child<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Outline {
            metadata: Identity,
            #[serde(default)]
            status: Lenient<Status>,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Status {
            observed_generation: Option<i64>,
        }
        // Decodes the text, since serde would buffer all of a flattened or tagged object, with a limit of its nesting.
        let text = json_text(deserializer)?;
        let Outline { metadata, status } = serde_json::from_str(&text).map_err(D::Error::custom)?;
        let observed_generation = status.0.observed_generation;
        Ok(Self { metadata: metadata.into(), observed_generation, kind: PhantomData })
    }
}

impl<C> Child<C> {
    /// A child with only this metadata.
    pub fn new(metadata: ObjectMeta) -> Self {
        Self { metadata, observed_generation: None, kind: PhantomData }
    }
}

impl<C: Resource<DynamicType = ()>> Child<C> {
    /// `true` if the built-in controller of the kind has not observed the spec, and so will soon change the status.
    pub fn is_pending(&self) -> bool {
        super::readiness::reports_generation(&C::group(&()), &C::kind(&()))
            && self.observed_generation != self.metadata.generation
    }
}

impl<C> fmt::Debug for Child<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Child").field(&self.metadata.name).finish()
    }
}

impl<K: Resource<DynamicType = ()>> Resource for Received<K> {
    type DynamicType = ();
    // Dynamic, since `Api` has no other scope that covers both namespaced and cluster-scoped kinds.
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
            Self::Undecodable(object) => &object.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Fits(object) => object.meta_mut(),
            Self::Undecodable(object) => &mut object.metadata,
        }
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

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::api::{ObjectList, WatchEvent};
    use serde_json::json;

    use super::*;

    /// A kind whose Rust type is narrower than its CRD.
    #[derive(Clone, Debug, Deserialize, PartialEq)]
    struct Narrow {
        metadata: ObjectMeta,
        #[serde(default)]
        spec: Spec,
    }

    #[derive(Clone, Debug, Default, Deserialize, PartialEq)]
    struct Spec {
        size: Option<u32>,
        mode: Option<Mode>,
        any: Option<Value>,
    }

    #[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
    enum Mode {
        On,
    }

    fn received(text: &str) -> Received<Narrow> {
        serde_json::from_str(text).unwrap()
    }

    fn undecodable_object(text: &str) -> Undecodable {
        match received(text) {
            Received::Undecodable(object) => *object,
            Received::Fits(object) => panic!("it fits: {object:?}"),
        }
    }

    #[test]
    fn one_of_a_list_does_not_hide_the_others() {
        let list = json!({
            "apiVersion": "v1", "kind": "NarrowList", "metadata": { "resourceVersion": "1" },
            "items": [
                { "metadata": { "name": "good" }, "spec": { "size": 1 } },
                { "metadata": { "name": "bad", "uid": "u" }, "spec": { "size": 5_000_000_000_u64 } },
                { "metadata": { "name": "better" } },
            ],
        });
        let list: ObjectList<Received<Narrow>> = serde_json::from_str(&list.to_string()).unwrap();
        let [Received::Fits(good), Received::Undecodable(bad), Received::Fits(_)] = list.items.as_slice() else {
            panic!("{list:?}")
        };
        assert_eq!(good.spec.size, Some(1));
        assert_eq!((bad.metadata.name.as_deref(), bad.metadata.uid.as_deref()), (Some("bad"), Some("u")));
        assert_eq!(bad.why, "spec.size: invalid value: integer `5000000000`, expected u32");
    }

    #[test]
    fn watch_events_are_read_with_their_type_before_and_behind_the_object() {
        for text in [
            r#"{"type":"MODIFIED","object":{"metadata":{"name":"a"},"spec":{"size":-1}}}"#,
            r#"{"object":{"metadata":{"name":"a"},"spec":{"size":-1}},"type":"MODIFIED"}"#,
        ] {
            let event: WatchEvent<Received<Narrow>> = serde_json::from_str(text).unwrap();
            let WatchEvent::Modified(Received::Undecodable(object)) = event else { panic!("{text}") };
            assert_eq!(object.why, "spec.size: invalid value: integer `-1`, expected u32");
            let event: WatchEvent<Child<ConfigMap>> = serde_json::from_str(text).unwrap();
            let WatchEvent::Modified(child) = event else { panic!("{text}") };
            assert_eq!(child.metadata.name.as_deref(), Some("a"));
        }
        let value = json!({ "metadata": { "name": "a" }, "spec": { "size": 7 } });
        let Received::Fits(object) = serde_json::from_value::<Received<Narrow>>(value).unwrap() else { panic!() };
        assert_eq!(object.spec.size, Some(7));
    }

    #[test]
    fn what_is_wrong_does_not_change_with_the_rest_of_the_object() {
        let with = |status: &str| {
            undecodable_object(&format!(r#"{{"metadata":{{"name":"a"}},"status":{status},"spec":{{"mode":"Off"}}}}"#))
        };
        let conditions = r#"{"conditions":[{"type":"Ready","status":"False"}]}"#;
        assert_eq!(with("null").why, with(conditions).why);
        assert!(with("null").why.starts_with("spec.mode: unknown variant `Off`"), "{}", with("null").why);
        assert_eq!(with(conditions).conditions[0]["type"], "Ready");
        // A field of any type is accepted.
        assert!(with("[1]").conditions.is_empty());
        assert!(with(r#"{"conditions":7}"#).conditions.is_empty());
    }

    #[test]
    fn what_is_wrong_is_one_short_line() {
        let long =
            undecodable_object(&json!({ "metadata": {}, "spec": { "mode": "a\nb".repeat(1000) } }).to_string()).why;
        assert!(long.len() <= 500 && !long.contains('\n'), "{long}");
    }

    #[test]
    fn an_object_is_named_however_deep_it_is_nested() {
        let nested = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let deep = |field: &str| format!(r#"{{"metadata":{{"name":"deep"}},"spec":{{"{field}":{nested}}}}}"#);
        assert!(matches!(received(&deep("unknown")), Received::Fits(_)));
        let object = undecodable_object(&deep("any"));
        assert_eq!(object.metadata.name.as_deref(), Some("deep"));
        assert!(object.why.starts_with("spec.any[0]"), "{}", object.why);
        assert!(object.why.ends_with("…: recursion limit exceeded") && object.why.len() < 300, "{}", object.why);
        let child: Child<ConfigMap> = serde_json::from_str(&deep("any")).unwrap();
        assert_eq!(child.metadata.name.as_deref(), Some("deep"));
    }

    #[test]
    fn managed_fields_may_be_of_any_time_and_depth() {
        let nested = format!("{}{}", r#"{"f:a":"#.repeat(5000), "}".repeat(5000)).replace(":}", ":{}}");
        let metadata = format!(
            r#"{{"name":"odd","generation":3,"managedFields":[{{"manager":"m","operation":"Apply",
                "time":"10000-01-01T00:00:00Z","fieldsV1":{nested}}}]}}"#
        );
        let object = |size: i64| format!(r#"{{"metadata":{metadata},"spec":{{"size":{size}}}}}"#);
        let Received::Fits(fitting) = received(&object(1)) else { panic!("{}", undecodable_object(&object(1)).why) };
        assert_eq!((fitting.metadata.name.as_deref(), fitting.spec.size), (Some("odd"), Some(1)));
        let odd = undecodable_object(&object(-1));
        assert_eq!(
            (odd.metadata.generation, odd.why.as_str()),
            (Some(3), "spec.size: invalid value: integer `-1`, expected u32")
        );
        let child: Child<ConfigMap> = serde_json::from_str(&object(1)).unwrap();
        assert_eq!(child.metadata.managed_fields.unwrap()[0].manager.as_deref(), Some("m"));
    }

    #[test]
    fn an_object_is_named_even_if_its_metadata_do_not_fit() {
        let object = undecodable_object(r#"{"metadata":{"name":"odd","deletionTimestamp":"10000-01-01T00:00:00Z"}}"#);
        assert_eq!(object.metadata.name.as_deref(), Some("odd"));
        assert!(object.metadata.deletion_timestamp.is_some());
        assert!(object.why.starts_with("metadata.deletionTimestamp: "), "{}", object.why);
    }

    #[test]
    fn a_child_decodes_whatever_its_status_is() {
        for (status, observed) in [
            ("null", None),
            ("[]", None),
            (r#"{"observedGeneration":"x"}"#, None),
            (r#"{"observedGeneration":2}"#, Some(2)),
        ] {
            let text = format!(r#"{{"metadata":{{"name":"a"}},"status":{status}}}"#);
            let child: Child<ConfigMap> = serde_json::from_str(&text).unwrap();
            assert_eq!(child.observed_generation, observed, "{status}");
        }
        assert!(serde_json::from_str::<Child<ConfigMap>>(r#"{"metadata":{"name":"a"}}"#).is_ok());
    }
}
