//! Rust type → the schema that schemars gives it, before any transform.
//!
//! This is the place that knows what a type *is*: a type of the source (then `containers` derives it as schemars'
//! macro does), a type of another crate (then `known` asks the real implementation), or a composition of these.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use quote::ToTokens;
use schemars::json_schema;
use serde_derive_internals::Derive;
use serde_json::Value;
use syn::spanned::Spanned;
use syn::{DeriveInput, GenericArgument, GenericParam, Generics, ItemImpl, PathArguments, Type, TypePath};

use super::custom_resource::root_type;
use crate::Options;
use crate::attributes::{self, Problem, Problems, attribute_macros};
use crate::evaluate::shadows::Shadows;
use crate::evaluate::values::Local;
use crate::known::{self, Entry, NoSchema, Shape};
use crate::resolve::derives;
use crate::resolve::foreign::Missing;
use crate::resolve::kubernetes_version::Unclear;
use crate::resolve::modules::{ModuleId, Modules, TypeDecl, UsePath, mentions, name, span_of};
use crate::resolve::names::{Foreign, Namespace, Target, follow, made_by_macro, resolve};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::versions::{Release, Requirement, is_known};
use opctl_model::{Enumeration, Underivable};

/// The most types within each other, aliases included; few frames of each fit into a stack.
const MAX_DEPTH: usize = 128;

/// The most steps from type to type that a kind may take.
const MAX_FOLLOWED: usize = 1_000_000;

/// The most values in a schema, as JSON. An API server stores at most 1.5 MB of a CRD.
const MAX_VALUES: usize = 250_000;

/// The most values in the schemas of all types that a kind uses: each type has a copy of what is within it.
const MAX_COPIED: usize = 4 * MAX_VALUES;

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
    /// The names of the kinds that other projects have the CRDs of.
    pub foreign: Vec<Span>,
    /// The types that are being derived, outermost first: one that occurs in itself is recursive.
    open: Vec<String>,
    /// Types that were derived already.
    done: HashMap<String, Result<Shape, Vec<Diagnostic>>>,
    /// The enums that were derived, inner ones first.
    pub enums: Vec<Enumeration>,
    /// How many functions and constants are being evaluated: one that needs itself would not end.
    pub evaluating: usize,
    /// How many expressions the evaluation at hand took.
    pub steps: usize,
    /// The macros and traits of the project (`None`), and of other crates by their roots.
    pub shadows: HashMap<Option<ModuleId>, Rc<Shadows>>,
    /// The functions of the project, where one that is not evaluated was looked for.
    pub bodies: Option<Rc<BTreeMap<String, crate::evaluate::panics::Bodies>>>,
    /// How many types are being followed within each other, and how many were followed for this kind.
    depth: usize,
    followed: usize,
    /// The values in the schemas of the types that the type at hand was found to have so far.
    inside: usize,
    /// The values in the schemas of the types of this kind.
    copied: usize,
    /// Why nothing more is followed for this kind.
    excess: Option<Diagnostic>,
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

/// A type expression and where it stands.
pub type Typed = (Type, Scope);

/// Where an expression stands: what its names mean there.
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

    /// Whether there are type parameters.
    pub fn has_parameters(&self) -> bool {
        self.generics.keys().any(|parameter| parameter != "Self")
    }

    /// Parameters that nothing is known of are not taken for types and constants of the same name.
    pub fn leave_open(&mut self, generics: &Generics) {
        let open = (syn::parse_quote!(_), self.clone());
        for parameter in generics.type_params() {
            Rc::make_mut(&mut self.generics).entry(name(&parameter.ident)).or_insert_with(|| open.clone());
        }
        for parameter in generics.const_params() {
            Rc::make_mut(&mut self.locals).entry(name(&parameter.ident)).or_insert(Local::Open);
        }
    }

    /// The scope within something generic: its parameters stand for the arguments that `outer` means.
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
                // `List<LENGTH>` has the look of a type.
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
    /// Elements, and how many of them.
    Array(Box<Typed>, syn::Expr),
    Slice(Box<Typed>),
}

impl<'a> Deriver<'a> {
    pub fn new(modules: &'a Modules, options: &'a Options) -> Self {
        let mut deriver = Self {
            modules,
            options,
            diagnostics: Vec::new(),
            reasons: Vec::new(),
            underivable: Vec::new(),
            foreign: Vec::new(),
            enums: Vec::new(),
            evaluating: 0,
            steps: 0,
            shadows: HashMap::new(),
            bodies: None,
            depth: 0,
            followed: 0,
            copied: 0,
            inside: 0,
            excess: None,
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

    /// The `impl` of a trait for a type of the source, and the module where it stands. `None` also where there are
    /// several, for different arguments.
    pub fn implementation(
        &mut self,
        trait_name: &str,
        module: ModuleId,
        type_name: &str,
    ) -> Option<(ModuleId, Rc<ItemImpl>)> {
        let mut found = self.implementations(trait_name, module, type_name);
        (found.len() == 1).then(|| found.remove(0))
    }

    pub fn implementations(
        &mut self,
        trait_name: &str,
        module: ModuleId,
        type_name: &str,
    ) -> Vec<(ModuleId, Rc<ItemImpl>)> {
        if self.modules.is_foreign(module) {
            // Nearly always it stands next to the type; only then is the whole crate read.
            self.list_impls(&[module]);
            if trait_name.is_empty() || self.listed(trait_name, module, type_name).is_empty() {
                self.list_impls(&self.modules.whole_crate(module));
            }
        }
        // Of the modules that were not read at first: those that paths led into, and those where an `impl` may stand.
        self.modules.names_of(type_name);
        self.list_impls(&self.modules.local());
        self.listed(trait_name, module, type_name)
    }

    fn listed(&self, trait_name: &str, module: ModuleId, type_name: &str) -> Vec<(ModuleId, Rc<ItemImpl>)> {
        let of_type = |found: &&Implementation| {
            found.trait_name == trait_name && found.target.0 == module && found.target.1 == type_name
        };
        self.impls.iter().filter(of_type).map(|found| (found.module, found.item.clone())).collect()
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

    /// Syntax errors in an attribute.
    pub fn parsed<T>(&mut self, scope: &Scope, result: syn::Result<T>) -> Derived<T> {
        result.map_err(|errors| {
            let problems = Problems::default();
            problems.syntax(errors);
            let _ = self.report(problems, scope);
            Refused
        })
    }

    /// Reports mistakes in attributes.
    pub fn report(&mut self, problems: Problems, scope: &Scope) -> Derived<()> {
        let mut result = Ok(());
        for Problem { span, message, help, code } in problems.into_vec() {
            let span = self.span(scope, &span);
            let is_warning = code == "OP009";
            let diagnostic =
                if is_warning { Diagnostic::warning } else { Diagnostic::error }(code, message).at(span, "");
            let diagnostic = help.into_iter().fold(diagnostic, Diagnostic::help);
            if !is_warning {
                result = self.refuse(diagnostic);
            } else if !self.diagnostics.contains(&diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
        result
    }

    /// Reports the attributes of a type that its derives refuse or ignore.
    fn check_attributes(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<()> {
        let derives = derives::of(self.modules, scope.module, &input.attrs);
        let problems = Problems::default();
        // A published crate compiles, but it may have derives that opctl does not find.
        if !self.modules.is_foreign(scope.module) {
            let is_macro = |attribute: &syn::Attribute| self.is_attribute_macro(attribute.path(), scope.module);
            attributes::check_names(input, &derives, is_macro, &problems);
        }
        let has_kube_schema = derives.has("KubeSchema");
        // The derive `KubeSchema` makes a type that derives the other two.
        if derives.has("Serialize") || has_kube_schema {
            attributes::check_serde(input, Derive::Serialize, &problems);
        }
        if derives.has("Deserialize") {
            attributes::check_serde(input, Derive::Deserialize, &problems);
        }
        if derives.has("JsonSchema") || derives.has("JsonSchema_repr") || has_kube_schema {
            attributes::check_schemars(input, derives.has("JsonSchema_repr"), &problems);
        }
        self.report(problems, scope)
    }

    /// Forgets what limits the work for one kind.
    pub fn begin_kind(&mut self) {
        self.reasons.clear();
        self.followed = 0;
        self.copied = 0;
        self.inside = 0;
        self.excess = None;
    }

    /// Follows a type, unless the types lead on and on, or to too many.
    fn within<T>(
        &mut self,
        ty: &Type,
        scope: &Scope,
        follow: impl FnOnce(&mut Self, &Type, &Scope) -> Derived<T>,
    ) -> Derived<T> {
        if let Some(excess) = self.excess.clone() {
            return self.refuse(excess);
        }
        self.followed += 1;
        let excess = match self {
            _ if self.depth >= MAX_DEPTH => format!("leads through more than {MAX_DEPTH} types within each other"),
            _ if self.followed > MAX_FOLLOWED => format!("is one of more than {MAX_FOLLOWED} types of this kind"),
            _ => {
                self.depth += 1;
                let followed = follow(self, ty, scope);
                self.depth -= 1;
                return followed;
            }
        };
        self.too_large(ty, scope, &excess)
    }

    fn too_large<T>(&mut self, ty: &Type, scope: &Scope, excess: &str) -> Derived<T> {
        let span = self.span(scope, ty);
        let text = ty.to_token_stream().to_string();
        let ty = if text.len() <= 60 { format!("type `{text}`") } else { "this type".into() };
        let help =
            "end the circle if the type leads back to itself; otherwise keep a part of it as `serde_json::Value`";
        let excess = Diagnostic::error("OP026", format!("{ty} {excess}")).at(span, "").help(help);
        self.excess = Some(excess.clone());
        self.refuse(excess)
    }

    pub fn shape(&mut self, ty: &Type, scope: &Scope) -> Derived<Shape> {
        let beside = std::mem::take(&mut self.inside);
        let shape = self.within(ty, scope, Self::shape_of);
        self.inside = beside;
        let shape = shape?;
        let mut left = MAX_VALUES;
        if !is_at_most(&mut left, shape.schema.as_value()) {
            return self.too_large(ty, scope, &format!("has a schema of more than {MAX_VALUES} values"));
        }
        self.inside += MAX_VALUES - left;
        self.copied += MAX_VALUES - left;
        if self.inside > MAX_VALUES {
            // Before that type is made of all of them.
            let excess = format!("is in a type that has a schema of more than {MAX_VALUES} values");
            return self.too_large(ty, scope, &excess);
        }
        if self.copied > MAX_COPIED {
            let excess = format!("and the types before it have schemas of more than {MAX_COPIED} values together");
            return self.too_large(ty, scope, &excess);
        }
        Ok(shape)
    }

    fn shape_of(&mut self, ty: &Type, scope: &Scope) -> Derived<Shape> {
        match self.resolved(ty, scope)? {
            Resolved::Data { module, input, scope: inner, arguments } => {
                let identity = self.identity_of(module, &input, &arguments)?;
                let span = self.span(scope, ty);
                let said = (self.diagnostics.len(), self.reasons.len());
                let mut shape = self.data(module, &input, &inner, identity, span.clone());
                if self.modules.is_foreign(module) && !self.modules.is_foreign(scope.module) {
                    // The user can change the place of use, not the other crate.
                    let used = format!("`{}` is used in {span}", input.ident);
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
                let mut parameters = parameters?;
                if path.last().is_some_and(|last| last.ends_with("Map")) && !self.modules.schemars().lists_keys() {
                    parameters.iter_mut().take(1).for_each(Shape::forget_values);
                }
                if parameters.len() < entry.parameters() {
                    let span = self.span(scope, ty);
                    let message = format!("`{}` needs {} type parameters", path.join("::"), entry.parameters());
                    return self.refuse(Diagnostic::error("OP010", message).at(span, ""));
                }
                let mut shape =
                    entry.shape(parameters).or_else(|problem| self.refuse_known(problem, &path, ty, scope))?;
                if path == ["arrayvec", "ArrayVec"]
                    && let Some((capacity, at)) = arguments.get(1)
                {
                    let capacity = syn::parse2(capacity.to_token_stream());
                    let capacity = self.parsed(at, capacity)?;
                    shape.schema.insert("maxItems".into(), self.number(&capacity, at)?);
                }
                if !self.options.foreign_descriptions && path[0] == "k8s_openapi" {
                    shape.remove_descriptions();
                }
                Ok(shape)
            }
            Resolved::Tuple(types) => {
                let elements = all(types.iter().map(|(ty, scope)| self.shape(ty, scope)))?;
                match known::tuple(elements) {
                    Some(shape) => Ok(shape),
                    None => {
                        let span = self.span(scope, ty);
                        let message = "a tuple of more than 16 elements has no schema: schemars knows 1 to 16";
                        self.refuse(Diagnostic::error("OP012", message).at(span, "").help("use a struct"))
                    }
                }
            }
            Resolved::Slice(element) => {
                let items = self.shape(&element.0, &element.1)?.schema;
                Ok(json_schema!({ "type": "array", "items": items }).into())
            }
            Resolved::Array(element, length) => match self.integer(&length, &element.1, "usize")? {
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

    /// A type by a text that is the same for the same type, wherever it is named.
    fn identity(&mut self, ty: &Type, scope: &Scope) -> Derived<String> {
        self.within(ty, scope, Self::identity_of_type)
    }

    fn identity_of_type(&mut self, ty: &Type, scope: &Scope) -> Derived<String> {
        let list = |deriver: &mut Self, types: &[Typed]| {
            Ok(all(types.iter().map(|(ty, scope)| deriver.identity(ty, scope)))?.join(","))
        };
        // A constant argument has the look of a type, or is none.
        if let Ok(value) = syn::parse2::<syn::Expr>(ty.to_token_stream())
            && !matches!(value, syn::Expr::Tuple(_) | syn::Expr::Array(_) | syn::Expr::Reference(_))
            && (!matches!(value, syn::Expr::Path(_)) || self.is_constant(ty, scope))
        {
            return Ok(self.integer(&value, scope, "i128")?.to_string());
        }
        if let Type::Path(TypePath { qself: None, path, .. }) = ty
            && let Some((bound, outer)) = path.get_ident().and_then(|ident| scope.generics.get(&name(ident)).cloned())
        {
            return self.identity(&bound, &outer);
        }
        let before = self.diagnostics.len();
        let is_bare_name = |ty: &Type| matches!(ty, Type::Path(path) if path.path.segments.iter().all(|segment| segment.arguments.is_none()));
        let resolved = match self.resolved(ty, scope) {
            // A type that kube generates, or of another crate: it may be there only to tell types apart. Where its schema
            // is needed, it is refused.
            Err(Refused) if is_bare_name(ty) => {
                self.diagnostics.truncate(before);
                return Ok(format!("{:?} {}", scope.module, ty.to_token_stream()));
            }
            resolved => resolved?,
        };
        match resolved {
            Resolved::Data { module, input, arguments, .. } => self.identity_of(module, &input, &arguments),
            Resolved::Known { path, arguments, .. } => Ok(format!("{}<{}>", path.join("::"), list(self, &arguments)?)),
            Resolved::Tuple(types) => Ok(format!("({})", list(self, &types)?)),
            Resolved::Array(element, length) => Ok(format!(
                "[{};{}]",
                self.identity(&element.0, &element.1)?,
                self.integer(&length, &element.1, "usize")?
            )),
            Resolved::Slice(element) => Ok(format!("[{}]", self.identity(&element.0, &element.1)?)),
        }
    }

    fn identity_of(&mut self, module: ModuleId, input: &DeriveInput, arguments: &[Typed]) -> Derived<String> {
        let arguments = all(arguments.iter().map(|(ty, scope)| self.identity(ty, scope)))?;
        Ok(format!("{module:?} {}<{}>", name(&input.ident), arguments.join(",")))
    }

    /// Whether what stands where a type may stand is the name of a constant.
    fn is_constant(&self, ty: &Type, scope: &Scope) -> bool {
        let Type::Path(TypePath { qself: None, path, .. }) = ty else { return false };
        let segments: Vec<String> = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let is_local = matches!(segments.as_slice(), [only] if scope.locals.contains_key(only));
        let path = UsePath { global: path.leading_colon.is_some(), segments };
        is_local
            || resolve(self.modules, scope.module, &path, Namespace::Type).is_none()
                && resolve(self.modules, scope.module, &path, Namespace::Value).is_some()
    }

    /// A struct or enum of the source, by whatever gives it a schema.
    fn data(
        &mut self,
        module: ModuleId,
        input: &Rc<DeriveInput>,
        scope: &Scope,
        identity: String,
        span: Span,
    ) -> Derived<Shape> {
        if let Some(done) = self.done.get(&identity) {
            return done.clone().map_err(|reasons| {
                self.reasons.extend(reasons);
                Refused
            });
        }
        let of_type = |identity: &String| identity.split('<').next().map(String::from);
        let nested = self.open.iter().filter(|open| of_type(open) == of_type(&identity)).count();
        // A type that contains itself with ever larger arguments has no end, either.
        if self.open.contains(&identity) || nested > 8 {
            let label = "this field or type leads back to it";
            let message =
                format!("`{}` contains itself, which a CRD cannot express: it has no references", input.ident);
            let help = "break the circle: keep the inner part as `serde_json::Value` with `#[schemars(schema_with = …)]`, or give it a fixed depth";
            return self.refuse(Diagnostic::error("OP015", message).at(span, label).help(help));
        }
        self.open.push(identity.clone());
        let before = self.reasons.len();
        let shape = self.derived_data(module, input, scope);
        self.open.pop();
        // A refusal within a circle is not the type's own: it may be derivable from elsewhere.
        if shape.is_ok() || self.open.is_empty() {
            self.done.insert(identity, shape.clone().map_err(|Refused| self.reasons[before..].to_vec()));
        }
        shape
    }

    /// Whether a type of a module derives a macro of std, serde, schemars or kube, by its name there.
    pub fn derives(&self, attributes: &[syn::Attribute], name: &str, module: ModuleId) -> bool {
        derives::derives(self.modules, module, attributes, name)
    }

    /// A derive that may implement traits of serde, schemars and std in its own way.
    pub fn other_derive(&self, attributes: &[syn::Attribute], module: ModuleId) -> Option<String> {
        derives::other(self.modules, module, attributes)
    }

    /// Whether kube's derive makes the type.
    pub fn is_root(&self, module: ModuleId, type_name: &str) -> bool {
        let module = self.modules.module(module);
        module.roots.contains_key(type_name) && !module.types.contains_key(type_name)
    }

    fn derived_data(&mut self, module: ModuleId, input: &Rc<DeriveInput>, scope: &Scope) -> Derived<Shape> {
        let root = name(&input.ident);
        if self.is_root(module, &root) {
            let here = self.modules.module(module);
            let spec = here.roots.get(&root).and_then(|spec| here.types.get(spec));
            if let Some(TypeDecl::Data(spec)) = spec {
                return Ok(self.generated_schema(&root, spec, &Scope::of(module))?.into());
            }
        }
        self.check_attributes(input, scope)?;
        self.check_attribute_macros(input, scope)?;
        let input = &self.with_serde_with(input, scope);
        self.check_schemars(module, input, scope)?;
        if self.derives(&input.attrs, "JsonSchema", module) {
            self.container(input, scope)
        } else if self.derives(&input.attrs, "KubeSchema", module) {
            self.kube_schema(input, scope)
        } else if self.derives(&input.attrs, "JsonSchema_repr", module) {
            self.repr_enum(input, scope)
        } else {
            self.schema_by_hand(module, input, scope)
        }
    }

    fn schema_by_hand(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope) -> Derived<Shape> {
        let span = self.span(scope, &input.ident);
        match self.implementations("JsonSchema", module, &name(&input.ident)).as_slice() {
            [(at, implementation)] => {
                let at = impl_scope(implementation, *at, input, scope);
                self.manual_schema(&at, implementation)
            }
            [] => {
                if let Some(derive) = self.other_derive(&input.attrs, module) {
                    let message = format!(
                        "`{}` may have a schema by the derive `{derive}`, which opctl does not know",
                        input.ident
                    );
                    let help = "derive `schemars::JsonSchema`, or specify the schema at the field: `#[schemars(with = \"…\")]`";
                    return self.refuse(Diagnostic::error("OP013", message).at(span, "").help(help));
                }
                let message = format!("`{}` has no schema: it does not derive `JsonSchema`", input.ident);
                let help = if self.modules.is_foreign(module) {
                    "enable the feature of its crate that derives it, or specify the schema at the field: `#[schemars(with = \"…\")]`"
                } else {
                    "add `schemars::JsonSchema` to its `#[derive(…)]`"
                };
                self.refuse(Diagnostic::error("OP019", message).at(span, "used in a custom resource").help(help))
            }
            _ => {
                let message = format!("`{}` has a `JsonSchema` of its own for each of its arguments", input.ident);
                self.refuse(
                    Diagnostic::error("OP013", message).at(span, "").help("write one for all of them, or derive it"),
                )
            }
        }
    }

    /// A `JsonSchema` of another schemars gives another schema, and kube does not know it.
    fn check_schemars(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope) -> Derived<()> {
        let named = derives::find(self.modules, module, &input.attrs, "JsonSchema").and_then(|path| {
            match resolve(self.modules, module, &path, Namespace::Macro)? {
                Target::Foreign(foreign) => foreign.via,
                _ => None,
            }
        });
        let Some(via) = named.or_else(|| Some(self.modules.dependency(module, "schemars")?.1)) else { return Ok(()) };
        let declared = self.modules.declared(&via);
        let is_foreign = self.modules.is_foreign(module);
        // What Cargo.toml says is enough, unless it leaves the version open.
        let asked = declared.version.as_deref().filter(|_| !is_foreign).and_then(Requirement::parse);
        let version = match asked.and_then(|asked| asked.version()) {
            Some(asked) => Ok(asked),
            None => self.modules.version(&via),
        };
        match version {
            Ok(version)
                if declared.krate == "schemars"
                    && !Release::parse(&version).is_some_and(|release| is_known("schemars", release)) =>
            {
                let span = self.span(scope, &input.ident);
                let (takes, help) = if is_foreign {
                    (
                        "kube takes",
                        "use a version of its crate that has schemars 1, or specify the schema: `#[schemars(with = \"…\")]`",
                    )
                } else {
                    (
                        "opctl derives",
                        "use schemars 1 and its kube, or let the compiled types print the CRDs: `--engine cargo`",
                    )
                };
                let message =
                    format!("`{}` has a schema for schemars {version}, and {takes} that of schemars 1", input.ident);
                self.refuse(Diagnostic::error("OP025", message).at(span, "used in a custom resource").help(help))
            }
            _ => Ok(()),
        }
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
        let help = "put it after `#[derive(…)]` if it is a helper of a derive; else write out what it makes";
        self.refuse(Diagnostic::error("OP013", message).at(span, "").help(help))
    }

    fn is_attribute_macro(&self, path: &syn::Path, module: ModuleId) -> bool {
        path.segments.len() > 1
            || resolve(self.modules, module, &UsePath::of(path), Namespace::Macro)
                .is_some_and(|found| !matches!(found, Target::Foreign(Foreign { path, .. }) if path.len() == 1))
    }

    /// The macro of serde_with that an attribute is: `skip_serializing_none`, `serde_as`.
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

    /// A type with what the macros of serde_with make of it for the derives that follow.
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

    /// Follows names, aliases and type parameters until the type itself is reached.
    pub fn resolved(&mut self, ty: &Type, scope: &Scope) -> Derived<Resolved> {
        self.within(ty, scope, Self::resolved_type)
    }

    fn resolved_type(&mut self, ty: &Type, scope: &Scope) -> Derived<Resolved> {
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

    /// The type that kube's derive makes.
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
        let call = module.macros.iter().find(|call| mentions(call.tokens.clone(), name))?;
        Some(call.span.clone())
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
        let wrap = "wrap it in a type of your own, or specify the schema: `#[schemars(with = \"…\")]`";
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
                format!("`{path}` contains itself, which a CRD cannot express: it has no references"),
            )
            .at(span, "")
            .help("keep it as `serde_json::Value` with `#[schemars(schema_with = …)]`"),
            NoSchema::NotImplemented => {
                Diagnostic::error("OP019", format!("`{path}` has no schema: it does not implement `JsonSchema`"))
                    .at(span, "used in a custom resource")
                    .help("specify the schema: `#[schemars(with = \"…\")]`")
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

/// The name of a trait where it is declared; of one of the source, with its module.
fn trait_name(modules: &Modules, id: ModuleId, path: &syn::Path) -> Option<String> {
    match resolve(modules, id, &UsePath::of(path), Namespace::Type) {
        Some(Target::Foreign(foreign)) => foreign.path.last().cloned(),
        Some(Target::Item(module, name)) if !modules.is_foreign(module) => Some(format!("{module:?} {name}")),
        _ => Some(name(&path.segments.last()?.ident)),
    }
}

/// The impls of a module, by trait (`""`: inherent) and by the type of the source that they are for.
fn implementations(modules: &Modules, id: ModuleId) -> Vec<Implementation> {
    let of_item = |item: &Rc<ItemImpl>| {
        let Type::Path(TypePath { qself: None, path, .. }) = &*item.self_ty else { return None };
        let segments = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let path = UsePath { global: path.leading_colon.is_some(), segments };
        let (module, type_name) = match (resolve(modules, id, &path, Namespace::Type), path.segments.as_slice()) {
            (Some(Target::Item(module, type_name)), _) => aliased(modules, module, type_name),
            // A type that kube's derive makes next to the spec is not in the source.
            (None, [generated]) => (id, generated.clone()),
            _ => return None,
        };
        let trait_name = item.trait_.as_ref().and_then(|(path, _)| trait_name(modules, id, path));
        Some(Implementation {
            trait_name: trait_name.unwrap_or_default(),
            module: id,
            target: (module, type_name),
            item: item.clone(),
        })
    };
    modules.module(id).impls.iter().filter_map(of_item).collect()
}

/// What an alias of a type of the source stands for.
fn aliased(modules: &Modules, mut module: ModuleId, mut type_name: String) -> (ModuleId, String) {
    // A way through aliases is short.
    for _ in 0..8 {
        let Some(TypeDecl::Alias(alias)) = modules.module(module).types.get(&type_name).cloned() else { break };
        let Type::Path(TypePath { qself: None, path, .. }) = &*alias.ty else { break };
        let Some(Target::Item(next, name)) = resolve(modules, module, &UsePath::of(path), Namespace::Type) else {
            break;
        };
        (module, type_name) = (next, name);
    }
    (module, type_name)
}

/// The scope within an `impl` for a type: its parameters stand for what those of the type stand for in `scope`.
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

/// Whether a name is a type or constant parameter of an `impl`.
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

/// Whether JSON has at most so many values; `left` is what is left of them.
fn is_at_most(left: &mut usize, value: &Value) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    match value {
        Value::Object(map) => map.values().all(|value| is_at_most(left, value)),
        Value::Array(list) => list.iter().all(|value| is_at_most(left, value)),
        _ => true,
    }
}
