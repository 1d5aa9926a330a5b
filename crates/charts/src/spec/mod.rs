//! The schema of a spec that is not declared in Rust, such as the values of a Helm chart → Rust types, and a sample.
//! Also the kinds that are known without a cluster.

mod comments;
mod kinds;
mod sample;
mod types;

use serde_json::{Map, Value};

/// The maximum number of fields of an object. An API server stores at most 1.5 MB of a CRD.
pub const MOST_FIELDS: usize = 2_000;

pub use comments::{Key, keys};
pub use kinds::{Known, Written, group, written};
pub use sample::{required, sample};
pub use types::{Types, meta_list, types};

/// The words for the source of a spec in comments and messages.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// `chart`
    pub source: &'static str,
    /// The input of the source: `values`.
    pub values: &'static str,
    /// The name of the status type, which no type of the spec may have.
    pub status: &'static str,
}

/// The accepted values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// On one line; empty if there is none.
    pub comment: String,
    /// The value that applies if the field is not set.
    pub default: Option<Value>,
    pub kind: Kind,
    /// Set for a field of an existing CRD: the keywords that `kind` does not express. Such a field keeps its behavior:
    /// the API server sets the default, and drops null unless these keywords have `nullable`.
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

/// Inclusive bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range<T> {
    pub min: Option<T>,
    pub max: Option<T>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    pub fields: Vec<Field>,
    /// Unknown keys are accepted.
    pub is_open: bool,
    /// Keywords of the type itself, as in [`Schema::keywords`].
    pub keywords: Map<String, Value>,
}

impl Object {
    /// The same fields, each accepting any value.
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
