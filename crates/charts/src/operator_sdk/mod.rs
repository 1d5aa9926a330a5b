//! Reads projects of operator-sdk's Helm and Ansible operators: watches.yaml, PROJECT, CRDs, samples, roles and playbooks.
//!
//! Problems are [`Diagnostic`]s at their places: OP482 is an error, OP483 a warning about something that has no counterpart.

pub mod ansible;
pub mod diagnostics;
pub mod helm;
mod watches;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::{ReadError, Tree, join};
use opctl_model::yaml;

use diagnostics::{OP482, OP483};
pub use watches::Gvk;

/// The files that Helm and Ansible operators have in common.
pub struct Project {
    pub dir: PathBuf,
    /// The files in `dir`.
    tree: Tree,
    /// `None` if there is no PROJECT.
    pub names: Option<Names>,
    /// `watches.yaml`.
    pub watches: Arc<SourceFile>,
    /// The CRDs, with their paths.
    crds: Vec<(String, Value)>,
    /// The names and the texts of files, and the objects in each.
    samples: Vec<(String, String, Vec<Value>)>,
}

/// The fields of PROJECT that an import uses.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Names {
    #[serde(default)]
    pub project_name: String,
    #[serde(default)]
    pub domain: String,
    #[serde(default)]
    layout: Value,
}

impl Names {
    /// Returns true for hybrid projects, which use helm-operator-plugins.
    pub fn is_hybrid(&self) -> bool {
        self.layout.to_string().contains("hybrid.helm")
    }
}

/// A CRD without its schema.
#[derive(Debug)]
pub struct Crd {
    pub path: String,
    pub is_namespaced: bool,
    pub plural: Option<String>,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
}

impl Project {
    /// Reads the project in `dir`, and adds problems with files other than watches.yaml to `found`.
    ///
    /// # Errors
    ///
    /// If watches.yaml does not exist, or cannot be read.
    pub fn read(dir: &Path, found: &mut Vec<Diagnostic>) -> Result<Self, ReadError> {
        let path = dir.join("watches.yaml").display().to_string();
        let tree = Tree::of_others(dir);
        let text = tree.read("watches.yaml").map_err(|error| below(dir, error))?;
        let missing = || ReadError { path: path.clone(), source: io::Error::other("it does not exist") };
        let watches = SourceFile::new(&path, text.ok_or_else(missing)?);
        let names = match read(&tree, "PROJECT", found) {
            Some(file) => {
                let values = parsed(&file, yaml::objects(&file.text), found).unwrap_or_default();
                let names = values.into_iter().next().map(serde_json::from_value);
                names.and_then(|names| parsed(&file, names, found))
            }
            None => None,
        };
        let mut crds = Vec::new();
        for (_, file) in files(&tree, "config/crd/bases", found) {
            let objects = parsed(&file, yaml::objects(&file.text), found).unwrap_or_default();
            crds.extend(objects.into_iter().map(|crd| (file.path.clone(), crd)));
        }
        let mut samples = Vec::new();
        for (name, file) in files(&tree, "config/samples", found) {
            if name != "kustomization.yaml" {
                let objects = parsed(&file, yaml::objects(&file.text), found).unwrap_or_default();
                samples.push((name, file.text.clone(), objects));
            }
        }
        Ok(Self { dir: dir.to_owned(), tree, names, watches, crds, samples })
    }

    /// The CRD of a kind. Adds to `found` if it is missing, or has more than opctl imports.
    pub fn crd(&self, watch: &Gvk, found: &mut Vec<Diagnostic>) -> Option<Crd> {
        let mut wrong = |message: String, help: &str| {
            found.push(OP482.error(message).at(watch.span.clone(), "").help(help));
        };
        let is_it = |crd: &&(String, Value)| {
            crd.1["spec"]["group"] == watch.group.as_str() && crd.1["spec"]["names"]["kind"] == watch.kind.as_str()
        };
        let Some((path, crd)) = self.crds.iter().find(is_it) else {
            let message = format!("config/crd/bases has no CRD of `{}` in `{}`", watch.kind, watch.group);
            wrong(message, "add it: `kubectl get crd NAME -o yaml` prints that of a cluster");
            return None;
        };
        let (spec, names) = (&crd["spec"], &crd["spec"]["names"]);
        let versions: Vec<&Value> = spec["versions"].as_array().into_iter().flatten().collect();
        let others: Vec<&str> =
            versions.iter().filter_map(|it| it["name"].as_str()).filter(|name| *name != watch.version).collect();
        if others.len() == versions.len() {
            let message = format!("the CRD of `{}` ({path}) has no version `{}`", watch.kind, watch.version);
            wrong(message, "correct the version");
        } else if !others.is_empty() {
            let message = format!("the CRD of `{}` ({path}) has more versions: {}", watch.kind, others.join(", "));
            let help = "`opctl create api --version VERSION --controller=false` adds them; the API server keeps versions of stored objects";
            found.push(OP483.warning(message).at(watch.span.clone(), "").help(help));
        }
        let of_spec = "/schema/openAPIV3Schema/properties/spec/properties";
        if versions.iter().any(|it| it["name"] == watch.version.as_str() && it.pointer(of_spec).is_some()) {
            let message = format!("the fields that {path} has for the spec of `{}` were not imported", watch.kind);
            let help = "the type takes any value; give fields types where the API server should check them";
            found.push(OP483.warning(message).at(watch.span.clone(), "").help(help));
        }
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Some(Crd {
            path: path.clone(),
            is_namespaced: spec["scope"] != "Cluster",
            plural: names["plural"].as_str().map(str::to_owned),
            short_names: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
        })
    }

    /// The files with samples of a kind, and the spec of the first object.
    pub fn samples(&self, watch: &Gvk) -> (Vec<(String, String)>, Value) {
        let api_version = format!("{}/{}", watch.group, watch.version);
        let is_it =
            |object: &&Value| object["apiVersion"] == api_version.as_str() && object["kind"] == watch.kind.as_str();
        let of_kind = self.samples.iter().filter(|(.., objects)| objects.first().as_ref().is_some_and(is_it));
        let files: Vec<(String, String)> = of_kind.map(|(name, text, _)| (name.clone(), text.clone())).collect();
        let first = self.samples.iter().flat_map(|(.., objects)| objects).find(is_it);
        (files, first.map(|object| object["spec"].clone()).unwrap_or_default())
    }
}

/// The text of a file; `None` if it does not exist, or cannot be read, which is reported.
fn read(tree: &Tree, path: &str, found: &mut Vec<Diagnostic>) -> Option<Arc<SourceFile>> {
    let text = tree.read(path).unwrap_or_else(|error| {
        found.push(below(tree.root(), error).into());
        None
    });
    text.map(|text| SourceFile::new(tree.root().join(path).to_string_lossy(), text))
}

/// The YAML files in a folder, by name.
fn files(tree: &Tree, folder: &str, found: &mut Vec<Diagnostic>) -> Vec<(String, Arc<SourceFile>)> {
    let paths = tree.files_below(folder).unwrap_or_else(|error| {
        found.push(below(tree.root(), error).into());
        Vec::new()
    });
    let names = paths.iter().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
    let is_yaml = |name: &&str| !name.contains('/') && (name.ends_with(".yaml") || name.ends_with(".yml"));
    names.filter(is_yaml).filter_map(|name| Some((name.to_owned(), read(tree, &join(folder, name), found)?))).collect()
}

/// The same error with a path that the user can open.
fn below(dir: &Path, error: ReadError) -> ReadError {
    ReadError { path: dir.join(&error.path).display().to_string(), ..error }
}

fn parsed<T, E: std::fmt::Display>(
    file: &Arc<SourceFile>,
    result: Result<T, E>,
    found: &mut Vec<Diagnostic>,
) -> Option<T> {
    let report = |error: E| {
        let at = Span { file: file.clone(), range: 0..0 };
        found.push(OP482.error(format!("cannot read this file: {error}")).at(at, "").help("correct it"));
    };
    result.map_err(report).ok()
}
