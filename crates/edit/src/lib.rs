//! Narrow edits of files that the user owns: text in, text out, everything else stays byte for byte.
//!
//! After each edit, the new text is parsed again and must equal the old one plus the new item; otherwise the edit is
//! refused with the snippet to paste. An edit that is already made changes nothing. This crate knows files, not
//! Kubernetes.
//!
//! A parser finds the position, the edit is made in the text. A missing position is an error. List items are inserted
//! in sorted order, so the order of commands does not matter. [`plan`] collects edits and whole files, and is the only
//! module that writes.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod brackets;
mod cargo;
mod cargo_lock;
mod lines;
mod merge;
mod moves;
pub mod plan;
#[cfg(test)]
mod properties;
mod rust;
mod text;
mod undo;
mod yaml;

pub use cargo_lock::rename_package;
pub use merge::{Lines, Merged, changed_lines, marker, merge, with_lines};
pub use moves::{Moves, UnknownMove};
pub use rust::{
    Copied, Function, KindNames, Package, Renames, Versions, ends_of_types, function_at, texts_and_comments,
};
pub use yaml::documents;
pub use yaml::items as yaml_items;
pub use yaml::{YamlSequence, YamlStep};

/// A single edit, as data.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// `pub mod NAME;`, in rustfmt's order among its neighbours.
    RustMod { name: String },
    /// An element of the `vec![…]` at the end of the function, in sorted order: `fn all() -> Vec<_> { vec![ITEM] }`.
    RustListItem { function: String, item: String },
    /// `// COMMENT` above the function with this number (see [`function_at`]): after its docs and the comments with the
    /// same beginning, or in place of another comment.
    RustComment { function: usize, comment: String, instead_of: Option<String> },
    /// An argument such as `storage = false` in the `#[kube(…)]` of the type with this kind and version.
    KubeArgument { kind: String, version: String, argument: String },
    /// A plain string item in the block sequence under the top-level key `key`, in sorted order.
    YamlListItem { key: String, item: String },
    /// Removes such a string item; together with the key if it is the last one.
    NoYamlListItem { key: String, item: String },
    /// A mapping in the block sequence under the top-level key `key`. The keys `identity` identify an entry: an
    /// existing entry with the same values gets fields that are missing or differ; otherwise the entry is added, sorted
    /// by the values of `identity`. `fields` is the whole entry, written in alphabetical order as in kubebuilder.
    YamlEntry { key: String, identity: Vec<String>, fields: serde_json::Map<String, serde_json::Value> },
    /// Replaces the document with the same values at the JSON pointers `identity`, or appends `document` to the file.
    /// Everything around the old document stays; comments in it are an error, unless the edit is [forced](Edit::force).
    YamlDocument { document: serde_json::Value, identity: Vec<String>, format: documents::Format },
    /// An item of a sequence anywhere in a file: in order if the sequence is sorted, else at the end.
    YamlItem { sequence: YamlSequence, item: serde_json::Value },
    /// A member in `[workspace] members` of a Cargo.toml, unless it is already listed. Globs are not expanded.
    CargoMember { path: String },
    /// A folder in `[workspace] exclude` of a Cargo.toml, unless it is listed as a member.
    CargoExclude { path: String },
    /// The version of a dependency of a Cargo.toml, with or without a path, wherever it is listed. A missing dependency
    /// is added to `[dependencies]` with `features`.
    CargoSource { package: String, version: String, path: Option<String>, features: Vec<String> },
    /// A feature of a dependency in `[dependencies]` of a Cargo.toml, in the list of its features.
    CargoFeature { dependency: String, feature: String },
    /// The contiguous lines that differ between `before` and `after`, two renderings of one template.
    Lines { before: String, after: String },
    /// Undoes an edit. `base` is the initial text of the file, if the edit may have created it.
    Undo { edit: Box<Edit>, base: Option<String> },
}

/// The reason why an edit was refused, and the snippet to paste.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct EditError {
    pub reason: String,
    /// Line and column (1-based) of the problem in the file.
    pub at: Option<(usize, usize)>,
    /// The next step, including the text to paste.
    pub help: String,
}

impl Edit {
    /// `true` for an edit that is part of the scaffold: a new rendering of the templates contains its lines. The lines
    /// of other edits count as the user's.
    pub fn is_scaffolded(&self) -> bool {
        !matches!(self, Self::RustComment { .. } | Self::YamlDocument { .. } | Self::YamlItem { .. })
    }

    /// The text before the edit, which [`apply`](Self::apply) turns into `text`. A text without the edit is returned
    /// unchanged. `base` is the initial text of the file, if the edit may have created it.
    pub fn undo(&self, text: &str, base: Option<&str>) -> Result<String, EditError> {
        behind_mark(text, |text| undo::undo(self, text, base))
    }

    /// The text with the edit; equal to `text` if the edit is already made.
    pub fn apply(&self, text: &str) -> Result<String, EditError> {
        behind_mark(text, |text| self.apply_to(text))
    }

    /// Like [`apply`](Self::apply), but may drop lines of the user. For edits that cannot be forced, the errors are the
    /// same.
    pub fn force(&self, text: &str) -> Result<String, EditError> {
        match self {
            Self::YamlDocument { document, identity, format } => {
                let target = documents::Target { document, identity, format: *format };
                behind_mark(text, |text| target.put(text, true))
            }
            _ => self.apply(text),
        }
    }

    fn apply_to(&self, text: &str) -> Result<String, EditError> {
        match self {
            Self::RustMod { name } => rust::add_mod(text, name),
            Self::RustListItem { function, item } => rust::add_list_item(text, function, item),
            Self::RustComment { function, comment, instead_of } => {
                rust::add_comment(text, *function, comment, instead_of.as_deref())
            }
            Self::KubeArgument { kind, version, argument } => rust::add_argument(text, kind, version, argument),
            Self::YamlListItem { key, item } => yaml::add_item(text, key, item),
            Self::NoYamlListItem { key, item } => yaml::remove_item(text, key, item),
            Self::YamlEntry { key, identity, fields } => yaml::add_entry(text, key, identity, fields),
            Self::YamlDocument { document, identity, format } => {
                documents::Target { document, identity, format: *format }.put(text, false)
            }
            Self::YamlItem { sequence, item } => sequence.add(text, item),
            Self::CargoMember { path } => cargo::add_member(text, path),
            Self::CargoExclude { path } => cargo::add_excluded(text, path),
            Self::CargoSource { package, version, path, features } => {
                cargo::set_source(text, package, version, path.as_deref(), features)
            }
            Self::CargoFeature { dependency, feature } => cargo::add_feature(text, dependency, feature),
            Self::Lines { before, after } => lines::change(text, before, after),
            Self::Undo { edit, base } => undo::undo(edit, text, base.as_deref()),
        }
    }
}

/// Edits the text after a byte order mark, which is kept.
fn behind_mark(text: &str, edit: impl FnOnce(&str) -> Result<String, EditError>) -> Result<String, EditError> {
    match text.strip_prefix('\u{feff}') {
        Some(text) => Ok(format!("\u{feff}{}", edit(text)?)),
        None => edit(text),
    }
}
