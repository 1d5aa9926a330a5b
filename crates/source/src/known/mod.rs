//! The types whose schemas are not in the user's source: std, k8s-openapi, serde_json, chrono, ….
//!
//! If schemars has the schema, its real implementation generates it: [`Hole`] represents a type parameter whose
//! schema opctl has derived. The types of Kubernetes are in a table, because the user chooses their version.

pub mod kubernetes;
pub mod parsed;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

pub use kubernetes::{Minor, NoSchema};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// schemars' view of a type: its schema, and the differences if it is the type of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub schema: Schema,
    /// A field of this type is not required.
    pub optional: bool,
    /// The schema with `#[schemars(required)]`, if it differs.
    pub required: Option<Schema>,
}

impl From<Schema> for Shape {
    fn from(schema: Schema) -> Self {
        Self { schema, optional: false, required: None }
    }
}

impl Shape {
    pub fn required_schema(&self) -> &Schema {
        self.required.as_ref().unwrap_or(&self.schema)
    }

    /// Keeps only what all values or alternatives of the type have in common.
    pub fn forget_values(&mut self) {
        ["enum", "anyOf"].iter().for_each(|key| _ = self.schema.remove(*key));
    }

    /// Removes the descriptions at every depth, including those of the type's own fields.
    pub fn remove_descriptions(&mut self) {
        let mut remove = RecursiveTransform(|schema: &mut Schema| _ = schema.remove("description"));
        for schema in std::iter::once(&mut self.schema).chain(&mut self.required) {
            remove.transform(schema);
        }
    }
}

/// Generates the shape of a type from the shapes of its type parameters.
pub type Known = fn() -> Shape;

thread_local! {
    /// The shapes that the holes currently represent.
    static HOLES: RefCell<Vec<Shape>> = const { RefCell::new(Vec::new()) };
}

/// A type parameter whose schema is known only at run time of opctl.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hole<const N: usize>;

impl<const N: usize> Hole<N> {
    fn shape<R>(read: impl FnOnce(&Shape) -> R) -> R {
        HOLES.with_borrow(|holes| read(&holes[N]))
    }
}

impl<const N: usize> JsonSchema for Hole<N> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Hole{N}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Self::shape(|shape| shape.schema.clone())
    }

    fn _schemars_private_non_optional_json_schema(_: &mut SchemaGenerator) -> Schema {
        Self::shape(|shape| shape.required_schema().clone())
    }

    fn _schemars_private_is_option() -> bool {
        Self::shape(|shape| shape.optional)
    }
}

/// Runs `ask` on schemars' own code, with `shapes[N]` for each `Hole<N>`.
pub fn with_holes<R>(shapes: Vec<Shape>, ask: impl FnOnce(&mut SchemaGenerator) -> R) -> R {
    with_shapes(shapes, || ask(&mut generator()))
}

fn with_shapes<R>(shapes: Vec<Shape>, ask: impl FnOnce() -> R) -> R {
    let before = HOLES.replace(shapes);
    let answer = ask();
    HOLES.set(before);
    answer
}

/// Subschemas are inline, as in kube. Transforms run later, on the whole schema.
fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator()
}

/// The shape that schemars generates for `T`; its holes must be set.
fn schema_of<T: JsonSchema + ?Sized>() -> Shape {
    let generator = &mut generator();
    let optional = T::_schemars_private_is_option();
    let schema = T::json_schema(generator);
    Shape { required: optional.then(|| T::_schemars_private_non_optional_json_schema(generator)), optional, schema }
}

/// A type of another crate.
#[derive(Clone, Copy)]
pub enum Entry {
    Linked(Linked),
    Kubernetes(kubernetes::Type),
}

/// A type whose schema schemars generates.
#[derive(Clone, Copy)]
pub struct Linked {
    /// Number of type parameters that affect the schema.
    parameters: usize,
    shape: Known,
    /// `T::default()` as JSON, unless it depends on a type parameter.
    default: Option<fn() -> serde_json::Value>,
}

impl Entry {
    /// Number of type parameters that affect the schema.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Linked(linked) => linked.parameters,
            Self::Kubernetes(_) => 0,
        }
    }

    pub fn default_value(&self) -> Option<serde_json::Value> {
        match self {
            Self::Linked(linked) => linked.default.map(|default| default()),
            Self::Kubernetes(ty) => ty.default_value(),
        }
    }

    pub fn shape(&self, parameters: Vec<Shape>) -> Result<Shape, NoSchema> {
        match self {
            Self::Linked(linked) => Ok(with_shapes(parameters, linked.shape)),
            Self::Kubernetes(ty) => ty.schema().map(Shape::from),
        }
    }
}

/// A tuple of these; `None` if it is too long for schemars.
pub fn tuple(elements: Vec<Shape>) -> Option<Shape> {
    macro_rules! of {
        ($($n:literal)*) => { schema_of::<($(Hole<$n>,)*)> as Known };
    }
    let shape = match elements.len() {
        0 => of!(),
        1 => of!(0),
        2 => of!(0 1),
        3 => of!(0 1 2),
        4 => of!(0 1 2 3),
        5 => of!(0 1 2 3 4),
        6 => of!(0 1 2 3 4 5),
        7 => of!(0 1 2 3 4 5 6),
        8 => of!(0 1 2 3 4 5 6 7),
        9 => of!(0 1 2 3 4 5 6 7 8),
        10 => of!(0 1 2 3 4 5 6 7 8 9),
        11 => of!(0 1 2 3 4 5 6 7 8 9 10),
        12 => of!(0 1 2 3 4 5 6 7 8 9 10 11),
        13 => of!(0 1 2 3 4 5 6 7 8 9 10 11 12),
        14 => of!(0 1 2 3 4 5 6 7 8 9 10 11 12 13),
        15 => of!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14),
        16 => of!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
        _ => return None,
    };
    Some(with_shapes(elements, shape))
}

/// The entry for the canonical path of a foreign type; a type of Kubernetes in the version that the package is built
/// for.
pub fn find(path: &[String], kubernetes: Option<Minor>) -> Option<Entry> {
    match kubernetes_path(path) {
        Some(path) => kubernetes::find(kubernetes?, &path).map(Entry::Kubernetes),
        None => TABLE.get(path.join("::").as_str()).copied().map(Entry::Linked),
    }
}

/// `true` if a path is that of a foreign type; a type of Kubernetes in any version.
pub fn is_known(path: &[String]) -> bool {
    kubernetes_path(path).map_or_else(|| find(path, None).is_some(), |path| kubernetes::has(&path))
}

/// The path below `k8s_openapi`.
fn kubernetes_path(path: &[String]) -> Option<String> {
    let (krate, path) = path.split_first()?;
    (krate == "k8s_openapi").then(|| path.join("::"))
}

/// The canonical path of a foreign type, independent of re-exports by its crate.
pub fn canonical(mut path: Vec<String>) -> Vec<String> {
    if matches!(path[0].as_str(), "core" | "alloc") {
        path[0] = "std".into();
    }
    // k8s-openapi re-exports the crates that its types use.
    if path[0] == "k8s_openapi"
        && path.get(1).is_some_and(|krate| matches!(krate.as_str(), "chrono" | "jiff" | "serde_json"))
    {
        path.remove(0);
    }
    let segments: Vec<&str> = path.iter().map(String::as_str).collect();
    let replaced: &[&str] = match segments[..] {
        [
            "std",
            "collections",
            "btree_map" | "btree_set" | "hash_map" | "hash_set" | "vec_deque" | "linked_list" | "binary_heap",
            name,
        ] => &["std", "collections", name],
        ["std", "primitive", name] => &[name],
        ["kube", "core" | "api", .., name] | ["kube_core", .., name] if matches!(name, "ObjectMeta" | "ListMeta") => {
            &["k8s_openapi", "apimachinery", "pkg", "apis", "meta", "v1", name]
        }
        ["kube", "core" | "api", .., name] | ["kube_core", .., name] if name.starts_with("Scale") => {
            &["k8s_openapi", "api", "autoscaling", "v1", name]
        }
        ["kube_core", "Duration"] | ["kube_core" | "kube", .., "duration", "Duration"] => &["kube", "core", "Duration"],
        ["serde_json", "value", name @ ("Value" | "Number" | "Map")] => &["serde_json", name],
        ["serde_json", "map", "Map"] => &["serde_json", "Map"],
        ["chrono", "Duration"] => &["chrono", "TimeDelta"],
        ["chrono", "prelude" | "naive", name] => &["chrono", name],
        ["indexmap", "map" | "set", name @ ("IndexMap" | "IndexSet")] => &["indexmap", name],
        _ => return path,
    };
    replaced.iter().map(ToString::to_string).collect()
}

/// `true` for names such as `u8`, which no macro declares as a type.
pub fn is_primitive(name: &str) -> bool {
    prelude(name).is_some_and(|path| path.len() == 1)
}

/// The primitives, and the types of the prelude.
const PRELUDE: &[(&str, &[&str])] = &[
    ("Option", &["std", "option", "Option"]),
    ("Vec", &["std", "vec", "Vec"]),
    ("String", &["std", "string", "String"]),
    ("Box", &["std", "boxed", "Box"]),
    ("Result", &["std", "result", "Result"]),
    ("str", &["str"]),
    ("bool", &["bool"]),
    ("char", &["char"]),
    ("i8", &["i8"]),
    ("i16", &["i16"]),
    ("i32", &["i32"]),
    ("i64", &["i64"]),
    ("i128", &["i128"]),
    ("isize", &["isize"]),
    ("u8", &["u8"]),
    ("u16", &["u16"]),
    ("u32", &["u32"]),
    ("u64", &["u64"]),
    ("u128", &["u128"]),
    ("usize", &["usize"]),
    ("f32", &["f32"]),
    ("f64", &["f64"]),
];

/// The path of a bare name that the module does not declare: a primitive, or a type of the prelude.
pub fn prelude(name: &str) -> Option<&'static [&'static str]> {
    PRELUDE.iter().find(|(bare, _)| *bare == name).map(|(_, path)| *path)
}

/// Names that need no `use`.
pub fn prelude_names() -> impl Iterator<Item = &'static str> {
    PRELUDE.iter().map(|(name, _)| *name)
}

static TABLE: LazyLock<HashMap<&str, Linked>> = LazyLock::new(|| {
    let linked = |(path, parameters, shape)| (path, Linked { parameters, shape, default: default_of(path) });
    types().into_iter().map(linked).collect()
});

/// The default of a type that opctl only knows as JSON.
fn default_of(path: &str) -> Option<fn() -> serde_json::Value> {
    use serde_json::json;

    Some(match path {
        "std::time::Duration" => || json!({ "secs": 0, "nanos": 0 }),
        "uuid::Uuid" => || json!("00000000-0000-0000-0000-000000000000"),
        _ => return None,
    })
}

/// A string with a format, as in schemars' features for other crates.
macro_rules! formatted {
    ($format:literal) => {
        || json_schema!({ "type": "string", "format": $format }).into()
    };
}

fn weekday() -> Shape {
    json_schema!({ "type": "string", "enum": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] }).into()
}

fn time_delta() -> Shape {
    json_schema!({
        "type": "array",
        "prefixItems": [
            { "type": "integer", "format": "int64" },
            { "type": "integer", "minimum": 0, "exclusiveMaximum": 1_000_000_000 }
        ],
        "minItems": 2,
        "maxItems": 2
    })
    .into()
}

fn either() -> Shape {
    let side = |name: &str, schema: Schema| {
        json_schema!({
            "type": "object",
            "properties": { name: schema },
            "additionalProperties": false,
            "required": [name]
        })
    };
    let (left, right) =
        (Hole::<0>::shape(|shape| shape.schema.clone()), Hole::<1>::shape(|shape| shape.schema.clone()));
    json_schema!({ "oneOf": [side("Left", left), side("Right", right)] }).into()
}

fn bytes() -> Shape {
    json_schema!({ "type": ["array", "string"], "items": schema_of::<u8>().schema }).into()
}

fn decimal() -> Shape {
    json_schema!({ "type": ["string", "number"], "pattern": r"^-?\d+(\.\d+)?([eE]\d+)?$" }).into()
}

fn small_vec() -> Shape {
    let items = Hole::<0>::shape(|shape| shape.schema.get("items").cloned());
    json_schema!({ "type": "array", "items": items }).into()
}

fn version() -> Shape {
    // <https://semver.org/#is-there-a-suggested-regular-expression-regex-to-check-a-semver-string>
    let pattern = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$";
    json_schema!({ "type": "string", "pattern": pattern }).into()
}

fn types() -> Vec<(&'static str, usize, Known)> {
    use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};

    type A = Hole<0>;
    type B = Hole<1>;
    vec![
        ("str", 0, schema_of::<str> as Known),
        ("bool", 0, schema_of::<bool>),
        ("char", 0, schema_of::<char>),
        ("i8", 0, schema_of::<i8>),
        ("i16", 0, schema_of::<i16>),
        ("i32", 0, schema_of::<i32>),
        ("i64", 0, schema_of::<i64>),
        ("i128", 0, schema_of::<i128>),
        ("isize", 0, schema_of::<isize>),
        ("u8", 0, schema_of::<u8>),
        ("u16", 0, schema_of::<u16>),
        ("u32", 0, schema_of::<u32>),
        ("u64", 0, schema_of::<u64>),
        ("u128", 0, schema_of::<u128>),
        ("usize", 0, schema_of::<usize>),
        ("f32", 0, schema_of::<f32>),
        ("f64", 0, schema_of::<f64>),
        ("std::borrow::Cow", 1, schema_of::<Cow<'static, A>>),
        ("std::boxed::Box", 1, schema_of::<Box<A>>),
        ("std::cell::Cell", 1, schema_of::<std::cell::Cell<A>>),
        ("std::cell::RefCell", 1, schema_of::<RefCell<A>>),
        ("std::cmp::Reverse", 1, schema_of::<std::cmp::Reverse<A>>),
        ("std::collections::BTreeMap", 2, schema_of::<BTreeMap<A, B>>),
        ("std::collections::BTreeSet", 1, schema_of::<BTreeSet<A>>),
        ("std::collections::BinaryHeap", 1, schema_of::<BinaryHeap<A>>),
        ("std::collections::HashMap", 2, schema_of::<HashMap<A, B>>),
        ("std::collections::HashSet", 1, schema_of::<HashSet<A>>),
        ("std::collections::LinkedList", 1, schema_of::<LinkedList<A>>),
        ("std::collections::VecDeque", 1, schema_of::<VecDeque<A>>),
        ("std::ffi::CStr", 0, schema_of::<std::ffi::CStr>),
        ("std::ffi::CString", 0, schema_of::<std::ffi::CString>),
        ("std::ffi::OsStr", 0, schema_of::<std::ffi::OsStr>),
        ("std::ffi::OsString", 0, schema_of::<std::ffi::OsString>),
        ("std::marker::PhantomData", 0, schema_of::<std::marker::PhantomData<()>>),
        ("std::net::IpAddr", 0, schema_of::<std::net::IpAddr>),
        ("std::net::Ipv4Addr", 0, schema_of::<std::net::Ipv4Addr>),
        ("std::net::Ipv6Addr", 0, schema_of::<std::net::Ipv6Addr>),
        ("std::net::SocketAddr", 0, schema_of::<std::net::SocketAddr>),
        ("std::net::SocketAddrV4", 0, schema_of::<std::net::SocketAddrV4>),
        ("std::net::SocketAddrV6", 0, schema_of::<std::net::SocketAddrV6>),
        ("std::num::NonZeroI8", 0, schema_of::<std::num::NonZeroI8>),
        ("std::num::NonZeroI16", 0, schema_of::<std::num::NonZeroI16>),
        ("std::num::NonZeroI32", 0, schema_of::<std::num::NonZeroI32>),
        ("std::num::NonZeroI64", 0, schema_of::<std::num::NonZeroI64>),
        ("std::num::NonZeroI128", 0, schema_of::<std::num::NonZeroI128>),
        ("std::num::NonZeroIsize", 0, schema_of::<std::num::NonZeroIsize>),
        ("std::num::NonZeroU8", 0, schema_of::<std::num::NonZeroU8>),
        ("std::num::NonZeroU16", 0, schema_of::<std::num::NonZeroU16>),
        ("std::num::NonZeroU32", 0, schema_of::<std::num::NonZeroU32>),
        ("std::num::NonZeroU64", 0, schema_of::<std::num::NonZeroU64>),
        ("std::num::NonZeroU128", 0, schema_of::<std::num::NonZeroU128>),
        ("std::num::NonZeroUsize", 0, schema_of::<std::num::NonZeroUsize>),
        ("std::num::Wrapping", 1, schema_of::<std::num::Wrapping<A>>),
        ("std::ops::Bound", 1, schema_of::<std::ops::Bound<A>>),
        ("std::ops::Range", 1, schema_of::<std::ops::Range<A>>),
        ("std::ops::RangeInclusive", 1, schema_of::<std::ops::RangeInclusive<A>>),
        ("std::option::Option", 1, schema_of::<Option<A>>),
        ("std::path::Path", 0, schema_of::<std::path::Path>),
        ("std::path::PathBuf", 0, schema_of::<std::path::PathBuf>),
        ("std::rc::Rc", 1, schema_of::<std::rc::Rc<A>>),
        ("std::rc::Weak", 1, schema_of::<std::rc::Weak<A>>),
        ("std::result::Result", 2, schema_of::<Result<A, B>>),
        ("std::string::String", 0, schema_of::<String>),
        ("std::sync::Arc", 1, schema_of::<std::sync::Arc<A>>),
        ("std::sync::Mutex", 1, schema_of::<std::sync::Mutex<A>>),
        ("std::sync::RwLock", 1, schema_of::<std::sync::RwLock<A>>),
        ("std::sync::Weak", 1, schema_of::<std::sync::Weak<A>>),
        ("std::sync::atomic::AtomicBool", 0, schema_of::<std::sync::atomic::AtomicBool>),
        ("std::sync::atomic::AtomicI8", 0, schema_of::<std::sync::atomic::AtomicI8>),
        ("std::sync::atomic::AtomicI16", 0, schema_of::<std::sync::atomic::AtomicI16>),
        ("std::sync::atomic::AtomicI32", 0, schema_of::<std::sync::atomic::AtomicI32>),
        ("std::sync::atomic::AtomicI64", 0, schema_of::<std::sync::atomic::AtomicI64>),
        ("std::sync::atomic::AtomicIsize", 0, schema_of::<std::sync::atomic::AtomicIsize>),
        ("std::sync::atomic::AtomicU8", 0, schema_of::<std::sync::atomic::AtomicU8>),
        ("std::sync::atomic::AtomicU16", 0, schema_of::<std::sync::atomic::AtomicU16>),
        ("std::sync::atomic::AtomicU32", 0, schema_of::<std::sync::atomic::AtomicU32>),
        ("std::sync::atomic::AtomicU64", 0, schema_of::<std::sync::atomic::AtomicU64>),
        ("std::sync::atomic::AtomicUsize", 0, schema_of::<std::sync::atomic::AtomicUsize>),
        ("std::time::Duration", 0, schema_of::<std::time::Duration>),
        ("std::time::SystemTime", 0, schema_of::<std::time::SystemTime>),
        ("std::vec::Vec", 1, schema_of::<Vec<A>>),
        ("serde_json::Map", 2, schema_of::<BTreeMap<A, B>>),
        ("serde_json::Number", 0, schema_of::<serde_json::Number>),
        ("serde_json::Value", 0, schema_of::<serde_json::Value>),
        ("kube::core::Duration", 0, schema_of::<kube_core::Duration>),
        ("chrono::DateTime", 0, formatted!("date-time")),
        ("chrono::NaiveDate", 0, formatted!("date")),
        ("chrono::NaiveDateTime", 0, formatted!("partial-date-time")),
        ("chrono::NaiveTime", 0, formatted!("partial-time")),
        ("chrono::TimeDelta", 0, time_delta),
        ("chrono::Weekday", 0, weekday),
        ("either::Either", 2, either),
        ("indexmap::IndexMap", 2, schema_of::<BTreeMap<A, B>>),
        ("indexmap::IndexSet", 1, schema_of::<BTreeSet<A>>),
        ("jiff::SignedDuration", 0, formatted!("duration")),
        ("jiff::Span", 0, formatted!("duration")),
        ("jiff::Timestamp", 0, formatted!("date-time")),
        ("jiff::Zoned", 0, formatted!("zoned-date-time")),
        ("jiff::civil::Date", 0, formatted!("date")),
        ("jiff::civil::DateTime", 0, formatted!("partial-date-time")),
        ("jiff::civil::Time", 0, formatted!("partial-time")),
        // Its capacity is a constant, which `types` adds to this schema.
        ("arrayvec::ArrayVec", 1, schema_of::<Vec<A>>),
        ("arrayvec::ArrayString", 0, schema_of::<String>),
        ("bigdecimal::BigDecimal", 0, decimal),
        ("bytes::Bytes", 0, bytes),
        ("bytes::BytesMut", 0, bytes),
        ("rust_decimal::Decimal", 0, decimal),
        ("semver::Version", 0, version),
        // Its parameter is an array, and it is a list of the array's elements.
        ("smallvec::SmallVec", 1, small_vec),
        ("smol_str::SmolStr", 0, schema_of::<String>),
        ("url::Url", 0, formatted!("uri")),
        ("uuid::Uuid", 0, formatted!("uuid")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hole_behaves_like_the_type_that_it_stands_for() {
        let text = Shape::from(json_schema!({ "type": "string" }));
        let option = find(&canonical(vec!["core".into(), "option".into(), "Option".into()]), None).unwrap();
        let optional = option.shape(vec![text.clone()]).unwrap();
        assert_eq!(optional, schema_of::<Option<String>>());
        let vec = find(&["std".into(), "vec".into(), "Vec".into()], None).unwrap();
        assert_eq!(vec.shape(vec![optional]).unwrap(), schema_of::<Vec<Option<String>>>());
    }

    #[test]
    fn the_kinds_of_kubernetes_are_known_by_their_paths() {
        for path in
            ["k8s_openapi::api::core::v1::PodTemplateSpec", "k8s_openapi::apimachinery::pkg::api::resource::Quantity"]
        {
            assert!(is_known(&path.split("::").map(String::from).collect::<Vec<_>>()), "{path}");
        }
    }
}
