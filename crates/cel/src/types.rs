//! CEL types, and the declarations that schemas contain: the type of a value and its maximum size.
//!
//! Source: `pkg/cel/common/schemas.go` and `pkg/cel/escaping.go` of k8s.io/apiserver. All sizes are in bytes of JSON or
//! in elements, and as pessimistic as Kubernetes: an unlimited value is as large as a request can be.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::parse::is_keyword;
use crate::schema::Schema;

pub const MAX_REQUEST: u64 = 3 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    Null,
    /// Any type: checked at runtime only.
    Dyn,
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Optional(Arc<Type>),
    /// The type of a type.
    Meta(Arc<Type>),
    Object(Object),
    /// A type of Kubernetes' libraries: `Quantity`, `URL`, `IP`, …
    Library(&'static str),
    /// A type variable, to be inferred.
    Variable(u32),
}

/// An object type. Every object schema is a distinct type, even if it has the same fields as another.
#[derive(Clone, Debug)]
pub struct Object(pub Arc<Declaration>);

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Null => f.write_str("null"),
            Type::Dyn => f.write_str("dyn"),
            Type::List(element) => write!(f, "list({element})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Optional(value) => write!(f, "optional({value})"),
            Type::Meta(_) => f.write_str("type"),
            Type::Object(_) => f.write_str("object"),
            Type::Library(name) => f.write_str(name),
            Type::Variable(_) => f.write_str("any"),
        }
    }
}

/// The declaration of a schema: the CEL type of its values, and their maximum size.
#[derive(Debug)]
pub struct Declaration {
    pub(crate) shape: Shape,
    /// Maximum number of elements of a list or map; maximum length of a string if it affects costs.
    pub(crate) max_elements: u64,
    min_size: u64,
}

#[derive(Debug)]
pub enum Shape {
    Scalar(Type),
    List(Arc<Declaration>),
    /// A map from strings to values of this declaration.
    Map(Arc<Declaration>),
    /// Fields by their escaped names.
    Object(BTreeMap<String, Arc<Declaration>>),
}

impl Declaration {
    /// Reads a schema. `None` if its values are not visible in CEL, e.g. those of unknown type. Set `resource` for the
    /// schema of a Kubernetes object, whose kind, API version and name are visible even if the schema does not declare
    /// them.
    pub fn new(schema: &Schema, resource: bool) -> Option<Arc<Declaration>> {
        if schema.int_or_string {
            let max_elements = schema.max_length.map_or(MAX_REQUEST - 2, |max| 4 * unsigned(max));
            return Some(scalar(Type::Dyn, max_elements, 1));
        }
        match schema.type_.as_deref()? {
            "array" => {
                let items = Declaration::inner(schema.items.as_ref()?)?;
                let max_elements = schema.max_items.map_or((MAX_REQUEST - 2) / (items.min_size + 1), unsigned);
                Some(Arc::new(Declaration { shape: Shape::List(items), max_elements, min_size: 2 }))
            }
            "object" => match &schema.additional_properties {
                Some(values) => {
                    let values = Declaration::inner(values)?;
                    let most = (MAX_REQUEST - 2) / (values.min_size + 6);
                    let max_elements = schema.max_properties.map_or(most, unsigned);
                    Some(Arc::new(Declaration { shape: Shape::Map(values), max_elements, min_size: 2 }))
                }
                None => Some(Declaration::object(schema, resource)),
            },
            "string" => Some(Declaration::string(schema)),
            "boolean" => Some(scalar(Type::Bool, 0, 4)),
            "number" => Some(scalar(Type::Double, 0, 1)),
            "integer" => Some(scalar(Type::Int, 0, 1)),
            _ => None,
        }
    }

    fn inner(schema: &Schema) -> Option<Arc<Declaration>> {
        Declaration::new(schema, schema.embedded_resource)
    }

    fn object(schema: &Schema, resource: bool) -> Arc<Declaration> {
        let mut fields = BTreeMap::new();
        let mut min_size = 2;
        let mut add = |name: &str, declared: Arc<Declaration>, has_default: bool| {
            if schema.required.iter().any(|required| required == name) && !has_default {
                min_size += name.len() as u64 + declared.min_size + 4;
            }
            fields.extend(escape(name).map(|name| (name, declared)));
        };
        let adds_metadata = resource && !describes_its_metadata(schema);
        if adds_metadata {
            add("apiVersion", any_string(), false);
            add("kind", any_string(), false);
            add("metadata", metadata(), false);
        }
        for (name, property) in schema.properties.iter().flatten() {
            if adds_metadata && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
                continue;
            }
            if let Some(declared) = Declaration::inner(property) {
                add(name, declared, property.default.as_ref().is_some_and(|value| !value.is_null()));
            }
        }
        Arc::new(Declaration { shape: Shape::Object(fields), max_elements: 0, min_size })
    }

    fn string(schema: &Schema) -> Arc<Declaration> {
        let max_length = schema.max_length.map(unsigned);
        match schema.format() {
            "byte" => scalar(Type::Bytes, max_length.unwrap_or(MAX_REQUEST - 2), 2),
            "duration" => scalar(Type::Duration, 32, 3),
            "date" => scalar(Type::Timestamp, 12, 12),
            "date-time" => scalar(Type::Timestamp, 32, 21),
            _ => {
                let longest = || schema.enum_.iter().filter_map(Json::as_str).map(str::len).max().unwrap_or(0) as u64;
                let max_elements = match max_length {
                    Some(max) => 4 * max,
                    None if !schema.enum_.is_empty() => longest(),
                    None => MAX_REQUEST - 2,
                };
                scalar(Type::String, max_elements, 2)
            }
        }
    }

    pub(crate) fn type_of(self: &Arc<Declaration>) -> Type {
        match &self.shape {
            Shape::Scalar(type_) => type_.clone(),
            Shape::List(items) => Type::List(Arc::new(items.type_of())),
            Shape::Map(values) => Type::Map(Arc::new(Type::String), Arc::new(values.type_of())),
            Shape::Object(_) => Type::Object(Object(self.clone())),
        }
    }

    /// The key of a map. Its length never counts towards costs.
    pub(crate) fn key() -> Arc<Declaration> {
        scalar(Type::String, 0, 2)
    }

    /// A field by its name in CEL. A reserved word needs no escaping after a dot.
    pub(crate) fn field(&self, name: &str) -> Option<&Arc<Declaration>> {
        let Shape::Object(fields) = &self.shape else { return None };
        fields.get(name).or_else(|| fields.get(&format!("__{name}__")).filter(|_| is_keyword(name)))
    }

    /// The declaration of a field of an object, by its name in the schema.
    pub fn property(&self, name: &str) -> Option<Arc<Declaration>> {
        match &self.shape {
            Shape::Object(fields) => fields.get(&escape(name)?).cloned(),
            _ => None,
        }
    }

    /// The declaration of the items of a list, or the values of a map.
    pub fn elements(&self) -> Option<Arc<Declaration>> {
        match &self.shape {
            Shape::List(inner) | Shape::Map(inner) => Some(inner.clone()),
            Shape::Scalar(_) | Shape::Object(_) => None,
        }
    }

    /// Maximum number of values of this declaration that fit into one request.
    pub fn max_cardinality(&self) -> u64 {
        MAX_REQUEST / (self.min_size + 1)
    }
}

fn scalar(type_: Type, max_elements: u64, min_size: u64) -> Arc<Declaration> {
    Arc::new(Declaration { shape: Shape::Scalar(type_), max_elements, min_size })
}

fn any_string() -> Arc<Declaration> {
    scalar(Type::String, MAX_REQUEST - 2, 2)
}

/// The part of an object's metadata that is always visible.
fn metadata() -> Arc<Declaration> {
    let fields = ["name", "generateName"].into_iter().map(|name| (name.to_owned(), any_string())).collect();
    Arc::new(Declaration { shape: Shape::Object(fields), max_elements: 0, min_size: 2 })
}

pub(crate) fn describes_its_metadata(schema: &Schema) -> bool {
    let is = |schema: &Schema, name: &str, type_: &str| schema.property(name).is_some_and(|it| it.type_() == type_);
    is(schema, "kind", "string")
        && is(schema, "apiVersion", "string")
        && is(schema, "metadata", "object")
        && schema.property("metadata").is_some_and(|it| is(it, "name", "string") && is(it, "generateName", "string"))
}

/// The name of a field in CEL, in which e.g. `-` becomes `__dash__`. `None` if the field is not visible in CEL.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if is_keyword(name) {
        return Some(format!("__{name}__"));
    }
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c)) {
        return None;
    }
    let escaped = name.replace("__", "\0").replace('.', "__dot__").replace('-', "__dash__").replace('/', "__slash__");
    Some(escaped.replace('\0', "__underscores__"))
}

fn unsigned(limit: i64) -> u64 {
    limit.max(0) as u64
}
