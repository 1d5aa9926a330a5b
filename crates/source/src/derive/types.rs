//! Rust type → the schema that schemars generates for it, before any transform.
//!
//! This is the place that distinguishes types of the source (`containers` derives them as schemars' macro does),
//! types of other crates (`known` calls the real implementation), and compositions of these.

use std::collections::HashMap;
use std::rc::Rc;

use quote::ToTokens;
use schemars::json_schema;
use serde_derive_internals::Derive;
use serde_json::Value;
use syn::{DeriveInput, Type, TypePath};

use crate::Options;
use crate::attributes::{self, Problems};
use crate::diagnostics::{OP010, OP012, OP013, OP015, OP019, OP025};
use crate::evaluate::context::{Context, Derived, Reported, Resolved, Scope, Typed, all, impl_scope};
use crate::evaluate::{Evaluator, Schemas};
use crate::known::{self, NoSchema, Shape};
use crate::resolve::derives;
use crate::resolve::modules::{ModuleId, TypeDecl, UsePath, name};
use crate::resolve::names::{Namespace, Target, resolve};
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::versions::{Release, Requirement, is_known};
use opctl_model::{Declared, Enumeration, Underivable};

/// Maximum number of JSON values in a schema. An API server stores at most 1.5 MB of a CRD.
const MAX_VALUES: usize = 250_000;

/// Maximum number of values in the schemas of all types of a kind: each type has a copy of the types within it.
const MAX_COPIED: usize = 4 * MAX_VALUES;

/// Types and kinds that were derived.
pub struct State {
    options: Options,
    pub declared: Vec<Declared>,
    pub underivable: Vec<Underivable>,
    /// Spans of the names of kinds whose CRDs belong to other projects.
    pub foreign: Vec<Span>,
    /// Types that are being derived, outermost first: one that contains itself is recursive.
    open: Vec<String>,
    /// Results of types that were derived.
    done: HashMap<String, Result<Shape, Vec<Diagnostic>>>,
    /// Enums that were derived, inner ones first.
    pub enums: Vec<Enumeration>,
    /// Number of values so far in the schemas of the types within the current type.
    inside: usize,
    /// Number of values in the schemas of this kind's types.
    copied: usize,
}

impl State {
    pub fn new(options: &Options) -> Self {
        Self {
            options: options.clone(),
            declared: Vec::new(),
            underivable: Vec::new(),
            foreign: Vec::new(),
            open: Vec::new(),
            done: HashMap::new(),
            enums: Vec::new(),
            inside: 0,
            copied: 0,
        }
    }
}

impl Schemas for State {
    fn schema_of(&mut self, cx: &mut Context<'_>, ty: &Type, scope: &Scope) -> Derived<Value> {
        Ok(Deriver { cx, state: self }.shape(ty, scope)?.schema.to_value())
    }
}

/// Derives the schemas of types, and collects the errors.
pub struct Deriver<'e, 'a> {
    pub cx: &'e mut Context<'a>,
    pub state: &'e mut State,
}

impl<'a> Deriver<'_, 'a> {
    pub fn evaluator(&mut self) -> Evaluator<'_, 'a> {
        Evaluator { cx: self.cx, schemas: self.state }
    }
}

impl Deriver<'_, '_> {
    /// Reports attributes of a type that its derives refuse or ignore.
    fn check_attributes(&mut self, input: &DeriveInput, scope: &Scope) -> Derived<()> {
        let derives = derives::of(self.cx.modules, scope.module, &input.attrs);
        let problems = Problems::default();
        // A published crate compiles, but it may have derives that opctl does not find.
        if !self.cx.modules.is_foreign(scope.module) {
            let is_macro = |attribute: &syn::Attribute| self.cx.is_attribute_macro(attribute.path(), scope.module);
            attributes::check_names(input, &derives, is_macro, &problems);
        }
        let has_kube_schema = derives.has("KubeSchema");
        // The derive `KubeSchema` generates a type that derives the other two.
        if derives.has("Serialize") || has_kube_schema {
            attributes::check_serde(input, Derive::Serialize, &problems);
        }
        if derives.has("Deserialize") {
            attributes::check_serde(input, Derive::Deserialize, &problems);
        }
        if derives.has("JsonSchema") || derives.has("JsonSchema_repr") || has_kube_schema {
            attributes::check_schemars(input, derives.has("JsonSchema_repr"), &problems);
        }
        self.cx.report(problems, scope)
    }

    /// Resets the limits, which apply to one kind.
    pub fn begin_kind(&mut self) {
        self.state.copied = 0;
        self.state.inside = 0;
        self.cx.begin_kind();
    }

    pub fn shape(&mut self, ty: &Type, scope: &Scope) -> Derived<Shape> {
        let beside = std::mem::take(&mut self.state.inside);
        let shape = self.cx.enter(ty, scope).and_then(|()| {
            let shape = self.shape_of(ty, scope);
            self.cx.leave();
            shape
        });
        self.state.inside = beside;
        let shape = shape?;
        let mut left = MAX_VALUES;
        if !is_at_most(&mut left, shape.schema.as_value()) {
            return self.cx.too_large(ty, scope, &format!("has a schema of more than {MAX_VALUES} values"));
        }
        self.state.inside += MAX_VALUES - left;
        self.state.copied += MAX_VALUES - left;
        if self.state.inside > MAX_VALUES {
            // Checked before the type's schema is composed of all of them.
            let excess = format!("is in a type that has a schema of more than {MAX_VALUES} values");
            return self.cx.too_large(ty, scope, &excess);
        }
        if self.state.copied > MAX_COPIED {
            let excess = format!("and the types before it have schemas of more than {MAX_COPIED} values together");
            return self.cx.too_large(ty, scope, &excess);
        }
        Ok(shape)
    }

    fn shape_of(&mut self, ty: &Type, scope: &Scope) -> Derived<Shape> {
        match self.cx.resolved(ty, scope)? {
            Resolved::Data { module, input, scope: inner, arguments } => {
                let identity = self.identity_of(module, &input, &arguments)?;
                let span = self.cx.span(scope, ty);
                let said = (self.cx.diagnostics.len(), self.cx.reasons.len());
                let mut shape = self.data(module, &input, &inner, identity, span.clone());
                if self.cx.modules.is_foreign(module) && !self.cx.modules.is_foreign(scope.module) {
                    // The user can change the place of use, not the other crate.
                    let used = format!("`{}` is used in {span}", input.ident);
                    let diagnostics = self.cx.diagnostics[said.0..].iter_mut().chain(&mut self.cx.reasons[said.1..]);
                    diagnostics.for_each(|diagnostic| diagnostic.help.push(used.clone()));
                }
                if let Ok(shape) = &mut shape
                    && !self.state.options.foreign_descriptions
                    && self.cx.modules.is_kubernetes(module)
                {
                    shape.remove_descriptions();
                }
                shape
            }
            Resolved::Known { path, entry, arguments } => {
                let parameters: Derived<Vec<Shape>> =
                    all(arguments.iter().take(entry.parameters()).map(|(ty, scope)| self.shape(ty, scope)));
                let mut parameters = parameters?;
                if path.last().is_some_and(|last| last.ends_with("Map")) && !self.cx.modules.schemars().lists_keys() {
                    parameters.iter_mut().take(1).for_each(Shape::forget_values);
                }
                if parameters.len() < entry.parameters() {
                    let span = self.cx.span(scope, ty);
                    let message = format!("`{}` needs {} type parameters", path.join("::"), entry.parameters());
                    return self.cx.refuse(OP010.error(message).at(span, ""));
                }
                let mut shape =
                    entry.shape(parameters).or_else(|problem| self.refuse_known(problem, &path, ty, scope))?;
                if path == ["arrayvec", "ArrayVec"]
                    && let Some((capacity, at)) = arguments.get(1)
                {
                    let capacity = syn::parse2(capacity.to_token_stream());
                    let capacity = self.cx.parsed(at, capacity)?;
                    shape.schema.insert("maxItems".into(), self.evaluator().number(&capacity, at)?);
                }
                if !self.state.options.foreign_descriptions && path[0] == "k8s_openapi" {
                    shape.remove_descriptions();
                }
                Ok(shape)
            }
            Resolved::Tuple(types) => {
                let elements = all(types.iter().map(|(ty, scope)| self.shape(ty, scope)))?;
                match known::tuple(elements) {
                    Some(shape) => Ok(shape),
                    None => {
                        let span = self.cx.span(scope, ty);
                        let message = "a tuple of more than 16 elements has no schema: schemars knows 1 to 16";
                        self.cx.refuse(OP012.error(message).at(span, "").help("use a struct"))
                    }
                }
            }
            Resolved::Slice(element) => {
                let items = self.shape(&element.0, &element.1)?.schema;
                Ok(json_schema!({ "type": "array", "items": items }).into())
            }
            Resolved::Array(element, length) => match self.evaluator().integer(&length, &element.1, "usize")? {
                0 => Ok(json_schema!({ "type": "array", "maxItems": 0 }).into()),
                length @ 1..=32 => {
                    let length = i64::try_from(length).expect("at most 32");
                    let items = self.shape(&element.0, &element.1)?.schema;
                    Ok(json_schema!({ "type": "array", "items": items, "minItems": length, "maxItems": length }).into())
                }
                length => {
                    let span = self.cx.span(scope, ty);
                    let message = format!("an array of {length} elements has no schema: schemars knows 0 to 32");
                    self.cx.refuse(OP012.error(message).at(span, "").help("use a `Vec`"))
                }
            },
        }
    }

    /// A string that identifies a type, independent of how it is written.
    fn identity(&mut self, ty: &Type, scope: &Scope) -> Derived<String> {
        self.cx.enter(ty, scope)?;
        let identity = self.identity_of_type(ty, scope);
        self.cx.leave();
        identity
    }

    fn identity_of_type(&mut self, ty: &Type, scope: &Scope) -> Derived<String> {
        let list = |deriver: &mut Self, types: &[Typed]| {
            Ok(all(types.iter().map(|(ty, scope)| deriver.identity(ty, scope)))?.join(","))
        };
        // A constant argument may also parse as a type.
        if let Ok(value) = syn::parse2::<syn::Expr>(ty.to_token_stream())
            && !matches!(value, syn::Expr::Tuple(_) | syn::Expr::Array(_) | syn::Expr::Reference(_))
            && (!matches!(value, syn::Expr::Path(_)) || self.is_constant(ty, scope))
        {
            return Ok(self.evaluator().integer(&value, scope, "i128")?.to_string());
        }
        if let Type::Path(TypePath { qself: None, path, .. }) = ty
            && let Some((bound, outer)) = path.get_ident().and_then(|ident| scope.generics.get(&name(ident)).cloned())
        {
            return self.identity(&bound, &outer);
        }
        let before = self.cx.diagnostics.len();
        let is_bare_name = |ty: &Type| matches!(ty, Type::Path(path) if path.path.segments.iter().all(|segment| segment.arguments.is_none()));
        let resolved = match self.cx.resolved(ty, scope) {
            // A type that kube generates, or a type of another crate: it may only be a marker type. If its schema is
            // needed, it is refused there.
            Err(Reported) if is_bare_name(ty) => {
                self.cx.diagnostics.truncate(before);
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
                self.evaluator().integer(&length, &element.1, "usize")?
            )),
            Resolved::Slice(element) => Ok(format!("[{}]", self.identity(&element.0, &element.1)?)),
        }
    }

    fn identity_of(&mut self, module: ModuleId, input: &DeriveInput, arguments: &[Typed]) -> Derived<String> {
        let arguments = all(arguments.iter().map(|(ty, scope)| self.identity(ty, scope)))?;
        Ok(format!("{module:?} {}<{}>", name(&input.ident), arguments.join(",")))
    }

    /// `true` if a type argument is the name of a constant.
    fn is_constant(&self, ty: &Type, scope: &Scope) -> bool {
        let Type::Path(TypePath { qself: None, path, .. }) = ty else { return false };
        let segments: Vec<String> = path.segments.iter().map(|segment| name(&segment.ident)).collect();
        let is_local = matches!(segments.as_slice(), [only] if scope.locals.contains_key(only));
        let path = UsePath { global: path.leading_colon.is_some(), segments };
        is_local
            || resolve(self.cx.modules, scope.module, &path, Namespace::Type).is_none()
                && resolve(self.cx.modules, scope.module, &path, Namespace::Value).is_some()
    }

    /// A struct or enum in the source, with a derived or hand-written schema.
    fn data(
        &mut self,
        module: ModuleId,
        input: &Rc<DeriveInput>,
        scope: &Scope,
        identity: String,
        span: Span,
    ) -> Derived<Shape> {
        if let Some(done) = self.state.done.get(&identity) {
            return done.clone().map_err(|reasons| {
                self.cx.reasons.extend(reasons);
                Reported
            });
        }
        let of_type = |identity: &String| identity.split('<').next().map(String::from);
        let nested = self.state.open.iter().filter(|open| of_type(open) == of_type(&identity)).count();
        // A type that contains itself with ever larger arguments is infinite, too.
        if self.state.open.contains(&identity) || nested > 8 {
            let label = "this field or type leads back to it";
            let message =
                format!("`{}` contains itself, which a CRD cannot express: it has no references", input.ident);
            let help = "break the cycle: keep the inner part as `serde_json::Value` with `#[schemars(schema_with = …)]`, or give it a fixed depth";
            return self.cx.refuse(OP015.error(message).at(span, label).help(help));
        }
        self.state.open.push(identity.clone());
        let before = self.cx.reasons.len();
        let shape = self.derived_data(module, input, scope);
        self.state.open.pop();
        // A refusal within a cycle is not cached: the type may be derivable from elsewhere.
        if shape.is_ok() || self.state.open.is_empty() {
            self.state.done.insert(identity, shape.clone().map_err(|Reported| self.cx.reasons[before..].to_vec()));
        }
        shape
    }

    fn derived_data(&mut self, module: ModuleId, input: &Rc<DeriveInput>, scope: &Scope) -> Derived<Shape> {
        let root = name(&input.ident);
        if self.cx.is_root(module, &root) {
            let here = self.cx.modules.module(module);
            let spec = here.roots.get(&root).and_then(|spec| here.types.get(spec));
            if let Some(TypeDecl::Data(spec)) = spec {
                return Ok(self.generated_schema(&root, spec, &Scope::of(module))?.into());
            }
        }
        self.check_attributes(input, scope)?;
        self.cx.check_attribute_macros(input, scope)?;
        let input = &self.cx.with_serde_with(input, scope);
        self.check_schemars(module, input, scope)?;
        if self.cx.derives(&input.attrs, "JsonSchema", module) {
            self.container(input, scope)
        } else if self.cx.derives(&input.attrs, "KubeSchema", module) {
            self.kube_schema(input, scope)
        } else if self.cx.derives(&input.attrs, "JsonSchema_repr", module) {
            self.repr_enum(input, scope)
        } else {
            self.schema_by_hand(module, input, scope)
        }
    }

    fn schema_by_hand(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope) -> Derived<Shape> {
        let span = self.cx.span(scope, &input.ident);
        match self.cx.impls.implementations("JsonSchema", module, &name(&input.ident)).as_slice() {
            [(at, implementation)] => {
                let at = impl_scope(implementation, *at, input, scope);
                self.manual_schema(&at, implementation)
            }
            [] => {
                if let Some(derive) = self.cx.other_derive(&input.attrs, module) {
                    let message = format!(
                        "`{}` may have a schema by the derive `{derive}`, which opctl does not know",
                        input.ident
                    );
                    let help = "derive `schemars::JsonSchema`, or specify the schema at the field: `#[schemars(with = \"…\")]`";
                    return self.cx.refuse(OP013.error(message).at(span, "").help(help));
                }
                let message = format!("`{}` has no schema: it does not derive `JsonSchema`", input.ident);
                let help = if self.cx.modules.is_foreign(module) {
                    "enable the feature of its crate that derives it, or specify the schema at the field: `#[schemars(with = \"…\")]`"
                } else {
                    "add `schemars::JsonSchema` to its `#[derive(…)]`"
                };
                self.cx.refuse(OP019.error(message).at(span, "used in a custom resource").help(help))
            }
            _ => {
                let message = format!("`{}` has a `JsonSchema` of its own for each of its arguments", input.ident);
                self.cx.refuse(OP013.error(message).at(span, "").help("write one for all of them, or derive it"))
            }
        }
    }

    /// Refuses a type whose `JsonSchema` is that of another version of schemars: it generates another schema, and
    /// kube does not accept it.
    fn check_schemars(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope) -> Derived<()> {
        let named =
            derives::find(self.cx.modules, module, &input.attrs, "JsonSchema").and_then(|path| {
                match resolve(self.cx.modules, module, &path, Namespace::Macro)? {
                    Target::Foreign(foreign) => foreign.via,
                    _ => None,
                }
            });
        let Some(via) = named.or_else(|| Some(self.cx.modules.dependency(module, "schemars")?.1)) else {
            return Ok(());
        };
        let declared = self.cx.modules.declared(&via);
        let is_foreign = self.cx.modules.is_foreign(module);
        // The version in Cargo.toml suffices, unless it leaves the release open.
        let asked = declared.version.as_deref().filter(|_| !is_foreign).and_then(Requirement::parse);
        let version = match asked.and_then(|asked| asked.version()) {
            Some(asked) => Ok(asked),
            None => self.cx.modules.version(&via),
        };
        match version {
            Ok(version)
                if declared.krate == "schemars"
                    && !Release::parse(&version).is_some_and(|release| is_known("schemars", release)) =>
            {
                let span = self.cx.span(scope, &input.ident);
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
                self.cx.refuse(OP025.error(message).at(span, "used in a custom resource").help(help))
            }
            _ => Ok(()),
        }
    }

    fn refuse_known<T>(&mut self, problem: NoSchema, path: &[String], ty: &Type, scope: &Scope) -> Derived<T> {
        let span = self.cx.span(scope, ty);
        let path = path.join("::");
        self.cx.refuse(match problem {
            NoSchema::Recursive => OP015
                .error(format!("`{path}` contains itself, which a CRD cannot express: it has no references"))
                .at(span, "")
                .help("keep it as `serde_json::Value` with `#[schemars(schema_with = …)]`"),
            NoSchema::NotImplemented => OP019
                .error(format!("`{path}` has no schema: it does not implement `JsonSchema`"))
                .at(span, "used in a custom resource")
                .help("specify the schema: `#[schemars(with = \"…\")]`"),
        })
    }
}

/// `true` if JSON has at most `left` values; subtracts their number.
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
