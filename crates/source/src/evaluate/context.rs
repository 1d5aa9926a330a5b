//! Type expressions → types. Everything that cannot be derived or evaluated is reported here.

use std::collections::BTreeMap;
use std::rc::Rc;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{DeriveInput, GenericArgument, GenericParam, Generics, ImplItem, ItemImpl, PathArguments, Type, TypePath};

use super::values::Local;
use crate::attributes::{Problem, Problems, attribute_macros};
use crate::diagnostics::{OP009, OP010, OP011, OP012, OP013, OP017, OP026, OP052};
use crate::known::{self, Entry};
use crate::resolve::derives;
use crate::resolve::foreign::Missing;
use crate::resolve::impls::Impls;
use crate::resolve::kubernetes_version::Unclear;
use crate::resolve::modules::{ModuleId, Modules, TypeDecl, UsePath, mentions, name, span_of};
use crate::resolve::names::{Foreign, Namespace, Target, follow, made_by_macro, resolve, types_in};
use crate::resolve::panics::Panics;
use crate::resolve::roots::root_type;
use crate::resolve::shadows::Shadows;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::names::nearest;

/// Maximum depth of nested types, including aliases; limited by the size of a stack.
const MAX_DEPTH: usize = 128;

/// Maximum number of steps from type to type for one kind.
const MAX_FOLLOWED: usize = 1_000_000;

/// The error of a failure that was reported as a diagnostic.
#[derive(Clone, Copy, Debug)]
pub struct Reported;

pub type Derived<T> = Result<T, Reported>;

/// Resolves types, and collects the diagnostics; the evaluator and the deriver share it.
pub struct Context<'a> {
    pub modules: &'a Modules,
    pub diagnostics: Vec<Diagnostic>,
    /// The refusals since this was last emptied, including those that were reported before.
    pub reasons: Vec<Diagnostic>,
    /// Number of functions and constants that are being evaluated: one that depends on itself would not end.
    pub evaluating: usize,
    /// Number of expressions in the current evaluation.
    pub steps: usize,
    pub shadows: Shadows<'a>,
    pub panics: Panics<'a>,
    pub impls: Impls<'a>,
    /// Depth of the current type, and number of types that were followed for this kind.
    depth: usize,
    followed: usize,
    /// The reason why no more types are followed for this kind.
    excess: Option<Diagnostic>,
}

/// A type expression and its scope.
pub type Typed = (Type, Scope);

/// The scope of an expression: its module and the meaning of local names.
#[derive(Clone, Debug)]
pub struct Scope {
    pub module: ModuleId,
    /// Type parameters, and `Self`.
    pub generics: Rc<BTreeMap<String, Typed>>,
    /// Constant parameters, parameters of functions, `let`.
    pub locals: Rc<BTreeMap<String, Local>>,
}

impl Scope {
    pub fn of(module: ModuleId) -> Self {
        Self { module, generics: Rc::default(), locals: Rc::default() }
    }

    /// `true` if there are type parameters.
    pub fn has_parameters(&self) -> bool {
        self.generics.keys().any(|parameter| parameter != "Self")
    }

    /// Binds parameters without arguments, so that they are not confused with types and constants of the same name.
    pub fn leave_open(&mut self, generics: &Generics) {
        let open = (syn::parse_quote!(_), self.clone());
        for parameter in generics.type_params() {
            Rc::make_mut(&mut self.generics).entry(name(&parameter.ident)).or_insert_with(|| open.clone());
        }
        for parameter in generics.const_params() {
            Rc::make_mut(&mut self.locals).entry(name(&parameter.ident)).or_insert(Local::Open);
        }
    }

    /// The scope within a generic item: its parameters are bound to the arguments in `outer`.
    fn within(module: ModuleId, generics: &Generics, arguments: Vec<Typed>, itself: Option<Typed>) -> Self {
        let mut scope = Self::of(module);
        if let Some(itself) = itself {
            Rc::make_mut(&mut scope.generics).insert("Self".into(), itself);
        }
        let mut arguments = arguments.into_iter();
        for parameter in &generics.params {
            let (ident, default) = match parameter {
                GenericParam::Type(parameter) => (&parameter.ident, parameter.default.clone().map(|(_, ty)| ty)),
                GenericParam::Const(parameter) => {
                    let default = parameter.default.as_ref().map(|(_, value)| value.to_token_stream());
                    (&parameter.ident, default.map(Type::Verbatim))
                }
                GenericParam::Lifetime(_) => continue,
            };
            let Some((ty, at)) = arguments.next().or_else(|| Some((default?, scope.clone()))) else { continue };
            match parameter {
                // `List<LENGTH>` parses as a type.
                GenericParam::Const(parameter) => {
                    if let Ok(value) = syn::parse2(ty.to_token_stream()) {
                        let ty = Box::new((parameter.ty.clone(), scope.clone()));
                        let local = Local::Constant(Box::new(value), at, ty);
                        Rc::make_mut(&mut scope.locals).insert(name(ident), local);
                    }
                }
                _ => {
                    Rc::make_mut(&mut scope.generics).insert(name(ident), (ty, at));
                }
            }
        }
        scope
    }
}

/// A type with its aliases, imports and parameters resolved.
pub enum Resolved {
    Data {
        module: ModuleId,
        input: Rc<DeriveInput>,
        scope: Scope,
        arguments: Vec<Typed>,
    },
    Known {
        path: Vec<String>,
        entry: Entry,
        arguments: Vec<Typed>,
    },
    Tuple(Vec<Typed>),
    /// The element type, and the length.
    Array(Box<Typed>, syn::Expr),
    Slice(Box<Typed>),
}

impl<'a> Context<'a> {
    pub fn new(modules: &'a Modules) -> Self {
        Self {
            modules,
            diagnostics: Vec::new(),
            reasons: Vec::new(),
            evaluating: 0,
            steps: 0,
            shadows: Shadows::new(modules),
            panics: Panics::new(modules),
            impls: Impls::new(modules),
            depth: 0,
            followed: 0,
            excess: None,
        }
    }
}

impl Context<'_> {
    pub fn span(&self, scope: &Scope, node: &impl Spanned) -> Span {
        span_of(&self.modules.module(scope.module).file, node)
    }

    /// Reports a diagnostic and gives up.
    pub fn refuse<T>(&mut self, diagnostic: Diagnostic) -> Derived<T> {
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic.clone());
        }
        self.reasons.push(diagnostic);
        Err(Reported)
    }

    /// Reports syntax errors in an attribute.
    pub fn parsed<T>(&mut self, scope: &Scope, result: syn::Result<T>) -> Derived<T> {
        result.map_err(|errors| {
            let problems = Problems::default();
            problems.syntax(errors);
            let _ = self.report(problems, scope);
            Reported
        })
    }

    /// Reports mistakes in attributes.
    pub fn report(&mut self, problems: Problems, scope: &Scope) -> Derived<()> {
        let mut result = Ok(());
        for Problem { span, message, help, code } in problems.into_vec() {
            let span = self.span(scope, &span);
            let is_warning = code == OP009;
            let diagnostic = if is_warning { code.warning(message) } else { code.error(message) };
            let diagnostic = help.into_iter().fold(diagnostic.at(span, ""), Diagnostic::help);
            if !is_warning {
                result = self.refuse(diagnostic);
            } else if !self.diagnostics.contains(&diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
        result
    }

    /// Resets the limits, which apply to one kind.
    pub fn begin_kind(&mut self) {
        self.reasons.clear();
        self.followed = 0;
        self.excess = None;
    }

    /// Starts to follow a type, unless types are nested too deeply or too many; [`leave`](Self::leave) ends it.
    pub fn enter(&mut self, ty: &Type, scope: &Scope) -> Derived<()> {
        if let Some(excess) = self.excess.clone() {
            return self.refuse(excess);
        }
        self.followed += 1;
        if self.depth >= MAX_DEPTH {
            let excess = format!("leads through more than {MAX_DEPTH} types within each other");
            return self.too_large(ty, scope, &excess);
        }
        if self.followed > MAX_FOLLOWED {
            return self.too_large(ty, scope, &format!("is one of more than {MAX_FOLLOWED} types of this kind"));
        }
        self.depth += 1;
        Ok(())
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    pub fn too_large<T>(&mut self, ty: &Type, scope: &Scope, excess: &str) -> Derived<T> {
        let span = self.span(scope, ty);
        let text = ty.to_token_stream().to_string();
        let ty = if text.len() <= 60 { format!("type `{text}`") } else { "this type".into() };
        let help =
            "end the circle if the type leads back to itself; otherwise keep a part of it as `serde_json::Value`";
        let excess = OP026.error(format!("{ty} {excess}")).at(span, "").help(help);
        self.excess = Some(excess.clone());
        self.refuse(excess)
    }

    /// `true` if a type has a derive of std, serde, schemars or kube, given by its original name.
    pub fn derives(&self, attributes: &[syn::Attribute], name: &str, module: ModuleId) -> bool {
        derives::derives(self.modules, module, attributes, name)
    }

    /// A derive that may implement traits of serde, schemars and std in its own way.
    pub fn other_derive(&self, attributes: &[syn::Attribute], module: ModuleId) -> Option<String> {
        derives::other(self.modules, module, attributes)
    }

    /// `true` if kube's derive generates the type.
    pub fn is_root(&self, module: ModuleId, type_name: &str) -> bool {
        let module = self.modules.module(module);
        module.roots.contains_key(type_name) && !module.types.contains_key(type_name)
    }

    pub fn check_attribute_macros(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<()> {
        let is_macro = |path: &syn::Path| self.is_attribute_macro(path, scope.module);
        let found =
            attribute_macros(&input.attrs).into_iter().rfind(|(attribute, is_behind_derive)| match is_behind_derive {
                true => is_macro(attribute.path()),
                false => self.of_serde_with(attribute, scope.module).is_none(),
            });
        let Some((attribute, _)) = found else { return Ok(()) };
        let span = self.span(scope, attribute);
        let message = format!("an attribute macro may change `{}` before its schema is derived", input.ident);
        let help = "put it after `#[derive(…)]` if it is a helper of a derive; otherwise, write out what it expands to";
        self.refuse(OP013.error(message).at(span, "").help(help))
    }

    pub fn is_attribute_macro(&self, path: &syn::Path, module: ModuleId) -> bool {
        path.segments.len() > 1
            || resolve(self.modules, module, &UsePath::of(path), Namespace::Macro)
                .is_some_and(|found| !matches!(found, Target::Foreign(Foreign { path, .. }) if path.len() == 1))
    }

    /// The macro of serde_with that an attribute refers to: `skip_serializing_none`, `serde_as`.
    fn of_serde_with(&self, attribute: &syn::Attribute, module: ModuleId) -> Option<&'static str> {
        let found = resolve(self.modules, module, &UsePath::of(attribute.path()), Namespace::Macro);
        let Some(Target::Foreign(Foreign { path, .. })) = found else { return None };
        match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["serde_with" | "serde_with_macros", last] => {
                ["skip_serializing_none", "serde_as"].into_iter().find(|known| *known == last)
            }
            _ => None,
        }
    }

    /// The canonical path of a type of another crate.
    pub fn foreign_type(&self, ty: &Type, scope: &Scope) -> Option<Vec<String>> {
        let Type::Path(TypePath { qself: None, path, .. }) = ty else { return None };
        if let Some((bound, outer)) = path.get_ident().and_then(|ident| scope.generics.get(&name(ident))) {
            return self.foreign_type(bound, outer);
        }
        match resolve(self.modules, scope.module, &UsePath::of(path), Namespace::Type) {
            Some(Target::Foreign(foreign)) => Some(foreign.path),
            _ => None,
        }
    }

    /// The type with the changes that the macros of serde_with make for the derives that follow.
    pub fn with_serde_with(&self, input: &Rc<DeriveInput>, scope: &Scope) -> Rc<DeriveInput> {
        let macros = attribute_macros(&input.attrs).into_iter().filter(|(_, is_behind)| !is_behind);
        let macros: Vec<_> = macros.filter_map(|(attribute, _)| self.of_serde_with(attribute, scope.module)).collect();
        if macros.is_empty() {
            return input.clone();
        }
        let mut input = (**input).clone();
        for found in macros {
            match found {
                "serde_as" => crate::attributes::serde_as(&mut input),
                _ => crate::attributes::skip_none(&mut input),
            }
        }
        Rc::new(input)
    }

    /// Follows names, aliases and type parameters to the type itself.
    pub fn resolved(&mut self, ty: &Type, scope: &Scope) -> Derived<Resolved> {
        self.enter(ty, scope)?;
        let resolved = self.resolved_type(ty, scope);
        self.leave();
        resolved
    }

    fn resolved_type(&mut self, ty: &Type, scope: &Scope) -> Derived<Resolved> {
        let here = |ty: &Type| (ty.clone(), scope.clone());
        match ty {
            Type::Path(TypePath { qself: None, path, .. }) => self.resolved_path(ty, path, scope),
            Type::Path(TypePath { qself: Some(of), path, .. }) if path.segments.len() > of.position => {
                let mut trait_path = path.clone();
                let item = trait_path.segments.pop().map(|item| name(&item.ident)).unwrap_or_default();
                trait_path.segments.pop_punct();
                let trait_path = Some(&trait_path).filter(|_| of.position > 0);
                self.associated_type(&((*of.ty).clone(), scope.clone()), trait_path, &item, ty, scope)
            }
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
                    OP012.error(message).at(span, "").help("name the type, or use a struct, `Vec`, `Option` or map"),
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
        if let [of, item] = &segments[..]
            && let Some(bound) = scope.generics.get(of).cloned()
        {
            return self.associated_type(&bound, None, item, ty, scope);
        }
        let arguments: Vec<Typed> = match &path.segments.last().expect("a path has a segment").arguments {
            PathArguments::AngleBracketed(list) => list
                .args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some((ty.clone(), scope.clone())),
                    GenericArgument::Const(value) => Some((Type::Verbatim(value.to_token_stream()), scope.clone())),
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
            // `use std::f64;` imports a module, but the name still refers to the primitive type.
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
                            let itself = (ty.clone(), scope.clone());
                            let scope = Scope::within(module, &input.generics, arguments.clone(), Some(itself));
                            Ok(Resolved::Data { module, input, scope, arguments })
                        }
                        Some(TypeDecl::Alias(alias)) => {
                            let scope = Scope::within(module, &alias.generics, arguments, None);
                            self.resolved(&alias.ty, &scope)
                        }
                        None => match self.made_root(module, &name) {
                            Some(root) => {
                                let scope = Scope::within(module, &root.generics, Vec::new(), None);
                                Ok(Resolved::Data { module, input: Rc::new(root), scope, arguments })
                            }
                            None => self.unknown(ty, &segments, scope),
                        },
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
                    if let Some(unclear @ (Unclear::Nothing | Unclear::Several(..) | Unclear::Feature { .. })) =
                        &unclear
                    {
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
                    let span = self.span(scope, ty);
                    let used = format!("`{}` is used in {span}", segments.join("::"));
                    return self.refuse(diagnostic.help(used));
                }
                Some(Target::Module(_)) | None => return self.unknown(ty, &segments, scope),
            };
        }
    }

    /// `<Type as Trait>::Item`, `T::Item`: resolved by the only `impl` with an item of this name.
    fn associated_type(
        &mut self,
        of: &Typed,
        trait_path: Option<&syn::Path>,
        item: &str,
        ty: &Type,
        scope: &Scope,
    ) -> Derived<Resolved> {
        if let Resolved::Data { module, input, scope: inner, .. } = self.resolved(&of.0, &of.1)? {
            let type_name = name(&input.ident);
            let of_trait = trait_path.map(|path| (scope.module, path));
            let impls = self.impls.with_associated_type(item, module, &type_name, of_trait);
            if let [(at, implementation)] = &impls[..]
                && holds_for_all(implementation)
                && self.modules.implementor(&type_name, item).is_none()
            {
                let found = implementation.items.iter().find_map(|found| match found {
                    // A generic associated type is not followed.
                    ImplItem::Type(found) if name(&found.ident) == item && found.generics.params.is_empty() => {
                        Some(found.ty.clone())
                    }
                    _ => None,
                });
                let Some(found) = found else { return self.unknown(ty, &[text_of(ty)], scope) };
                return self.resolved(&found, &impl_scope(implementation, *at, &input, &inner));
            }
        }
        self.unknown(ty, &[text_of(ty)], scope)
    }

    /// The type that kube's derive generates.
    fn made_root(&self, module: ModuleId, root: &str) -> Option<DeriveInput> {
        let module = self.modules.module(module);
        match module.types.get(module.roots.get(root)?)? {
            TypeDecl::Data(spec) => root_type(spec),
            TypeDecl::Alias(_) => None,
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
        if let Some((krate, missing)) = self.unread_glob(segments, scope) {
            let (label, help) = missing.explained();
            let message =
                format!("no type `{}` is found from here; it may come from the crate `{krate}`", segments.join("::"));
            return self.refuse(OP011.error(message).at(span, label).help(help));
        }
        if let Some(near) = self.misspelled(segments, scope) {
            let message = format!("no type `{}` is in scope", segments.join("::"));
            return self.refuse(
                OP052.error(message).at(span, "").help(format!("a type with a similar name exists: `{near}`")),
            );
        }
        let message = if segments == ["Self"] {
            "a type that contains itself cannot be in a CRD: it has no references".to_string()
        } else {
            format!("no type `{}` is found from here", segments.join("::"))
        };
        self.refuse(
            OP010
                .error(message)
                .at(span, "")
                .help("opctl follows modules and `use`; a type that a macro or a build script makes is not seen"),
        )
    }

    /// The type in scope with almost the same name, if only the source can declare the types of this module.
    fn misspelled(&self, segments: &[String], scope: &Scope) -> Option<String> {
        let (last, owner) = segments.split_last()?;
        let module = if owner.is_empty() {
            scope.module
        } else {
            let path = UsePath { global: false, segments: owner.to_vec() };
            match resolve(self.modules, scope.module, &path, Namespace::Type)? {
                Target::Module(module) => module,
                _ => return None,
            }
        };
        let declared = types_in(self.modules, module, last)?;
        let mut names: Vec<&str> = known::prelude_names().filter(|_| owner.is_empty()).collect();
        names.extend(declared.iter().map(String::as_str).filter(|name| name != last));
        let near = nearest(last, names)?.to_owned();
        Some([owner, &[near]].concat().join("::"))
    }

    /// A crate whose source is not on disk, and from which a glob may import the type.
    fn unread_glob(&self, segments: &[String], scope: &Scope) -> Option<(String, Missing)> {
        let module_of = |at: ModuleId, path: &[String], global: bool| match path {
            [] => Some(at),
            path => match resolve(self.modules, at, &UsePath { global, segments: path.to_vec() }, Namespace::Type) {
                Some(Target::Module(module)) => Some(module),
                _ => None,
            },
        };
        let (last, owner) = segments.split_last()?;
        let module = module_of(scope.module, owner, false)?;
        let here = self.modules.module(module);
        let imports = here.uses.get(last).into_iter().flatten();
        let imported = imports.filter_map(|used| {
            let (_, owner) = used.path.segments.split_last()?;
            module_of(module, owner, used.path.global)
        });
        std::iter::once(module).chain(imported).find_map(|id| {
            self.modules.module(id).globs.iter().find_map(|glob| {
                match resolve(self.modules, id, &glob.path, Namespace::Type)? {
                    Target::Foreign(foreign) => {
                        let missing = follow(self.modules, &foreign, Namespace::Type).err()?;
                        // A crate of procedural macros has no types.
                        (!matches!(missing, Missing::Library { .. })).then(|| (foreign.path[0].clone(), missing))
                    }
                    _ => None,
                }
            })
        })
    }

    /// The span of a macro call in a module that may declare this name.
    fn macro_call(&self, module: ModuleId, name: &str) -> Option<Span> {
        let module = self.modules.module(module);
        let call = module.macros.iter().find(|call| mentions(call.tokens.clone(), name))?;
        Some(call.span.clone())
    }

    /// Refuses a type that its crate, whose source was read, does not have.
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
            OP010
                .error(message)
                .at(span, "")
                .help("a type that a macro or a build script makes is not seen; a feature may have to be enabled"),
        )
    }

    /// Refuses a type whose crate cannot be read.
    fn not_readable<T>(&mut self, ty: &Type, path: &[String], missing: Option<&Missing>, scope: &Scope) -> Derived<T> {
        let span = self.span(scope, ty);
        let wrap = "wrap it in a type of your own, or specify the schema: `#[schemars(with = \"…\")]`";
        let (label, help) = missing.map_or(("opctl has no schema for it".into(), wrap.into()), Missing::explained);
        let message =
            format!("the schema of `{}` is not known: it comes from the crate `{}`", path.join("::"), path[0]);
        self.refuse(OP011.error(message).at(span, label).help(help))
    }

    /// The version of Kubernetes of a path; `None` if it is not a path of Kubernetes.
    fn kubernetes(&self, foreign: &Foreign, scope: &Scope) -> Option<Result<known::Minor, Unclear>> {
        if foreign.path[0] != "k8s_openapi" {
            return None;
        }
        // kube re-exports some types: it uses the same k8s-openapi as the package.
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
        // One mistake in Cargo.toml is only reported at its first place.
        if let Some(said) = self.diagnostics.iter().find(|said| said.code == OP017) {
            return self.refuse(said.clone());
        }
        let span = self.span(scope, ty);
        let (label, fetch) = missing.map_or(("a type of Kubernetes".into(), None), |missing| {
            let (label, help) = missing.explained();
            (label, Some(help))
        });
        let mut diagnostic = OP017.error(unclear.to_string()).at(span, label);
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

/// The scope within an `impl` for a type: its parameters are bound to those of the type in `scope`.
pub fn impl_scope(item: &ItemImpl, module: ModuleId, input: &DeriveInput, scope: &Scope) -> Scope {
    let mut inner = Scope::of(module);
    let generics = Rc::make_mut(&mut inner.generics);
    if let Some(itself) = scope.generics.get("Self") {
        generics.insert("Self".into(), itself.clone());
    }
    let Type::Path(TypePath { path, .. }) = &*item.self_ty else { return inner };
    let Some(PathArguments::AngleBracketed(list)) = path.segments.last().map(|last| &last.arguments) else {
        return inner;
    };
    let parameters = input.generics.params.iter().filter_map(|parameter| match parameter {
        GenericParam::Type(parameter) => Some(name(&parameter.ident)),
        GenericParam::Const(parameter) => Some(name(&parameter.ident)),
        GenericParam::Lifetime(_) => None,
    });
    let arguments = list.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(Type::Path(path)) => Some(path.path.get_ident()),
        GenericArgument::Lifetime(_) => None,
        _ => Some(None),
    });
    for (parameter, own) in parameters.zip(arguments) {
        let Some(own) = own.filter(|own| is_parameter(item, own)) else { continue };
        if let Some(bound) = scope.generics.get(&parameter) {
            generics.insert(name(own), bound.clone());
        } else if let Some(bound) = scope.locals.get(&parameter) {
            Rc::make_mut(&mut inner.locals).insert(name(own), bound.clone());
        }
    }
    inner
}

/// `true` if an `impl` holds for all arguments of its type; one for `Type<u8>` alone leaves the others to traits.
pub fn holds_for_all(item: &ItemImpl) -> bool {
    let Type::Path(TypePath { path, .. }) = &*item.self_ty else { return false };
    let Some(PathArguments::AngleBracketed(list)) = path.segments.last().map(|last| &last.arguments) else {
        return true;
    };
    list.args.iter().all(|argument| match argument {
        GenericArgument::Lifetime(_) => true,
        GenericArgument::Type(Type::Path(path)) => path.path.get_ident().is_some_and(|ident| is_parameter(item, ident)),
        _ => false,
    })
}

fn text_of(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(" :: ", "::").replace("< ", "<").replace(" >", ">")
}

/// `true` if a name is a type or constant parameter of an `impl`.
pub fn is_parameter(item: &ItemImpl, ident: &syn::Ident) -> bool {
    let mut parameters = item.generics.params.iter();
    parameters.any(|parameter| match parameter {
        GenericParam::Type(parameter) => parameter.ident == *ident,
        GenericParam::Const(parameter) => parameter.ident == *ident,
        GenericParam::Lifetime(_) => false,
    })
}

/// Collects all results, so that every problem is reported, not only the first.
pub fn all<T>(results: impl Iterator<Item = Derived<T>>) -> Derived<Vec<T>> {
    let results: Vec<Derived<T>> = results.collect();
    results.into_iter().collect()
}
