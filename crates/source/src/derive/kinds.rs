//! Types → the resources of requests for their objects, as in URLs and roles.
//!
//! A kind of Kubernetes is in the table; one of the project or of another crate is read: `#[derive(CustomResource)]`,
//! `#[derive(Resource)]`, or an `impl Resource` (kube's or k8s-openapi's) whose results can be evaluated. An alias is
//! followed if it is a path. The modules must be read whole, so that they have the types that kube's derive
//! generates.

use std::rc::Rc;

use kube_core::{ApiResource, GroupVersionKind};
use syn::punctuated::Punctuated;
use syn::{DeriveInput, Expr, ExprCall, ExprLit, ImplItem, ItemImpl, Lit, Meta, Path, Stmt, Token, Type, TypePath};

use super::types::Deriver;
use crate::attributes::value;
use crate::evaluate::context::{Scope, impl_scope};
use crate::evaluate::items::Function;
use crate::evaluate::values::{Hint, Value};
use crate::known::kubernetes;
use crate::resolve::modules::{ModuleId, TypeDecl, UsePath, name};
use crate::resolve::names::{Foreign, Namespace, Target, follow, resolve};
use crate::resolve::resources::{Resource, Resources};
use crate::resolve::roots;
use opctl_model::Scope as Reach;

impl Resources for Deriver<'_, '_> {
    fn resource_of(&mut self, target: &Target) -> Option<Resource> {
        match target {
            Target::Foreign(foreign) => self.foreign_resource(foreign),
            Target::Item(module, name) => self.declared_resource(*module, name),
            Target::Module(_) | Target::Hidden(_) => None,
        }
    }

    fn resource_named(&mut self, group: &str, version: &str, kind: &str) -> Resource {
        let known = self.served(group, kind).map(|known| Resource { version: version.into(), ..known });
        known.unwrap_or_else(|| resource_guessed(group, version, kind))
    }
}

impl Deriver<'_, '_> {
    /// The resource of a type by its path; `None` if the type is not a kind, or its resource is not evident.
    pub fn resource(&mut self, path: &UsePath, from: ModuleId) -> Option<Resource> {
        self.resource_of(&resolve(self.cx.modules, from, path, Namespace::Type)?)
    }

    /// A kind of Kubernetes or of the project, in any version.
    fn served(&mut self, group: &str, kind: &str) -> Option<Resource> {
        let known = kubernetes::kinds().find(|known| known.group == group && known.name == kind);
        known.map(Resource::from).or_else(|| {
            self.cx.modules.local().into_iter().find_map(|id| {
                let module = self.cx.modules.module(id);
                let mut made = module.types.values().filter_map(root);
                made.find_map(|input| roots::resource(&input).filter(|made| made.group == group && made.kind == kind))
            })
        })
    }

    fn foreign_resource(&mut self, foreign: &Foreign) -> Option<Resource> {
        let of_kubernetes = foreign.path.strip_prefix(&["k8s_openapi".to_owned()]);
        match of_kubernetes.and_then(|path| kubernetes::kind(&path.join("::"))) {
            Some(kind) => Some(kind.into()),
            None => match follow(self.cx.modules, foreign, Namespace::Type).ok()?? {
                Target::Item(module, name) => self.declared_resource(module, &name),
                Target::Foreign(found) if found != *foreign => self.foreign_resource(&found),
                _ => None,
            },
        }
    }

    fn declared_resource(&mut self, id: ModuleId, type_name: &str) -> Option<Resource> {
        let module = self.cx.modules.module(id);
        if let Some(input) = module.types.get(type_name).and_then(root) {
            return roots::resource(&input);
        }
        match module.types.get(type_name) {
            Some(TypeDecl::Data(input)) if self.cx.derives(&input.attrs, "Resource", id) => {
                let path = inherited(input)?;
                let segments = path.segments.iter().map(|segment| name(&segment.ident)).collect();
                self.resource(&UsePath { global: path.leading_colon.is_some(), segments }, id)
            }
            Some(TypeDecl::Data(input)) => {
                let (at, item) = self.cx.impls.implementation("Resource", id, type_name)?;
                self.implemented_resource(&item, at, input, &Scope::of(id))
            }
            Some(TypeDecl::Alias(alias)) => match &*alias.ty {
                Type::Path(TypePath { qself: None, path, .. }) => {
                    let segments = path.segments.iter().map(|segment| name(&segment.ident)).collect();
                    self.resource(&UsePath { global: path.leading_colon.is_some(), segments }, id)
                }
                _ => None,
            },
            None => None,
        }
    }

    /// The resource of an `impl Resource`: kube's trait has functions, k8s-openapi's has constants.
    fn implemented_resource(
        &mut self,
        item: &ItemImpl,
        at: ModuleId,
        input: &DeriveInput,
        scope: &Scope,
    ) -> Option<Resource> {
        let mut says = |function: &str, constant: &str| {
            let value = match item.items.iter().find_map(|found| match found {
                ImplItem::Const(found) if found.ident == constant => Some(&found.expr),
                _ => None,
            }) {
                Some(expr) => {
                    let inner = impl_scope(item, at, input, scope);
                    self.evaluator().if_needed(|evaluator| evaluator.evaluate(expr, &inner, &Hint::Text))
                }
                None => {
                    let function = Function::in_impl(item, function, at, input, scope)?;
                    let [Stmt::Expr(expr, None)] = function.item.block.stmts.as_slice() else { return None };
                    self.evaluator()
                        .if_needed(|evaluator| evaluator.evaluate(text_in_cow(expr), &function.scope, &Hint::Text))
                }
            };
            match value {
                Value::Text(text) => Some(text),
                _ => None,
            }
        };
        let (group, plural) = (says("group", "GROUP")?, says("plural", "URL_PATH_SEGMENT")?);
        let (version, kind) = (says("version", "VERSION")?, says("kind", "KIND")?);
        let scope = item.items.iter().find_map(|found| match found {
            ImplItem::Type(found) if found.ident == "Scope" => match &found.ty {
                Type::Path(path) => Some(name(&path.path.segments.last()?.ident)),
                _ => None,
            },
            _ => None,
        });
        let scope = match scope.as_deref() {
            Some("NamespaceResourceScope") => Some(Reach::Namespaced),
            Some("ClusterResourceScope") => Some(Reach::Cluster),
            _ => None,
        };
        Some(Resource { group, version, kind, plural, scope })
    }
}

/// A resource whose plural follows from kube's rule.
fn resource_guessed(group: &str, version: &str, kind: &str) -> Resource {
    // kube's rule panics for a `y` without a letter before it.
    let plural = match kind {
        "" | "y" | "Y" => format!("{}s", kind.to_ascii_lowercase()),
        _ => ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind)).plural,
    };
    Resource { group: group.into(), version: version.into(), kind: kind.into(), plural, scope: None }
}

/// The string in `text.into()`, `Cow::Borrowed(text)` and similar expressions.
fn text_in_cow(expr: &Expr) -> &Expr {
    match expr {
        Expr::MethodCall(call) if call.method == "into" && call.args.is_empty() => text_in_cow(&call.receiver),
        Expr::Call(ExprCall { func, args, .. }) if args.len() == 1 => match &**func {
            Expr::Path(path) if path.path.segments.iter().any(|segment| segment.ident == "Cow") => &args[0],
            _ => expr,
        },
        _ => expr,
    }
}

/// A type that `#[derive(CustomResource)]` generates: it has the attributes, but not the derive.
fn root(declared: &TypeDecl) -> Option<Rc<DeriveInput>> {
    match declared {
        TypeDecl::Data(input)
            if !input.attrs.iter().any(|attribute| attribute.path().is_ident("derive"))
                && input.attrs.iter().any(|attribute| attribute.path().is_ident("kube")) =>
        {
            Some(input.clone())
        }
        _ => None,
    }
}

/// The type in `#[resource(inherit = Type)]`, which may be quoted.
fn inherited(input: &DeriveInput) -> Option<Path> {
    let mut found = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("resource")) {
        let metas = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        let inherit = metas.ok()?.into_iter().find(|meta| meta.path().is_ident("inherit"));
        found = found.or(match value(inherit?).ok()? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse().ok(),
            Expr::Path(path) => Some(path.path),
            _ => None,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::types::State;
    use super::*;
    use crate::Options;
    use crate::evaluate::context::Context;
    use crate::resolve::modules::{Modules, Reading};
    use crate::resolve::package::Package;
    use opctl_model::project::Tree;

    const MANIFEST: &str = "[package]\nname = \"kinds\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
        [dependencies]\nkube = \"*\"\nk8s-openapi = { version = \"*\", features = [\"latest\"] }\n";

    const SOURCE: &str = r#"
        mod api {
            #[derive(CustomResource)]
            #[kube(group = "example.com", version = "v1", kind = "Policy", namespaced)]
            pub struct PolicySpec {}
            #[derive(CustomResource)]
            #[kube(group = "example.com", version = "v1", kind = "Fish", root = "Trout", plural = "fish")]
            pub struct FishSpec {}
        }
        pub use api::*;
        pub use api::Policy as Renamed;
        use k8s_openapi::api::{coordination::v1::Lease, core::v1 as core, events};
        type Alias = core::Pod;
        #[derive(kube::Resource)]
        #[resource(inherit = "core::ConfigMap")]
        struct Typed { metadata: ObjectMeta, data: Data }
        struct ByHand;
        impl kube::Resource for ByHand {
            type DynamicType = ();
            type Scope = k8s_openapi::ClusterResourceScope;
            fn group(_: &()) -> Cow<'_, str> { GROUP.into() }
            fn kind(_: &()) -> Cow<'_, str> { "Thing".into() }
            fn version(_: &()) -> Cow<'_, str> { Cow::Borrowed("v2") }
            fn plural(_: &()) -> Cow<'_, str> { "things".to_owned().into() }
        }
        const GROUP: &str = "things.example.com";
        struct Constant;
        impl k8s_openapi::Resource for Constant {
            const API_VERSION: &'static str = "g/v1";
            const GROUP: &'static str = "g";
            const KIND: &'static str = "Constant";
            const VERSION: &'static str = "v1";
            const URL_PATH_SEGMENT: &'static str = "constants";
            type Scope = k8s_openapi::NamespaceResourceScope;
        }
        struct Plain;
        struct Unclear;
        impl kube::Resource for Unclear {
            fn plural(_: &()) -> Cow<'_, str> { std::env::args().next().into() }
        }
    "#;

    fn with<T>(ask: impl FnOnce(&mut Deriver<'_, '_>, ModuleId) -> T) -> T {
        let mut tree = Tree::at("nowhere");
        tree.lay_over("Cargo.toml", MANIFEST);
        tree.lay_over("src/lib.rs", SOURCE);
        let modules = Modules::read_as(&tree, &Package::read(&tree, "").unwrap(), Reading::Whole);
        let (mut cx, mut state) = (Context::new(&modules), State::new(&Options::default()));
        let answer = ask(&mut Deriver { cx: &mut cx, state: &mut state }, modules.local()[0]);
        assert!(cx.diagnostics.is_empty() && cx.reasons.is_empty());
        answer
    }

    /// `plural.version.group` and the scope.
    fn said(resource: &Resource) -> String {
        let Resource { group, version, plural, scope, .. } = resource;
        format!("{plural}.{version}.{group} {scope:?}")
    }

    #[test]
    fn a_type_tells_its_resource() {
        let cases = [
            ("Policy", "policies.v1.example.com Some(Namespaced)"),
            ("Renamed", "policies.v1.example.com Some(Namespaced)"),
            ("crate::api::Trout", "fish.v1.example.com Some(Cluster)"),
            ("Lease", "leases.v1.coordination.k8s.io Some(Namespaced)"),
            ("core::Event", "events.v1. Some(Namespaced)"),
            ("core::Binding", "bindings.v1. Some(Namespaced)"),
            ("events::v1::Event", "events.v1.events.k8s.io Some(Namespaced)"),
            (
                "k8s_openapi::api::authentication::v1::TokenReview",
                "tokenreviews.v1.authentication.k8s.io Some(Cluster)",
            ),
            ("Alias", "pods.v1. Some(Namespaced)"),
            ("Typed", "configmaps.v1. Some(Namespaced)"),
            ("ByHand", "things.v2.things.example.com Some(Cluster)"),
            ("Constant", "constants.v1.g Some(Namespaced)"),
        ];
        with(|deriver, root| {
            for (path, expected) in cases {
                let path = UsePath { global: false, segments: path.split("::").map(String::from).collect() };
                let found = deriver.resource(&path, root).map(|resource| said(&resource));
                assert_eq!(found.as_deref(), Some(expected), "{path:?}");
            }
            // A subresource, types that are not kinds, and a kind that is known only at run time.
            for path in ["k8s_openapi::api::policy::v1::Eviction", "Plain", "Unclear", "PolicySpec", "Missing"] {
                let path = UsePath { global: false, segments: path.split("::").map(String::from).collect() };
                assert_eq!(deriver.resource(&path, root), None, "{path:?}");
            }
        });
    }

    #[test]
    fn names_tell_a_resource() {
        with(|deriver, _| {
            let named = said(&deriver.resource_named("example.com", "v1", "Fish"));
            assert_eq!(named, "fish.v1.example.com Some(Cluster)");
            let foreign = said(&deriver.resource_named("cert-manager.io", "v1", "Certificate"));
            assert_eq!(foreign, "certificates.v1.cert-manager.io None");
            assert_eq!(deriver.resource_named("example.com", "v1", "Y").plural, "ys");
            assert_eq!(deriver.resource_named("", "v1", "Endpoints").plural, "endpoints");
        });
    }

    /// kube's rule is right for every kind of Kubernetes, so both ways to a resource have the same result.
    #[test]
    fn kube_guesses_the_plurals_of_kubernetes() {
        // This alpha version has two kinds that no later version has.
        let kinds = kubernetes::kinds().filter(|kind| (kind.group, kind.version) != ("resource.k8s.io", "v1alpha2"));
        for kind in kinds {
            let guessed = resource_guessed(kind.group, kind.version, kind.name);
            assert_eq!(guessed.plural, kind.plural, "{kind:?}");
        }
    }
}
