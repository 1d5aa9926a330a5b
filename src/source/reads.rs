//! Rust type → what serde reads into it ([`Reads`]), by serde's own attributes: those of schemars, which may differ, are
//! for the schema. Asked by `opctl check` only, so the source is read again.

use quote::ToTokens;
use serde_derive_internals::Derive;
use serde_derive_internals::ast::{Container, Data, Field as SerdeField, Style, Variant as SerdeVariant};
use serde_derive_internals::attr::TagType;
use syn::{Attribute, DeriveInput, Type};

use super::attributes::{self, Common};
use super::known::parsed;
use super::locate::{declaration, has_spec, status_type};
use super::modules::{ModuleId, Modules};
use super::numbers::range_of;
use super::package::Package;
use super::types::{Deriver, Resolved, Scope, Typed};
use super::values::is_pointer;
use super::{Options, Source};
use crate::diagnostic::Span;
use crate::model::Api;
use crate::model::reads::{Field, Integer, Part, Reads, Tag, Variant};

/// Types within types; a type that contains itself with ever larger arguments has no end.
const DEEPEST: usize = 48;

impl Source {
    /// What serde reads into the objects of each kind, apart from their metadata.
    pub fn reads(&self) -> Vec<(&Api, Reads)> {
        let apis = &self.operator.apis;
        if apis.is_empty() {
            return Vec::new();
        }
        let modules = Modules::read(&self.tree, &Package::read(&self.tree, &self.folder).unwrap_or_default());
        let options = Options::default();
        let mut walk = Walk { deriver: Deriver::new(&modules, &options), open: Vec::new(), detached: 0 };
        apis.iter().map(|api| (api, walk.resource(&modules, api))).collect()
    }
}

struct Walk<'m> {
    deriver: Deriver<'m>,
    /// The types that are being read, outermost first.
    open: Vec<String>,
    /// How many types and fields around have a schema from elsewhere: attributes inside of them have no effect.
    detached: usize,
}

impl Walk<'_> {
    fn resource(&mut self, modules: &Modules, api: &Api) -> Reads {
        let Some((module, input)) = declaration(modules, api) else { return Reads::Unknown };
        let scope = Scope::of(module);
        let spec = self.data(module, &input, &scope, &[]);
        let mut parts = match spec {
            Reads::Struct(parts) if !has_spec(&input) => parts,
            reads => vec![part("spec", Some(api.span.clone()), reads)],
        };
        if let Some((at, ty)) = status_type(&input) {
            let span = self.deriver.span(&scope, &at);
            let reads = Reads::Optional(Box::new(self.value(&ty, &scope)));
            parts.push(part("status", Some(span), reads));
        }
        Reads::Struct(parts)
    }

    fn value(&mut self, ty: &Type, scope: &Scope) -> Reads {
        if self.open.len() >= DEEPEST {
            return Reads::Unknown;
        }
        match self.deriver.resolved(ty, scope) {
            Ok(Resolved::Data { module, input, scope, arguments }) => self.data(module, &input, &scope, &arguments),
            Ok(Resolved::Known { path, arguments, .. }) => self.known(&path, &arguments),
            Ok(Resolved::Array(item, length)) => {
                let length = self.deriver.integer(&length, &item.1, "usize").ok();
                match length.and_then(|length| usize::try_from(length).ok()) {
                    Some(length) => Reads::List { items: Box::new(self.typed(&item)), length: Some(length) },
                    None => Reads::Unknown,
                }
            }
            _ => Reads::Unknown,
        }
    }

    fn typed(&mut self, (ty, scope): &Typed) -> Reads {
        self.value(ty, scope)
    }

    /// A type that is not in the source.
    fn known(&mut self, path: &[String], arguments: &[Typed]) -> Reads {
        if let Some(parsed) = parsed::find(path) {
            return Reads::Parsed(parsed);
        }
        let last = path.last().map(String::as_str).unwrap_or_default();
        match path[0].as_str() {
            "k8s_openapi" => {
                return match last {
                    "IntOrString" => Reads::IntOrText { narrow: true },
                    "Quantity" => Reads::IntOrText { narrow: false },
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
        let any_key = |walk: &mut Self| matches!(arguments.first().map(|key| walk.typed(key)), Some(Reads::Text));
        match (last, arguments) {
            ("bool" | "AtomicBool", _) => Reads::Bool,
            ("char", _) => Reads::Char,
            ("f32" | "f64" | "Number", _) => Reads::Float,
            ("str" | "String" | "Path" | "PathBuf" | "SmolStr", _) => Reads::Text,
            ("ArrayString", [(capacity, scope), ..]) => {
                let capacity = syn::parse2(capacity.to_token_stream()).ok();
                let capacity = capacity.and_then(|capacity| self.deriver.integer(&capacity, scope, "usize").ok());
                capacity.and_then(|most| usize::try_from(most).ok()).map_or(Reads::Unknown, Reads::ShortText)
            }
            ("Value", _) => Reads::Anything,
            ("Option", [inner, ..]) => Reads::Optional(Box::new(self.typed(inner))),
            (_, [inner, ..]) if is_pointer(path) => self.typed(inner),
            (
                "Vec" | "VecDeque" | "LinkedList" | "BinaryHeap" | "BTreeSet" | "HashSet" | "IndexSet" | "ArrayVec",
                [item, ..],
            ) => Reads::List { items: Box::new(self.typed(item)), length: None },
            ("SmallVec", [(array, scope), ..]) => match self.deriver.resolved(array, scope) {
                Ok(Resolved::Array(item, _)) => Reads::List { items: Box::new(self.typed(&item)), length: None },
                _ => Reads::Unknown,
            },
            ("BTreeMap" | "HashMap" | "IndexMap" | "Map", [_, value, ..]) => {
                Reads::Map { values: Box::new(self.typed(value)), any_key: any_key(self) }
            }
            // `serde_json::Map` has its arguments by default.
            ("Map", []) => Reads::Map { values: Box::new(Reads::Anything), any_key: true },
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

    /// A struct or enum of the source.
    fn data(&mut self, module: ModuleId, input: &DeriveInput, scope: &Scope, arguments: &[Typed]) -> Reads {
        let arguments: Vec<String> = arguments.iter().map(|(ty, _)| ty.to_token_stream().to_string()).collect();
        let identity = format!("{module:?} {}<{}>", input.ident, arguments.join(","));
        let derives = |name: &str| self.deriver.derives(&input.attrs, name, module);
        let is_own = derives("Deserialize");
        if !is_own || self.open.contains(&identity) || self.open.len() >= DEEPEST {
            return Reads::Unknown;
        }
        let Ok(container) = attributes::container(input, Derive::Deserialize) else { return Reads::Unknown };
        let has_own_schema = derives("JsonSchema") || derives("KubeSchema");
        let is_detached = !has_own_schema || self.deriver.modules.is_foreign(module) || has_other_schema(&input.attrs);
        self.open.push(identity);
        self.detached += usize::from(is_detached);
        let reads = self.container(&container, scope);
        self.detached -= usize::from(is_detached);
        self.open.pop();
        reads
    }

    fn container(&mut self, container: &Container, scope: &Scope) -> Reads {
        let attributes = &container.attrs;
        if attributes.remote().is_some() {
            return Reads::Unknown;
        }
        if let Some(from) = attributes.type_from() {
            return self.value(from, scope);
        }
        if let Some(from) = attributes.type_try_from() {
            return Reads::AtMost(Box::new(self.value(from, scope)));
        }
        match &container.data {
            Data::Struct(Style::Unit, _) => Reads::Null,
            Data::Struct(_, fields) if attributes.transparent() => {
                let field = fields.iter().find(|field| field.attrs.transparent());
                field.map_or(Reads::Unknown, |field| self.unnamed(field, scope))
            }
            Data::Struct(Style::Newtype, fields) => self.unnamed(&fields[0], scope),
            Data::Struct(Style::Tuple, _) => Reads::Unknown,
            Data::Struct(Style::Struct, fields) => {
                Reads::Struct(self.fields(fields, scope, !attributes.default().is_none()))
            }
            Data::Enum(variants) => {
                let tag = match attributes.tag() {
                    TagType::External => Tag::External,
                    TagType::Internal { tag } => Tag::Internal(tag.clone()),
                    TagType::Adjacent { tag, content } => Tag::Adjacent { tag: tag.clone(), content: content.clone() },
                    TagType::None => Tag::Untagged,
                };
                let read = variants.iter().filter(|variant| !variant.attrs.skip_deserializing());
                Reads::Enum { tag, variants: read.map(|variant| self.variant(variant, scope)).collect() }
            }
        }
    }

    fn variant(&mut self, variant: &SerdeVariant, scope: &Scope) -> Variant {
        let own = &variant.attrs.name().deserialize_name().value;
        let aliases = variant.attrs.aliases().iter().map(|name| &name.value).filter(|name| *name != own);
        let content = match variant.style {
            _ if variant.attrs.deserialize_with().is_some() => Some(Reads::Unknown),
            Style::Unit => None,
            Style::Newtype => Some(self.unnamed(&variant.fields[0], scope)),
            Style::Tuple => Some(Reads::Unknown),
            Style::Struct => Some(Reads::Struct(self.fields(&variant.fields, scope, false))),
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
            // What is unknown may read a missing field.
            let is_optional = reads.reads_missing() || matches!(reads, Reads::Unknown);
            Part::Field(Field {
                name: name.clone(),
                aliases: aliases.filter(|alias| alias != name).collect(),
                span: self.span(field, scope),
                required: !has_default && !is_optional,
                reads,
            })
        })
        .collect()
    }

    fn field(&mut self, field: &SerdeField, scope: &Scope) -> Reads {
        if field.attrs.deserialize_with().is_some() {
            return Reads::Unknown;
        }
        let is_detached = has_other_schema(&field.original.attrs);
        self.detached += usize::from(is_detached);
        let reads = self.value(field.ty, scope);
        self.detached -= usize::from(is_detached);
        reads
    }

    /// Where an attribute of schemars can be added.
    fn span(&self, field: &SerdeField, scope: &Scope) -> Option<Span> {
        let span = || match &field.member {
            syn::Member::Named(ident) => self.deriver.span(scope, ident),
            syn::Member::Unnamed(_) => self.deriver.span(scope, field.ty),
        };
        (self.detached == 0).then(span)
    }
}

/// `#[schemars(with = "…")]` or `schema_with`.
fn has_other_schema(attributes: &[Attribute]) -> bool {
    Common::read(attributes).is_ok_and(|common| common.with.is_some())
}

fn part(name: &str, span: Option<Span>, reads: Reads) -> Part {
    let required = !reads.reads_missing() && !matches!(reads, Reads::Unknown);
    Part::Field(Field { name: name.to_owned(), aliases: Vec::new(), span, required, reads })
}

/// A time of std: seconds and nanoseconds.
fn seconds(seconds: &str, nanos: &str) -> Reads {
    let integer = |name: &str, max: i128| Reads::Integer(Integer { name: name.to_owned(), min: 0, max, zero: true });
    Reads::Struct(vec![
        part(seconds, None, integer("u64", u64::MAX.into())),
        part(nanos, None, integer("u32", u32::MAX.into())),
    ])
}
