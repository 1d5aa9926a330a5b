//! `--controller-name`, `--owns` and `--watches`: the controller of a request, and the kinds that it watches in
//! addition to its own.

use super::{Args, adopted, list};
use crate::error::{UserError, UserErrors};
use crate::scaffold::{Related, Wiring, Workload};
use opctl_model::names::{ControllerName, Kind, Plural, nearest};
use opctl_model::project::builtin::{self, Builtin};
use opctl_model::project::{Origin, ProjectFile, Resource};

/// The wiring of a controller of `subject`. All errors are reported at once.
pub fn wiring(args: &Args, subject: &Resource, project: &ProjectFile) -> Result<Wiring, UserErrors> {
    let mut refusals = UserErrors::default();
    let name = args.controller_name.as_deref().and_then(|text| refusals.check(ControllerName::parse(text)));
    if let Some(name) = &name {
        refuse_taken(name, subject, project, &mut refusals);
    }
    let mut seen = Vec::new();
    let mut related = |flag: &str, texts: &[String]| -> Vec<Related> {
        let mut found = Vec::new();
        for text in texts {
            let Some(kind) = refusals.check(find(flag, text, project)) else { continue };
            if kind.rust_path == subject.type_path() {
                refusals.push(
                    UserError::new(format!("`{flag} {text}` is the kind of the controller itself"))
                        .help("it is watched anyway: name another kind, or leave the flag out"),
                );
            } else if seen.contains(&kind.rust_path) {
                refusals.push(UserError::new(format!("`{text}` is named twice")).help("name each kind once"));
            } else {
                seen.push(kind.rust_path.clone());
                found.push(kind);
            }
        }
        found
    };
    let (owns, watches) = (related("--owns", &args.options.owns), related("--watches", &args.options.watches));
    for child in owns.iter().filter(|child| subject.is_namespaced() && !child.namespaced) {
        refusals.push(
            UserError::new(format!("a `{}` lives in a namespace and cannot own a `{}`, which lives in none", subject.kind, child.kind))
                .help("Kubernetes deletes an object whose owner is in a namespace that it is not in itself")
                .help("watch it with `--watches`, and delete it in a finalizer; or make the owner cluster-scoped: `--namespaced=false`"),
        );
    }
    refusals.settle()?;
    Ok(Wiring { name, owns, watches })
}

/// Refuses to own the parts of a workload: the scaffolded controller creates its Deployment and Service, and finds them
/// by their labels.
pub fn refuse_parts_of_workload(wiring: &Wiring, workload: &Workload) -> Result<(), UserErrors> {
    let mut refusals = UserErrors::default();
    for child in &wiring.owns {
        let flag = match (child.group.as_str(), child.kind.as_str()) {
            ("apps", "Deployment") => "--image",
            ("core", "Service") if workload.port.is_some() => "--container-port",
            _ => continue,
        };
        let kind = &child.kind;
        refusals.push(
            UserError::new(format!("`{flag}` has the controller make a `{kind}` for each object anyway"))
                .help(format!("leave out its `--owns`, and describe the `{kind}` in `workload.rs`")),
        );
    }
    refusals.settle()
}

/// Refuses a name that another controller has. Names are labels of metrics and logs, so they are unique in the
/// operator.
fn refuse_taken(name: &ControllerName, subject: &Resource, project: &ProjectFile, refusals: &mut UserErrors) {
    let other = project.resources.iter().find(|other| {
        let first = other.controller && other.origin == Origin::Kubernetes && other.plural().as_str() == name.as_str();
        first || (!other.is_same(subject) && other.named(name).is_some())
    });
    if let Some(other) = other {
        refusals.push(
            UserError::new(format!("a controller `{name}` exists already: one of `{}` {}", other.kind, other.version))
                .help("choose another name"),
        );
    }
}

/// Resolves `GROUP/VERSION/KIND` to a kind in PROJECT, or to a built-in kind.
fn find(flag: &str, text: &str, project: &ProjectFile) -> Result<Related, UserError> {
    let [group, version, kind] = text.split('/').collect::<Vec<_>>()[..] else {
        return Err(UserError::new(format!("invalid kind `{text}`"))
            .help(format!("use GROUP/VERSION/KIND, e.g. `{flag} core/v1/ConfigMap`")));
    };
    let in_project = project.resources.iter().find(|resource| {
        let groups = [resource.group.to_string(), resource.full_group()];
        let is_own = matches!(resource.origin, Origin::Own) && groups.iter().any(|it| it == group);
        let is_external = matches!(resource.origin, Origin::External { .. }) && groups[1] == group;
        (is_own || is_external) && resource.version.as_str() == version && resource.kind.as_str() == kind
    });
    if let Some(resource) = in_project {
        adopted::refuse_type_of_macro(resource)?;
        return Ok(Related {
            rust_path: resource.type_path(),
            kind: resource.kind.clone(),
            group: resource.full_group(),
            plural: resource.plural(),
            namespaced: resource.is_namespaced(),
            is_bare: false,
        });
    }
    if let Some(builtin) = Builtin::find(group, version, kind) {
        return Ok(Related {
            rust_path: format!("{}::{kind}", builtin.path),
            kind: Kind::parse(kind).expect("the kinds of Kubernetes are legal"),
            group: if builtin.api_group.is_empty() { "core".into() } else { builtin.api_group.into() },
            plural: Plural::parse(builtin.plural).expect("the plurals of Kubernetes are legal"),
            namespaced: builtin.namespaced,
            is_bare: matches!((group, kind), ("core", "ConfigMap" | "Secret" | "ServiceAccount")),
        });
    }
    Err(unknown(flag, text, kind, project))
}

fn unknown(flag: &str, text: &str, kind: &str, project: &ProjectFile) -> UserError {
    let refusal = UserError::new(format!("neither PROJECT nor Kubernetes itself has a kind `{text}`"));
    let in_project = project.resources.iter().map(|resource| {
        let group = match resource.origin {
            Origin::External { .. } => resource.full_group(),
            Origin::Own | Origin::Kubernetes => resource.group.to_string(),
        };
        format!("{group}/{}/{}", resource.version, resource.kind)
    });
    let of_kubernetes = builtin::all().map(|it| format!("{}/{}/{}", it.group(), it.version, it.kind));
    let known: Vec<String> = in_project.chain(of_kubernetes).collect();
    let same_kind = known.iter().find(|it| it.rsplit('/').next().is_some_and(|it| it.eq_ignore_ascii_case(kind)));
    if let Some(near) = nearest(text, known.iter().map(String::as_str)).or(same_kind.map(String::as_str)) {
        return refusal.help(format!("did you mean `{flag} {near}`?"));
    }
    let own = project.resources.iter().filter(|resource| resource.origin != Origin::Kubernetes);
    let own: Vec<&str> = own.map(|resource| resource.kind.as_str()).collect();
    let refusal = match own[..] {
        [] => refusal,
        _ => refusal.help(format!("PROJECT has {}", list(own.into_iter()))),
    };
    refusal.help("the kind of another project is made known by `opctl create api --external-crd` or `--external-type`")
}
