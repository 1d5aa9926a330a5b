//! What a controller is called, and which kinds it watches beside its own → the names in its file.

use std::collections::BTreeSet;

use heck::ToPascalCase;
use serde::Serialize;

use super::{Api, Project};
use opctl_model::names::{ControllerName, Kind, Plural};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wiring {
    /// `None`: the controller is called after its kind, and tells in `Ready` how far it is.
    pub name: Option<ControllerName>,
    /// Kinds whose objects it makes.
    pub owns: Vec<Related>,
    /// Kinds whose objects name those of its own.
    pub watches: Vec<Related>,
}

/// A kind that a controller watches beside its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// `k8s_openapi::api::core::v1::ConfigMap`
    pub rust_path: String,
    pub kind: Kind,
    /// As an RBAC marker says it: `core` for the core group.
    pub group: String,
    pub plural: Plural,
    pub namespaced: bool,
    /// Whether an object with nothing but a name is legal and does no harm, so that the scaffold can make one.
    pub is_bare: bool,
}

impl Wiring {
    /// The module of the controller's file.
    pub fn module(&self, kind: &Kind) -> String {
        self.name.as_ref().map_or_else(|| kind.module(), ControllerName::module)
    }
}

#[derive(Serialize)]
pub struct WiringContext<'a> {
    /// As probes, metrics and logs show it.
    controller: String,
    /// Whether it is one of several, and has a condition and a field manager of its own.
    named: bool,
    /// The type of the condition that tells how far it is.
    condition: String,
    /// What `use` says to have the types: of other crates, and of this one.
    imports: Vec<String>,
    own_imports: Vec<String>,
    owns: Vec<RelatedContext<'a>>,
    watches: Vec<RelatedContext<'a>>,
    /// The annotation by which other objects name one of the controller's.
    annotation: String,
    /// Whether the annotation says the namespace too, because objects without one have it.
    says_namespace: bool,
    is_kubernetes: bool,
    /// Whether one of the kinds that it owns is [`Related::is_bare`].
    has_bare_child: bool,
}

#[derive(Serialize)]
struct RelatedContext<'a> {
    /// The type as the file calls it.
    name: String,
    kind: &'a str,
    /// For several of them.
    variable: String,
    group: &'a str,
    plural: &'a Plural,
    namespaced: bool,
    bare: bool,
}

impl<'a> WiringContext<'a> {
    pub fn new(project: &Project, api: &'a Api) -> Self {
        let Wiring { name, owns, watches } = &api.wiring;
        let mut names = BTreeSet::from([api.kind.type_name()]);
        let mut imports = vec![match &api.core {
            Some(core) => import(&core.rust_path, &api.kind.type_name()),
            None => types(api),
        }];
        let mut related = |kinds: &'a [Related]| -> Vec<RelatedContext<'a>> {
            kinds.iter().map(|kind| RelatedContext::new(kind, api, &mut names, &mut imports)).collect()
        };
        let (owns, watches) = (related(owns), related(watches));
        let (own_imports, imports) = imports.into_iter().partition(|path| path.starts_with("crate::"));
        let prefix = if api.core.is_some() { project.domain.to_string() } else { api.api_group(project) };
        Self {
            controller: name.as_ref().map_or_else(|| api.resource(project), ToString::to_string),
            named: name.is_some(),
            condition: name.as_ref().map_or_else(|| "Ready".into(), ControllerName::condition),
            imports,
            own_imports,
            annotation: format!("{prefix}/{}", api.kind.singular()),
            says_namespace: api.namespaced && watches.iter().any(|kind| !kind.namespaced),
            has_bare_child: owns.iter().any(|child| child.bare),
            owns,
            watches,
            is_kubernetes: api.core.as_ref().is_some_and(|core| core.rust_path.starts_with("k8s_openapi::")),
        }
    }
}

impl<'a> RelatedContext<'a> {
    /// A name that is taken gets the group's before it: `WebIngress`, `web_ingresses`.
    fn new(related: &'a Related, api: &Api, names: &mut BTreeSet<String>, imports: &mut Vec<String>) -> Self {
        let group = related.group.replace(['.', '-'], "_");
        let (mut name, mut variable) = (related.kind.type_name(), related.plural.variable());
        if !names.insert(name.clone()) {
            name = format!("{}{name}", group.to_pascal_case());
        }
        if !names.insert(variable.clone()) {
            variable = format!("{group}_{variable}");
        }
        imports.push(import(&related.rust_path, &name));
        Self {
            name,
            kind: related.kind.as_str(),
            variable,
            group: &related.group,
            plural: &related.plural,
            namespaced: related.namespaced,
            bare: related.is_bare && api.core.is_none() && api.namespaced,
        }
    }
}

/// What `use` has to import of the project's own kind.
fn types(api: &Api) -> String {
    let (module, kind, name) = (api.types_module(), &api.kind, api.kind.type_name());
    match api.workload {
        Some(_) => format!("{module}::{{{name}, {kind}Status}}"),
        None => format!("{module}::{name}"),
    }
}

/// What `use` has to say for this type to have this name.
pub fn import(rust_path: &str, name: &str) -> String {
    match rust_path.rsplit("::").next() {
        Some(last) if last != name => format!("{rust_path} as {name}"),
        _ => rust_path.into(),
    }
}
