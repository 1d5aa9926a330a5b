//! The arguments of `create api` that PROJECT keeps, so that the scaffold can be rendered again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::names::{ControllerName, Version};

/// `options` of a resource. The file also has those of its named controllers there, which are part of a [`Controller`] in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    /// Of the controller that is named after the kind, as are `watches` and `finalizer`: `GROUP/VERSION/KIND`.
    pub owns: Vec<String>,
    pub watches: Vec<String>,
    pub finalizer: bool,
    #[serde(flatten)]
    pub workload: WorkloadOptions,
    /// The chart's folder in `helm-charts`.
    pub helm_chart: Option<String>,
    pub helm_chart_repo: Option<String>,
    pub helm_chart_version: Option<String>,
    /// `KIND.GROUP=PLURAL`
    pub helm_kinds: Vec<String>,
    /// The kind comes from an operator of operator-sdk, so its type accepts any value.
    pub helm_imported: bool,
    pub ansible_role: Option<String>,
    /// A path in the project.
    pub ansible_playbook: Option<String>,
    /// As `helm_imported`.
    pub ansible_imported: bool,
    /// The version that the type was copied from.
    pub from: Option<Version>,
    /// Other files that were copied with the type, by their paths from the version's folder.
    pub copied: Vec<String>,
    /// `Some(false)`: clients can no longer use the version, which is the first step of its deletion.
    pub served: Option<bool>,
    /// Options that this opctl does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// The container that runs for each object of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadOptions {
    pub image: Option<String>,
    pub container_port: Option<u16>,
    pub container_command: Vec<String>,
    pub run_as_user: Option<i64>,
}

/// A controller with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    pub name: ControllerName,
    pub options: ControllerOptions,
}

/// `options.controllers.NAME` of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ControllerOptions {
    /// Of the type, if that was created with the controller, as are `categories`.
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub owns: Vec<String>,
    pub watches: Vec<String>,
    pub finalizer: bool,
    /// The controller runs the image of the resource. A further version of a kind has the image in its options, too, though the
    /// controller of another version runs it.
    pub image: bool,
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl Options {
    /// The options that are set, as PROJECT has them.
    pub fn fields(&self) -> Map<String, Value> {
        fields(self)
    }

    /// Sets what is set in `other`.
    pub fn extend(&mut self, other: &Self) {
        let mut all = self.fields();
        all.extend(other.fields());
        *self = serde_json::from_value(all.into()).expect("each of them is an option");
    }
}

impl ControllerOptions {
    /// The arguments of `create api` for a controller with a name.
    pub fn of(arguments: &Options) -> Self {
        let Options { short_names, categories, owns, watches, finalizer, workload, .. } = arguments.clone();
        let image = workload.image.is_some();
        Self { short_names, categories, owns, watches, finalizer, image, unknown: Map::new() }
    }

    /// The options that are set, as PROJECT has them.
    pub fn fields(&self) -> Map<String, Value> {
        fields(self)
    }
}

impl Controller {
    /// The arguments of `create api` for it: the inverse of [`ControllerOptions::of`]. The image is that of the resource.
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
