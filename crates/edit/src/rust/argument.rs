//! Adds an argument to the `#[kube(…)]` attribute of a type.

use std::ops::Range;

use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Block, Expr, ExprLit, File, ItemEnum, ItemStruct, Lit, Meta, Path, Token};

use super::gap::{end_with_comment, end_with_comments, insert_line_after};
use super::{Source, unparsed};
use crate::EditError;
use crate::text::{indent, insert, line_end, line_start, starts_line};

/// Arguments about a version, in the order in which they are added, so that the order of commands does not matter.
const ORDER: [&str; 4] = ["version", "storage", "served", "deprecated"];

/// Adds `argument` to the `#[kube(…)]` with this kind and version, after the version, unless it already exists.
///
/// Attributes with one argument per line keep that layout. One on a single line keeps it as long as it fits; otherwise
/// the argument gets a separate attribute, because rustfmt keeps that at any line width.
pub fn add_argument(text: &str, kind: &str, version: &str, argument: &str) -> Result<String, EditError> {
    let of = format!("`kind = \"{kind}\"` and `version = \"{version}\"`");
    let refuse = |reason: String| EditError {
        at: None,
        reason,
        help: format!("add this to the `#[kube(…)]` with {of}, then run the command again:\n    {argument},"),
    };
    let Ok(wanted) = syn::parse_str::<Meta>(argument) else {
        return Err(refuse(format!("`{argument}` is not an argument of an attribute")));
    };
    let source = Source::parse(text).map_err(|error| unparsed(&error, format!("{argument},")))?;
    let old = find(&source.file, kind, version).map_err(refuse)?;
    if old.arguments().any(|other| *other == wanted) {
        return Ok(text.into());
    }
    if let Some(other) = old.arguments().find(|other| other.path() == wanted.path()) {
        let place = other.span().start();
        return Err(EditError {
            at: Some((place.line, place.column + 1)),
            reason: format!("the `#[kube(…)]` with {of} says `{}`", &text[source.range_of(other)]),
            help: format!("change it to this, then run the command again:\n    {argument},"),
        });
    }
    let new = old.anchor(&source, &wanted).insert(text, argument);
    if old.is_all_that_changed(&source, &new, (kind, version), &wanted) {
        return Ok(new);
    }
    Err(refuse(format!("cannot add `{argument}` to the `#[kube(…)]` with {of} without changing something else")))
}

fn find<'a>(file: &'a File, kind: &str, version: &str) -> Result<Kube<'a>, String> {
    let is_it = |kube: &Kube| kube.says("kind", kind) && kube.says("version", version);
    let mut types: Vec<Kube> = kubes(file).filter(is_it).collect();
    let of = format!("`kind = \"{kind}\"` and `version = \"{version}\"`");
    match types.len() {
        0 => Err(format!("no `#[kube(…)]` with {of}")),
        1 => match types.remove(0) {
            kube if kube.conditional.is_empty() => Ok(kube),
            _ => Err(format!("a `cfg_attr` is part of the `#[kube(…)]` with {of}")),
        },
        _ => Err(format!("more than one `#[kube(…)]` with {of}")),
    }
}

/// The `#[kube(…)]` attributes of all types in a file.
pub(super) fn kubes(file: &File) -> impl Iterator<Item = Kube<'_>> {
    let mut types = Types(Vec::new());
    types.visit_file(file);
    types.0.into_iter()
}

/// The arguments of all `#[kube(…)]` of one type.
#[derive(Default)]
pub(super) struct Kube<'a> {
    pub(super) lists: Vec<(&'a Attribute, Arguments)>,
    /// The arguments in a `cfg_attr`.
    conditional: Vec<Meta>,
}

pub(super) type Arguments = Punctuated<Meta, Token![,]>;

impl<'a> Kube<'a> {
    /// Fails if the arguments are invalid for kube's derive.
    fn of(attributes: &'a [Attribute]) -> syn::Result<Self> {
        let mut kube = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident("kube") {
                kube.lists.push((attribute, attribute.parse_args_with(Punctuated::parse_terminated)?));
            } else if attribute.path().is_ident("cfg_attr") {
                kube.add_conditional(&attribute.meta)?;
            }
        }
        Ok(kube)
    }

    fn add_conditional(&mut self, meta: &Meta) -> syn::Result<()> {
        let Meta::List(list) = meta else { return Ok(()) };
        if list.path.is_ident("kube") {
            self.conditional.extend(list.parse_args_with(Arguments::parse_terminated)?);
        } else if list.path.is_ident("cfg_attr") {
            for meta in list.parse_args_with(Arguments::parse_terminated)?.iter().skip(1) {
                self.add_conditional(meta)?;
            }
        }
        Ok(())
    }

    fn arguments(&self) -> impl Iterator<Item = &Meta> {
        self.lists.iter().flat_map(|(_, arguments)| arguments)
    }

    pub(super) fn says(&self, name: &str, value: &str) -> bool {
        self.arguments().chain(&self.conditional).any(|argument| is_text(argument, name, value))
    }

    /// The argument after which `wanted` is inserted.
    fn anchor(&self, source: &Source, wanted: &Meta) -> Anchor {
        let pairs = self.lists.iter().flat_map(|(attribute, arguments)| {
            let inside = source.range_of(arguments);
            arguments.pairs().map(move |pair| (*attribute, inside.clone(), pair))
        });
        let rank = |path: &Path| ORDER.iter().position(|name| path.is_ident(name));
        let end = rank(wanted.path()).unwrap_or(1);
        let (attribute, inside, before) = pairs
            .into_iter()
            .filter(|(_, _, pair)| rank(pair.value().path()).is_some_and(|rank| rank < end))
            .max_by_key(|(_, _, pair)| rank(pair.value().path()))
            .expect("a version is said outside of `cfg_attr`");
        Anchor {
            attribute: source.range_of(attribute),
            inside,
            argument: source.range_of(*before.value()),
            comma: before.punct().map(|comma| source.range_of(comma).end),
        }
    }

    /// `true` if `new` has one more argument here, and is otherwise equal to the old text, byte for byte.
    fn is_all_that_changed(&self, old: &Source, new: &str, (kind, version): (&str, &str), wanted: &Meta) -> bool {
        let Ok(source) = Source::parse(new) else { return false };
        let Ok(kube) = find(&source.file, kind, version) else { return false };
        let attribute = self.anchor(old, wanted).attribute;
        let column = indent(old.text, attribute.start);
        let end = end_with_comments(old.text, attribute.end, column).unwrap_or(attribute.end);
        let is_wanted = |argument: &&Meta| *argument == wanted;
        kube.arguments().filter(is_wanted).count() == 1
            && kube.arguments().filter(|argument| !is_wanted(argument)).eq(self.arguments())
            && new.starts_with(&old.text[..attribute.start])
            && new.ends_with(&old.text[end..])
    }
}

pub(super) fn is_text(argument: &Meta, name: &str, value: &str) -> bool {
    let Meta::NameValue(argument) = argument else { return false };
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &argument.value else { return false };
    argument.path.is_ident(name) && text.value() == value
}

/// Skips types within functions: nobody else could use a CustomResource that is derived there.
struct Types<'a>(Vec<Kube<'a>>);

impl<'a> Visit<'a> for Types<'a> {
    fn visit_item_struct(&mut self, item: &'a ItemStruct) {
        self.0.extend(Kube::of(&item.attrs));
    }

    fn visit_item_enum(&mut self, item: &'a ItemEnum) {
        self.0.extend(Kube::of(&item.attrs));
    }

    fn visit_block(&mut self, _: &'a Block) {}

    fn visit_expr(&mut self, _: &'a Expr) {}
}

/// The positions around an argument of `#[kube(…)]`.
struct Anchor {
    attribute: Range<usize>,
    /// The range from the first argument to the last.
    inside: Range<usize>,
    argument: Range<usize>,
    /// The end of the comma after the argument.
    comma: Option<usize>,
}

impl Anchor {
    fn insert(&self, text: &str, argument: &str) -> String {
        let is_one_line = !text[self.attribute.clone()].contains('\n');
        if is_one_line && !self.fits_one_line(text, argument) && end_with_comment(text, self.attribute.end).is_some() {
            let indent = indent(text, self.attribute.start);
            return insert_line_after(text, self.attribute.end, indent, &format!("#[kube({argument})]"));
        }
        let end = self.comma.unwrap_or(self.argument.end);
        let has_own_line = starts_line(text, self.argument.start) && end_with_comment(text, end).is_some();
        match self.comma {
            Some(comma) if has_own_line => {
                insert_line_after(text, comma, indent(text, self.argument.start), &format!("{argument},"))
            }
            Some(comma) => insert(text, comma, &format!(" {argument},")),
            None if has_own_line => {
                let text = insert(text, end, ",");
                insert_line_after(&text, end + 1, indent(&text, self.argument.start), argument)
            }
            None => insert(text, end, &format!(", {argument}")),
        }
    }

    /// Checks rustfmt's default limits: `attr_fn_like_width` for the arguments, `max_width` for the line.
    fn fits_one_line(&self, text: &str, argument: &str) -> bool {
        let width =
            |range: Range<usize>| text[range].trim_end().chars().count() + ", ".len() + argument.chars().count();
        let line = line_start(text, self.attribute.start)..line_end(text, self.attribute.end);
        width(self.inside.clone()) <= 70 && width(line) <= 100
    }
}
