//! The kind that the arguments name, as its existing or new entry of PROJECT.

use super::{Args, Names, external, list};
use crate::error::{UserError, UserErrors};
use opctl_model::project::builtin::{self, Builtin};
use opctl_model::project::{Api, Options, Origin, ProjectFile, Resource, Webhooks};

/// The resource of the arguments. `resource` is the value of `--resource`, if given.
pub fn subject(
    project: &ProjectFile,
    names: &Names,
    args: &Args,
    resource: Option<bool>,
) -> Result<Resource, UserErrors> {
    let own = own(project, names, args);
    let known = project.find(&own);
    let result = match (resource, known) {
        (Some(true), _) | (None, Some(_)) => own_type(project, own, known, args),
        (None, None) => match Builtin::find(names.group.as_str(), names.version.as_str(), names.kind.as_str()) {
            Some(builtin) => Err(ambiguous(builtin, project)),
            None => own_type(project, own, None, args),
        },
        (Some(false), Some(known)) if known.api.is_some() => no_details(args).map(|()| known.clone()),
        (Some(false), _) => no_details(args).and_then(|()| match external::known(names, project) {
            Some(known) => Ok(known.clone()),
            None => kubernetes_type(names, project),
        }),
    };
    result.map_err(|refusal| UserErrors(vec![refusal]))
}

/// The entry of a type of this project. Missing details are those of the kind's other versions.
pub fn own(project: &ProjectFile, names: &Names, args: &Args) -> Resource {
    let mut own = Resource {
        group: names.group.clone(),
        version: names.version.clone(),
        kind: names.kind.clone(),
        domain: Some(project.domain.clone()),
        plural: names.plural.clone().filter(|plural| *plural != names.kind.plural()),
        path: format!("crate::api::{}::{}", names.group.module(), names.version),
        api: None,
        controller: false,
        controllers: Vec::new(),
        options: Options::default(),
        webhooks: Webhooks::default(),
        origin: Origin::Own,
    };
    let sibling = project.resources.iter().find(|other| other.is_same_kind(&own) && other.api.is_some());
    let sibling_scope = sibling.and_then(|sibling| sibling.api).map(|api| api.namespaced);
    own.api = Some(Api { namespaced: args.namespaced.or(sibling_scope).unwrap_or(true) });
    if names.plural.is_none() {
        own.plural = sibling.and_then(|sibling| sibling.plural.clone());
    }
    own
}

fn own_type(
    project: &ProjectFile,
    own: Resource,
    known: Option<&Resource>,
    args: &Args,
) -> Result<Resource, UserError> {
    let group = own.group.as_str();
    if builtin::is_reserved_group(group) {
        return Err(UserError::new(format!("the group `{group}` belongs to Kubernetes itself"))
            .help("for a controller of one of its types add `--resource=false`")
            .help(format!("for a resource of your own choose another name, which gets `.{}`", own_domain(&own))));
    }
    if let Some(short) = group.strip_suffix(&format!(".{}", own_domain(&own))) {
        return Err(UserError::new(format!("the group `{group}` ends in the project's domain, which is added anyway"))
            .help(format!("use `--group {short}`")));
    }
    let full_name = format!("{}.{group}.{}", own.plural.clone().unwrap_or_else(|| own.kind.plural()), own_domain(&own));
    if full_name.len() > 253 {
        return Err(UserError::new(format!("the name `{full_name}` has {} characters", full_name.len()))
            .help("a CustomResourceDefinition's name has at most 253: shorten the group or the domain"));
    }
    let sibling = project.resources.iter().find(|other| other.is_same_kind(&own) && other.api.is_some());
    if let Some(sibling) = sibling {
        let differs = |what: &str, flag: String| {
            UserError::new(format!("`{}` has another {what} in its version {}", own.kind, sibling.version))
                .help(format!("all versions of a kind share it: leave out `{flag}`"))
        };
        if sibling.api != own.api {
            return Err(differs("scope", format!("--namespaced={}", args.namespaced.unwrap_or(true))));
        }
        if sibling.plural != own.plural {
            return Err(differs("plural", format!("--plural {}", args.plural.as_deref().unwrap_or_default())));
        }
    }
    Ok(own.with_controllers_of(known))
}

fn own_domain(own: &Resource) -> &str {
    own.domain.as_ref().map_or("", |domain| domain.as_str())
}

fn ambiguous(builtin: &Builtin, project: &ProjectFile) -> UserError {
    let (group, version, kind) = (builtin.group(), builtin.version, builtin.kind);
    let refusal = UserError::new(format!("`{group}/{version}` `{kind}` is a type of Kubernetes itself"))
        .help("for a controller of it add `--resource=false`");
    if builtin::is_reserved_group(group) {
        return refusal;
    }
    refusal.help(format!("for a resource of your own in `{group}.{}` add `--resource`", project.domain))
}

/// Refuses flags that describe a new type if no type is created.
fn no_details(args: &Args) -> Result<(), UserError> {
    match args.type_flag() {
        Some(flag) => {
            Err(UserError::new(format!("`{flag}` describes a new resource, and `--resource=false` asks for none"))
                .help("leave out one of the two"))
        }
        None => Ok(()),
    }
}

/// A built-in kind of Kubernetes.
pub fn kubernetes_type(names: &Names, project: &ProjectFile) -> Result<Resource, UserError> {
    let (group, version, kind) = (names.group.as_str(), names.version.as_str(), names.kind.as_str());
    if let Some(builtin) = Builtin::find(group, version, kind) {
        let of_kubernetes = Resource {
            group: names.group.clone(),
            version: names.version.clone(),
            kind: names.kind.clone(),
            domain: None,
            plural: None,
            path: builtin.path.into(),
            api: None,
            controller: false,
            controllers: Vec::new(),
            options: Options::default(),
            webhooks: Webhooks::default(),
            origin: Origin::Kubernetes,
        };
        return Ok(project.find(&of_kubernetes).cloned().unwrap_or(of_kubernetes));
    }
    let in_group: Vec<&Builtin> = builtin::in_group(group).collect();
    if in_group.is_empty() {
        if let Some(full) = builtin::full_group(group) {
            return Err(UserError::new(format!("Kubernetes has no group `{group}`"))
                .help(format!("did you mean `--group {full}`?")));
        }
        let unknown =
            format!("PROJECT has no `{kind}` in `{group}/{version}`, and Kubernetes itself has no such group");
        let refusal = UserError::new(unknown).help(format!("groups of Kubernetes are {}", list(builtin::groups())));
        return Err(if builtin::is_reserved_group(group) {
            refusal
        } else {
            refusal.help("leave out `--resource=false` to create the resource too")
        });
    }
    let same_kind: Vec<_> = in_group
        .iter()
        .filter(|builtin| builtin.kind.eq_ignore_ascii_case(kind) || builtin.plural.eq_ignore_ascii_case(kind))
        .collect();
    let refusal = UserError::new(format!("Kubernetes has no `{kind}` in `{group}/{version}`"));
    if let [near, ..] = same_kind[..] {
        let (version, kind) = (near.version, near.kind);
        return Err(refusal.help(format!("did you mean `--group {group} --version {version} --kind {kind}`?")));
    }
    let refusal = refusal.help(format!("its kinds there are {}", list(in_group.iter().map(|builtin| builtin.kind))));
    Err(if builtin::is_reserved_group(group) {
        refusal
    } else {
        refusal.help(format!("for a resource of your own in `{group}.{}` add `--resource`", project.domain))
    })
}
