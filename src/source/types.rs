//! Rust type → the schema that schemars gives it, before any transform.
//!
//! This is the place that knows what a type *is*: a type of the source (then `containers` derives it as schemars'
//! macro does), a type of another crate (then `known` asks the real implementation), or a composition of these.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use schemars::json_schema;
use syn::spanned::Spanned;
use syn::{DeriveInput, GenericArgument, GenericParam, Generics, ItemImpl, PathArguments, Type, TypePath};

use super::Options;
use super::attributes::{attribute_macro, derives};
use super::known::{self, Entry, Minor, NoSchema, Shape};
use super::modules::{ModuleId, Modules, TypeDecl, UsePath, name, span_of};
use super::resolve::{Namespace, Target, resolve};
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
        Self {
            modules,
            options,
            diagnostics: Vec::new(),
            reasons: Vec::new(),
            underivable: Vec::new(),
            open: Vec::new(),
            done: HashMap::new(),
            impls: modules.ids().flat_map(|id| implementations(modules, id)).collect(),
        }
    }

    /// The `impl` of a trait for a type of the source, and the module where it stands.
    pub fn implementation(
        &self,
        trait_name: &str,
        module: ModuleId,
        type_name: &str,
    ) -> Option<(ModuleId, Rc<ItemImpl>)> {
        let found = self.impls.iter().find(|implementation| {
            implementation.trait_name == trait_name
                && implementation.target.0 == module
                && implementation.target.1 == type_name
        })?;
        Some((found.module, found.item.clone()))
    }

    /// Every associated constant or function of a type, from its inherent impls.
    pub fn associated(&self, module: ModuleId, type_name: &str) -> impl Iterator<Item = (ModuleId, Rc<ItemImpl>)> {
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
                self.data(module, &input, &inner, arguments, place, label)
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
            let help = "add `schemars::JsonSchema` to its `#[derive(…)]`";
            self.refuse(Diagnostic::error("OP019", message).at(span, "used in a custom resource").help(help))
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
        let target = resolve(self.modules, scope.module, &use_path, Namespace::Type).or_else(|| {
            let [name] = segments.as_slice() else { return None };
            let known = known::prelude(name)?;
            Some(Target::Foreign(known.iter().map(ToString::to_string).collect()))
        });
        match target {
            Some(Target::Item(module, name)) => match self.modules.module(module).types.get(&name).cloned() {
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
            },
            Some(Target::Foreign(mut path)) => {
                // `NonZeroU8` is an alias of `NonZero<u8>`; the table has the former.
                if path.last().is_some_and(|last| last == "NonZero") {
                    let inner = arguments.first().and_then(|(ty, _)| match ty {
                        Type::Path(path) => path.path.get_ident().map(ToString::to_string),
                        _ => None,
                    });
                    let inner = inner.unwrap_or_default();
                    let mut letters = inner.chars();
                    let upper: String =
                        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
                    *path.last_mut().expect("checked above") = format!("NonZero{upper}");
                }
                let kubernetes = match path[0].as_str() {
                    "k8s_openapi" => Some(self.kubernetes(ty, scope)?),
                    _ => None,
                };
                match known::find(&path, kubernetes) {
                    Some(entry) => Ok(Resolved::Known { path, entry, arguments }),
                    None => {
                        let span = self.span(scope, ty);
                        let krate = &path[0];
                        let message = format!(
                            "the schema of `{}` is not known: it comes from the crate `{krate}`",
                            path.join("::")
                        );
                        self.refuse(
                            Diagnostic::error("OP011", message)
                                .at(span, "its source is not part of this package")
                                .help("wrap it in a type of your own, or say the schema: `#[schemars(with = \"…\")]`"),
                        )
                    }
                }
            }
            Some(Target::Module(_)) | None => self.unknown(ty, &segments, scope),
        }
    }

    fn unknown<T>(&mut self, ty: &Type, segments: &[String], scope: &Scope) -> Derived<T> {
        let span = self.span(scope, ty);
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

    /// The version of Kubernetes whose types the package uses.
    fn kubernetes(&mut self, ty: &Type, scope: &Scope) -> Derived<Minor> {
        let problem = match self.modules.kubernetes(scope.module) {
            Ok(minor) => return Ok(*minor),
            Err(problem) => problem.clone(),
        };
        // One mistake in Cargo.toml; its other places are no news.
        if let Some(said) = self.diagnostics.iter().find(|said| said.code == "OP017") {
            return self.refuse(said.clone());
        }
        let span = self.span(scope, ty);
        self.refuse(
            Diagnostic::error("OP017", problem.to_string()).at(span, "a type of Kubernetes").help(problem.help()),
        )
    }
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
