//! Reads operator-sdk projects with Helm or Ansible operators: watches.yaml, PROJECT, CRDs, samples, roles and
//! playbooks.
//!
//! Problems are [`Diagnostic`]s with locations: OP482 is an error, OP483 a warning about a setting without a
//! counterpart.

pub mod ansible;
pub mod diagnostics;
pub mod environment;
pub mod helm;
mod layout;
mod schema;
mod watches;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::project::{ReadError, Tree};
use opctl_model::yaml;

use crate::spec::Object;
use diagnostics::{OP482, OP483};
use layout::Sample;
pub use schema::{described, with_parameters};
pub use watches::Gvk;

/// The files that Helm and Ansible operators share.
pub struct Project {
    pub dir: PathBuf,
    /// The files in `dir`.
    tree: Tree,
    /// `None` without PROJECT.
    pub names: Option<Names>,
    /// `watches.yaml`.
    pub watches: Arc<SourceFile>,
    /// The CRDs with the paths of their files.
    crds: Vec<(String, Value)>,
    samples: Vec<Sample>,
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
    /// `true` for hybrid projects, which use helm-operator-plugins.
    pub fn is_hybrid(&self) -> bool {
        self.layout.to_string().contains("hybrid.helm")
    }
}

/// A CRD, in the version that is watched.
#[derive(Debug)]
pub struct Crd {
    pub path: String,
    pub existing: Existing,
    /// The other versions, by name, in the order of the CRD.
    pub others: Vec<(String, Existing)>,
    pub is_namespaced: bool,
    pub plural: Option<String>,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
}

/// The behavior of the API server for objects of an existing CRD, except for names.
#[derive(Clone, Debug, Default)]
pub struct Existing {
    /// `None` if the schema has no fields, so any value is valid.
    pub spec: Option<Object>,
    /// The fields that a role sets in the status.
    pub status: Object,
    /// Objects are valid without a spec.
    pub is_spec_optional: bool,
    /// The printer columns.
    pub columns: Vec<Value>,
    /// The `scale` subresource.
    pub scale: Option<Value>,
    /// JSON paths of the fields that field selectors may use.
    pub selectable: Vec<String>,
    /// etcd has the objects in another version.
    pub is_unstored: bool,
    /// Clients cannot use the version.
    pub is_unserved: bool,
    /// `Some(None)`: deprecated, with the default warning.
    pub deprecated: Option<Option<String>>,
}

impl Existing {
    /// `is_unpruned`: the API server keeps unknown fields.
    fn of(spec: &Value, version: &Value, is_unpruned: bool) -> Self {
        // `apiextensions.k8s.io/v1beta1` has one schema for all versions.
        let schemas = ["/schema/openAPIV3Schema", "/validation/openAPIV3Schema"];
        let mut schemas = [version, spec].into_iter().flat_map(|it| schemas.iter().filter_map(|path| it.pointer(path)));
        let mut schema = schemas.find(|it| it.is_object()).cloned().unwrap_or_default();
        if is_unpruned {
            schema::preserve_unknown_fields(&mut schema);
        }
        let schema: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
        let of_either = |name: &str| [version, spec].into_iter().map(|it| &it[name]).find(|it| !it.is_null());
        let required = schema.get("required").and_then(Value::as_array);
        let columns = of_either("additionalPrinterColumns").and_then(Value::as_array).into_iter().flatten();
        let selectable = version["selectableFields"].as_array().into_iter().flatten();
        let warning = || version["deprecationWarning"].as_str().map(str::to_owned);
        Self {
            spec: schema::spec(&schema),
            status: schema::status(&schema),
            is_spec_optional: !required.is_some_and(|names| names.iter().any(|name| name == "spec")),
            columns: columns.map(with_json_path).collect(),
            scale: of_either("subresources").and_then(|it| it.get("scale")).cloned(),
            selectable: selectable.filter_map(|it| it["jsonPath"].as_str().map(str::to_owned)).collect(),
            is_unstored: version["storage"] == false,
            is_unserved: version["served"] == false,
            deprecated: (version["deprecated"] == true).then(warning),
        }
    }
}

/// Converts a column of `v1beta1`, which spells `jsonPath` as `JSONPath`.
fn with_json_path(column: &Value) -> Value {
    let mut column = column.clone();
    if let Some(path) = column.as_object_mut().and_then(|column| column.remove("JSONPath")) {
        column["jsonPath"] = path;
    }
    column
}

impl Project {
    /// Reads the project in `dir`, with the watches at the path `watches` if it is given. Problems with other files are
    /// added to `found`.
    ///
    /// # Errors
    ///
    /// If watches.yaml does not exist or cannot be read.
    pub fn read(dir: &Path, watches: Option<&str>, found: &mut Vec<Diagnostic>) -> Result<Self, ReadError> {
        let tree = Tree::of_others(dir);
        let wrong = |path: &str, why: String| ReadError {
            path: dir.join(path).display().to_string(),
            source: io::Error::other(why),
        };
        let path = match watches {
            Some(path) => path.to_owned(),
            None => match layout::watches(&tree) {
                Ok(path) => path.unwrap_or_else(|| "watches.yaml".into()),
                Err(paths) => {
                    let why = format!("it does not exist; choose `--watches {}`", paths.join("` or `--watches "));
                    return Err(wrong("watches.yaml", why));
                }
            },
        };
        let text = tree.read(&path).map_err(|error| below(dir, error))?;
        let text = text.ok_or_else(|| wrong(&path, "it does not exist".into()))?;
        let watches = SourceFile::new(dir.join(&path).display().to_string(), text);
        let names = match read(&tree, "PROJECT", found) {
            Some(file) => {
                let values = parsed(&file, yaml::objects(&file.text), found).unwrap_or_default();
                let names = values.into_iter().next().map(serde_json::from_value);
                names.and_then(|names| parsed(&file, names, found))
            }
            None => None,
        };
        let crds = layout::crds(&tree, found).map_err(|error| below(dir, error))?;
        let samples = layout::samples(&tree, found).map_err(|error| below(dir, error))?;
        Ok(Self { dir: dir.to_owned(), tree, names, watches, crds, samples })
    }

    /// The CRD of a kind. Problems are added to `found`: no CRD, or features that opctl does not import.
    pub fn crd(&self, watch: &Gvk, found: &mut Vec<Diagnostic>) -> Option<Crd> {
        let mut wrong = |message: String, help: &str| {
            found.push(OP482.error(message).at(watch.span.clone(), "").help(help));
        };
        let is_it = |crd: &&(String, Value)| {
            crd.1["spec"]["group"] == watch.group.as_str() && crd.1["spec"]["names"]["kind"] == watch.kind.as_str()
        };
        let Some((path, crd)) = self.crds.iter().find(is_it) else {
            let message = format!("the project has no CRD of `{}` in `{}`", watch.kind, watch.group);
            wrong(message, "add it to config/crd/bases: `kubectl get crd NAME -o yaml` prints that of a cluster");
            return None;
        };
        let (spec, names) = (&crd["spec"], &crd["spec"]["names"]);
        let versions: Vec<&Value> = match spec["versions"].as_array() {
            Some(versions) => versions.iter().collect(),
            None => vec![],
        };
        let is_it = |name: &Value| name == watch.version.as_str();
        // `apiextensions.k8s.io/v1beta1` allows a single version without a list.
        let version = versions.iter().find(|version| is_it(&version["name"])).copied();
        let version = version.or_else(|| is_it(&spec["version"]).then_some(&Value::Null));
        let Some(version) = version else {
            let message = format!("the CRD of `{}` ({path}) has no version `{}`", watch.kind, watch.version);
            wrong(message, "correct the version");
            return None;
        };
        if version["served"] == false {
            let message =
                format!("the CRD of `{}` ({path}) does not serve the version `{}`", watch.kind, watch.version);
            wrong(message, "watch a version that is served");
        }
        for version in versions.iter().filter(|it| it["storage"] == true && it["served"] == false) {
            let name = version["name"].as_str().unwrap_or_default();
            let message =
                format!("the CRD of `{}` ({path}) stores objects in {name}, which it does not serve", watch.kind);
            wrong(
                message,
                "set `served: true` for this version in a copy of the project, or store a served version first",
            );
        }
        if spec["conversion"]["strategy"] == "Webhook" {
            let message =
                format!("a webhook converts objects of `{}` between the versions of its CRD ({path})", watch.kind);
            let help = "remove `conversion` in a copy of the project, import the copy, and write the conversion in Rust: `opctl create webhook --conversion`";
            wrong(message, help);
        }
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let is_first_version = crd["apiVersion"].as_str().is_some_and(|version| version.ends_with("/v1beta1"));
        let is_unpruned = spec["preserveUnknownFields"].as_bool().unwrap_or(is_first_version);
        let others = versions.iter().filter(|it| !is_it(&it["name"]));
        let others =
            others.filter_map(|it| Some((it["name"].as_str()?.to_owned(), Existing::of(spec, it, is_unpruned))));
        let crd = Crd {
            path: path.clone(),
            existing: Existing::of(spec, version, is_unpruned),
            others: others.collect(),
            is_namespaced: spec["scope"] != "Cluster",
            plural: names["plural"].as_str().map(str::to_owned),
            short_names: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
        };
        layout::report_other_crds(&self.crds, &crd, watch, found);
        Some(crd)
    }

    /// The sample files of a kind, and the spec of the first object. Files that the kustomization does not list are
    /// reported.
    pub fn samples(&self, watch: &Gvk, found: &mut Vec<Diagnostic>) -> (Vec<(String, String)>, Value) {
        let api_version = format!("{}/{}", watch.group, watch.version);
        let is_it =
            |object: &&Value| object["apiVersion"] == api_version.as_str() && object["kind"] == watch.kind.as_str();
        let of_kind = self.samples.iter().filter(|sample| sample.objects.first().as_ref().is_some_and(is_it));
        let (unlisted, of_kind): (Vec<&Sample>, Vec<&Sample>) = of_kind.partition(|sample| sample.is_unlisted);
        for sample in unlisted {
            let at = Span { file: sample.file.clone(), range: 0..0 };
            let help = "the kustomization does not list it, another sample has its name, or it is a template; copy it if it is needed";
            found.push(OP483.warning("this file was not imported").at(at, "").help(help));
        }
        let files = of_kind.iter().map(|sample| (sample.name.clone(), sample.file.text.clone()));
        let first = of_kind.iter().flat_map(|sample| &sample.objects).find(is_it);
        (files.collect(), first.map(|object| object["spec"].clone()).unwrap_or_default())
    }
}

/// The text of a file; `None` if it does not exist or cannot be read. The latter is reported.
fn read(tree: &Tree, path: &str, found: &mut Vec<Diagnostic>) -> Option<Arc<SourceFile>> {
    let text = tree.read(path).unwrap_or_else(|error| {
        found.push(below(tree.root(), error).into());
        None
    });
    text.map(|text| SourceFile::new(tree.root().join(path).to_string_lossy(), text))
}

/// The same error with the path from the working directory.
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
