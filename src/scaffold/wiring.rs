//! The name of a controller and the kinds that it watches in addition to its own, as names in its file.

use std::collections::BTreeSet;

use heck::ToPascalCase;
use serde::Serialize;

use super::{Api, Project};
use opctl_model::names::{ControllerName, Kind, Plural};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wiring {
    /// `None` for the controller that is named after its kind, and reports its progress in the condition `Ready`.
    pub name: Option<ControllerName>,
    /// Kinds of objects that the controller creates.
    pub owns: Vec<Related>,
    /// Kinds whose objects refer to objects of the controller's kind.
    pub watches: Vec<Related>,
}

/// A kind that a controller watches in addition to its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// The path of the Rust type, e.g. `k8s_openapi::api::core::v1::ConfigMap`.
    pub rust_path: String,
    pub kind: Kind,
    /// The group in RBAC markers: `core` for the core group.
    pub group: String,
    pub plural: Plural,
    pub namespaced: bool,
    /// An object with only a name is valid and has no side effects, so the scaffold can create one.
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
    /// The name in probes, metrics and logs.
    controller: String,
    /// The controller is one of several, and has its own condition and field manager.
    named: bool,
    /// The type of the condition that reports the controller's progress.
    condition: String,
    /// The paths of `use` items for the types: of other crates, and of this one.
    imports: Vec<String>,
    own_imports: Vec<String>,
    owns: Vec<RelatedContext<'a>>,
    watches: Vec<RelatedContext<'a>>,
    /// The annotation with which other objects refer to an object of the controller.
    annotation: String,
    /// The annotation includes the namespace, because watched objects may be cluster-scoped.
    says_namespace: bool,
    is_kubernetes: bool,
    /// One of the owned kinds is [`Related::is_bare`].
    has_bare_child: bool,
}

#[derive(Serialize)]
struct RelatedContext<'a> {
    /// The name of the type in the file.
    name: String,
    kind: &'a str,
    /// The name of a variable for several objects.
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
    /// A name that is taken gets the group as a prefix: `WebIngress`, `web_ingresses`.
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

/// The path in the `use` of the project's own kind.
fn types(api: &Api) -> String {
    let (module, kind, name) = (api.types_module(), &api.kind, api.kind.type_name());
    match api.workload {
        Some(_) => format!("{module}::{{{name}, {kind}Status}}"),
        None => format!("{module}::{name}"),
    }
}

/// The path in a `use` that imports a type under this name.
pub fn import(rust_path: &str, name: &str) -> String {
    match rust_path.rsplit("::").next() {
        Some(last) if last != name => format!("{rust_path} as {name}"),
        _ => rust_path.into(),
    }
}
