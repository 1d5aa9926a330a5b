//! Rust type → the schema that schemars gives it, before any transform.
//!
//! This is the place that knows what a type *is*: a type of the source (then `containers` derives it as schemars'
//! macro does), a type of another crate (then `known` asks the real implementation), or a composition of these.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use schemars::json_schema;
use syn::spanned::Spanned;
use syn::{DeriveInput, GenericArgument, GenericParam, Generics, ItemImpl, PathArguments, Type, TypePath};

use super::Options;
use super::attributes::{attribute_macro, derive_named, derives};
use super::foreign::Missing;
use super::known::{self, Entry, NoSchema, Shape};
use super::kubernetes_version::Unclear;
use super::modules::{ModuleId, Modules, TypeDecl, UsePath, mentions, name, span_of};
use super::resolve::{Foreign, Namespace, Target, follow, made_by_macro, resolve};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::Underivable;

/// What could not be derived has been said in a diagnostic.
#[derive(Clone, Copy, Debug)]
pub struct Refused;

pub type Derived<T> = Result<T, Refused>;

/// Derives the schemas of types, and collects what it cannot derive.
pub struct Deriver<'a> {
    pub modules: &'a Modules,
    options: &'a Options,
    pub diagnostics: Vec<Diagnostic>,
    /// The refusals since this was last emptied, those included that were reported before.
    pub reasons: Vec<Diagnostic>,
    pub underivable: Vec<Underivable>,
    /// The types that are being derived, outermost first: one that occurs in itself is recursive.
    open: Vec<(ModuleId, String)>,
    /// Types without parameters that were derived already.
    done: HashMap<(ModuleId, String), Result<Shape, Vec<Diagnostic>>>,
    impls: Vec<Implementation>,
    /// The modules whose impls are in the list.
    listed: BTreeSet<ModuleId>,
}

/// An `impl Trait for Type` of the source.
struct Implementation {
    trait_name: String,
    module: ModuleId,
    target: (ModuleId, String),
    item: Rc<ItemImpl>,
}

/// Where a type expression stands: what its names mean there.
#[derive(Clone)]
pub struct Scope {
    pub module: ModuleId,
    generics: Rc<BTreeMap<String, (Type, Scope)>>,
}

impl Scope {
    pub fn of(module: ModuleId) -> Self {
        Self { module, generics: Rc::default() }
    }
}

/// A type with its aliases, imports and parameters resolved.
pub enum Resolved {
    Data { module: ModuleId, input: Rc<DeriveInput>, scope: Scope, arguments: usize },
    Known { path: Vec<String>, entry: Entry, arguments: Vec<(Type, Scope)> },
    Tuple(Vec<(Type, Scope)>),
    Array(Box<(Type, Scope)>, syn::Expr),
    Slice(Box<(Type, Scope)>),
}

impl<'a> Deriver<'a> {
    pub fn new(modules: &'a Modules, options: &'a Options) -> Self {
        let mut deriver = Self {
            modules,
            options,
            diagnostics: Vec::new(),
            reasons: Vec::new(),
            underivable: Vec::new(),
            open: Vec::new(),
            done: HashMap::new(),
            impls: Vec::new(),
            listed: BTreeSet::new(),
        };
        deriver.list_impls(&modules.local());
        deriver
    }

    fn list_impls(&mut self, modules: &[ModuleId]) {
        for id in modules {
            if self.listed.insert(*id) {
                self.impls.extend(implementations(self.modules, *id));
            }
        }
    }

    /// The `impl` of a trait for a type of the source, and the module where it stands.
    pub fn implementation(
        &mut self,
        trait_name: &str,
        module: ModuleId,
        type_name: &str,
    ) -> Option<(ModuleId, Rc<ItemImpl>)> {
        let find = |deriver: &Self| {
            let found = deriver.impls.iter().find(|implementation| {
                implementation.trait_name == trait_name
                    && implementation.target.0 == module
                    && implementation.target.1 == type_name
            })?;
            Some((found.module, found.item.clone()))
        };
        if self.modules.is_foreign(module) {
            // Nearly always it stands next to the type; only then is the whole crate read.
            self.list_impls(&[module]);
            if find(self).is_none() {
                self.list_impls(&self.modules.whole_crate(module));
            }
        }
        find(self)
    }

    /// Every associated constant or function of a type, from its inherent impls.
    pub fn associated(&mut self, module: ModuleId, type_name: &str) -> impl Iterator<Item = (ModuleId, Rc<ItemImpl>)> {
        if self.modules.is_foreign(module) {
            self.list_impls(&self.modules.whole_crate(module));
        }
        let of_type = move |found: &&Implementation| {
            found.trait_name.is_empty() && found.target.0 == module && found.target.1 == type_name
        };
        self.impls.iter().filter(of_type).map(|found| (found.module, found.item.clone()))
    }

    pub fn span(&self, scope: &Scope, node: &impl Spanned) -> Span {
        span_of(&self.modules.module(scope.module).file, node)
    }

    /// Reports and gives up on what is being derived.
    pub fn refuse<T>(&mut self, diagnostic: Diagnostic) -> Derived<T> {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic.clone());
        }
        self.reasons.push(diagnostic);
        Err(Refused)
    }

    /// A syntax error in an attribute.
    pub fn parsed<T>(&mut self, scope: &Scope, result: syn::Result<T>) -> Derived<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => {
                let span = self.span(scope, &error.span());
                self.refuse(
                    Diagnostic::error("OP004", format!("this attribute is not understood: {error}")).at(span, ""),
                )
            }
        }
    }

    pub fn shape(&mut self, ty: &Type, scope: &Scope) -> Derived<Shape> {
        match self.resolved(ty, scope)? {
            Resolved::Data { module, input, scope: inner, arguments } => {
                let label = "this field or type leads back to it";
                let place = self.span(scope, ty);
                let said = (self.diagnostics.len(), self.reasons.len());
                let mut shape = self.data(module, &input, &inner, arguments, place.clone(), label);
                if self.modules.is_foreign(module) && !self.modules.is_foreign(scope.module) {
                    // The user can change the place of use, not the other crate.
                    let used = format!("`{}` is used in {place}", input.ident);
                    let diagnostics = self.diagnostics[said.0..].iter_mut().chain(&mut self.reasons[said.1..]);
                    diagnostics.for_each(|diagnostic| diagnostic.help.push(used.clone()));
                }
                if let Ok(shape) = &mut shape
                    && !self.options.foreign_descriptions
                    && self.modules.is_kubernetes(module)
                {
                    shape.remove_descriptions();
                }
                shape
            }
            Resolved::Known { path, entry, arguments } => {
                let parameters: Derived<Vec<Shape>> =
                    all(arguments.iter().take(entry.parameters()).map(|(ty, scope)| self.shape(ty, scope)));
                let parameters = parameters?;
                if parameters.len() < entry.parameters() {
                    let span = self.span(scope, ty);
                    let message = format!("`{}` needs {} type parameters", path.join("::"), entry.parameters());
                    return self.refuse(Diagnostic::error("OP010", message).at(span, ""));
                }
                let mut shape =
                    entry.shape(parameters).or_else(|problem| self.refuse_known(problem, &path, ty, scope))?;
                if !self.options.foreign_descriptions && path[0] == "k8s_openapi" {
                    shape.remove_descriptions();
                }
                Ok(shape)
            }
            Resolved::Tuple(types) if types.is_empty() => Ok(json_schema!({ "type": "null" }).into()),
            Resolved::Tuple(_) => {
                let span = self.span(scope, ty);
                self.refuse_tuple(span)
            }
            Resolved::Slice(element) => {
                let items = self.shape(&element.0, &element.1)?.schema;
                Ok(json_schema!({ "type": "array", "items": items }).into())
            }
            Resolved::Array(element, length) => match self.integer(&length, scope)? {
                0 => Ok(json_schema!({ "type": "array", "maxItems": 0 }).into()),
                length @ 1..=32 => {
                    let length = i64::try_from(length).expect("at most 32");
                    let items = self.shape(&element.0, &element.1)?.schema;
                    Ok(json_schema!({ "type": "array", "items": items, "minItems": length, "maxItems": length }).into())
                }
                length => {
                    let span = self.span(scope, ty);
                    let message = format!("an array of {length} elements has no schema: schemars knows 0 to 32");
                    self.refuse(Diagnostic::error("OP012", message).at(span, "").help("use a `Vec`"))
                }
            },
        }
    }

    /// A struct or enum of the source, by whatever gives it a schema.
    fn data(
        &mut self,
        module: ModuleId,
        input: &Rc<DeriveInput>,
        scope: &Scope,
        arguments: usize,
        place: Span,
        label: &str,
    ) -> Derived<Shape> {
        let key = (module, name(&input.ident));
        if arguments == 0
            && let Some(done) = self.done.get(&key)
        {
            return done.clone().map_err(|reasons| {
                self.reasons.extend(reasons);
                Refused
            });
        }
        if self.open.contains(&key) {
            let message = format!("`{}` contains itself, and a CRD cannot say that: it has no references", key.1);
            let help = "break the circle: keep the inner part as `serde_json::Value` with `#[schemars(schema_with = …)]`, or give it a fixed depth";
            return self.refuse(Diagnostic::error("OP015", message).at(place, label).help(help));
        }
        self.open.push(key.clone());
        let before = self.reasons.len();
        let shape = self.derived_data(module, input, scope);
        self.open.pop();
        // A refusal within a circle is not the type's own: it may be derivable from elsewhere.
        if arguments == 0 && (shape.is_ok() || self.open.is_empty()) {
            self.done.insert(key, shape.clone().map_err(|Refused| self.reasons[before..].to_vec()));
        }
        shape
    }

    fn derived_data(&mut self, module: ModuleId, input: &Rc<DeriveInput>, scope: &Scope) -> Derived<Shape> {
        self.check_attribute_macros(input, scope)?;
        self.check_schemars(module, input, scope)?;
        if derives(&input.attrs, "JsonSchema") {
            self.container(input, scope)
        } else if derives(&input.attrs, "KubeSchema") {
            self.kube_schema(input, scope)
        } else if derives(&input.attrs, "JsonSchema_repr") {
            self.repr_enum(input, scope)
        } else if let Some((at, implementation)) = self.implementation("JsonSchema", module, &name(&input.ident)) {
            self.manual_schema(&Scope::of(at), &implementation)
        } else {
            let span = self.span(scope, &input.ident);
            let message = format!("`{}` has no schema: it does not derive `JsonSchema`", input.ident);
            let help = if self.modules.is_foreign(module) {
                "enable the feature of its crate that derives it, or say the schema at the field: `#[schemars(with = \"…\")]`"
            } else {
                "add `schemars::JsonSchema` to its `#[derive(…)]`"
            };
            self.refuse(Diagnostic::error("OP019", message).at(span, "used in a custom resource").help(help))
        }
    }

    /// Another crate may derive the `JsonSchema` of another schemars, which kube does not know.
    fn check_schemars(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope) -> Derived<()> {
        if !self.modules.is_foreign(module) {
            return Ok(());
        }
        let named = derive_named(&input.attrs, "JsonSchema").and_then(|path| {
            let segments = path.segments.iter().map(|segment| name(&segment.ident)).collect();
            let path = UsePath { global: path.leading_colon.is_some(), segments };
            match resolve(self.modules, module, &path, Namespace::Type)? {
                Target::Foreign(foreign) => foreign.via,
                _ => None,
            }
        });
        let Some(via) = named.or_else(|| Some(self.modules.dependency(module, "schemars")?.1)) else { return Ok(()) };
        match self.modules.version(&via) {
            Ok(version) if !version.starts_with("1.") && self.modules.declared(&via).krate == "schemars" => {
                let span = self.span(scope, &input.ident);
                let message =
                    format!("`{}` has a schema for schemars {version}, and kube takes that of schemars 1", input.ident);
                let help =
                    "use a version of its crate that has schemars 1, or say the schema: `#[schemars(with = \"…\")]`";
                self.refuse(Diagnostic::error("OP025", message).at(span, "used in a custom resource").help(help))
            }
            _ => Ok(()),
        }
    }

    /// schemars can say a tuple, but only by a list of schemas, which the API server refuses.
    pub fn refuse_tuple<T>(&mut self, span: Span) -> Derived<T> {
        self.refuse(
            Diagnostic::error("OP012", "a tuple has no structural schema")
                .at(span, "it becomes an array with a schema for each element")
                .help("use a struct with named fields, or a `Vec` if all elements are of one type"),
        )
    }

    pub fn check_attribute_macros(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<()> {
        let Some(attribute) = attribute_macro(&input.attrs) else { return Ok(()) };
        let span = self.span(scope, attribute);
        let message = format!("an attribute macro may change `{}` before its schema is derived", input.ident);
        let help = "put it after `#[derive(…)]` if it is a helper of a derive; else write out what it makes";
        self.refuse(Diagnostic::error("OP013", message).at(span, "").help(help))
    }

    /// Follows names, aliases and type parameters until the type itself is reached.
    pub fn resolved(&mut self, ty: &Type, scope: &Scope) -> Derived<Resolved> {
        let here = |ty: &Type| (ty.clone(), scope.clone());
        match ty {
            Type::Path(TypePath { qself: None, path, .. }) => self.resolved_path(ty, path, scope),
            Type::Reference(reference) => self.resolved(&reference.elem, scope),
            Type::Paren(inner) => self.resolved(&inner.elem, scope),
            Type::Group(inner) => self.resolved(&inner.elem, scope),
            Type::Tuple(tuple) => Ok(Resolved::Tuple(tuple.elems.iter().map(here).collect())),
            Type::Array(array) => Ok(Resolved::Array(Box::new(here(&array.elem)), array.len.clone())),
            Type::Slice(slice) => Ok(Resolved::Slice(Box::new(here(&slice.elem)))),
            _ => {
                let span = self.span(scope, ty);
                let message = "a type of this form cannot be derived from source";
                self.refuse(
                    Diagnostic::error("OP012", message)
                        .at(span, "")
                        .help("name the type, or use a struct, `Vec`, `Option` or map"),
                )
            }
        }
    }

    fn resolved_path(&mut self, ty: &Type, path: &syn::Path, scope: &Scope) -> Derived<Resolved> {
        if let Some(ident) = path.get_ident()
            && let Some((bound, outer)) = scope.generics.get(&name(ident)).cloned()
        {
            return self.resolved(&bound, &outer);
        }
        let segments: Vec<String> = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let arguments: Vec<(Type, Scope)> = match &path.segments.last().expect("a path has a segment").arguments {
            PathArguments::AngleBracketed(list) => list
                .args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some((ty.clone(), scope.clone())),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let use_path = UsePath { global: path.leading_colon.is_some(), segments: segments.clone() };
        let found = resolve(self.modules, scope.module, &use_path, Namespace::Type);
        let primitive = || {
            let [name] = segments.as_slice() else { return None };
            let path = known::prelude(name)?.iter().map(ToString::to_string).collect();
            Some(Target::Foreign(Foreign { path, via: None }))
        };
        let mut target = match found {
            // `use std::f64;` imports a module, and the type keeps its name.
            Some(Target::Module(_)) => primitive(),
            Some(Target::Foreign(foreign)) if foreign.path.len() == 2 && foreign.path[0] == "std" => {
                primitive().or(Some(Target::Foreign(foreign)))
            }
            found => found.or_else(primitive),
        };
        loop {
            target = match target {
                Some(Target::Item(module, name)) => {
                    let declared = self.modules.module(module).types.get(&name).cloned();
                    return match declared {
                        Some(TypeDecl::Data(input)) => {
                            let count = arguments.len();
                            let scope = Scope { module, generics: Rc::new(bind(&input.generics, arguments, module)) };
                            Ok(Resolved::Data { module, input, scope, arguments: count })
                        }
                        Some(TypeDecl::Alias(alias)) => {
                            let scope = Scope { module, generics: Rc::new(bind(&alias.generics, arguments, module)) };
                            self.resolved(&alias.ty, &scope)
                        }
                        None => self.unknown(ty, &segments, scope),
                    };
                }
                Some(Target::Foreign(foreign)) => {
                    let path = with_concrete_nonzero(foreign.path.clone(), &arguments);
                    let (minor, unclear) = match self.kubernetes(&foreign, scope).transpose() {
                        Ok(minor) => (minor, None),
                        Err(unclear) => (None, Some(unclear)),
                    };
                    if let Some(entry) = known::find(&path, minor) {
                        return Ok(Resolved::Known { path, entry, arguments });
                    }
                    if let Some(unclear @ (Unclear::Nothing | Unclear::Several(..))) = &unclear {
                        return self.refuse_kubernetes(ty, unclear, None, scope);
                    }
                    match follow(self.modules, &foreign, Namespace::Type) {
                        Ok(Some(Target::Foreign(next))) if next == foreign => {
                            return self.unknown(ty, &segments, scope);
                        }
                        Ok(Some(next)) => Some(next),
                        Ok(None) if foreign.via.is_some() => return self.not_in_crate(ty, &foreign, scope),
                        Ok(None) => return self.not_readable(ty, &path, None, scope),
                        Err(missing) => {
                            return match unclear {
                                Some(unclear) => self.refuse_kubernetes(ty, &unclear, Some(&missing), scope),
                                None => self.not_readable(ty, &path, Some(&missing), scope),
                            };
                        }
                    }
                }
                Some(Target::Hidden(diagnostic)) => {
                    let place = self.span(scope, ty);
                    let used = format!("`{}` is used in {place}", segments.join("::"));
                    return self.refuse(diagnostic.help(used));
                }
                Some(Target::Module(_)) | None => return self.unknown(ty, &segments, scope),
            };
        }
    }

    fn unknown<T>(&mut self, ty: &Type, segments: &[String], scope: &Scope) -> Derived<T> {
        let span = self.span(scope, ty);
        let (last, owner) = segments.split_last().expect("a path has a segment");
        if owner.is_empty()
            && let Some(call) = self.macro_call(scope.module, last)
        {
            return self.refuse(made_by_macro(last).at(span, format!("the macro is called in {call}")));
        }
        let message = if segments == ["Self"] {
            "a type that contains itself cannot be in a CRD: it has no references".to_string()
        } else {
            format!("no type `{}` is found from here", segments.join("::"))
        };
        self.refuse(
            Diagnostic::error("OP010", message)
                .at(span, "")
                .help("opctl follows modules and `use`; a type that a macro or a build script makes is not seen"),
        )
    }

    /// The place of a macro's call in a module that may make something of this name.
    fn macro_call(&self, module: ModuleId, name: &str) -> Option<Span> {
        let module = self.modules.module(module);
        let call = module.macros.iter().find(|(_, tokens)| mentions(tokens.clone(), name))?;
        Some(call.0.clone())
    }

    /// A crate whose source was read, and does not have the type.
    fn not_in_crate<T>(&mut self, ty: &Type, foreign: &Foreign, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, ty);
        let (last, owner) = foreign.path.split_last().expect("a path has a segment");
        let owner = Foreign { path: owner.to_vec(), via: foreign.via.clone() };
        if let Ok(Some(Target::Module(module))) = follow(self.modules, &owner, Namespace::Type)
            && let Some(call) = self.macro_call(module, last)
        {
            return self.refuse(made_by_macro(last).at(span, format!("the macro is called in {call}")));
        }
        let locked = foreign.via.as_ref().and_then(|via| self.modules.version(via).ok());
        let version = locked.map(|version| format!(" {version}")).unwrap_or_default();
        let message =
            format!("no type `{}` is found in the source of `{}`{version}", foreign.path.join("::"), foreign.path[0]);
        self.refuse(
            Diagnostic::error("OP010", message)
                .at(span, "")
                .help("a type that a macro or a build script makes is not seen; a feature may have to be enabled"),
        )
    }

    /// A type whose crate cannot be read.
    fn not_readable<T>(&mut self, ty: &Type, path: &[String], missing: Option<&Missing>, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, ty);
        let wrap = "wrap it in a type of your own, or say the schema: `#[schemars(with = \"…\")]`";
        let (label, help) = missing.map_or(("opctl has no schema for it".into(), wrap.into()), Missing::explained);
        let message =
            format!("the schema of `{}` is not known: it comes from the crate `{}`", path.join("::"), path[0]);
        self.refuse(Diagnostic::error("OP011", message).at(span, label).help(help))
    }

    fn refuse_known<T>(&mut self, problem: NoSchema, path: &[String], ty: &Type, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, ty);
        let path = path.join("::");
        self.refuse(match problem {
            NoSchema::Recursive => Diagnostic::error(
                "OP015",
                format!("`{path}` contains itself, and a CRD cannot say that: it has no references"),
            )
            .at(span, "")
            .help("keep it as `serde_json::Value` with `#[schemars(schema_with = …)]`"),
            NoSchema::NotImplemented => {
                Diagnostic::error("OP019", format!("`{path}` has no schema: it does not implement `JsonSchema`"))
                    .at(span, "used in a custom resource")
                    .help("say the schema: `#[schemars(with = \"…\")]`")
            }
        })
    }

    /// The version of Kubernetes that a path is of; `None`: it is no path of Kubernetes.
    fn kubernetes(&self, foreign: &Foreign, scope: &Scope) -> Option<Result<known::Minor, Unclear>> {
        if foreign.path[0] != "k8s_openapi" {
            return None;
        }
        // kube re-exports some types: its k8s-openapi is the package's.
        Some(match &foreign.via {
            Some(via) => self.modules.kubernetes(via),
            None => self.modules.kubernetes_beside(scope.module),
        })
    }

    fn refuse_kubernetes<T>(
        &mut self,
        ty: &Type,
        unclear: &Unclear,
        missing: Option<&Missing>,
        scope: &Scope,
    ) -> Derived<T> {
        // One mistake in Cargo.toml; its other places are no news.
        if let Some(said) = self.diagnostics.iter().find(|said| said.code == "OP017") {
            return self.refuse(said.clone());
        }
        let span = self.span(scope, ty);
        let (label, fetch) = missing.map_or(("a type of Kubernetes".into(), None), |missing| {
            let (label, help) = missing.explained();
            (label, Some(help))
        });
        let mut diagnostic = Diagnostic::error("OP017", unclear.to_string()).at(span, label);
        diagnostic.help.extend(fetch);
        self.refuse(diagnostic.help(unclear.help()))
    }
}

/// `NonZeroU8` is an alias of `NonZero<u8>`; the table has the former.
fn with_concrete_nonzero(mut path: Vec<String>, arguments: &[(Type, Scope)]) -> Vec<String> {
    if path.last().is_some_and(|last| last == "NonZero")
        && let Some((Type::Path(inner), _)) = arguments.first()
        && let Some(inner) = inner.path.get_ident().map(ToString::to_string)
    {
        let mut letters = inner.chars();
        let upper: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        *path.last_mut().expect("checked above") = format!("NonZero{upper}");
    }
    path
}

/// The impls of a module, by trait (`""`: inherent) and by the type of the source that they are for.
fn implementations(modules: &Modules, id: ModuleId) -> Vec<Implementation> {
    let of_item = |item: &Rc<ItemImpl>| {
        let Type::Path(TypePath { qself: None, path, .. }) = &*item.self_ty else { return None };
        let segments = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let path = UsePath { global: path.leading_colon.is_some(), segments };
        let (module, type_name) = match (resolve(modules, id, &path, Namespace::Type), path.segments.as_slice()) {
            (Some(Target::Item(module, type_name)), _) => (module, type_name),
            // A type that kube's derive makes next to the spec is not in the source.
            (None, [generated]) => (id, generated.clone()),
            _ => return None,
        };
        let trait_name = item.trait_.as_ref().and_then(|(path, _)| Some(name(&path.segments.last()?.ident)));
        Some(Implementation {
            trait_name: trait_name.unwrap_or_default(),
            module: id,
            target: (module, type_name),
            item: item.clone(),
        })
    };
    modules.module(id).impls.iter().filter_map(of_item).collect()
}

/// Type parameters → the arguments they stand for, or their defaults.
fn bind(generics: &Generics, arguments: Vec<(Type, Scope)>, module: ModuleId) -> BTreeMap<String, (Type, Scope)> {
    let parameters = generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(parameter),
        _ => None,
    });
    let mut arguments = arguments.into_iter();
    let mut bound = BTreeMap::new();
    for parameter in parameters {
        let argument = arguments.next().or_else(|| {
            let scope = Scope { module, generics: Rc::new(bound.clone()) };
            Some((parameter.default.clone()?.1, scope))
        });
        if let Some(argument) = argument {
            bound.insert(name(&parameter.ident), argument);
        }
    }
    bound
}

/// Collects all results, so that every problem is reported, not only the first.
pub fn all<T>(results: impl Iterator<Item = Derived<T>>) -> Derived<Vec<T>> {
    let results: Vec<Derived<T>> = results.collect();
    results.into_iter().collect()
}
