//! The attributes that schemars' derive reads itself, in the same order of precedence: schemars over serde, and schemars
//! over validate over garde. Source: the module `attr` of schemars_derive 1.2.3, which is the same since 1.0.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, ExprPath, Lit, LitStr, Meta, Path, Token, Type};

use super::Item;
use super::names::{self, Level};
use super::problems::Problems;
use opctl_model::names::nearest;

/// Reads the attributes of one kind on an item, except those that were read already.
struct Reader<'a> {
    /// `schemars`, `serde`, `validate` or `garde`.
    kind: &'static str,
    items: Vec<Item>,
    problems: &'a Problems,
}

impl<'a> Reader<'a> {
    fn new(kind: &'static str, attributes: &[Attribute], problems: &'a Problems) -> Self {
        Self { kind, items: super::items(attributes, kind, problems), problems }
    }

    /// Passes each attribute to a function that returns `true` if it reads an attribute of this name.
    fn read(&mut self, mut reads: impl FnMut(&str, &Item, &Self) -> bool) {
        let mut items = std::mem::take(&mut self.items);
        items.retain(|item| !reads(&item.name(), item, self));
        self.items = items;
    }

    fn is_schemars(&self) -> bool {
        self.kind == "schemars"
    }

    fn duplicate(&self, item: &Item) {
        if self.is_schemars() {
            self.problems.add(item, format!("`{}` is set twice", item.name()), Some("remove one of them".into()));
        }
    }

    fn excludes(&self, item: &Item, other: &str) {
        if self.is_schemars() {
            let message = format!("schemars accepts either `{}` or `{other}`, not both", item.name());
            self.problems.add(item, message, Some("remove one of them".into()));
        }
    }

    /// Checks that an attribute is `name`, without a value.
    fn word(&self, item: &Item) -> bool {
        let is_word = matches!(item.meta, Meta::Path(_));
        if !is_word {
            self.problems.add(item, format!("`{}` takes no value", item.name()), None);
        }
        is_word && !item.unsets
    }

    /// The expression of `name = expression`.
    fn expr(&self, item: &Item) -> Option<Expr> {
        if let (Meta::NameValue(pair), false) = (&item.meta, item.unsets) {
            return Some(pair.value.clone());
        }
        let name = item.name();
        self.problems.add(item, format!("`{name}` takes a value: `{name} = …`"), None);
        None
    }

    /// The string of `name = "text"`.
    fn text(&self, item: &Item) -> Option<LitStr> {
        if let (Meta::NameValue(pair), false) = (&item.meta, item.unsets)
            && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &pair.value
        {
            return Some(text.clone());
        }
        let name = item.name();
        self.problems.add(item, format!("`{name}` takes a string: `{name} = \"…\"`"), None);
        None
    }

    /// The parsed code of `name = "code"`.
    fn code<T: Parse>(&self, item: &Item) -> Option<T> {
        self.parse(&self.text(item)?)
    }

    fn parse<T: Parse>(&self, text: &LitStr) -> Option<T> {
        let parsed = text.parse().ok();
        if parsed.is_none() {
            let ty = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
            let what = if ty == "Type" { "the name of a type" } else { "valid Rust" };
            self.problems.add(text, format!("`{}` is not {what}", text.value()), None);
        }
        parsed
    }

    /// The expression of `name = expression`, which may be quoted.
    fn quoted_expr(&self, item: &Item) -> Option<Expr> {
        match self.expr(item)? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => self.parse(&text),
            expr => Some(expr),
        }
    }

    /// The parsed arguments of `name(…)`.
    fn list<P: Parser>(&self, item: &Item, parser: P) -> Option<P::Output> {
        let (Meta::List(list), false) = (&item.meta, item.unsets) else {
            let name = item.name();
            self.problems.add(item, format!("`{name}` takes a list: `{name}(…)`"), None);
            return None;
        };
        list.parse_args_with(parser).map_err(|error| self.problems.syntax(error)).ok()
    }

    fn nested(&self, item: &Item) -> Vec<Item> {
        self.list(item, Punctuated::<Item, Token![,]>::parse_terminated).into_iter().flatten().collect()
    }

    /// Reports an argument that `outer` does not have. Only schemars' own attributes are strict.
    fn unknown_argument(&self, outer: &Item, argument: &Item, known: &[&str]) {
        let (outer, name) = (outer.name(), argument.name());
        let nearest = nearest(&name, known.iter().copied());
        let help = nearest.map(|nearest| format!("did you mean `{nearest}`?"));
        if self.is_schemars() {
            let help = help.unwrap_or_else(|| format!("`{outer}` takes {}", known.join(", ")));
            self.problems.add(argument.meta.path(), format!("`{outer}` has no argument `{name}`"), Some(help));
        } else if help.is_some() {
            let message = format!("schemars ignores the argument `{name}` of `{outer}`, so it is not in the schema");
            self.problems.warn(argument.meta.path(), message, help);
        }
    }

    /// Reports attributes that were not read; schemars passes some of them on to serde's parser.
    fn finish(&self, level: Level, help: impl Fn(&str) -> Option<String>) {
        for item in &self.items {
            let (path, name) = (item.meta.path(), item.name());
            if self.is_schemars() && !names::PARSED_BY_SERDE.contains(&name.as_str()) {
                self.problems.add(path, format!("unknown schemars attribute `{name}`"), help(&name));
            } else if matches!(self.kind, "validate" | "garde")
                && level == Level::Field
                && !names::unread_rules(self.kind).contains(&name.as_str())
                && let Some(nearest) = nearest(&name, names::INNER.iter().copied())
                && nearest != name
            {
                let message = format!("schemars ignores `{name}` in `#[{}(…)]`, so it is not in the schema", self.kind);
                self.problems.warn(path, message, Some(format!("did you mean `{nearest}`?")));
            }
        }
    }
}

/// Attributes that are valid on any container, variant or field.
#[derive(Default)]
pub struct Common {
    pub doc: Option<Vec<Expr>>,
    pub deprecated: bool,
    pub title: Option<Expr>,
    pub description: Option<Expr>,
    pub examples: Vec<Expr>,
    /// Keys, and values as the tokens of a `json!`.
    pub extensions: Vec<(String, TokenStream)>,
    /// `#[schemars(transform = …)]`: code that only a compiler can run.
    pub transforms: Vec<Expr>,
    pub with: Option<SchemaOverride>,
}

pub enum SchemaOverride {
    Type(Box<Type>),
    Function(ExprPath),
}

impl Common {
    /// Reads attributes whose mistakes are reported elsewhere.
    pub fn read(attributes: &[Attribute]) -> Self {
        let problems = Problems::default();
        let mut schemars = Reader::new("schemars", attributes, &problems);
        let mut serde = Reader::new("serde", attributes, &problems);
        Self::read_all(attributes, &mut schemars, &mut serde, &mut |common, name, item, reader| {
            common.read_with(name, item, reader)
        })
    }

    /// `own` reads the attributes that only some places have.
    fn read_all<'a>(
        attributes: &[Attribute],
        schemars: &mut Reader<'a>,
        serde: &mut Reader<'a>,
        own: &mut dyn FnMut(&mut Self, &str, &Item, &Reader<'_>) -> bool,
    ) -> Self {
        let mut common = Self { doc: doc(attributes), ..Self::default() };
        common.deprecated = attributes.iter().any(|attribute| attribute.path().is_ident("deprecated"));
        for reader in [schemars, serde] {
            reader.read(|name, item, reader| {
                common.read_item(name, item, reader) || own(&mut common, name, item, reader)
            });
        }
        common
    }

    fn read_item(&mut self, name: &str, item: &Item, reader: &Reader<'_>) -> bool {
        match name {
            "title" if self.title.is_some() => reader.duplicate(item),
            "title" => self.title = reader.expr(item),
            "description" if self.description.is_some() => reader.duplicate(item),
            "description" => self.description = reader.expr(item),
            "example" => self.examples.extend(reader.expr(item).inspect(|expr| check_example(expr, reader))),
            "extend" => {
                let parser = Punctuated::<Extension, Token![,]>::parse_terminated;
                for Extension(key, value) in reader.list(item, parser).into_iter().flatten() {
                    if self.extensions.iter().any(|(known, _)| *known == key.value()) {
                        reader.problems.add(&key, format!("the keyword `{}` is set twice", key.value()), None);
                    } else {
                        self.extensions.push((key.value(), value));
                    }
                }
            }
            "transform" => match reader.expr(item) {
                Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
                    if text.parse::<Expr>().is_ok() {
                        let help = format!("write it without quotes: `transform = {}`", text.value());
                        reader.problems.add(&text, "`transform` takes a function, not a string", Some(help));
                    }
                }
                transform => self.transforms.extend(transform),
            },
            _ => return false,
        }
        true
    }

    fn read_with(&mut self, name: &str, item: &Item, reader: &Reader<'_>) -> bool {
        match (name, &self.with) {
            ("with", Some(SchemaOverride::Type(_))) => reader.duplicate(item),
            ("with", Some(SchemaOverride::Function(_))) => reader.excludes(item, "schema_with"),
            ("with", None) => self.with = reader.code(item).map(|ty| SchemaOverride::Type(Box::new(ty))),
            ("schema_with", _) if !reader.is_schemars() => return false,
            ("schema_with", Some(SchemaOverride::Function(_))) => reader.duplicate(item),
            ("schema_with", Some(SchemaOverride::Type(_))) => reader.excludes(item, "with"),
            ("schema_with", None) => self.with = reader.code(item).map(SchemaOverride::Function),
            _ => return false,
        }
        true
    }

    /// `true` if no attribute here changes the schema. As in schemars' containers, `with` is not considered.
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

/// schemars refuses a string here, because it was the path of a function before schemars 1.
fn check_example(expr: &Expr, reader: &Reader<'_>) {
    if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = expr
        && text.parse::<Path>().is_ok()
    {
        let text = text.value();
        let help = format!("write `example = &\"{text}\"` for the text, or `example = {text}()` for a function");
        reader.problems.add(expr, "schemars does not accept a string here that could be a path", Some(help));
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

/// `"key" = value`
struct Extension(LitStr, TokenStream);

impl Parse for Extension {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.parse()?;
        input.parse::<Token![=]>()?;
        let mut tokens = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            tokens.extend([input.parse::<TokenTree>()?]);
        }
        if tokens.is_empty() { Err(input.error("expected a value")) } else { Ok(Self(key, tokens)) }
    }
}

/// Validation attributes of a field.
#[derive(Default)]
pub struct Validation {
    pub length: Option<Bounds>,
    pub range: Option<Bounds>,
    pub matches: Option<Matches>,
    pub required: bool,
    pub format: Option<Format>,
    pub inner: Option<Box<Validation>>,
}

#[derive(Default)]
pub struct Bounds {
    pub min: Option<Expr>,
    pub max: Option<Expr>,
}

/// A pattern or substring that a string must match.
pub enum Matches {
    Pattern(Expr),
    Regex(Expr),
    Contains(Expr),
}

impl Matches {
    fn name(&self) -> &'static str {
        match self {
            Self::Pattern(_) => "pattern",
            Self::Regex(_) => "regex",
            Self::Contains(_) => "contains",
        }
    }
}

/// A string format, by the name of its attribute.
#[derive(Clone, Copy)]
pub struct Format(&'static str);

impl Format {
    fn of_attribute(name: &str) -> Option<Self> {
        ["email", "ip", "ipv4", "ipv6", "url"].into_iter().find(|known| *known == name).map(Self)
    }

    pub fn in_schema(self) -> &'static str {
        if self.0 == "url" { "uri" } else { self.0 }
    }
}

impl Validation {
    /// Reads attributes whose mistakes are reported elsewhere.
    pub fn read(attributes: &[Attribute]) -> Self {
        let problems = Problems::default();
        let mut readers = ["schemars", "validate", "garde"].map(|kind| Reader::new(kind, attributes, &problems));
        Self::read_all(readers.each_mut())
    }

    fn read_all(readers: [&mut Reader<'_>; 3]) -> Self {
        let mut validation = Self::default();
        for reader in readers {
            reader.read(|name, item, reader| validation.read_item(name, item, reader));
        }
        validation
    }

    fn read_item(&mut self, name: &str, item: &Item, reader: &Reader<'_>) -> bool {
        match name {
            "length" if self.length.is_some() => reader.duplicate(item),
            "length" => self.length = Bounds::read(item, reader),
            "range" if self.range.is_some() => reader.duplicate(item),
            "range" => self.range = Bounds::read(item, reader),
            "required" if self.required => reader.duplicate(item),
            "required" => self.required = reader.word(item),
            "pattern" if reader.kind == "validate" => return false,
            "regex" if reader.kind == "garde" => return false,
            "pattern" | "regex" | "contains" => match &self.matches {
                Some(other) if other.name() == name => reader.duplicate(item),
                Some(other) => reader.excludes(item, other.name()),
                None => {
                    self.matches = match name {
                        "pattern" => reader.list(item, Expr::parse).map(Matches::Pattern),
                        "regex" => regex(item, reader).map(Matches::Regex),
                        _ => contains(item, reader).map(Matches::Contains),
                    }
                }
            },
            "inner" if reader.kind != "validate" => {
                let items = reader.nested(item);
                let inner = self.inner.get_or_insert_default();
                let mut nested = Reader { items, ..*reader };
                nested.read(|name, item, reader| inner.read_item(name, item, reader));
                nested.finish(Level::Field, |name| {
                    let nearest = nearest(name, names::INNER.iter().copied());
                    Some(nearest.map_or("`inner` takes validations, such as `length(…)`".into(), |nearest| {
                        format!("did you mean `{nearest}`?")
                    }))
                });
            }
            _ => {
                let Some(format) = Format::of_attribute(name) else { return false };
                match self.format {
                    Some(Format(other)) if other == name => reader.duplicate(item),
                    Some(Format(other)) => reader.excludes(item, other),
                    // validator's attribute may have a message.
                    None if reader.kind == "validate" || reader.word(item) => self.format = Some(format),
                    None => {}
                }
            }
        }
        true
    }

    pub fn is_plain(&self) -> bool {
        self.length.is_none()
            && self.range.is_none()
            && self.matches.is_none()
            && !self.required
            && self.format.is_none()
            && self.inner.is_none()
    }
}

impl Bounds {
    fn read(item: &Item, reader: &Reader<'_>) -> Option<Self> {
        let nested = reader.list(item, Punctuated::<Item, Token![,]>::parse_terminated)?;
        let (mut min, mut max, mut equal) = (None, None, None);
        for argument in &nested {
            match argument.name().as_str() {
                "min" if min.is_some() => reader.duplicate(argument),
                "max" if max.is_some() => reader.duplicate(argument),
                "min" | "max" if equal.is_some() => reader.excludes(argument, "equal"),
                "min" => min = reader.quoted_expr(argument),
                "max" => max = reader.quoted_expr(argument),
                "equal" if min.is_some() => reader.excludes(argument, "min"),
                "equal" if max.is_some() => reader.excludes(argument, "max"),
                "equal" if equal.is_some() => reader.duplicate(argument),
                "equal" => equal = reader.quoted_expr(argument),
                _ => reader.unknown_argument(item, argument, &["min", "max", "equal"]),
            }
        }
        Some(Self { min: min.or_else(|| equal.clone()), max: max.or(equal) })
    }
}

/// The pattern of `regex(pattern = …)` of schemars, `regex(path = …)` of validator.
fn regex(item: &Item, reader: &Reader<'_>) -> Option<Expr> {
    let (key, other) = if reader.is_schemars() { ("pattern", "path") } else { ("path", "pattern") };
    let nested = reader.list(item, Punctuated::<Item, Token![,]>::parse_terminated)?;
    let mut pattern = None;
    for argument in &nested {
        match argument.name() {
            name if name == key && pattern.is_some() => reader.duplicate(argument),
            name if name == key && reader.is_schemars() => pattern = reader.expr(argument),
            name if name == key => pattern = reader.quoted_expr(argument),
            name if name == other => {
                let message = format!("`regex` takes `{key}` in `#[{}(…)]`, not `{other}`", reader.kind);
                let help = "write `#[schemars(regex(pattern = …))]` or `#[validate(regex(path = …))]`";
                reader.problems.add(argument, message, Some(help.into()));
            }
            _ if reader.is_schemars() => reader.unknown_argument(item, argument, &[key]),
            _ => {}
        }
    }
    required(pattern, item, key, reader)
}

/// The string of `contains(pattern = …)` or `contains(…)`.
fn contains(item: &Item, reader: &Reader<'_>) -> Option<Expr> {
    enum Contains {
        Arguments(Punctuated<Item, Token![,]>),
        Text(Expr),
    }
    let arguments = |input: ParseStream<'_>| Punctuated::parse_terminated(input).map(Contains::Arguments);
    let text = |input: ParseStream<'_>| input.parse().map(Contains::Text);
    let either = |input: ParseStream<'_>| {
        if input.peek2(Token![,]) || input.peek2(Token![=]) { arguments(input) } else { text(input) }
    };
    let arguments = match reader.kind {
        "validate" => reader.list(item, arguments),
        "garde" => reader.list(item, text),
        _ => reader.list(item, either),
    };
    let arguments = match arguments? {
        Contains::Text(text) => return Some(text),
        Contains::Arguments(arguments) => arguments,
    };
    let mut pattern = None;
    for argument in &arguments {
        match argument.name().as_str() {
            "pattern" if pattern.is_some() => reader.duplicate(argument),
            "pattern" => pattern = reader.expr(argument),
            _ => reader.unknown_argument(item, argument, &["pattern"]),
        }
    }
    required(pattern, item, "pattern", reader)
}

fn required(value: Option<Expr>, item: &Item, key: &str, reader: &Reader<'_>) -> Option<Expr> {
    if value.is_none() {
        let name = item.name();
        reader.problems.add(item, format!("`{name}` requires `{key}`: `{name}({key} = …)`"), None);
    }
    value
}

/// Reports mistakes that schemars' derive refuses in the attributes that it reads itself. `input` has the merged
/// attributes.
pub fn check(input: &DeriveInput, problems: &Problems) {
    check_container(input, problems);
    match &input.data {
        Data::Struct(data) => data.fields.iter().for_each(|field| check_field(&field.attrs, problems)),
        Data::Enum(data) => {
            for variant in &data.variants {
                check_variant(&variant.attrs, problems);
                variant.fields.iter().for_each(|field| check_field(&field.attrs, problems));
            }
        }
        Data::Union(_) => {}
    }
}

fn check_container(input: &DeriveInput, problems: &Problems) {
    let mut schemars = Reader::new("schemars", &input.attrs, problems);
    let mut serde = Reader::new("serde", &input.attrs, problems);
    let mut seen = BTreeSet::new();
    let mut own = |common: &mut Common, name: &str, item: &Item, reader: &Reader<'_>| {
        let is_schemars = reader.is_schemars();
        match name {
            "crate" | "inline" if seen.contains(name) => reader.duplicate(item),
            "rename" if is_schemars && seen.contains(name) => reader.duplicate(item),
            "_unstable_ref_variants" if is_schemars && !matches!(input.data, Data::Enum(_)) => {
                problems.add(item, "`_unstable_ref_variants` is for enums", None);
            }
            "_unstable_ref_variants" if is_schemars && seen.contains(name) => reader.duplicate(item),
            "crate" => seen.extend(reader.code::<Path>(item).map(|_| name.to_owned())),
            "rename" if is_schemars => {
                let text = reader.text(item);
                text.iter().for_each(|text| check_name_format(text, &input.generics, problems));
                seen.extend(text.map(|_| name.to_owned()));
            }
            "inline" => seen.extend(reader.word(item).then(|| name.to_owned())),
            "_unstable_ref_variants" if is_schemars => seen.extend(reader.word(item).then(|| name.to_owned())),
            _ => return is_schemars && common.read_with(name, item, reader),
        }
        true
    };
    Common::read_all(&input.attrs, &mut schemars, &mut serde, &mut own);
    schemars.finish(Level::Container, |name| names::help("schemars", name, Level::Container));
}

/// `rename = "Of{T}"`
fn check_name_format(format: &LitStr, generics: &syn::Generics, problems: &Problems) {
    let text = format.value();
    if !text.contains('{') {
        return;
    }
    let text = text.replace("{{", "").replace("}}", "");
    let is_parameter = |name: &str| {
        generics.type_params().any(|known| known.ident == name)
            || generics.const_params().any(|known| known.ident == name)
    };
    let mut segments = text.split('{');
    if segments.next().is_some_and(|first| first.contains('}')) {
        problems.add(format, "`}` without `{` in a name", None);
    }
    for segment in segments {
        match segment.split_once('}') {
            None => problems.add(format, "`{` without `}` in a name", None),
            Some((_, rest)) if rest.contains('}') => problems.add(format, "`}` without `{` in a name", None),
            Some((name, _)) if is_parameter(name) => {}
            Some((name, _)) => problems.add(format, format!("`{name}` is not a generic parameter of the type"), None),
        }
    }
}

fn check_variant(attributes: &[Attribute], problems: &Problems) {
    let mut schemars = Reader::new("schemars", attributes, problems);
    let mut serde = Reader::new("serde", attributes, problems);
    Common::read_all(attributes, &mut schemars, &mut serde, &mut |common, name, item, reader| {
        common.read_with(name, item, reader)
    });
    schemars.finish(Level::Variant, |name| names::help("schemars", name, Level::Variant));
}

fn check_field(attributes: &[Attribute], problems: &Problems) {
    let [mut schemars, mut serde, mut validate, mut garde] =
        ["schemars", "serde", "validate", "garde"].map(|kind| Reader::new(kind, attributes, problems));
    Common::read_all(attributes, &mut schemars, &mut serde, &mut |common, name, item, reader| {
        common.read_with(name, item, reader)
    });
    Validation::read_all([&mut schemars, &mut validate, &mut garde]);
    for reader in [schemars, validate, garde] {
        reader.finish(Level::Field, |name| names::help("schemars", name, Level::Field));
    }
}
