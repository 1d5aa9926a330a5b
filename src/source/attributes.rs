//! `#[serde]`, `#[schemars]`, `#[validate]`, `#[garde]` and doc comments → what schemars' derive makes of them.
//!
//! Names and rules are parsed by serde's own `serde_derive_internals`; what schemars reads itself is read here, in the
//! same order of precedence (schemars over serde, schemars over validate over garde). Source: schemars_derive 1.2.3.

use std::collections::BTreeSet;

use quote::{ToTokens, quote};
use serde_derive_internals::ast::Container;
use serde_derive_internals::{Ctxt, Derive};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, Field, Lit, LitStr, Meta, MetaList, Token, Type};

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

impl Item {
    fn name(&self) -> String {
        self.meta.path().get_ident().map(ToString::to_string).unwrap_or_default()
    }
}

/// A struct or enum as serde's derive reads it. That panics at a field without a letter in its name.
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

/// The items of all `#[kind(…)]` attributes; a list that does not parse counts only for schemars, as there.
pub fn items(attributes: &[Attribute], kind: &str) -> syn::Result<Vec<Item>> {
    let mut items = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(kind)) {
        match attribute.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated) {
            Ok(list) => items.extend(list),
            Err(error) if kind == "schemars" => return Err(error),
            Err(_) => {}
        }
    }
    Ok(items)
}

/// What schemars leaves to serde's parser, from `#[serde]` as from `#[schemars]`.
const PARSED_BY_SERDE: &[&str] = &[
    "rename",
    "rename_all",
    "rename_all_fields",
    "deny_unknown_fields",
    "tag",
    "content",
    "untagged",
    "default",
    "skip",
    "skip_serializing",
    "skip_serializing_if",
    "skip_deserializing",
    "flatten",
    "remote",
    "transparent",
    "into",
    "from",
    "try_from",
    "bound",
];

/// Replaces the `#[serde]` attributes of a type by those that schemars goes by.
pub fn merge_into_serde(input: &mut DeriveInput) -> syn::Result<()> {
    merge(&mut input.attrs)?;
    match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut().try_for_each(|field| merge(&mut field.attrs)),
        Data::Enum(data) => data.variants.iter_mut().try_for_each(|variant| {
            merge(&mut variant.attrs)?;
            variant.fields.iter_mut().try_for_each(|field| merge(&mut field.attrs))
        }),
        Data::Union(_) => Ok(()),
    }
}

fn fields_mut(input: &mut DeriveInput) -> Vec<&mut Field> {
    match &mut input.data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data.variants.iter_mut().flat_map(|variant| &mut variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    }
}

/// What serde_with's `serde_as` adds to the fields of a type. Source: `serde_as_add_attr_to_field` of serde_with_macros 3.25.
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
                    || items(&field.attrs, "serde").unwrap_or_default().iter().any(|item| item.name() == "default")
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
        let own = items(&field.attrs, "schemars").unwrap_or_default();
        let has_schema = |item: &Item| {
            matches!(item.name().as_str(), "with" | "schema_with" | "serialize_with" | "deserialize_with")
        };
        // serde_with's own schemas: of `DisplayFromStr`, that of a string.
        if let (Some(adapter), false) = (adapter("as").or_else(|| adapter("serialize_as")), own.iter().any(has_schema))
        {
            let text = adapter.to_token_stream().to_string().replace(' ', "");
            let text = text.replace("serde_with::DisplayFromStr", "DisplayFromStr").replace("DisplayFromStr", "String");
            let ty = &field.ty;
            let with = match text.contains("String") && !text.contains("::") {
                true => text,
                false => quote!(::serde_with::Schema<#ty, #adapter>).to_string(),
            };
            field.attrs.push(syn::parse_quote!(#[schemars(with = #with)]));
        }
    }
}

/// What serde_with's `skip_serializing_none` adds to the fields of a type.
pub fn skip_none(input: &mut DeriveInput) {
    for field in fields_mut(input) {
        let is_always = field.attrs.iter().any(|attribute| attribute.path().is_ident("serialize_always"));
        let serde = items(&field.attrs, "serde").unwrap_or_default();
        let says = serde.iter().any(|item| item.name() == "skip_serializing_if");
        if is_option(&field.ty) && !is_always && !says {
            field.attrs.push(syn::parse_quote!(#[serde(skip_serializing_if = "Option::is_none")]));
        }
    }
}

/// As serde_with, by the name alone.
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

fn merge(attributes: &mut Vec<Attribute>) -> syn::Result<()> {
    let mut effective = Vec::new();
    let mut taken = BTreeSet::new();
    let (schemars, serde) = (items(attributes, "schemars")?, items(attributes, "serde")?);
    let with = serde_with(&schemars, &serde)?;
    for item in schemars {
        let name = item.name();
        if item.unsets {
            taken.insert(name);
        } else if PARSED_BY_SERDE.contains(&name.as_str()) {
            if name == "skip" {
                taken.extend(["skip_serializing".to_string(), "skip_deserializing".to_string()]);
            }
            taken.insert(name);
            effective.push(item.meta);
        }
    }
    for item in serde {
        let name = item.name();
        let kept = PARSED_BY_SERDE.contains(&name.as_str()) || matches!(name.as_str(), "serialize_with" | "with");
        if kept && name != "bound" && !taken.contains(&name) {
            effective.push(item.meta);
        }
    }
    attributes.retain(|attribute| !attribute.path().is_ident("serde"));
    attributes.extend(with);
    if !effective.is_empty() {
        attributes.extend(Attribute::parse_outer.parse2(quote!(#[serde(#(#effective),*)]))?);
    }
    Ok(())
}

/// schemars reads `#[serde(with = "…")]` as the name of a type, even where serde means a module; kept under another name
/// since the merged `#[serde]` attribute is serde's to parse.
fn serde_with(schemars: &[Item], serde: &[Item]) -> syn::Result<Option<Attribute>> {
    let own = schemars.iter().any(|item| matches!(item.name().as_str(), "with" | "schema_with"));
    let with = serde.iter().find(|item| item.name() == "with");
    let Some(Item { meta, .. }) = with.filter(|_| !own) else { return Ok(None) };
    let attribute = Attribute::parse_outer.parse2(quote!(#[opctl_serde_with(#meta)]))?;
    Ok(attribute.into_iter().next())
}

/// What any container, variant or field may say.
#[derive(Default)]
pub struct Common {
    pub doc: Option<Vec<Expr>>,
    pub deprecated: bool,
    pub title: Option<Expr>,
    pub description: Option<Expr>,
    pub examples: Vec<Expr>,
    /// Keys, and values as the tokens of a `json!`.
    pub extensions: Vec<(String, proc_macro2::TokenStream)>,
    /// `#[schemars(transform = …)]`: code that only a compiler can run.
    pub transforms: Vec<Expr>,
    pub with: Option<SchemaOverride>,
}

pub enum SchemaOverride {
    Type(Box<Type>),
    Function(syn::ExprPath),
}

impl Common {
    pub fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut common = Self { doc: doc(attributes), ..Self::default() };
        common.deprecated = attributes.iter().any(|attribute| attribute.path().is_ident("deprecated"));
        for item in items(attributes, "schemars")? {
            let Item { unsets: false, meta } = item else { continue };
            match meta.path().get_ident().map(ToString::to_string).unwrap_or_default().as_str() {
                "title" => common.title = Some(value(meta)?),
                "description" => common.description = Some(value(meta)?),
                "example" => common.examples.push(value(meta)?),
                "transform" => common.transforms.push(value(meta)?),
                "extend" => common.extensions.extend(extensions(meta.require_list()?)?),
                "with" => common.with = Some(SchemaOverride::Type(parsed(meta)?)),
                "schema_with" => common.with = Some(SchemaOverride::Function(parsed(meta)?)),
                _ => {}
            }
        }
        if common.with.is_none()
            && let Some(item) = items(attributes, "opctl_serde_with")?.into_iter().next()
        {
            common.with = Some(SchemaOverride::Type(parsed(item.meta)?));
        }
        Ok(common)
    }

    /// Nothing here changes the schema; `with` is not looked at, as in schemars' containers.
    pub fn is_plain(&self) -> bool {
        self.doc.is_none()
            && !self.deprecated
            && self.title.is_none()
            && self.description.is_none()
            && self.examples.is_empty()
            && self.extensions.is_empty()
            && self.transforms.is_empty()
    }
}

/// The `#[doc]` values in order, each line without one leading space.
fn doc(attributes: &[Attribute]) -> Option<Vec<Expr>> {
    let lines: Vec<Expr> = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("doc"))
        .filter_map(|attribute| Some(attribute.meta.require_name_value().ok()?.value.clone()))
        .map(|mut line| {
            if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &mut line
                && let Some(trimmed) = text.value().strip_prefix(' ')
            {
                *text = LitStr::new(trimmed, text.span());
            }
            line
        })
        .collect();
    (!lines.is_empty()).then_some(lines)
}

fn extensions(list: &MetaList) -> syn::Result<Vec<(String, proc_macro2::TokenStream)>> {
    struct Extension(String, proc_macro2::TokenStream);
    impl Parse for Extension {
        fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
            let key = input.parse::<LitStr>()?.value();
            input.parse::<Token![=]>()?;
            let mut tokens = proc_macro2::TokenStream::new();
            while !input.is_empty() && !input.peek(Token![,]) {
                tokens.extend([input.parse::<proc_macro2::TokenTree>()?]);
            }
            Ok(Self(key, tokens))
        }
    }
    let list = list.parse_args_with(Punctuated::<Extension, Token![,]>::parse_terminated)?;
    Ok(list.into_iter().map(|Extension(key, tokens)| (key, tokens)).collect())
}

/// The validation attributes of a field.
#[derive(Default)]
pub struct Validation {
    pub length: Bounds,
    pub range: Bounds,
    pub pattern: Option<Expr>,
    pub contains: Option<Expr>,
    pub required: bool,
    pub format: Option<&'static str>,
    pub inner: Option<Box<Validation>>,
}

#[derive(Default)]
pub struct Bounds {
    pub min: Option<Expr>,
    pub max: Option<Expr>,
}

impl Validation {
    pub fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut validation = Self::default();
        for kind in ["schemars", "validate", "garde"] {
            for item in items(attributes, kind)? {
                if !item.unsets {
                    validation.read_item(kind, item.meta)?;
                }
            }
        }
        Ok(validation)
    }

    fn read_item(&mut self, kind: &str, meta: Meta) -> syn::Result<()> {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let is_list = matches!(meta, Meta::List(_));
        let no_pattern = self.pattern.is_none() && self.contains.is_none();
        match name.as_str() {
            "email" | "ip" | "ipv4" | "ipv6" | "url" => {
                let format = match name.as_str() {
                    "email" => "email",
                    "ip" => "ip",
                    "ipv4" => "ipv4",
                    "ipv6" => "ipv6",
                    _ => "uri",
                };
                self.format.get_or_insert(format);
            }
            "length" if is_list && self.length.is_empty() => self.length = Bounds::read(&meta)?,
            "range" if is_list && self.range.is_empty() => self.range = Bounds::read(&meta)?,
            "required" => self.required = true,
            "pattern" if kind != "validate" && is_list && no_pattern => {
                self.pattern = Some(meta.require_list()?.parse_args()?);
            }
            "regex" if kind != "garde" && is_list && no_pattern => {
                let key = if kind == "validate" { "path" } else { "pattern" };
                self.pattern = named(&meta, key)?.map(|expr| if key == "path" { unquoted(expr) } else { expr });
            }
            "contains" if is_list && no_pattern => {
                let list = meta.require_list()?;
                let bare = kind == "garde"
                    || kind == "schemars"
                        && list.parse_args::<Expr>().is_ok_and(|expr| !matches!(expr, Expr::Assign(_)));
                self.contains = if bare { Some(list.parse_args()?) } else { named(&meta, "pattern")? };
            }
            "inner" if kind != "validate" && is_list => {
                let nested = meta.require_list()?.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated)?;
                let inner = self.inner.get_or_insert_default();
                for item in nested {
                    inner.read_item(kind, item.meta)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub fn is_plain(&self) -> bool {
        self.length.is_empty()
            && self.range.is_empty()
            && self.pattern.is_none()
            && self.contains.is_none()
            && !self.required
            && self.format.is_none()
            && self.inner.is_none()
    }
}

impl Bounds {
    fn read(meta: &Meta) -> syn::Result<Self> {
        let nested = meta.require_list()?.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?;
        let (mut min, mut max, mut equal) = (None, None, None);
        for meta in nested {
            let bound = match meta.path() {
                path if path.is_ident("min") => &mut min,
                path if path.is_ident("max") => &mut max,
                path if path.is_ident("equal") => &mut equal,
                _ => continue,
            };
            *bound = bound.take().or(Some(value(meta)?));
        }
        let equal = equal.map(unquoted);
        Ok(Self { min: min.map(unquoted).or_else(|| equal.clone()), max: max.map(unquoted).or(equal) })
    }

    pub fn is_empty(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }
}

/// The value of `key = …` in `name(key = …, …)`.
fn named(meta: &Meta, key: &str) -> syn::Result<Option<Expr>> {
    let nested = meta.require_list()?.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?;
    nested.into_iter().find(|meta| meta.path().is_ident(key)).map(value).transpose()
}

/// validator writes expressions as strings, too.
fn unquoted(expr: Expr) -> Expr {
    match &expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse().unwrap_or(expr),
        _ => expr,
    }
}

pub fn value(meta: Meta) -> syn::Result<Expr> {
    Ok(meta.require_name_value()?.value.clone())
}

fn parsed<T: Parse>(meta: Meta) -> syn::Result<T> {
    match value(meta)? {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse(),
        other => Err(syn::Error::new_spanned(other.to_token_stream(), "expected a string")),
    }
}

/// Attributes of the language and its tools, and helpers of the derives that opctl knows: they change nothing.
const INERT: &[&str] = &[
    "allow",
    "automatically_derived",
    "cfg",
    "cfg_attr",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "garde",
    "kube",
    "must_use",
    "non_exhaustive",
    "repr",
    "schemars",
    "serde",
    "validate",
    "warn",
    "x_kube",
];

/// What may stand on other items than types, and changes nothing that opctl reads: attributes of the language, and macros
/// by the names that they are imported with.
const INERT_ON_ITEMS: &[&str] = &[
    "async_recursion",
    "async_trait",
    "bench",
    "cold",
    "export_name",
    "global_allocator",
    "ignore",
    "inline",
    "instrument",
    "link",
    "link_section",
    "macro_export",
    "macro_use",
    "no_mangle",
    "path",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "rstest",
    "should_panic",
    "target_feature",
    "test",
    "track_caller",
    "unsafe",
    "used",
];

/// The crates whose attribute macros wrap the body of a function.
const WRAPPING: &[&str] =
    &["async_recursion", "async_trait", "rstest", "test_log", "tokio", "tracing", "tracing_attributes"];

/// The attributes that may be macros, which may make another type of this one: unknown ones before the last derive. The
/// flag: it stands behind a derive, so that it is that one's helper if no macro has its name.
pub fn attribute_macros(attributes: &[Attribute]) -> Vec<(&Attribute, bool)> {
    let is_derive = |attribute: &Attribute| attribute.path().is_ident("derive");
    let Some(last) = attributes.iter().rposition(is_derive) else {
        return attributes
            .iter()
            .filter(|attribute| !is_inert(attribute))
            .map(|attribute| (attribute, false))
            .collect();
    };
    let first = attributes.iter().position(is_derive).unwrap_or(last);
    let unknown = attributes.iter().enumerate().take(last).filter(|(_, attribute)| !is_inert(attribute));
    unknown.map(|(index, attribute)| (attribute, index > first)).collect()
}

/// A macro that may change an item that is no type. `meant`: what a `use` beside it makes of a path.
pub fn item_macro(attributes: &[Attribute], meant: impl Fn(&Attribute) -> Vec<String>) -> Option<&Attribute> {
    attributes.iter().find(|attribute| {
        let is_known = match meant(attribute).as_slice() {
            [only] => INERT_ON_ITEMS.contains(&only.as_str()),
            [krate, ..] => WRAPPING.contains(&krate.as_str()),
            [] => false,
        };
        !is_inert(attribute) && !is_known
    })
}

fn is_inert(attribute: &Attribute) -> bool {
    let first = attribute.path().segments.first().map(|segment| segment.ident.to_string()).unwrap_or_default();
    INERT.contains(&first.as_str()) || matches!(first.as_str(), "rustfmt" | "clippy" | "diagnostic")
}
