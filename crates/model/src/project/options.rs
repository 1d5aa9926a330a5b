//! The arguments of `create api` that PROJECT stores, so that the scaffold can be rendered again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::names::{ControllerName, Version};

/// `options` of a resource. In the file, they also contain those of named controllers, which are a [`Controller`] in
/// memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    /// `owns`, `watches` and `finalizer` are those of the controller named after the kind. Format:
    /// `GROUP/VERSION/KIND`.
    pub owns: Vec<String>,
    pub watches: Vec<String>,
    pub finalizer: bool,
    #[serde(flatten)]
    pub workload: WorkloadOptions,
    /// The folder of the chart in `helm-charts`.
    pub helm_chart: Option<String>,
    pub helm_chart_repo: Option<String>,
    pub helm_chart_version: Option<String>,
    /// Format: `KIND.GROUP=PLURAL`.
    pub helm_kinds: Vec<String>,
    /// The kind was imported from an operator-sdk project, so its type accepts any value.
    pub helm_imported: bool,
    pub ansible_role: Option<String>,
    /// Path in the project.
    pub ansible_playbook: Option<String>,
    /// Like `helm_imported`.
    pub ansible_imported: bool,
    /// The version from which the type was copied.
    pub from: Option<Version>,
    /// Other files that were copied with the type, as paths from the folder of the version.
    pub copied: Vec<String>,
    /// `Some(false)`: the API server no longer serves the version, which is the first step of its removal.
    pub served: Option<bool>,
    /// Options that this opctl does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The container to run for each object of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadOptions {
    pub image: Option<String>,
    pub container_port: Option<u16>,
    pub container_command: Vec<String>,
    pub run_as_user: Option<i64>,
}

/// A controller with a name other than the kind's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    pub name: ControllerName,
    pub options: ControllerOptions,
}

/// `options.controllers.NAME` of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllerOptions {
    /// `short_names` and `categories` of the type, if it was created together with the controller.
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub owns: Vec<String>,
    pub watches: Vec<String>,
    pub finalizer: bool,
    /// The controller runs the image of the resource. Further versions of a kind also have the image in their options,
    /// but only the controller of one version runs it.
    pub image: bool,
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Options {
    /// The options that are set, in the format of PROJECT.
    pub fn fields(&self) -> Map<String, Value> {
        fields(self)
    }

    /// Overrides the options that are set in `other`.
    pub fn extend(&mut self, other: &Self) {
        let mut all = self.fields();
        all.extend(other.fields());
        *self = serde_json::from_value(all.into()).expect("each of them is an option");
    }
}

impl ControllerOptions {
    /// The options of a named controller in the arguments of `create api`.
    pub fn of(arguments: &Options) -> Self {
        let Options { short_names, categories, owns, watches, finalizer, workload, .. } = arguments.clone();
        let image = workload.image.is_some();
        Self { short_names, categories, owns, watches, finalizer, image, unknown: Map::new() }
    }

    /// The options that are set, in the format of PROJECT.
    pub fn fields(&self) -> Map<String, Value> {
        fields(self)
    }
}

impl Controller {
    /// The arguments of `create api` for the controller: the inverse of [`ControllerOptions::of`]. The image is that of
    /// the resource.
    pub fn arguments(&self, workload: &WorkloadOptions) -> Options {
        let ControllerOptions { short_names, categories, owns, watches, finalizer, image, .. } = self.options.clone();
        let workload = if image { workload.clone() } else { WorkloadOptions::default() };
        Options { short_names, categories, owns, watches, finalizer, workload, ..Options::default() }
    }
}

fn fields<T: Default + Serialize>(options: &T) -> Map<String, Value> {
    let map = |options: &T| match serde_json::to_value(options) {
        Ok(Value::Object(map)) => map,
        _ => unreachable!("options are a mapping"),
    };
    let (mut fields, unset) = (map(options), map(&T::default()));
    fields.retain(|key, value| unset.get(key) != Some(value));
    fields
}
