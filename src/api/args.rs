//! The arguments of `opctl create api`: those of a new kind, and those with which an entry of PROJECT was created.

use std::path::PathBuf;

use opctl_model::project::{Controller, Options, Resource};

/// Arguments of `create api`, not validated yet.
#[derive(Clone, Debug, Default)]
pub struct Args {
    pub group: Option<String>,
    pub version: Option<String>,
    pub kind: Option<String>,
    pub plural: Option<String>,
    pub namespaced: Option<bool>,
    /// Create the type.
    pub resource: Option<bool>,
    pub controller: Option<bool>,
    pub controller_name: Option<String>,
    /// The version whose type is copied.
    pub from: Option<String>,
    pub conversion: Option<bool>,
    pub chart: ChartArgs,
    pub ansible: AnsibleArgs,
    pub external_crd: Option<PathBuf>,
    pub external_crd_version: Option<String>,
    /// The Rust type of an external kind.
    pub external_type: Option<String>,
    /// The part that is stored in PROJECT unchanged.
    pub options: Options,
}

/// A Helm chart that becomes a kind.
#[derive(Clone, Debug, Default)]
pub struct ChartArgs {
    /// A folder, an archive, `REPO/CHART`, a name in `repo`, a URL or `oci://…`. An empty string selects helm's starter
    /// chart.
    pub chart: Option<String>,
    pub repo: Option<String>,
    pub version: Option<String>,
    /// A file with the values that the chart requires.
    pub values: Option<PathBuf>,
    /// Plurals of kinds, as `KIND.GROUP=PLURAL`.
    pub kinds: Vec<String>,
}

/// A role or playbook that becomes a kind. An empty string selects the name of the kind.
#[derive(Clone, Debug, Default)]
pub struct AnsibleArgs {
    pub role: Option<String>,
    pub playbook: Option<String>,
}

impl AnsibleArgs {
    /// The given flag, if any.
    pub fn flag(&self) -> Option<&'static str> {
        let playbook = self.playbook.as_ref().map(|_| "--ansible-playbook");
        playbook.or(self.role.as_ref().map(|_| "--ansible-role"))
    }
}

impl Args {
    /// The arguments with which an entry of PROJECT was created.
    pub fn of(resource: &Resource) -> Self {
        let mut options = resource.options.clone();
        // The option stays in PROJECT if a user deletes the controller by hand.
        options.finalizer &= resource.controller;
        Self {
            group: Some(resource.group.to_string()),
            version: Some(resource.version.to_string()),
            kind: Some(resource.kind.to_string()),
            plural: resource.plural.as_ref().map(ToString::to_string),
            namespaced: resource.api.map(|api| api.namespaced),
            resource: Some(resource.api.is_some()),
            controller: Some(resource.controller),
            options,
            ..Self::default()
        }
    }

    /// The arguments with which a named controller of an entry was created.
    pub fn of_controller(resource: &Resource, controller: &Controller) -> Self {
        // The controller of an image needs the arguments of the type as well, because the type describes the image.
        let runs_image = controller.options.image;
        let main = Self::of(resource);
        Self {
            plural: main.plural.filter(|_| runs_image),
            namespaced: main.namespaced.filter(|_| runs_image),
            resource: Some(runs_image),
            controller: Some(true),
            controller_name: Some(controller.name.to_string()),
            options: controller.arguments(&resource.options.workload),
            ..main
        }
    }

    /// `true` if the arguments give names only, so nothing determines the type of controller.
    pub fn is_about_names_only(&self) -> bool {
        let Options { short_names, categories, .. } = self.options.clone();
        let others = [
            self.namespaced == Some(false),
            self.resource.is_some() || self.controller.is_some(),
            self.controller_name.is_some() || self.from.is_some() || self.conversion.is_some(),
            self.chart.chart.is_some() || self.chart.repo.is_some() || self.ansible.flag().is_some(),
            self.external_crd.is_some() || self.external_type.is_some(),
            self.options != Options { short_names, categories, ..Options::default() },
        ];
        !others.contains(&true)
    }

    /// The first given flag for the controller's name or the kinds that it watches.
    pub fn wiring_flag(&self) -> Option<&'static str> {
        let flags = [
            ("--controller-name", self.controller_name.is_some()),
            ("--owns", !self.options.owns.is_empty()),
            ("--watches", !self.options.watches.is_empty()),
        ];
        flags.iter().find(|(_, is_given)| *is_given).map(|(flag, _)| *flag)
    }

    /// The first given flag that describes a new type.
    pub fn type_flag(&self) -> Option<&'static str> {
        let flags = [
            ("--plural", self.plural.is_some()),
            ("--shortname", !self.options.short_names.is_empty()),
            ("--category", !self.options.categories.is_empty()),
            ("--namespaced", self.namespaced.is_some()),
            ("--image", self.options.workload.image.is_some()),
        ];
        flags.iter().find(|(_, is_given)| *is_given).map(|(flag, _)| *flag)
    }
}
