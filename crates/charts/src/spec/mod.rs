//! What the spec of a kind may be that is not written in Rust, such as the values of a Helm chart → Rust types, and a sample. Also what
//! is known of other kinds without a cluster.

mod comments;
mod kinds;
mod sample;
mod types;

use serde_json::{Map, Value};

/// The most fields of an object. An API server stores at most 1.5 MB of a CRD.
pub const MOST_FIELDS: usize = 2_000;

pub use comments::{Key, keys};
pub use kinds::{Known, Written, group, written};
pub use sample::{required, sample};
pub use types::{Types, types};

/// How people call what the spec is for.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// `chart`
    pub source: &'static str,
    /// What it takes: `values`.
    pub values: &'static str,
    /// The type of the status, which the types of the spec cannot be called.
    pub status: &'static str,
}

/// What a value may be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// In one line; empty: none.
    pub comment: String,
    /// What applies if it is not set.
    pub default: Option<Value>,
    pub kind: Kind,
    /// Set if this is from an existing CRD, which stays as it is: the API server sets the default, and drops null unless the keywords
    /// have `nullable`. They are those that the kind does not express.
    pub keywords: Option<Map<String, Value>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum Kind {
    #[default]
    Any,
    Boolean,
    Integer(Range<i64>),
    Number(Range<f64>),
    Text {
        length: Range<u64>,
        pattern: Option<String>,
    },
    Choice(Vec<String>),
    IntegerOrText,
    List(Box<Schema>, Range<u64>),
    Map(Box<Schema>),
    Object(Object),
}

/// Bounds, which are included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range<T> {
    pub min: Option<T>,
    pub max: Option<T>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    pub fields: Vec<Field>,
    /// Other keys are allowed, too.
    pub is_open: bool,
    /// Of the type itself, as in [`Schema::keywords`].
    pub keywords: Map<String, Value>,
}

impl Object {
    /// The same fields, which take any value.
    #[must_use]
    pub fn opened(self) -> Self {
        let fields = self.fields.into_iter().map(|field| Field {
            schema: Schema { kind: Kind::Any, ..field.schema },
            is_required: false,
            ..field
        });
        Self { fields: fields.collect(), is_open: true, keywords: self.keywords }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub schema: Schema,
    pub is_required: bool,
}
