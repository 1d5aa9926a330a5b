//! Converts PROJECT and its entries to the data of templates, and insertions to edits.

use super::{Api, CoreType, Inserted, Project, RuntimeSource, Wiring};
use opctl_edit::Edit;
use opctl_model::names::{Group, Plural};
use opctl_model::project::builtin::Builtin;
use opctl_model::project::{Manifest, Origin, ProjectFile, ReadError, Resource, Tree};

/// The header of generated source files.
pub const BOILERPLATE: &str = "hack/boilerplate.txt";

impl Project {
    /// A project without charts and Ansible.
    pub fn of(file: &ProjectFile, tree: &Tree) -> Result<Self, ReadError> {
        Ok(Self {
            name: file.name.clone(),
            domain: file.domain.clone(),
            namespaced: file.namespaced,
            namespaces: file.namespaces.clone(),
            header: tree.read(BOILERPLATE)?.unwrap_or_default().trim_end().to_owned(),
            spdx: None,
            workspace: None,
            runtime: RuntimeSource::default(),
            adopted: file.adopted.then(|| binary(tree)).transpose()?,
            charts: false,
            ansible: false,
        })
    }
}

/// The binary that `cargo run` runs.
fn binary(tree: &Tree) -> Result<String, ReadError> {
    let manifest = Manifest::read(tree, "")?;
    Ok(manifest.as_ref().and_then(Manifest::default_run).unwrap_or_default().to_owned())
}

/// A version of a kind, as data for the templates.
pub fn api_of_resource(resource: &Resource) -> Api {
    let builtin = match resource.origin {
        Origin::Kubernetes => Builtin::find(resource.group.as_str(), resource.version.as_str(), resource.kind.as_str()),
        Origin::Own | Origin::External { .. } => None,
    };
    let external = (resource.is_adopted() || matches!(resource.origin, Origin::External { .. }))
        .then(|| CoreType { group: resource.full_group(), rust_path: resource.type_path() });
    Api {
        group: match resource.origin {
            Origin::External { .. } => Group::parse(&resource.full_group()).expect("both parts of it are legal"),
            Origin::Own | Origin::Kubernetes => resource.group.clone(),
        },
        version: resource.version.clone(),
        kind: resource.kind.clone(),
        plural: match builtin {
            Some(builtin) => Some(Plural::parse(builtin.plural).expect("the plurals of Kubernetes are legal")),
            // kube-derive panics for the kind `Y`, because it reads the letter before the `y`.
            None if resource.kind.as_str() == "Y" => Some(resource.plural.clone().unwrap_or(resource.kind.plural())),
            None => resource.plural.clone(),
        },
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: resource.is_namespaced(),
        core: builtin
            .map(|builtin| CoreType { group: builtin.api_group.into(), rust_path: resource.type_path() })
            .or(external),
        wiring: Wiring::default(),
        workload: None,
        chart: None,
        ansible: None,
        finalizer: false,
        has_image: resource.has_image(),
    }
}

impl From<Inserted> for Edit {
    fn from(what: Inserted) -> Self {
        match what {
            Inserted::Module(name) => Self::RustMod { name },
            Inserted::ListItem { function, item } => Self::RustListItem { function: function.into(), item },
            Inserted::YamlItem { key, item } => Self::YamlListItem { key: key.into(), item },
            Inserted::Feature { dependency, feature } => {
                Self::CargoFeature { dependency: dependency.into(), feature: feature.into() }
            }
            Inserted::KubeArgument { kind, version, argument } => {
                Self::KubeArgument { kind: kind.to_string(), version: version.to_string(), argument: argument.into() }
            }
            Inserted::NoKubeArgument { kind, version, argument } => {
                let argument = Self::from(Inserted::KubeArgument { kind, version, argument });
                Self::Undo { edit: Box::new(argument), base: None }
            }
        }
    }
}
