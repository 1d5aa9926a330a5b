//! Finds the span in the source for a [`CrdLocation`]. Walks the types again with serde's names, only after a
//! finding.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde_derive_internals::Derive;
use serde_derive_internals::ast::{Data, Field, Style, Variant};
use serde_derive_internals::attr::TagType;
use syn::punctuated::Punctuated;
use syn::{Attribute, DeriveInput, Meta, Token, Type};

use crate::Source;
use crate::attributes::{self, Common, Problems, SchemaOverride, value};
use crate::evaluate::context::{Context, Resolved, Scope};
use crate::resolve::modules::{ModuleId, Modules, TypeDecl};
use crate::resolve::operators;
use opctl_model::diagnostic::Span;
use opctl_model::{Api, CrdLocation, Step};

impl Source {
    /// For each CRD location, the span of the innermost declaration in the source that produces it, or else that of
    /// the kind. Reads the source again.
    pub fn locate(&self, locations: &[(&Api, &CrdLocation)]) -> Vec<Span> {
        if locations.is_empty() {
            return Vec::new();
        }
        let modules = Modules::read(&self.tree, &operators(&self.tree, &self.folder).unwrap_or_default());
        let mut cx = Context::new(&modules);
        let mut names = HashMap::new();
        let mut located = |api, location| locate(&modules, &mut cx, &mut names, api, location);
        locations.iter().map(|(api, location)| located(api, location)).collect()
    }
}

fn locate<'m>(
    modules: &'m Modules,
    cx: &mut Context<'m>,
    names: &mut HashMap<*const DeriveInput, Option<Names>>,
    api: &Api,
    location: &CrdLocation,
) -> Span {
    let mut locator = Locator { cx, names, found: api.span.clone() };
    if let Some((module, input)) = declaration(modules, api) {
        match location {
            CrdLocation::Kind => {}
            CrdLocation::Argument(name, nth) => locator.argument(module, &input, name, *nth),
            CrdLocation::Schema(steps) => {
                locator.resource(module, &input, steps);
            }
        }
    }
    locator.found
}

/// The type that declares the kind, and its module.
pub(crate) fn declaration(modules: &Modules, api: &Api) -> Option<(ModuleId, Rc<DeriveInput>)> {
    let is_here = |file: &ModuleId| modules.module(*file).file.path == api.span.file.path;
    let mut declaring = modules.candidates().into_iter().filter(is_here).flat_map(|file| modules.in_file(file));
    declaring.find_map(|module| {
        modules.module(module).types.values().find_map(|declared| match declared {
            TypeDecl::Data(input) if input.ident.span().byte_range() == api.span.range => Some((module, input.clone())),
            _ => None,
        })
    })
}

/// `true` if the type is the kind's `spec`, rather than the kind itself.
pub(crate) fn has_spec(input: &DeriveInput) -> bool {
    !kube_arguments(&input.attrs).iter().any(|meta| meta.path().is_ident("no_spec"))
}

/// The argument of `#[kube(…)]` that names the type of the status, and that type.
pub(crate) fn status_type(input: &DeriveInput) -> Option<(Meta, Type)> {
    let status = kube_arguments(&input.attrs).into_iter().find(|meta| meta.path().is_ident("status"))?;
    let ty = match value(status.clone()).ok()? {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => text.parse().ok()?,
        expr => syn::parse2(quote::quote!(#expr)).ok()?,
    };
    Some((status, ty))
}

/// Fields of a struct or variants of an enum, by their indices.
#[derive(Default)]
struct Names {
    /// Indices by property name.
    named: BTreeMap<String, Vec<usize>>,
    /// Indices that any property name may lead to.
    unnamed: Vec<usize>,
}

impl Names {
    fn add(&mut self, name: &str, index: usize) {
        self.named.entry(name.to_owned()).or_default().push(index);
    }

    fn add_fields(&mut self, fields: &[Field], number: impl Fn(usize) -> usize) {
        for (index, field) in fields.iter().enumerate() {
            match field.attrs.flatten() {
                true => self.unnamed.push(number(index)),
                false => self.add(&field.attrs.name().deserialize_name().value, number(index)),
            }
        }
    }
}

struct Locator<'a, 'm> {
    cx: &'a mut Context<'m>,
    /// Names of the types on the way, if names matter in them. The modules keep the types alive, so addresses are
    /// valid keys.
    names: &'a mut HashMap<*const DeriveInput, Option<Names>>,
    found: Span,
}

impl Locator<'_, '_> {
    fn argument(&mut self, module: ModuleId, input: &DeriveInput, name: &str, nth: usize) {
        let arguments = kube_arguments(&input.attrs);
        let of_name = |name: &str| arguments.iter().filter(|meta| meta.path().is_ident(name)).collect::<Vec<_>>();
        let mut named = of_name(name);
        if matches!(name, "label" | "annotation") {
            // The order in the CRD.
            named.sort_by_cached_key(|meta| quote::quote!(#meta).to_string());
        }
        // The plural and the singular are derived from the kind.
        if let Some(meta) = named.get(nth).or(of_name("kind").first().filter(|_| matches!(name, "plural" | "singular")))
        {
            self.found = self.cx.span(&Scope::of(module), meta);
        }
    }

    fn resource(&mut self, module: ModuleId, input: &DeriveInput, steps: &[Step]) {
        let scope = Scope::of(module);
        match steps {
            [Step::Property(name), rest @ ..] if name == "status" => {
                let Some((status, ty)) = status_type(input) else { return };
                self.found = self.cx.span(&scope, &status);
                self.value(&ty, &scope, rest);
            }
            [Step::Property(name), rest @ ..] if name == "spec" && has_spec(input) => {
                self.data(input, &scope, rest);
            }
            steps => {
                self.data(input, &scope, steps);
            }
        }
    }

    /// Follows the steps from a value of this type as far as possible. Returns `true` if the first of them led
    /// anywhere.
    fn value(&mut self, ty: &Type, scope: &Scope, steps: &[Step]) -> bool {
        let Ok(resolved) = self.cx.resolved(ty, scope) else { return false };
        match (resolved, steps) {
            (_, []) => true,
            (Resolved::Data { input, scope, .. }, steps) => self.data(&input, &scope, steps),
            (Resolved::Array(item, _) | Resolved::Slice(item), [Step::Items, rest @ ..]) => {
                self.value(&item.0, &item.1, rest)
            }
            (Resolved::Known { path, arguments, .. }, steps) => match (arguments.as_slice(), steps) {
                ([item, ..], [Step::Items, rest @ ..]) if is_list(&path) => self.value(&item.0, &item.1, rest),
                ([_, value, ..], [Step::Values, rest @ ..]) => self.value(&value.0, &value.1, rest),
                // `Option`, `Box` and similar wrappers.
                ([inner], steps) if !is_list(&path) => self.value(&inner.0, &inner.1, steps),
                _ => false,
            },
            _ => false,
        }
    }

    fn data(&mut self, input: &DeriveInput, scope: &Scope, steps: &[Step]) -> bool {
        let mut input = self.narrowed(input, steps);
        // The type was derived before, so it has no errors.
        attributes::merge_into_serde(&mut input, &Problems::default());
        let Ok(container) = attributes::container(&input, Derive::Deserialize) else { return false };
        if let Some(from) = container.attrs.type_from().or(container.attrs.type_try_from()) {
            return self.value(from, scope, steps);
        }
        match &container.data {
            Data::Struct(Style::Newtype, fields) => self.value(fields[0].ty, scope, steps),
            Data::Struct(_, fields) if container.attrs.transparent() => {
                fields.iter().filter(|field| field.attrs.transparent()).any(|field| self.value(field.ty, scope, steps))
            }
            Data::Struct(_, fields) => self.fields(fields, scope, steps),
            Data::Enum(variants) => {
                variants.iter().any(|variant| self.variant(variant, container.attrs.tag(), scope, steps))
            }
        }
    }

    /// The type with only the fields and variants that the first step may lead to, because a large type may have a
    /// finding in each of its fields.
    fn narrowed(&mut self, input: &DeriveInput, steps: &[Step]) -> DeriveInput {
        let [Step::Property(name), ..] = steps else { return input.clone() };
        let Some(names) = self.names.entry(input).or_insert_with(|| names(input)) else { return input.clone() };
        let kept: BTreeSet<usize> =
            names.named.get(name).into_iter().flatten().chain(&names.unnamed).copied().collect();
        let data = match &input.data {
            syn::Data::Struct(syn::DataStruct { fields: syn::Fields::Named(fields), struct_token, semi_token }) => {
                let named = kept.iter().map(|index| fields.named[*index].clone()).collect();
                let fields = syn::Fields::Named(syn::FieldsNamed { named, ..*fields });
                syn::Data::Struct(syn::DataStruct { struct_token: *struct_token, fields, semi_token: *semi_token })
            }
            syn::Data::Enum(data) => {
                let variants = kept.iter().map(|index| data.variants[*index].clone()).collect();
                syn::Data::Enum(syn::DataEnum { variants, ..*data })
            }
            data => data.clone(),
        };
        let (attrs, vis) = (input.attrs.clone(), input.vis.clone());
        DeriveInput { attrs, vis, ident: input.ident.clone(), generics: input.generics.clone(), data }
    }

    fn fields(&mut self, fields: &[Field], scope: &Scope, steps: &[Step]) -> bool {
        let [Step::Property(name), rest @ ..] = steps else { return false };
        let named = fields.iter().find(|field| {
            !field.attrs.flatten()
                && !field.attrs.skip_deserializing()
                && field.attrs.name().deserialize_name().value == *name
        });
        if let Some(field) = named {
            self.found = match &field.member {
                syn::Member::Named(ident) => self.cx.span(scope, ident),
                syn::Member::Unnamed(_) => self.cx.span(scope, field.ty),
            };
            self.value(&type_of(field), scope, rest);
            return true;
        }
        fields.iter().filter(|field| field.attrs.flatten()).any(|field| self.value(&type_of(field), scope, steps))
    }

    fn variant(&mut self, variant: &Variant, tag: &TagType, scope: &Scope, steps: &[Step]) -> bool {
        let own = &variant.attrs.name().deserialize_name().value;
        match (tag, steps) {
            _ if variant.attrs.untagged() => self.content(variant, scope, steps),
            (TagType::External, [Step::Property(name), rest @ ..]) if name == own => {
                self.found = self.cx.span(scope, &variant.ident);
                self.content(variant, scope, rest);
                true
            }
            (TagType::Adjacent { content, .. }, [Step::Property(name), rest @ ..]) if name == content => {
                self.content(variant, scope, rest)
            }
            (TagType::Internal { .. } | TagType::None, steps) => self.content(variant, scope, steps),
            _ => false,
        }
    }

    fn content(&mut self, variant: &Variant, scope: &Scope, steps: &[Step]) -> bool {
        match variant.style {
            Style::Newtype => self.value(variant.fields[0].ty, scope, steps),
            _ => self.fields(&variant.fields, scope, steps),
        }
    }
}

/// `None` if any name may lead to any field.
fn names(input: &DeriveInput) -> Option<Names> {
    let mut input = input.clone();
    attributes::merge_into_serde(&mut input, &Problems::default());
    let container = attributes::container(&input, Derive::Deserialize).ok()?;
    if container.attrs.transparent() {
        return None;
    }
    let mut names = Names::default();
    match &container.data {
        Data::Struct(Style::Struct, fields) => names.add_fields(fields, |index| index),
        Data::Struct(..) => return None,
        Data::Enum(variants) => {
            for (index, variant) in variants.iter().enumerate() {
                let is_tagged = !variant.attrs.untagged();
                match container.attrs.tag() {
                    TagType::External if is_tagged => {
                        names.add(&variant.attrs.name().deserialize_name().value, index);
                    }
                    TagType::Adjacent { .. } if is_tagged => return None,
                    _ if matches!(variant.style, Style::Newtype) => names.unnamed.push(index),
                    _ => names.add_fields(&variant.fields, |_| index),
                }
            }
        }
    }
    Some(names)
}

/// The type whose schema the field has.
fn type_of(field: &Field) -> Type {
    match Common::read(&field.original.attrs).with {
        Some(SchemaOverride::Type(ty)) => *ty,
        _ => field.ty.clone(),
    }
}

fn is_list(path: &[String]) -> bool {
    let lists = ["Vec", "VecDeque", "LinkedList", "BinaryHeap", "BTreeSet", "HashSet", "IndexSet"];
    path.last().is_some_and(|name| lists.contains(&name.as_str()))
}

fn kube_arguments(attributes: &[Attribute]) -> Vec<Meta> {
    let kube = attributes.iter().filter(|attribute| attribute.path().is_ident("kube"));
    let lists = kube.filter_map(|kube| kube.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok());
    lists.flatten().collect()
}
