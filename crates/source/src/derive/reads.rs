//! Rust type → the values that serde reads into it ([`Reads`]), by serde's own attributes: those of schemars, which
//! may differ, only affect the schema. Only `opctl check` needs this.

use std::rc::Rc;

use quote::ToTokens;
use serde_derive_internals::Derive;
use serde_derive_internals::ast::{Container, Data, Field as SerdeField, Style, Variant as SerdeVariant};
use serde_derive_internals::attr::TagType;
use serde_json::Value;
use syn::{Attribute, DeriveInput, Type};

use super::decoders::values_in;
use super::locate::{declaration, has_spec, status_type};
use super::types::{Deriver, State};
use crate::Options;
use crate::attributes::{self, Common};
use crate::evaluate::context::{Context, Resolved, Scope, Typed};
use crate::evaluate::numbers::range_of;
use crate::evaluate::values::is_pointer;
use crate::known::parsed;
use crate::resolve::modules::{ModuleId, Modules, name};
use opctl_model::Api;
use opctl_model::diagnostic::Span;
use opctl_model::reads::{Code, Field, Integer, Knowledge, Part, Reads, Tag, Variant};

/// Maximum depth of nested types; a type that contains itself with ever larger arguments is infinite.
const DEEPEST: usize = 48;

/// Sets [`Api::reads`]. Problems are not reported: those that affect the schema are known.
pub fn add(modules: &Modules, apis: &mut [Api]) {
    let (mut cx, mut state) = (Context::new(modules), State::new(&Options::default()));
    let deriver = Deriver { cx: &mut cx, state: &mut state };
    let mut walk = Walk { deriver, open: Vec::new(), detached: 0, is_flattened: false, values: Vec::new() };
    for api in apis {
        api.reads = walk.resource(modules, api);
    }
}

pub(crate) struct Walk<'e, 'm> {
    pub deriver: Deriver<'e, 'm>,
    /// Types and functions that are being read, outermost first.
    pub open: Vec<String>,
    /// Number of enclosing types and fields with a schema from elsewhere: attributes within them have no effect.
    detached: usize,
    /// The current type is a flattened field: serde passes it only the fields that it declares.
    is_flattened: bool,
    /// Values in the schema of the kind.
    pub values: Vec<Value>,
}

impl Walk<'_, '_> {
    fn resource(&mut self, modules: &Modules, api: &Api) -> Reads {
        let Some((module, input)) = declaration(modules, api) else { return Reads::Unknown };
        let scope = Scope::of(module);
        self.values = api.schema.as_ref().map(values_in).unwrap_or_default();
        let spec = self.data(module, &input, &scope, &[]);
        let mut parts = match spec {
            Reads::Struct(parts) if !has_spec(&input) => parts,
            reads => vec![part("spec", Some(api.span.clone()), reads)],
        };
        if let Some((at, ty)) = status_type(&input) {
            let span = self.deriver.cx.span(&scope, &at);
            let reads = Reads::Optional(Box::new(self.value(&ty, &scope)));
            parts.push(part("status", Some(span), reads));
        }
        Reads::Struct(parts)
    }

    pub fn value(&mut self, ty: &Type, scope: &Scope) -> Reads {
        if self.open.len() >= DEEPEST {
            return Reads::Unknown;
        }
        match self.deriver.cx.resolved(ty, scope) {
            Ok(Resolved::Data { module, input, scope, arguments }) => self.data(module, &input, &scope, &arguments),
            Ok(Resolved::Known { path, arguments, .. }) => self.known(&path, &arguments),
            Ok(Resolved::Array(item, length)) => {
                let length = self.deriver.evaluator().integer(&length, &item.1, "usize").ok();
                match length.and_then(|length| usize::try_from(length).ok()) {
                    Some(length) => Reads::List { items: Box::new(self.typed(&item)), length: Some(length) },
                    None => Reads::Unknown,
                }
            }
            Ok(Resolved::Tuple(types)) if types.is_empty() => Reads::Null,
            Ok(Resolved::Tuple(types)) => Reads::Tuple(types.iter().map(|ty| self.typed(ty)).collect()),
            Ok(Resolved::Slice(item)) => Reads::List { items: Box::new(self.typed(&item)), length: None },
            // The type's schema is specified elsewhere.
            Err(_) => self.foreign(ty, scope),
        }
    }

    /// A type whose source is not read.
    fn foreign(&mut self, ty: &Type, scope: &Scope) -> Reads {
        match self.deriver.cx.foreign_type(ty, scope) {
            Some(path) if !matches!(path[0].as_str(), "kube" | "kube_core" | "k8s_openapi") => {
                parsed::find(&path).unwrap_or_else(|| opaque(path.join("::"), Reads::Unknown))
            }
            _ => Reads::Unknown,
        }
    }

    pub fn typed(&mut self, (ty, scope): &Typed) -> Reads {
        self.value(ty, scope)
    }

    /// A type of another crate that opctl knows.
    fn known(&mut self, path: &[String], arguments: &[Typed]) -> Reads {
        if let Some(reads) = parsed::find(path) {
            return reads;
        }
        let last = path.last().map(String::as_str).unwrap_or_default();
        match path[0].as_str() {
            "k8s_openapi" => {
                return match last {
                    "IntOrString" => Reads::IntOrText("IntOrString"),
                    "Quantity" => Reads::IntOrText("Quantity"),
                    "Time" | "MicroTime" => time(last),
                    _ => Reads::Unknown,
                };
            }
            "kube" => return Reads::Unknown,
            _ => {}
        }
        if let Some(range) = range_of(last) {
            let zero = !last.starts_with("NonZero");
            return Reads::Integer(Integer { name: last.to_owned(), min: *range.start(), max: *range.end(), zero });
        }
        match (last, arguments) {
            ("bool" | "AtomicBool", _) => Reads::Bool,
            ("char", _) => Reads::Char,
            ("f32" | "f64" | "Number", _) => Reads::Float,
            ("str" | "String" | "Path" | "PathBuf" | "SmolStr", _) => Reads::Text,
            ("ArrayString", [(capacity, scope), ..]) => {
                let capacity = syn::parse2(capacity.to_token_stream()).ok();
                let capacity =
                    capacity.and_then(|capacity| self.deriver.evaluator().integer(&capacity, scope, "usize").ok());
                capacity.and_then(|most| usize::try_from(most).ok()).map_or(Reads::Unknown, Reads::ShortText)
            }
            ("Value", _) => Reads::Anything,
            ("Option", [inner, ..]) => Reads::Optional(Box::new(self.typed(inner))),
            (_, [inner, ..]) if is_pointer(path) => self.typed(inner),
            (
                "Vec" | "VecDeque" | "LinkedList" | "BinaryHeap" | "BTreeSet" | "HashSet" | "IndexSet" | "ArrayVec",
                [item, ..],
            ) => Reads::List { items: Box::new(self.typed(item)), length: None },
            ("SmallVec", [(array, scope), ..]) => match self.deriver.cx.resolved(array, scope) {
                Ok(Resolved::Array(item, _)) => Reads::List { items: Box::new(self.typed(&item)), length: None },
                _ => Reads::Unknown,
            },
            ("BTreeMap" | "HashMap" | "IndexMap" | "Map", [key, value, ..]) => {
                Reads::Map { keys: Box::new(self.typed(key)), values: Box::new(self.typed(value)) }
            }
            // `serde_json::Map` has default type arguments.
            ("Map", []) => Reads::Map { keys: Box::new(Reads::Text), values: Box::new(Reads::Anything) },
            ("TimeDelta", _) => Reads::Tuple(vec![
                integer("i64", i64::MIN.into(), i64::MAX.into()),
                integer("i32", i32::MIN.into(), i32::MAX.into()),
            ]),
            ("Range" | "RangeInclusive", [bound, ..]) => {
                let bound = self.typed(bound);
                Reads::Struct(vec![part("start", None, bound.clone()), part("end", None, bound)])
            }
            ("Duration", _) => seconds("secs", "nanos"),
            ("SystemTime", _) => seconds("secs_since_epoch", "nanos_since_epoch"),
            ("Result", [good, bad, ..]) => self.either([("Ok", good), ("Err", bad)]),
            ("Either", [left, right, ..]) => self.either([("Left", left), ("Right", right)]),
            _ => Reads::Unknown,
        }
    }

    fn either(&mut self, variants: [(&str, &Typed); 2]) -> Reads {
        let variants = variants.map(|(name, content)| Variant {
            names: vec![name.to_owned()],
            other: false,
            untagged: false,
            content: Some(self.typed(content)),
        });
        Reads::Enum { tag: Tag::External, variants: variants.into() }
    }

    /// A struct or enum in the source.
    fn data(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope, arguments: &[Typed]) -> Reads {
        let arguments: Vec<String> = arguments.iter().map(|(ty, _)| ty.to_token_stream().to_string()).collect();
        let identity = format!("{module:?} {}<{}>", input.ident, arguments.join(","));
        if self.open.contains(&identity) || self.open.len() >= DEEPEST {
            return Reads::Unknown;
        }
        let derives = |name: &str| self.deriver.cx.derives(&input.attrs, name, module);
        if !derives("Deserialize") {
            return self.manual_impl(module, input, scope, identity);
        }
        let input = &*self.deriver.cx.with_serde_with(&Rc::new(input.clone()), scope);
        let Ok(container) = attributes::container(input, Derive::Deserialize) else { return Reads::Unknown };
        let has_own_schema = derives("JsonSchema") || derives("KubeSchema");
        let is_detached =
            !has_own_schema || self.deriver.cx.modules.is_foreign(module) || has_other_schema(&input.attrs);
        self.open.push(identity);
        self.detached += usize::from(is_detached);
        let reads = self.container(&container, (module, input), scope);
        self.detached -= usize::from(is_detached);
        self.open.pop();
        reads
    }

    /// A type with a hand-written `Deserialize`.
    fn manual_impl(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope, identity: String) -> Reads {
        let ident = name(&input.ident);
        if self.deriver.cx.derives(&input.attrs, "Deserialize_repr", module) {
            return self.numbered(input, scope);
        }
        let derive = self.deriver.cx.other_derive(&input.attrs, module);
        let decoder = match derive.as_deref().and_then(|derive| derive.rsplit("::").next()) {
            Some("DeserializeFromStr") => self.conversion(("FromStr", "from_str"), module, input, scope, Reads::Text),
            _ => self.deserialize(module, input, scope),
        };
        self.open.push(identity);
        let reads = match decoder {
            Some(decoder) => self.decoded(&decoder),
            None if self.deriver.cx.modules.is_kubernetes(module) => Reads::Unknown,
            None if self.deriver.cx.modules.is_foreign(module) => opaque(ident, Reads::Unknown),
            None => {
                let span = self.deriver.cx.span(scope, &input.ident);
                let code = Code { span: Some(span), ..code(ident, Reads::Unknown, Knowledge::None) };
                Reads::Code(Box::new(code))
            }
        };
        self.open.pop();
        reads
    }

    /// The discriminants of an enum's variants.
    fn numbered(&mut self, input: &DeriveInput, scope: &Scope) -> Reads {
        let Ok(shape) = self.deriver.repr_enum(input, scope) else { return Reads::Unknown };
        let read = shape.schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
        let near =
            read.iter().filter_map(Value::as_i64).flat_map(|number| [number.checked_add(1), number.checked_sub(1)]);
        let refused = near.flatten().map(Value::from).filter(|number| !read.contains(number)).collect();
        let from = integer("integer", i64::MIN.into(), i64::MAX.into());
        Reads::Code(Box::new(Code { refused, ..code(name(&input.ident), from, Knowledge::Tried) }))
    }

    fn container(&mut self, container: &Container, (module, input): (ModuleId, &DeriveInput), scope: &Scope) -> Reads {
        let attributes = &container.attrs;
        let is_flattened = std::mem::take(&mut self.is_flattened);
        if attributes.remote().is_some() {
            return Reads::Unknown;
        }
        if let Some(from) = attributes.type_from() {
            return self.value(from, scope);
        }
        if let Some(from) = attributes.type_try_from() {
            let from = self.value(from, scope);
            return match self.conversion(("TryFrom", "try_from"), module, input, scope, from.clone()) {
                Some(decoder) => self.decoded(&decoder),
                None => opaque(format!("TryFrom of {}", input.ident), from),
            };
        }
        match &container.data {
            Data::Struct(Style::Unit, _) => Reads::Null,
            Data::Struct(_, fields) if attributes.transparent() => {
                let field = fields.iter().find(|field| field.attrs.transparent());
                field.map_or(Reads::Unknown, |field| self.unnamed(field, scope))
            }
            Data::Struct(Style::Newtype, fields) => self.unnamed(&fields[0], scope),
            Data::Struct(Style::Tuple, fields) => self.tuple(fields, scope),
            Data::Struct(Style::Struct, fields) => {
                let mut parts = self.fields(fields, scope, !attributes.default().is_none());
                if attributes.deny_unknown_fields() && !is_flattened {
                    parts.push(Part::NoOthers);
                }
                Reads::Struct(parts)
            }
            Data::Enum(variants) => {
                let tag = match attributes.tag() {
                    TagType::External => Tag::External,
                    TagType::Internal { tag } => Tag::Internal(tag.clone()),
                    TagType::Adjacent { tag, content } => Tag::Adjacent { tag: tag.clone(), content: content.clone() },
                    TagType::None => Tag::Untagged,
                };
                let read = variants.iter().filter(|variant| !variant.attrs.skip_deserializing());
                let denies = attributes.deny_unknown_fields() && !is_flattened;
                Reads::Enum { tag, variants: read.map(|variant| self.variant(variant, scope, denies)).collect() }
            }
        }
    }

    fn tuple(&mut self, fields: &[SerdeField], scope: &Scope) -> Reads {
        let read = fields.iter().filter(|field| !field.attrs.skip_deserializing());
        Reads::Tuple(read.map(|field| self.unnamed(field, scope)).collect())
    }

    /// `denies`: unknown fields are refused.
    fn variant(&mut self, variant: &SerdeVariant, scope: &Scope, denies: bool) -> Variant {
        let own = &variant.attrs.name().deserialize_name().value;
        let aliases = variant.attrs.aliases().iter().map(|name| &name.value).filter(|name| *name != own);
        let content = match variant.style {
            _ if variant.attrs.deserialize_with().is_some() => {
                variant.attrs.deserialize_with().map(|function| self.by_function(function, None, scope))
            }
            Style::Unit => None,
            Style::Newtype => Some(self.unnamed(&variant.fields[0], scope)),
            Style::Tuple => Some(self.tuple(&variant.fields, scope)),
            Style::Struct => {
                let mut parts = self.fields(&variant.fields, scope, false);
                parts.extend(denies.then_some(Part::NoOthers));
                Some(Reads::Struct(parts))
            }
        };
        Variant {
            names: std::iter::once(own).chain(aliases).cloned().collect(),
            other: variant.attrs.other(),
            untagged: variant.attrs.untagged(),
            content,
        }
    }

    fn unnamed(&mut self, field: &SerdeField, scope: &Scope) -> Reads {
        let reads = self.field(field, scope);
        match self.span(field, scope) {
            Some(span) => Reads::At(span, Box::new(reads)),
            None => reads,
        }
    }

    fn fields(&mut self, fields: &[SerdeField], scope: &Scope, default: bool) -> Vec<Part> {
        let read = fields.iter().filter(|field| !field.attrs.skip_deserializing());
        read.map(|field| {
            let reads = self.field(field, scope);
            if field.attrs.flatten() {
                return Part::Flattened(reads);
            }
            let name = &field.attrs.name().deserialize_name().value;
            let aliases = field.attrs.aliases().iter().map(|alias| alias.value.clone());
            let has_default = default || !field.attrs.default().is_none();
            let by_function = field.attrs.deserialize_with().is_some();
            let is_optional = !by_function && reads.reads_missing() != Some(false);
            Part::Field(Field {
                name: name.clone(),
                aliases: aliases.filter(|alias| alias != name).collect(),
                span: self.span(field, scope),
                required: !has_default && !is_optional,
                by_function,
                reads,
            })
        })
        .collect()
    }

    fn field(&mut self, field: &SerdeField, scope: &Scope) -> Reads {
        let is_detached = has_other_schema(&field.original.attrs);
        self.detached += usize::from(is_detached);
        self.is_flattened = field.attrs.flatten();
        let reads = match field.attrs.deserialize_with() {
            Some(function) => self.by_function(function, Some(field.ty), scope),
            None => self.value(field.ty, scope),
        };
        self.is_flattened = false;
        self.detached -= usize::from(is_detached);
        reads
    }

    /// The place at which an attribute of schemars can be added.
    fn span(&self, field: &SerdeField, scope: &Scope) -> Option<Span> {
        let span = || match &field.member {
            syn::Member::Named(ident) => self.deriver.cx.span(scope, ident),
            syn::Member::Unnamed(_) => self.deriver.cx.span(scope, field.ty),
        };
        (self.detached == 0).then(span)
    }
}

/// `#[schemars(with = "…")]` or `schema_with`.
fn has_other_schema(attributes: &[Attribute]) -> bool {
    Common::read(attributes).with.is_some()
}

fn part(name: &str, span: Option<Span>, reads: Reads) -> Part {
    let required = reads.reads_missing() == Some(false);
    Part::Field(Field { name: name.to_owned(), aliases: Vec::new(), span, required, by_function: false, reads })
}

/// A time type of std: seconds and nanoseconds.
fn seconds(seconds: &str, nanos: &str) -> Reads {
    Reads::Struct(vec![
        part(seconds, None, integer("u64", 0, u64::MAX.into())),
        part(nanos, None, integer("u32", 0, u32::MAX.into())),
    ])
}

/// A time type of Kubernetes. It refuses some times that the API server accepts, as clients in Go do; these are not
/// reported.
fn time(name: &str) -> Reads {
    let refused =
        ["x", ""].map(Value::from).into_iter().chain([7.into(), true.into(), Value::Object(Default::default())]);
    let code = Code { refused: refused.collect(), ..code(name.to_owned(), Reads::Unknown, Knowledge::Tried) };
    Reads::Code(Box::new(code))
}

pub(crate) fn integer(name: &str, min: i128, max: i128) -> Reads {
    Reads::Integer(Integer { name: name.to_owned(), min, max, zero: true })
}

pub(crate) fn code(name: String, from: Reads, knowledge: Knowledge) -> Code {
    Code { name, span: None, from, refused: Vec::new(), knowledge }
}

/// Code that cannot be analyzed.
pub(crate) fn opaque(name: String, from: Reads) -> Reads {
    Reads::Code(Box::new(code(name, from, Knowledge::None)))
}
