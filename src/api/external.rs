//! Resolves external kinds, which other projects serve, from their Rust types or CRDs.

use std::path::Path;

use super::Names;
use crate::error::{UserError, UserErrors};
use opctl_model::names::{Domain, Group, Kind, Plural, TypePath, Version};
use opctl_model::project::{Options, Origin, ProjectFile, Resource, Tree, Webhooks};
use opctl_source as source;
use opctl_tools::{self as tools, KopiumError};

/// The external kind in PROJECT with these names and its full group.
pub fn known<'a>(names: &Names, project: &'a ProjectFile) -> Option<&'a Resource> {
    project.resources.iter().find(|resource| {
        matches!(resource.origin, Origin::External { .. })
            && (resource.full_group(), &resource.version, &resource.kind)
                == (names.group.to_string(), &names.version, &names.kind)
    })
}

/// The kind with the Rust type `path`.
pub fn of_type(
    path: &str,
    names: &Names,
    namespaced: Option<bool>,
    project: &ProjectFile,
) -> Result<Resource, UserError> {
    let path = TypePath::parse(path)?;
    let group = names.group.as_str();
    if group == project.domain.as_str() || group.ends_with(&format!(".{}", project.domain)) {
        return Err(UserError::new(format!(
            "the group `{group}` is this project's, and `--external-type` is for external kinds"
        ))
        .help(
            "leave out `--external-type` to create the kind, or use `--resource=false` to create only a controller",
        ));
    }
    let kind = (names.version.clone(), names.kind.clone());
    let resource = external(group, kind, names.plural.clone(), namespaced.unwrap_or(true), path.to_string());
    match known(names, project) {
        Some(known) if known.path != resource.path => {
            Err(UserError::new(format!("PROJECT has `{}` of `{group}` as `{}` already", names.kind, known.path))
                .help("leave out `--external-type` and use `--resource=false`, or edit `path` in PROJECT"))
        }
        known => Ok(resource.with_controllers_of(known)),
    }
}

/// The kind of a CRD, and the source of its types.
pub fn of_crd(file: &Path, version: Option<&str>, project: &ProjectFile) -> anyhow::Result<(Resource, String)> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        UserError::new(format!("`{}` cannot be read: {error}", file.display())).help("name the file of a CRD")
    })?;
    let found = tools::external(file, &text, version).map_err(UserError::from)?;
    let mut refusals = UserErrors::default();
    let group = refusals.check(Group::parse(&found.group));
    let version = refusals.check(Version::parse(&found.version));
    let kind = refusals.check(Kind::parse(&found.kind));
    let plural = refusals.check(Plural::parse(&found.plural));
    let (Some(group), Some(version), Some(kind), Some(_)) = (group, version, kind, &plural) else {
        return Err(refusals.into());
    };
    if group.as_str().ends_with(&format!(".{}", project.domain)) {
        let refusal =
            UserError::new(format!("the CRD in `{}` is one of this project's group `{group}`", file.display()))
                .help("`--external-crd` is for external kinds; write your own types in src/api");
        return Err(refusal.into());
    }
    if kind.type_name() != kind.as_str() {
        let refusal = UserError::new(format!("the types of `{kind}` would not compile: kopium calls the type `{kind}`, too"))
            .help(format!("write a type with another name, `#[kube(kind = \"{kind}\", root = \"{}\", …)]`, and use `--external-type PATH`", kind.type_name()));
        return Err(refusal.into());
    }
    let path = format!("crate::external::{}::{version}::{}::{kind}", group.module(), kind.module());
    let resource = external(group.as_str(), (version, kind), plural, found.namespaced, path);
    let known = project.find(&resource);
    Ok((resource.with_controllers_of(known), found.rust))
}

/// Refuses a type from a crate that is not a dependency.
pub fn refuse_unknown_crate(path: &str, tree: &Tree) -> Result<(), UserError> {
    let path = TypePath::parse(path)?;
    match path.krate() {
        Some(krate) if !source::can_name(tree, "", krate) => {
            Err(UserError::new(format!("`{krate}` is not among the dependencies in Cargo.toml"))
                .help(format!("add it, then run the command again: `cargo add {krate}`")))
        }
        _ => Ok(()),
    }
}

impl From<KopiumError> for UserError {
    fn from(error: KopiumError) -> Self {
        Self::new(error.message).help(error.help)
    }
}

/// The entry of PROJECT, the group split as kubebuilder does: `cert-manager.io` → `cert-manager` and `io`.
fn external(
    group: &str,
    (version, kind): (Version, Kind),
    plural: Option<Plural>,
    namespaced: bool,
    path: String,
) -> Resource {
    let (first, domain) = match group.split_once('.') {
        Some((first, domain)) => (first, Some(Domain::parse(domain).expect("the rest of a group is a domain"))),
        None => (group, None),
    };
    Resource {
        group: Group::parse(first).expect("the first part of a group is one"),
        domain,
        plural: plural.filter(|plural| *plural != kind.plural()),
        version,
        kind,
        path,
        api: None,
        controller: false,
        controllers: Vec::new(),
        options: Options::default(),
        webhooks: Webhooks::default(),
        origin: Origin::External { namespaced },
    }
}
