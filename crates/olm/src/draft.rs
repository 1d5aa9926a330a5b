//! A bundle under construction: its files, the fate of each object, and findings.
//!
//! An object that no code has claimed is reported, so nothing is lost silently.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::object::Object;
use opctl_model::diagnostic::Diagnostic;

/// The destination of a part of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// A field of the CSV.
    Csv(&'static str),
    /// A file of `manifests/`.
    File(String),
    /// Replaced by OLM; contains its action.
    Olm(String),
    /// Replaced by the operator; contains its action.
    Operator(&'static str),
    /// Not in the bundle.
    Dropped,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Csv(field) => write!(f, "CSV, {field}"),
            Self::File(name) => write!(f, "manifests/{name}"),
            Self::Olm(what) => write!(f, "OLM {what}"),
            Self::Operator(what) => write!(f, "the operator {what}"),
            Self::Dropped => f.write_str("not in the bundle"),
        }
    }
}

/// An object and its destinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Kind, group, namespace and name.
    pub key: [String; 4],
    pub fates: Vec<Fate>,
}

#[derive(Debug)]
pub struct Draft<'a> {
    pub objects: &'a [Object],
    pub files: BTreeMap<String, Value>,
    fates: Vec<BTreeSet<Fate>>,
    pub findings: Vec<Diagnostic>,
}

impl<'a> Draft<'a> {
    pub fn new(objects: &'a [Object]) -> Self {
        let fates = vec![BTreeSet::new(); objects.len()];
        Self { objects, files: BTreeMap::new(), fates, findings: Vec::new() }
    }

    /// The objects of a kind, with their indexes.
    pub fn all(&self, group: &str, kind: &str) -> impl Iterator<Item = (usize, &'a Object)> {
        self.objects.iter().enumerate().filter(move |(_, object)| object.is(group, kind))
    }

    pub fn went(&mut self, object: usize, fate: Fate) {
        self.fates[object].insert(fate);
    }

    pub fn is_settled(&self, object: usize) -> bool {
        !self.fates[object].is_empty()
    }

    /// `true` if no part of an object is in the bundle.
    pub fn is_replaced(&self, object: usize) -> bool {
        self.fates[object].iter().all(|fate| matches!(fate, Fate::Olm(_) | Fate::Operator(_) | Fate::Dropped))
    }

    /// Drops an object that a bundle cannot contain; `finding` has the reason.
    pub fn drop(&mut self, object: usize, finding: Diagnostic) {
        self.went(object, Fate::Dropped);
        self.findings.push(finding);
    }

    /// Writes an object, or its remaining part, to a file.
    pub fn keep(&mut self, object: usize, mut value: Value) {
        let it = &self.objects[object];
        // OLM sets the namespace, and rejects files with one.
        if let Some(metadata) = value["metadata"].as_object_mut() {
            metadata.remove("namespace");
        }
        let name = file_name(it);
        let taken = |name: &String| self.files.contains_key(name);
        let mut free = name.clone();
        let mut number = 0;
        while taken(&free) {
            number += 1;
            free = format!("dup{number}_{name}");
        }
        self.files.insert(free.clone(), value);
        self.went(object, Fate::File(free));
    }

    pub fn finish(self) -> (BTreeMap<String, Value>, Vec<Row>, Vec<Diagnostic>) {
        let row = |(object, fates): (&Object, BTreeSet<Fate>)| Row {
            key: object.key().map(str::to_owned),
            fates: fates.into_iter().collect(),
        };
        let rows = self.objects.iter().zip(self.fates).map(row).filter(|row| !row.fates.is_empty()).collect();
        (self.files, rows, self.findings)
    }
}

/// The file name that operator-sdk uses.
fn file_name(object: &Object) -> String {
    let kind = object.kind().to_lowercase();
    if kind == "customresourcedefinition" {
        return format!("{}_{}.yaml", object.text("/spec/group"), object.text("/spec/names/plural"));
    }
    // Names of roles may contain `:`, which is not portable in file names.
    let name = object.name().replace(':', "-");
    match object.group() {
        "" => format!("{name}_{}_{kind}.yaml", object.version()),
        group => format!("{name}_{group}_{}_{kind}.yaml", object.version()),
    }
}
