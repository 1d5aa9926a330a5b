//! A field of a struct with named fields.

use std::ops::Range;

use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::visit::Visit;
use syn::{Block, Expr, Field, Fields, FieldsNamed, File, ItemStruct};

use super::gap::{comments, end_with_comments, insert_line_after, step};
use super::{Source, unparsed};
use crate::edit::EditError;
use crate::edit::text::{indent, insert, line_end, newline, replace, starts_line};

/// Adds `field` to the fields of the one `struct structure { … }`, unless it has one of this name and type.
///
/// The new field becomes the last one, unless the comment beside the last one continues below it: then it goes above that
/// one, and above the fields before it that have comments beside them.
pub fn add_field(text: &str, structure: &str, field: &str) -> Result<String, EditError> {
    let snippet = lines(field, "\n    ");
    let refuse = |reason: String| EditError {
        at: None,
        reason,
        help: format!("add this to the fields of `struct {structure}`, then run the command again:\n    {snippet}"),
    };
    let Ok(wanted) = Field::parse_named.parse_str(field) else {
        return Err(refuse(format!("`{field}` is not a named field")));
    };
    let source = Source::parse(text).map_err(|error| unparsed(&error, &snippet))?;
    let (item, fields) = find(&source.file, structure).map_err(refuse)?;
    let same_name: Vec<&Field> = fields.named.iter().filter(|other| name(other) == name(&wanted)).collect();
    if same_name.iter().any(|other| other.ty == wanted.ty) {
        return Ok(text.into());
    }
    if let Some(other) = same_name.first() {
        let place = other.ident.as_ref().map(|ident| ident.span().start());
        return Err(EditError {
            at: place.map(|place| (place.line, place.column + 1)),
            reason: format!("`{}` in `struct {structure}` has another type", name(other)),
            help: format!("give it another name, then run the command again; or write it so:\n    {snippet}"),
        });
    }
    let place = Place::of(&source, item, fields);
    let new = place.insert(text, field);
    if place.is_all_that_changed(text, fields, &new, structure, &wanted) {
        return Ok(new);
    }
    Err(refuse(format!("cannot add `{}` to `struct {structure}` without changing something else", name(&wanted))))
}

/// The text of a field with the comma after it.
fn lines(field: &str, between: &str) -> String {
    field.trim().lines().map(str::trim_end).collect::<Vec<_>>().join(between) + ","
}

fn name(field: &Field) -> String {
    field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default()
}

fn find<'a>(file: &'a File, structure: &str) -> Result<(&'a ItemStruct, &'a FieldsNamed), String> {
    let mut structs = Structs { name: structure, found: Vec::new() };
    structs.visit_file(file);
    match structs.found[..] {
        [] => Err(format!("no `struct {structure}`")),
        [item] => match &item.fields {
            Fields::Named(fields) => Ok((item, fields)),
            _ => Err(format!("`struct {structure}` has no named fields")),
        },
        _ => Err(format!("more than one `struct {structure}`")),
    }
}

struct Structs<'a, 'n> {
    name: &'n str,
    found: Vec<&'a ItemStruct>,
}

/// Those within functions are not looked at: nobody outside could name them.
impl<'a> Visit<'a> for Structs<'a, '_> {
    fn visit_item_struct(&mut self, item: &'a ItemStruct) {
        if item.ident == self.name {
            self.found.push(item);
        }
    }

    fn visit_block(&mut self, _: &'a Block) {}

    fn visit_expr(&mut self, _: &'a Expr) {}
}

/// Where in a struct the new field goes.
struct Place {
    /// Between the braces.
    inside: Range<usize>,
    /// The last field so far, and where the comma after it ends.
    last: Option<(Range<usize>, Option<usize>)>,
    /// Where the last field ends that has no comment beside it, the very last one aside; or else the opening brace.
    before_comments: usize,
    /// Where `struct` stands.
    keyword: usize,
}

impl Place {
    fn of(source: &Source, item: &ItemStruct, fields: &FieldsNamed) -> Self {
        let last = fields.named.pairs().next_back().map(|pair| {
            let comma = pair.punct().map(|comma| source.range_of(comma).end);
            (source.range_of(*pair.value()), comma)
        });
        let inside = Self::braces(source, fields);
        let mut commas = fields.named.pairs().rev().skip(1).filter_map(|pair| Some(source.range_of(pair.punct()?).end));
        let has_comment = |comma: &usize| !comments(source.text, *comma..line_end(source.text, *comma)).is_empty();
        let before_comments = commas.find(|comma| !has_comment(comma)).unwrap_or(inside.start);
        Self { inside, last, before_comments, keyword: source.range_of(&item.struct_token).start }
    }

    fn braces(source: &Source, fields: &FieldsNamed) -> Range<usize> {
        let braces = fields.brace_token.span;
        source.range(braces.open()).end..source.range(braces.close()).start
    }

    /// On lines of its own: after the last field and the comment beside it, or after all comments in a struct without fields.
    fn insert(&self, text: &str, field: &str) -> String {
        let (new, end, beside) = match &self.last {
            Some((last, Some(comma))) => (text.to_owned(), *comma, Some(last.start)),
            Some((last, None)) => (insert(text, last.end, ","), last.end + 1, Some(last.start)),
            None => {
                let comments = comments(text, self.inside.clone());
                let end = comments.last().map_or(self.inside.start, |comment| comment.end);
                (text.to_owned(), end, comments.last().map(|comment| comment.start))
            }
        };
        let close = self.inside.end + new.len() - text.len();
        let (outer, newline) = (indent(text, self.keyword), newline(text));
        let indent = match beside {
            Some(at) if starts_line(text, at) => indent(text, at).to_owned(),
            _ => format!("{outer}{}", step(outer)),
        };
        let lines = lines(field, &format!("{newline}{indent}"));
        if end_with_comments(&new, end, &indent).is_some_and(|below| below > line_end(&new, end)) {
            // Only the last field can keep such a comment: below any other, rustfmt takes the rest of it for a comment about
            // the next field. Its column depends on the fields right above that have a comment, too.
            return insert_line_after(text, self.before_comments, &indent, &lines);
        }
        if new[end..close].contains('\n') {
            return insert_line_after(&new, end, &indent, &lines);
        }
        let blanks = new[..close].trim_end().len()..close;
        replace(&new, blanks, &format!("{newline}{indent}{lines}{newline}{outer}"))
    }

    /// True when `new` has one more field here, and is the old text byte for byte outside of the braces.
    fn is_all_that_changed(&self, text: &str, old: &FieldsNamed, new: &str, structure: &str, wanted: &Field) -> bool {
        let Ok(source) = Source::parse(new) else { return false };
        let Ok((_, fields)) = find(&source.file, structure) else { return false };
        let inside = Self::braces(&source, fields);
        let is_new = |field: &&Field| name(field) == name(wanted);
        old.named.iter().eq(fields.named.iter().filter(|field| !is_new(field)))
            && fields.named.iter().filter(is_new).eq([wanted])
            && text[..self.inside.start] == new[..inside.start]
            && text[self.inside.end..] == new[inside.end..]
    }
}
