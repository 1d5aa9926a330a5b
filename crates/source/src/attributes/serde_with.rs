//! Attributes that the macros of serde_with add to the fields of a type, for the derives that follow.

use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Field, LitStr, Type};

use super::{Item, Problems, items};

/// Adds the attributes of serde_with's `serde_as` to the fields of a type. Source: `serde_as_add_attr_to_field` of
/// serde_with_macros 3.25.
pub fn serde_as(input: &mut DeriveInput) {
    for field in fields_mut(input) {
        let Some(at) = field.attrs.iter().position(|attribute| attribute.path().is_ident("serde_as")) else { continue };
        let tokens = field.attrs.remove(at).meta.require_list().map(|list| list.tokens.clone()).unwrap_or_default();
        let adapter = |argument: &str| {
            let mut tokens = tokens.clone().into_iter();
            tokens.find(|token| token.to_string() == argument)?;
            let value = syn::parse2::<LitStr>(tokens.nth(1)?.into()).ok()?;
            value.parse::<Type>().ok()
        };
        let path = |adapter: &Type| quote!(::serde_with::As::<#adapter>).to_string();
        if let Some(adapter) = adapter("as") {
            let says = |name: &str| {
                tokens.to_string().contains(name)
                    || items(&field.attrs, "serde", &Problems::default()).iter().any(|item| item.name() == "default")
            };
            if is_option(&adapter) && is_option(&field.ty) && !says("no_default") {
                field.attrs.push(syn::parse_quote!(#[serde(default)]));
            }
            let path = path(&adapter);
            field.attrs.push(syn::parse_quote!(#[serde(with = #path)]));
        }
        for (argument, attribute) in [("deserialize_as", "deserialize"), ("serialize_as", "serialize")] {
            if let Some(adapter) = adapter(argument) {
                let path = format!("{}::{attribute}", path(&adapter));
                let attribute = quote::format_ident!("{attribute}_with");
                field.attrs.push(syn::parse_quote!(#[serde(#attribute = #path)]));
            }
        }
        let own = items(&field.attrs, "schemars", &Problems::default());
        let has_schema = |item: &Item| {
            matches!(item.name().as_str(), "with" | "schema_with" | "serialize_with" | "deserialize_with")
        };
        // serde_with has its own schemas: that of `DisplayFromStr` is a string.
        if let (Some(adapter), false) = (adapter("as").or_else(|| adapter("serialize_as")), own.iter().any(has_schema))
        {
            let text = adapter.to_token_stream().to_string().replace(' ', "").replace("serde_with::", "");
            let ty = &field.ty;
            let with = match text.contains("DisplayFromStr") && !text.contains("::") {
                true => text.replace("DisplayFromStr", "::std::string::String"),
                false => quote!(::serde_with::Schema<#ty, #adapter>).to_string(),
            };
            field.attrs.push(syn::parse_quote!(#[schemars(with = #with)]));
        }
    }
}

/// Adds the attributes of serde_with's `skip_serializing_none` to the fields of a type.
pub fn skip_none(input: &mut DeriveInput) {
    for field in fields_mut(input) {
        let is_always = field.attrs.iter().any(|attribute| attribute.path().is_ident("serialize_always"));
        let serde = items(&field.attrs, "serde", &Problems::default());
        let says = serde.iter().any(|item| item.name() == "skip_serializing_if");
        if is_option(&field.ty) && !is_always && !says {
            field.attrs.push(syn::parse_quote!(#[serde(skip_serializing_if = "Option::is_none")]));
        }
    }
}

fn fields_mut(input: &mut DeriveInput) -> Vec<&mut Field> {
    match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data.variants.iter_mut().flat_map(|variant| &mut variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    }
}

/// Like serde_with, only compares the name.
fn is_option(ty: &Type) -> bool {
    match ty {
        Type::Group(inner) => is_option(&inner.elem),
        Type::Paren(inner) => is_option(&inner.elem),
        Type::Path(syn::TypePath { qself: Some(itself), .. }) => is_option(&itself.ty),
        Type::Path(syn::TypePath { qself: None, path, .. }) => {
            let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["Option"] => path.leading_colon.is_none(),
                ["std" | "core", "option", "Option"] => true,
                _ => false,
            }
        }
        _ => false,
    }
}
