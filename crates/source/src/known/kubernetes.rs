//! The types of each release of k8s-openapi, for each version of Kubernetes that it offers: path → schema and default
//! value.
//!
//! They are read from `kubernetes.txt`, which `tests/thorough/kubernetes_types.rs` generates from k8s-openapi's
//! sources and compares with its compiled types. A type is a block; blocks are sorted by path and separated by an
//! empty line:
//!
//! ```text
//! api::apps::v1::Deployment
//! & ["apps","v1","Deployment","deployments",true]
//! * {"description":"…","type":"object"}
//! = {}
//! spec {"$ref":"api::apps::v1::DeploymentSpec","description":"…"}
//! status!@-36 {"$ref":"api::apps::v1::DeploymentStatus","description":"…"}
//! status@37- {"$ref":"api::apps::v1::DeploymentStatus","description":"…"}
//! ```
//!
//! `*` is the schema without its properties, `=` the type's `Default` as JSON, `&` the kind of its objects: group,
//! version, kind, plural, and `true` if they are namespaced. Every other line is a property, with `!` if it is
//! required. After `@` are the minor versions that have the type or, if not all of these have it, the line: `36-37`,
//! and `36:28.0` if the releases of k8s-openapi differ for that version. `$ref` refers to the schema of another type,
//! and its sibling keys replace those of that schema.

use std::cell::RefCell;
use std::collections::HashMap;

use schemars::Schema;
use serde_json::{Map, Value};

use opctl_model::versions::{K8S_OPENAPI, Release};

const TABLE: &str = include_str!("kubernetes.txt");

/// Offsets of the blocks, from `build.rs`. The first block of the table is a comment.
const STARTS: &[usize] = &include!(concat!(env!("OUT_DIR"), "/kubernetes.rs"));

/// One release of k8s-openapi with one minor version of Kubernetes 1, as its build script selects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor {
    number: u8,
    release: Release, // Invariant: one of `K8S_OPENAPI`, and it has this version.
}

impl Minor {
    /// All pairs of the table, in its order.
    pub fn all() -> Vec<Self> {
        let of_release = |(release, (first, last)): &(Release, (u8, u8))| {
            let release = *release;
            (*first..=*last).map(move |number| Self { number, release })
        };
        let mut all: Vec<Self> = K8S_OPENAPI.iter().flat_map(of_release).collect();
        all.sort();
        all
    }

    /// The version that a feature of a release selects; `None` if the release does not have it.
    pub fn of_feature(release: Release, feature: &str) -> Option<Self> {
        let (release, (first, last)) = *K8S_OPENAPI.iter().rfind(|(known, _)| *known <= release)?;
        let number = match feature {
            "earliest" => first,
            "latest" => last,
            _ => feature.strip_prefix("v1_")?.parse().ok().filter(|number| (first..=last).contains(number))?,
        };
        Some(Self { number, release })
    }

    /// The earliest version that the same release offers.
    pub fn earliest(self) -> Self {
        Self::of_feature(self.release, "earliest").unwrap_or(self)
    }

    /// The minor version: `37` of 1.37.
    pub fn number(self) -> u8 {
        self.number
    }

    pub fn release(self) -> Release {
        self.release
    }

    /// Splits `status@37-` into `status` and a flag that is `true` if the range has this version: one of `-34`,
    /// `35:27.1-36`, `37-`.
    fn of(self, text: &str) -> (&str, bool) {
        let Some((name, ranges)) = text.split_once('@') else { return (text, true) };
        let own = (self.number, (self.release.1, self.release.2));
        let is_within = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            end(first, (0, 0)).is_none_or(|first| first <= own)
                && end(last, (u64::MAX, 0)).is_none_or(|last| own <= last)
        };
        (name, ranges.split(',').any(is_within))
    }
}

/// An end of a range: `36` for all releases, or `36:28.0` for one of them; `None` if it is open.
fn end(text: &str, whole: (u64, u64)) -> Option<(u8, (u64, u64))> {
    let Some((number, release)) = text.split_once(':') else { return Some((text.parse().ok()?, whole)) };
    let (minor, patch) = release.split_once('.')?;
    Some((number.parse().ok()?, (minor.parse().ok()?, patch.parse().ok()?)))
}

impl std::fmt::Display for Minor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "1.{}", self.number)
    }
}

/// A type in one version of Kubernetes.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    minor: Minor,
    path: &'static str,
    lines: &'static str,
}

/// A kind of Kubernetes itself, with its names in URLs and roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// `""` is the core group.
    pub group: &'static str,
    pub version: &'static str,
    pub name: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
}

/// The reason why a type has no schema for a CRD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSchema {
    /// It does not implement `JsonSchema`.
    NotImplemented,
    /// It contains itself.
    Recursive,
}

/// The type with a path below `k8s_openapi`, if this version of Kubernetes has it.
pub fn find(minor: Minor, path: &str) -> Option<Type> {
    let (head, lines) = block(path)?.split_once('\n')?;
    let (path, exists) = minor.of(head);
    exists.then_some(Type { minor, path, lines })
}

/// `true` if any version has this type.
pub fn has(path: &str) -> bool {
    block(path).is_some()
}

/// The kind of a type, in any version of Kubernetes. Subresources (`Eviction`, `Scale`, `TokenRequest`) are not kinds
/// in this sense: their only URL is that of the parent object.
pub fn kind(path: &str) -> Option<Kind> {
    block(path)?.lines().find_map(kind_in)
}

/// All kinds of all versions of Kubernetes.
pub fn kinds() -> impl Iterator<Item = Kind> {
    TABLE.lines().filter_map(kind_in)
}

/// The kind in a `&` line, which is the same in all versions.
fn kind_in(line: &'static str) -> Option<Kind> {
    let fields = serde_json::from_str(line.strip_prefix("& ")?);
    let (group, version, name, plural, namespaced) = fields.expect("`tests/thorough/kubernetes_types.rs` writes these");
    Some(Kind { group, version, name, plural, namespaced })
}

/// All paths of the table.
pub fn paths() -> impl Iterator<Item = &'static str> {
    STARTS.iter().map(|start| path_at(*start))
}

/// The block that begins with `path`.
fn block(path: &str) -> Option<&'static str> {
    let at = STARTS.binary_search_by(|start| path_at(*start).cmp(path)).ok()?;
    let end = STARTS.get(at + 1).map_or(TABLE.len(), |next| *next);
    Some(TABLE[STARTS[at]..end].trim_end_matches('\n'))
}

/// The path at the start of a block.
fn path_at(start: usize) -> &'static str {
    TABLE[start..].split(['@', '\n']).next().unwrap_or_default()
}

struct Line {
    name: &'static str,
    required: bool,
    json: &'static str,
}

impl Line {
    fn value(&self) -> Value {
        serde_json::from_str(self.json).expect("`tests/thorough/kubernetes_types.rs` writes JSON")
    }
}

impl Type {
    pub fn schema(self) -> Result<Schema, NoSchema> {
        type Made = Result<Schema, NoSchema>;
        thread_local! {
            /// A cache: many kinds have types such as conditions in common.
            static MADE: RefCell<HashMap<(Minor, &'static str), Made>> = RefCell::default();
        }
        let made = MADE.with_borrow(|made| made.get(&(self.minor, self.path)).cloned());
        made.unwrap_or_else(|| {
            let schema = Expansion::default().schema(self);
            let schema = schema.map(|schema| Schema::try_from(schema).expect("the table has objects"));
            MADE.with_borrow_mut(|made| made.insert((self.minor, self.path), schema.clone()));
            schema
        })
    }

    /// `T::default()` as JSON; `None` if the type has no `Default`.
    pub fn default_value(self) -> Option<Value> {
        self.lines().find(|line| line.name == "=").map(|line| line.value())
    }

    /// A field by its name in Rust: the property, a flag that is `true` if it is required, and its Rust type if that
    /// is known.
    pub fn field(self, ident: &str) -> Option<(&'static str, bool, Option<String>)> {
        // k8s-openapi names the fields `clusterIPs` and `type` `cluster_ips` and `type_`.
        let plain = |name: &str| name.replace('_', "").to_lowercase();
        let mut found = self.lines().filter(|line| plain(line.name) == plain(ident));
        match (found.next(), found.next()) {
            (Some(line), None) => Some((line.name, line.required, rust_type(&line.value()))),
            _ => None,
        }
    }

    fn lines(self) -> impl Iterator<Item = Line> {
        self.lines.lines().filter_map(move |line| {
            let (key, json) =
                line.split_once(' ').expect("`tests/thorough/kubernetes_types.rs` writes a value for each name");
            let (name, exists) = self.minor.of(key);
            let (name, required) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
            exists.then_some(Line { name, required, json })
        })
    }
}

/// The Rust type of k8s-openapi for a schema of the table.
fn rust_type(schema: &Value) -> Option<String> {
    if let Some(path) = schema["$ref"].as_str() {
        return Some(format!("::k8s_openapi::{path}"));
    }
    Some(match (schema["type"].as_str()?, schema["format"].as_str()) {
        ("string", None) => "::std::string::String".into(),
        ("boolean", None) => "bool".into(),
        ("integer", Some("int32")) => "i32".into(),
        ("integer", Some("int64")) => "i64".into(),
        ("number", Some("double")) => "f64".into(),
        ("array", None) => format!("::std::vec::Vec<{}>", rust_type(&schema["items"])?),
        ("object", None) => {
            format!(
                "::std::collections::BTreeMap<::std::string::String, {}>",
                rust_type(&schema["additionalProperties"])?
            )
        }
        _ => return None,
    })
}

/// Expands references to other schemas; each type is expanded once.
#[derive(Default)]
struct Expansion {
    /// The types that are being expanded, outermost first.
    open: Vec<&'static str>,
    done: HashMap<&'static str, Value>,
}

impl Expansion {
    fn schema(&mut self, ty: Type) -> Result<Value, NoSchema> {
        if self.open.contains(&ty.path) {
            return Err(NoSchema::Recursive);
        }
        self.open.push(ty.path);
        let mut schema = Err(NoSchema::NotImplemented);
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for line in ty.lines().filter(|line| !matches!(line.name, "=" | "&")) {
            let mut value = line.value();
            self.expand(ty.minor, &mut value)?;
            if line.name == "*" {
                schema = Ok(value);
            } else {
                properties.insert(line.name.into(), value);
                required.extend(line.required.then(|| Value::from(line.name)));
            }
        }
        let mut schema = schema?;
        if !properties.is_empty() {
            schema["properties"] = properties.into();
        }
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        self.open.pop();
        self.done.insert(ty.path, schema.clone());
        Ok(schema)
    }

    /// Replaces references by the schemas.
    fn expand(&mut self, minor: Minor, value: &mut Value) -> Result<(), NoSchema> {
        match value {
            Value::Object(map) => {
                let Some(path) = map.remove("$ref") else {
                    return map.values_mut().try_for_each(|value| self.expand(minor, value));
                };
                let path = path.as_str().expect("`$ref` is a path");
                let mut schema = match self.done.get(path) {
                    Some(done) => done.clone(),
                    None => self.schema(find(minor, path).expect("the table has what it names"))?,
                };
                schema.as_object_mut().expect("the table has objects").append(map);
                *value = schema;
                Ok(())
            }
            Value::Array(list) => list.iter_mut().try_for_each(|value| self.expand(minor, value)),
            _ => Ok(()),
        }
    }
}
