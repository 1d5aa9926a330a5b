//! CEL values, and the conversion of objects to them by their schema.
//!
//! Source: cel-go's `common/types`, and `pkg/cel/common/valuesunstructured.go` of k8s.io/apiserver.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use semver::Version;
use serde_json::Value as Json;

use super::network::{Cidr, Ip};
use super::quantity::Quantity;
use super::types;
use crate::format;
use crate::go::{time, url::Url};
use crate::schema::Schema;

/// Error of evaluating an expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// The evaluation fails. An API server rejects the object with this message.
    #[error("{0}")]
    Error(String),
    /// This crate cannot evaluate the expression, e.g. because it has no time zone database.
    #[error("cannot evaluate {0}")]
    Unknown(String),
}

pub type Outcome = Result<Value, Failure>;

pub(crate) fn error<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Error(message.into()))
}

pub fn no_overload<T>() -> Result<T, Failure> {
    error("no such overload")
}

#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Rc<str>),
    Bytes(Rc<[u8]>),
    /// In nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    List(Rc<List>),
    Map(Rc<Map>),
    Optional(Option<Rc<Value>>),
    Type(&'static str),
    Quantity(Quantity),
    Url(Rc<Url>),
    Ip(Ip),
    Cidr(Cidr),
    Semver(Rc<Version>),
    /// A named format of the format library.
    Format(&'static str),
    /// A value whose type no schema declares.
    Opaque(Rc<Json>),
    /// A failure that is raised when the value is used.
    Broken(Failure),
}

#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Seconds since 1970.
    pub seconds: i64,
    pub nanos: u32,
    /// Offset of its time zone in seconds, only used for formatting.
    pub offset: i64,
}

impl Timestamp {
    pub fn nanoseconds(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)
    }

    /// A timestamp within the years 1 to 9999.
    pub fn new(seconds: i64, nanos: u32, offset: i64) -> Result<Self, Failure> {
        const FIRST: i64 = -62_135_596_800;
        const LAST: i64 = 253_402_300_799;
        if (FIRST..=LAST).contains(&seconds) {
            Ok(Self { seconds, nanos, offset })
        } else {
            error("timestamp overflow")
        }
    }

    pub fn parse(text: &str) -> Option<Result<Self, Failure>> {
        let (seconds, nanos) = time::parse_rfc3339(text)?;
        let zone = text.len().checked_sub(6).and_then(|start| text.get(start..));
        let offset = zone.and_then(time::parse_offset).unwrap_or_default();
        Some(Self::new(seconds, nanos, offset))
    }
}

#[derive(Debug)]
pub struct List {
    pub items: Vec<Value>,
    pub merge: Merge,
}

/// Semantics of a list by `x-kubernetes-list-type`, which determines `==` and `+`.
#[derive(Debug)]
pub enum Merge {
    Atomic,
    Set,
    /// The names of its keys.
    Map(Vec<String>),
}

#[derive(Debug, Default)]
pub struct Map {
    pub entries: Vec<(Value, Value)>,
    /// Fields that expressions cannot access, but that `==` and `size` take into account.
    pub hidden: BTreeMap<String, Json>,
}

impl Map {
    pub fn len(&self) -> usize {
        self.entries.len() + self.hidden.len()
    }

    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.entries.iter().find(|(known, _)| matches!(equal(known, key), Ok(true))).map(|(_, value)| value)
    }
}

impl Value {
    pub fn string(text: impl AsRef<str>) -> Self {
        Value::String(text.as_ref().into())
    }

    pub fn list(items: Vec<Value>) -> Self {
        Value::List(Rc::new(List { items, merge: Merge::Atomic }))
    }

    pub fn map(entries: Vec<(Value, Value)>) -> Self {
        Value::Map(Rc::new(Map { entries, hidden: BTreeMap::new() }))
    }

    pub fn some(value: Value) -> Self {
        Value::Optional(Some(Rc::new(value)))
    }

    pub const NONE: Self = Value::Optional(None);

    /// The value itself, or the error if it is [`Value::Broken`].
    pub fn sound(self) -> Outcome {
        match self {
            Value::Broken(failure) => Err(failure),
            value => Ok(value),
        }
    }

    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Optional(_) => "optional_type",
            Value::Type(_) => "type",
            Value::Quantity(_) => "kubernetes.Quantity",
            Value::Url(_) => "kubernetes.URL",
            Value::Ip(_) => "net.IP",
            Value::Cidr(_) => "net.CIDR",
            Value::Semver(_) => "kubernetes.Semver",
            Value::Format(_) => "kubernetes.NamedFormat",
            Value::Opaque(_) | Value::Broken(_) => "unknown",
        }
    }

    /// Converts JSON. Set `resource` for a Kubernetes object, whose name and kind are visible whatever the schema
    /// declares.
    pub fn of(json: &Json, schema: &Schema, resource: bool) -> Value {
        let broken = |what: &str| Value::Broken(Failure::Error(format!("invalid data, expected {what}")));
        if json.is_null() {
            return if schema.nullable { Value::Null } else { broken("something else than null") };
        }
        if schema.int_or_string {
            return match json {
                Json::String(text) => Value::string(text),
                number => number.as_i64().map_or_else(|| broken("a string or an integer"), Value::Int),
            };
        }
        match (schema.type_(), json) {
            ("object", Json::Object(map)) => object(map, schema, resource),
            ("array", Json::Array(list)) => {
                let Some(items) = &schema.items else { return broken("a list with a schema") };
                let merge = match schema.list_type.as_deref().unwrap_or_default() {
                    "set" => Merge::Set,
                    "map" => {
                        let keys = schema.list_map_keys.iter();
                        Merge::Map(keys.map(|key| types::escape(key).unwrap_or_else(|| key.clone())).collect())
                    }
                    _ => Merge::Atomic,
                };
                let items = list.iter().map(|item| Value::of_inner(item, items)).collect();
                Value::List(Rc::new(List { items, merge }))
            }
            ("string", Json::String(text)) => string(text, schema),
            ("number", Json::Number(number)) => number.as_f64().map_or_else(|| broken("a number"), Value::Double),
            ("integer", Json::Number(number)) => number.as_i64().map_or_else(|| broken("an integer"), Value::Int),
            ("boolean", Json::Bool(value)) => Value::Bool(*value),
            ("", json) if schema.preserve_unknown_fields => Value::Opaque(Rc::new(json.clone())),
            (type_, _) => broken(type_),
        }
    }

    fn of_inner(json: &Json, schema: &Schema) -> Value {
        Value::of(json, schema, schema.embedded_resource)
    }
}

fn object(map: &serde_json::Map<String, Json>, schema: &Schema, resource: bool) -> Value {
    let mut of = Map::default();
    let adds_metadata = resource && !types::describes_its_metadata(schema);
    let is_object = resource || schema.properties.is_some();
    for (name, value) in map {
        let visible = match name.as_str() {
            "apiVersion" | "kind" if adds_metadata => value.as_str().map(Value::string),
            "metadata" if adds_metadata => Some(metadata(value)),
            // A null counts as a missing field of an object, but not as a missing entry of a map.
            _ if is_object => {
                schema.property(name).filter(|_| !value.is_null()).map(|schema| Value::of_inner(value, schema))
            }
            _ => schema.additional_properties.as_deref().map(|schema| Value::of_inner(value, schema)),
        };
        let key = if is_object { types::escape(name) } else { Some(name.clone()) };
        match (visible, key) {
            (Some(value), Some(key)) => of.entries.push((Value::string(key), value)),
            _ => {
                of.hidden.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Map(Rc::new(of))
}

fn metadata(json: &Json) -> Value {
    let mut of = Map::default();
    for (name, value) in json.as_object().into_iter().flatten() {
        match value {
            Json::String(text) if matches!(name.as_str(), "name" | "generateName") => {
                of.entries.push((Value::string(name), Value::string(text)));
            }
            _ => {
                of.hidden.insert(name.clone(), value.clone());
            }
        }
    }
    Value::Map(Rc::new(of))
}

fn string(string: &str, schema: &Schema) -> Value {
    let broken = |what: &str| Value::Broken(Failure::Error(format!("invalid {what} {string:?}")));
    match schema.format() {
        "duration" => format::parse_duration(string).map_or_else(|| broken("duration"), Value::Duration),
        "date" => time::parse_date(string).map_or_else(
            || broken("date"),
            |days| Value::Timestamp(Timestamp { seconds: days * 86_400, nanos: 0, offset: 0 }),
        ),
        "date-time" => match Timestamp::parse(string) {
            Some(Ok(timestamp)) => Value::Timestamp(timestamp),
            _ => broken("date-time"),
        },
        "byte" => URL_SAFE.decode(string).map_or_else(|_| broken("base64"), |bytes| Value::Bytes(bytes.into())),
        _ => Value::string(string),
    }
}

/// The operator `==`.
pub fn equal(left: &Value, right: &Value) -> Result<bool, Failure> {
    Ok(match (left, right) {
        (Value::Broken(failure), _) | (_, Value::Broken(failure)) => return Err(failure.clone()),
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Int(_) | Value::Uint(_) | Value::Double(_)) => {
            matches!(compare(left, right), Ok(Ordering::Equal))
        }
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Bytes(left), Value::Bytes(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Timestamp(left), Value::Timestamp(right)) => left.nanoseconds() == right.nanoseconds(),
        (Value::List(left), Value::List(right)) => return equal_lists(left, right),
        (Value::Map(left), Value::Map(right)) => return equal_maps(left, right),
        (Value::Optional(left), Value::Optional(right)) => match (left, right) {
            (Some(left), Some(right)) => return equal(left, right),
            (left, right) => left.is_none() && right.is_none(),
        },
        (Value::Type(left), Value::Type(right)) => left == right,
        (Value::Quantity(left), Value::Quantity(right)) => left.compare(right)? == Ordering::Equal,
        (Value::Url(left), Value::Url(right)) => left == right,
        (Value::Ip(left), Value::Ip(right)) => left == right,
        (Value::Cidr(left), Value::Cidr(right)) => left == right,
        (Value::Semver(left), Value::Semver(right)) => left.cmp_precedence(right).is_eq(),
        (Value::Format(left), Value::Format(right)) => left == right,
        (Value::Opaque(left), Value::Opaque(right)) => left == right,
        (Value::Opaque(_), _) | (_, Value::Opaque(_)) => {
            return Err(Failure::Unknown("a comparison with a field of no known type".to_owned()));
        }
        _ => false,
    })
}

fn equal_lists(left: &List, right: &List) -> Result<bool, Failure> {
    if left.items.len() != right.items.len() {
        return Ok(false);
    }
    let key_of = |item: &Value| match (&left.merge, item) {
        (Merge::Map(keys), Value::Map(map)) => {
            Value::list(keys.iter().map(|key| map.get(&Value::string(key)).cloned().unwrap_or(Value::Null)).collect())
        }
        _ => item.clone(),
    };
    if let Merge::Atomic = left.merge {
        for (left, right) in left.items.iter().zip(&right.items) {
            if !equal(left, right)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let mut seen = vec![false; left.items.len()];
    for item in &right.items {
        let key = key_of(item);
        let mut found = None;
        for (at, own) in left.items.iter().enumerate() {
            if equal(&key_of(own), &key)? {
                found = Some(at);
                break;
            }
        }
        match found {
            Some(at) if equal(&left.items[at], item)? => seen[at] = true,
            _ => return Ok(false),
        }
    }
    Ok(seen.into_iter().all(|seen| seen))
}

fn equal_maps(left: &Map, right: &Map) -> Result<bool, Failure> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for (key, value) in &left.entries {
        match right.get(key) {
            Some(other) if equal(value, other)? => {}
            _ => return Ok(false),
        }
    }
    Ok(left.hidden.iter().all(|(name, value)| right.hidden.get(name).is_none_or(|other| other == value)))
}

/// The operators `<`, `<=`, `>`, `>=`.
pub fn compare(left: &Value, right: &Value) -> Result<Ordering, Failure> {
    Ok(match (left, right) {
        (Value::Double(number), _) | (_, Value::Double(number)) if number.is_nan() => {
            return error("NaN values cannot be ordered");
        }
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (Value::Uint(left), Value::Uint(right)) => left.cmp(right),
        (Value::Int(left), Value::Uint(right)) => i128::from(*left).cmp(&i128::from(*right)),
        (Value::Uint(left), Value::Int(right)) => i128::from(*left).cmp(&i128::from(*right)),
        (Value::Double(left), Value::Double(right)) => double(*left, *right),
        // Compared as doubles, except for those beyond the range of integers.
        (Value::Double(left), Value::Int(right)) => double(*left, *right as f64),
        (Value::Int(left), Value::Double(right)) => double(*left as f64, *right),
        (Value::Double(left), Value::Uint(right)) => double(*left, *right as f64),
        (Value::Uint(left), Value::Double(right)) => double(*left as f64, *right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
        (Value::Duration(left), Value::Duration(right)) => left.cmp(right),
        (Value::Timestamp(left), Value::Timestamp(right)) => left.nanoseconds().cmp(&right.nanoseconds()),
        _ => return no_overload(),
    })
}

fn double(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or(Ordering::Equal)
}
