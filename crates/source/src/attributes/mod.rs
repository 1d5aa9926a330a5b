//! The attributes of types, variants and fields that serde's and schemars' derives read, and the mistakes in them.
//!
//! Names and rules are parsed by serde's own `serde_derive_internals`, from the attributes that schemars merges for
//! it. Source: schemars_derive 1.2.3.
//!
//! Mistakes that the derives refuse are reported as well: each type that a kind reaches is checked once by serde's
//! parser for each of its derives, and by the readers in `schemars`. Both are the same in all releases that opctl
//! supports. `tests/compiler/attributes.rs` compares the verdicts on generated attributes with those of the derives.

mod helpers;
mod macros;
mod names;
mod problems;
mod schemars;
mod serde_with;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;
use quote::{ToTokens, quote};
use serde_derive_internals::ast::Container;
use serde_derive_internals::attr::Identifier;
use serde_derive_internals::{Ctxt, Derive};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, Field, Lit, Meta, Token, Type};

pub use helpers::{Derives, check_names};
pub use macros::{attribute_macros, item_macro};
pub use problems::{Problem, Problems};
pub use schemars::{Bounds, Common, Matches, SchemaOverride, Validation};
pub use serde_with::{serde_as, skip_none};

/// An item in an attribute's list; `!name` unsets a serde attribute for schemars.
#[derive(Clone)]
pub struct Item {
    unsets: bool,
    meta: Meta,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let unsets = input.parse::<Option<Token![!]>>()?.is_some();
        let meta = if unsets { Meta::Path(input.parse()?) } else { input.parse()? };
        Ok(Self { unsets, meta })
    }
}

impl ToTokens for Item {
    fn to_tokens(&self, tokens: &mut proc_macro2::TokenStream) {
        self.meta.to_tokens(tokens);
    }
}

impl Item {
    fn name(&self) -> String {
        let segments = self.meta.path().segments.iter().map(|segment| segment.ident.to_string());
        segments.collect::<Vec<_>>().join("::")
    }
}

/// Parses a struct or enum as serde's derive does. serde panics at a field without a letter in its name.
pub fn container(input: &DeriveInput, derive: Derive) -> syn::Result<Container<'_>> {
    let fields: Vec<&Field> = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    let nameless = |ident: &&syn::Ident| ident.to_string().bytes().all(|byte| byte == b'_');
    if let Some(ident) = fields.into_iter().filter_map(|field| field.ident.as_ref()).find(nameless) {
        return Err(syn::Error::new(ident.span(), "the name of this field has no letter"));
    }
    let errors = Ctxt::new();
    let private = syn::Ident::new("__private", input.ident.span());
    let container = Container::from_ast(&errors, input, derive, &private);
    errors.check()?;
    Ok(container.expect("serde gives a container or an error"))
}

/// Reports mistakes that a derive of serde refuses.
pub fn check_serde(input: &DeriveInput, derive: Derive, problems: &Problems) {
    match container(input, derive) {
        Ok(container) => {
            if matches!(derive, Derive::Serialize) && !matches!(container.attrs.identifier(), Identifier::No) {
                problems.add(&input.ident, "serde does not serialize an identifier", None);
            }
        }
        Err(errors) => {
            // serde reports only the first unknown name in a list.
            let split = with_lists_split(input);
            let errors = container(&split, derive).err().unwrap_or(errors);
            problems.serde(errors, input, &incomplete(&split, derive));
        }
    }
}

/// Spans of attributes that lack their value, in order: serde's errors about them have no span.
fn incomplete(split: &DeriveInput, derive: Derive) -> Vec<Span> {
    let count = |input: &DeriveInput| {
        let errors = container(input, derive).err().into_iter().flatten();
        errors.filter(|error| error.span().byte_range().is_empty()).count()
    };
    let (all, mut places, mut at) = (count(split), Vec::new(), 0);
    loop {
        let (mut input, mut index, mut removed) = (split.clone(), 0, None);
        each_list(&mut input, &mut |attributes| {
            attributes.retain(|attribute| {
                index += 1;
                let is_next = index == at + 1;
                if is_next {
                    removed = Some(attribute.meta.require_list().map_or(attribute.span(), |list| list.tokens.span()));
                }
                !is_next
            });
        });
        let Some(span) = removed else { return places };
        if count(&input) < all {
            places.push(span);
        }
        at += 1;
    }
}

/// The type with `#[serde(a)] #[serde(b)]` for `#[serde(a, b)]`, which means the same.
fn with_lists_split(input: &DeriveInput) -> DeriveInput {
    let mut input = input.clone();
    each_list(&mut input, &mut |attributes| {
        let split = |attribute: Attribute| {
            let list = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            match list {
                Ok(list) if attribute.path().is_ident("serde") => list
                    .into_iter()
                    .map(|meta| Attribute { meta: syn::parse_quote!(serde(#meta)), ..attribute.clone() })
                    .collect(),
                _ => vec![attribute],
            }
        };
        *attributes = attributes.drain(..).flat_map(split).collect();
    });
    input
}

/// Calls a function with the attributes of the type and of each of its variants and fields.
fn each_list(input: &mut DeriveInput, visit: &mut dyn FnMut(&mut Vec<Attribute>)) {
    visit(&mut input.attrs);
    match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut().for_each(|field| visit(&mut field.attrs)),
        Data::Enum(data) => data.variants.iter_mut().for_each(|variant| {
            visit(&mut variant.attrs);
            variant.fields.iter_mut().for_each(|field| visit(&mut field.attrs));
        }),
        Data::Union(_) => {}
    }
}

/// Reports mistakes that `JsonSchema` or `JsonSchema_repr` refuses.
pub fn check_schemars(input: &DeriveInput, is_repr: bool, problems: &Problems) {
    let mut input = input.clone();
    merge_into_serde(&mut input, problems);
    if let Err(errors) = container(&input, Derive::Deserialize) {
        let incomplete = incomplete(&with_lists_split(&input), Derive::Deserialize);
        problems.serde(errors, &input, &incomplete);
    }
    schemars::check(&input, problems);
    if is_repr {
        let repr = input.attrs.iter().find(|attribute| attribute.path().is_ident("repr"));
        if repr.and_then(|repr| repr.parse_args::<Type>().ok()).is_none() {
            let help = "add the type of its numbers, such as `#[repr(u8)]`";
            problems.add(&input.ident, "`JsonSchema_repr` requires `#[repr(…)]`", Some(help.into()));
        }
        if let Data::Enum(data) = &input.data
            && let Some(variant) = data.variants.iter().find(|variant| !matches!(variant.fields, syn::Fields::Unit))
        {
            problems.add(variant, "`JsonSchema_repr` is for variants without fields", None);
        }
    }
}

/// The items of all `#[kind(…)]` attributes. As in schemars, a list that does not parse is only an error for
/// schemars' own.
pub fn items(attributes: &[Attribute], kind: &str, problems: &Problems) -> Vec<Item> {
    let mut items = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(kind)) {
        match attribute.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated) {
            Ok(list) => items.extend(list),
            Err(error) if kind == "schemars" => problems.syntax(error),
            Err(_) => {}
        }
    }
    items
}

/// Replaces the `#[serde]` attributes of a type by those that schemars uses.
pub fn merge_into_serde(input: &mut DeriveInput, problems: &Problems) {
    each_list(input, &mut |attributes| merge(attributes, problems));
}

fn merge(attributes: &mut Vec<Attribute>, problems: &Problems) {
    let serde = items(attributes, "serde", problems);
    let mut effective = Vec::new();
    let (mut taken, mut unset) = (BTreeSet::new(), BTreeMap::new());
    for item in items(attributes, "schemars", problems) {
        let name = item.name();
        if item.unsets {
            if unset.contains_key(&name) {
                problems.add(&item, format!("`!{name}` is set twice"), Some("remove one of them".into()));
            }
            unset.entry(name).or_insert(item);
        } else if names::PARSED_BY_SERDE.contains(&name.as_str()) {
            taken.insert(name);
            effective.push(item.meta);
        }
    }
    for (name, item) in &unset {
        if taken.contains(name) {
            problems.add(item, format!("schemars accepts either `{name}` or `!{name}`, not both"), None);
        }
        if !serde.iter().any(|item| item.name() == *name) {
            let message = format!("`!{name}` has nothing to unset: there is no `#[serde({name})]` here");
            problems.add(item, message, Some("remove it".into()));
        }
    }
    if taken.contains("skip") {
        taken.extend(["skip_serializing".to_string(), "skip_deserializing".to_string()]);
    }
    for item in serde {
        let name = item.name();
        let is_kept = names::PARSED_BY_SERDE.contains(&name.as_str()) && name != "bound";
        // `with` is the name of a type for schemars, even where serde means a module.
        if (is_kept || matches!(name.as_str(), "serialize_with" | "with"))
            && !taken.contains(&name)
            && !unset.contains_key(&name)
        {
            effective.push(item.meta);
        }
    }
    attributes.retain(|attribute| !attribute.path().is_ident("serde"));
    if !effective.is_empty() {
        match Attribute::parse_outer.parse2(quote!(#[serde(#(#effective),*)])) {
            Ok(merged) => attributes.extend(merged),
            Err(error) => problems.syntax(error),
        }
    }
}

pub fn value(meta: Meta) -> syn::Result<Expr> {
    Ok(meta.require_name_value()?.value.clone())
}

/// The value of a flag: `name`, `name = true` or `name = "true"`.
pub fn flag(meta: &Meta) -> Option<bool> {
    match meta {
        Meta::Path(_) => Some(true),
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }) => Some(value.value),
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.value().parse().ok(),
            _ => None,
        },
        Meta::List(_) => None,
    }
}
