//! Conflicts of a new type or controller with existing ones in PROJECT.

use crate::error::{UserError, UserErrors};
use crate::scaffold::Wiring;
use opctl_model::project::{Origin, ProjectFile, Resource};

/// Another version of the kind that has the controller.
pub fn served_elsewhere<'a>(project: &'a ProjectFile, resource: &Resource) -> Option<&'a Resource> {
    let mut others = project.resources.iter().filter(|other| other.is_same_kind(resource) && !other.is_same(resource));
    others.find(|other| other.controller)
}

/// Refuses two names that would produce the same module, file or CustomResourceDefinition. `controller` is the module
/// of a new controller.
pub fn refuse_clashes(project: &ProjectFile, resource: &Resource, controller: Option<&str>, refusals: &mut UserErrors) {
    let (group_module, kind_module) = (resource.group_module(), resource.kind.module());
    let others = project.resources.iter().filter(|other| !other.is_same_kind(resource));
    for other in others {
        let same_group_module = other.group_module() == group_module;
        let same_kind_module = other.kind.module() == kind_module;
        let both_own = other.origin == Origin::Own && resource.origin == Origin::Own;
        let same_group = other.group == resource.group && other.domain == resource.domain;
        let same_controller = || controller.filter(|new| other.controller_modules().iter().any(|old| old == new));
        let refusal = if both_own && same_group_module && !same_group {
            UserError::new(format!(
                "the groups `{}` and `{}` would both be the Rust module `{}`",
                resource.group,
                other.group,
                other.group.module()
            ))
            .help("choose another group")
        } else if both_own && same_group && same_kind_module {
            UserError::new(format!(
                "the kinds `{}` and `{}` would both be the Rust module `{}`",
                resource.kind,
                other.kind,
                other.kind.module()
            ))
            .help("choose another kind")
        } else if both_own && same_group && other.plural() == resource.plural() {
            UserError::new(format!("the plural `{}` is that of `{}` already", other.plural(), other.kind))
                .help("choose another one with `--plural`")
        } else if same_group_module && same_kind_module && same_controller().is_some() {
            UserError::new(format!(
                "the controllers of `{}` in `{}` and in `{}` would be the same Rust module",
                resource.kind,
                resource.full_group(),
                other.full_group()
            ))
            .help("choose another group, or `--controller=false`")
        } else if same_group_module && let Some(module) = same_controller() {
            UserError::new(format!("a controller of `{}` has the Rust module `{module}` already", other.kind))
                .help("choose another name: `--controller-name NAME`")
        } else {
            continue;
        };
        if !refusals.0.contains(&refusal) {
            refusals.push(refusal);
        }
    }
}

/// Refuses a controller that does not match the type. A controller for an image requires a type that was created with
/// `--image`, and a kind has only one: its Deployments are named after the objects, and the `scale` subresource
/// controls one Deployment. A plain controller without a name writes the whole status, so it requires a plain type.
pub fn refuse_what_the_type_cannot(
    project: &ProjectFile,
    resource: &Resource,
    wiring: &Wiring,
    for_image: bool,
    refusals: &mut UserErrors,
) {
    let kind = &resource.kind;
    let versions = || project.resources.iter().filter(|other| other.is_same_kind(resource) && other.api.is_some());
    let runs = versions().filter(|version| version.has_image()).find_map(|version| match version.controller {
        true => Some(None),
        false => version.controllers.iter().find(|controller| controller.options.image).map(|it| Some(&it.name)),
    });
    let exists = versions().find(|version| version.version == resource.version);
    match (for_image, runs) {
        (true, Some(other)) if other != wiring.name.as_ref() => refusals.push(
            UserError::new(match other {
                Some(name) => format!("the controller `{name}` runs an image for each `{kind}` already"),
                None => format!("the controller of `{kind}` runs an image for each of its objects already"),
            })
                .help("an object has one number of replicas, which `kubectl scale` sets: give the other image its own kind")
                .help("for a controller that does something else leave out `--image`; it may make Deployments: `--owns apps/v1/Deployment`"),
        ),
        (true, _) if wiring.name.is_some() && exists.is_some_and(|version| !version.has_image()) => refusals.push(
            UserError::new(format!("`{kind}` was made without `--image`, so its objects have no `replicas` and no `scale`"))
                .help("give the image its own kind")
                .help("or leave out `--image`, and have the controller make Deployments: `--owns apps/v1/Deployment`"),
        ),
        (false, runs) if wiring.name.is_none() && resource.has_image() && !resource.controller => {
            let refusal = UserError::new(format!("`{kind}` was made with `--image`, and a plain controller does not fit its status"));
            refusals.push(match runs {
                Some(_) => refusal.help("to add another one, name it: `--controller-name NAME`"),
                None => refusal.help("use `--image IMAGE` for this one too, without `--resource=false`"),
            });
        }
        _ => {}
    }
}

/// Refuses two controllers of one kind in one file, such as `captain` and the default controller of `Captain`.
pub fn refuse_second_of_a_module(
    project: &ProjectFile,
    resource: &Resource,
    wiring: &Wiring,
    module: &str,
    refusals: &mut UserErrors,
) {
    let mut versions = project.resources.iter().filter(|other| other.is_same_kind(resource));
    let is_taken = versions.any(|version| match wiring.name {
        Some(_) => version.controller && module == resource.kind.module(),
        None => version.controllers.iter().any(|controller| controller.name.module() == module),
    });
    if is_taken {
        refusals.push(
            UserError::new(format!("a controller of `{}` has the Rust module `{module}` already", resource.kind))
                .help("choose another name: `--controller-name NAME`"),
        );
    }
}
