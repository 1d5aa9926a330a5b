//! Adds an element to the `vec![…]` at the end of a function.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Block, Expr, ExprReturn, File, ImplItemFn, ItemFn, Macro, Stmt, Token, TraitItemFn};

use super::gap::{Sibling, before_first, comments, insert_line_after, insert_line_before, step};
use super::{Source, unparsed};
use crate::EditError;
use crate::text::{indent, insert, newline, replace, starts_line};

/// Adds `item` to the `vec![…]` at the end of `fn function`, in sorted order, unless it contains an equal element.
///
/// The layout is rustfmt's: a list with one element per line keeps that layout, a list on a single line keeps it as
/// long as it fits.
pub fn add_list_item(text: &str, function: &str, item: &str) -> Result<String, EditError> {
    let refuse = |reason: String| EditError {
        at: None,
        reason,
        help: format!("add this line to the list in `fn {function}`, then run the command again:\n    {item},"),
    };
    let Ok(wanted) = syn::parse_str::<Expr>(item) else {
        return Err(refuse(format!("`{item}` is not a Rust expression")));
    };
    let source = Source::parse(text).map_err(|error| unparsed(&error, format!("{item},")))?;
    let list = find(&source.file, function).map_err(refuse)?;
    let elements = parse_elements(list)
        .map_err(|_| refuse(format!("the `vec![…]` at the end of `fn {function}` is not a list of expressions")))?;
    let key = key(&wanted);
    let point = InsertionPoint::of(&source, list, &elements, &key);
    if point.elements.iter().any(|element| element.key == key) {
        return Ok(text.into());
    }
    for new in [point.insert(text, item), point.insert_in_line(text, item)] {
        if point.is_all_that_changed(text, &elements, &new, function, &wanted) {
            return Ok(new);
        }
    }
    Err(refuse(format!("cannot add `{item}` to the list in `fn {function}` without changing something else")))
}

/// The `vec![…]` of the only function with this name; free functions take precedence over methods.
fn find<'a>(file: &'a File, function: &str) -> Result<&'a Macro, String> {
    let mut functions = Functions { name: function, free: Vec::new(), methods: Vec::new() };
    functions.visit_file(file);
    let candidates = if functions.free.is_empty() { functions.methods } else { functions.free };
    match candidates[..] {
        [] => Err(format!("no `fn {function}`")),
        [block] => tail_vec(block).ok_or_else(|| format!("no `vec![…]` at the end of `fn {function}`")),
        _ => Err(format!("more than one `fn {function}`")),
    }
}

struct Functions<'a, 'n> {
    name: &'n str,
    free: Vec<&'a Block>,
    methods: Vec<&'a Block>,
}

/// Skips functions within functions, which nobody else could call.
impl<'a> Visit<'a> for Functions<'a, '_> {
    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        if function.sig.ident == self.name {
            self.free.push(&function.block);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        if function.sig.ident == self.name {
            self.methods.push(&function.block);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'a TraitItemFn) {
        if let Some(block) = &function.default
            && function.sig.ident == self.name
        {
            self.methods.push(block);
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

fn tail_vec(block: &Block) -> Option<&Macro> {
    match block.stmts.last()? {
        Stmt::Expr(Expr::Return(ExprReturn { expr: Some(expr), .. }), _) => as_vec(expr),
        Stmt::Expr(expr, None) => as_vec(expr),
        Stmt::Macro(statement) if statement.semi_token.is_none() => is_vec(&statement.mac).then_some(&statement.mac),
        _ => None,
    }
}

fn as_vec(expr: &Expr) -> Option<&Macro> {
    match expr {
        Expr::Macro(expr) => is_vec(&expr.mac).then_some(&expr.mac),
        Expr::Paren(expr) => as_vec(&expr.expr),
        Expr::Group(expr) => as_vec(&expr.expr),
        Expr::Block(expr) => tail_vec(&expr.block),
        _ => None,
    }
}

fn is_vec(list: &Macro) -> bool {
    list.path.segments.last().is_some_and(|segment| segment.ident == "vec")
}

fn parse_elements(list: &Macro) -> syn::Result<Punctuated<Expr, Token![,]>> {
    list.parse_body_with(Punctuated::parse_terminated)
}

/// The position of the new element in a list.
struct InsertionPoint {
    /// The range between the brackets.
    inside: Range<usize>,
    elements: Vec<Sibling>,
    /// The end of the comma after each element; the last element may have none.
    commas: Vec<usize>,
    index: usize,
}

impl InsertionPoint {
    fn of(source: &Source, list: &Macro, elements: &Punctuated<Expr, Token![,]>, new_key: &str) -> Self {
        let inside = Self::brackets(source, list);
        let commas = elements.pairs().filter_map(|pair| pair.punct().map(|comma| source.range_of(comma).end)).collect();
        let elements: Vec<_> =
            elements.iter().map(|element| Sibling { key: key(element), range: source.range_of(element) }).collect();
        let index = elements.iter().position(|element| element.key.as_str() > new_key).unwrap_or(elements.len());
        Self { inside, elements, commas, index }
    }

    fn brackets(source: &Source, list: &Macro) -> Range<usize> {
        let brackets = list.delimiter.span();
        source.range(brackets.open()).end..source.range(brackets.close()).start
    }

    fn insert(&self, text: &str, item: &str) -> String {
        let first = self.elements.first().map_or(self.inside.end, |first| first.range.start);
        if text[self.inside.start..first].contains('\n') {
            return self.insert_line(text, item);
        }
        let has_comments = self.gaps().any(|gap| !comments(text, gap).is_empty());
        if has_comments || (!text[self.inside.clone()].contains('\n') && self.fits_one_line(text, item)) {
            return self.insert_in_line(text, item);
        }
        self.one_element_a_line(text, item)
    }

    /// Inserts a line, in a list with one element per line.
    fn insert_line(&self, text: &str, item: &str) -> String {
        let line = format!("{item},");
        if let Some(previous) = self.index.checked_sub(1) {
            let element = &self.elements[previous].range;
            let (text, end) = match self.commas.get(previous) {
                Some(end) => (text.to_owned(), *end),
                None => (insert(text, element.end, ","), element.end + 1),
            };
            return insert_line_after(&text, end, indent(&text, element.start), &line);
        }
        if let Some(first) = self.elements.first() {
            return insert_line_before(text, before_first(text, self.inside.start, first.range.start), &line);
        }
        let comments = comments(text, self.inside.clone());
        let on_its_line = comments.iter().find(|comment| starts_line(text, comment.start));
        let indent = on_its_line.map_or_else(|| self.indent(text), |comment| indent(text, comment.start).to_owned());
        let after = comments.last().map_or(self.inside.start, |comment| comment.end);
        insert_line_after(text, after, &indent, &line)
    }

    /// Inserts the element between others, on the same line.
    fn insert_in_line(&self, text: &str, item: &str) -> String {
        if let Some(next) = self.elements.get(self.index) {
            return insert(text, next.range.start, &format!("{item}, "));
        }
        match (self.elements.last(), self.commas.get(self.elements.len().wrapping_sub(1))) {
            (_, Some(comma)) => insert(text, *comma, &format!(" {item},")),
            (Some(last), None) => insert(text, last.range.end, &format!(", {item}")),
            (None, None) => insert(text, self.inside.end, item),
        }
    }

    /// Reformats the whole list.
    fn one_element_a_line(&self, text: &str, item: &str) -> String {
        let (indent, newline) = (self.indent(text), newline(text));
        let mut elements: Vec<String> =
            self.elements.iter().map(|element| shift_right(&text[element.range.clone()], step(&indent))).collect();
        elements.insert(self.index, item.into());
        let mut lines = newline.to_owned();
        for element in elements {
            lines.push_str(&format!("{indent}{element},{newline}"));
        }
        lines.push_str(crate::text::indent(text, self.inside.start));
        replace(text, self.inside.clone(), &lines)
    }

    /// Checks rustfmt's default limits: `array_width` for the elements, `max_width` for the line.
    fn fits_one_line(&self, text: &str, item: &str) -> bool {
        let widths = self.elements.iter().map(|element| text[element.range.clone()].chars().count());
        let width: usize = widths.chain([item.chars().count()]).map(|width| width + 2).sum::<usize>() - 2;
        let line = text[crate::text::line_start(text, self.inside.start)..self.inside.start].chars().count();
        width <= 60 && line + width < 100
    }

    /// `true` if `new` has one more element here, and is otherwise equal to the old text outside of the brackets.
    fn is_all_that_changed(
        &self,
        text: &str,
        old: &Punctuated<Expr, Token![,]>,
        new: &str,
        function: &str,
        wanted: &Expr,
    ) -> bool {
        let Ok(source) = Source::parse(new) else { return false };
        let Ok(list) = find(&source.file, function) else { return false };
        let Ok(elements) = parse_elements(list) else { return false };
        let inside = Self::brackets(&source, list);
        let mut expected: Vec<&Expr> = old.iter().collect();
        expected.insert(self.index, wanted);
        expected.into_iter().eq(&elements)
            && text[..self.inside.start] == new[..inside.start]
            && text[self.inside.end..] == new[inside.end..]
    }

    /// The indentation of elements on separate lines.
    fn indent(&self, text: &str) -> String {
        let outer = indent(text, self.inside.start);
        format!("{outer}{}", step(outer))
    }

    fn gaps(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = [self.inside.start].into_iter().chain(self.elements.iter().map(|element| element.range.end));
        let ends = self.elements.iter().map(|element| element.range.start).chain([self.inside.end]);
        starts.zip(ends).map(|(start, end)| start..end)
    }
}

/// Indents all lines one step, except the first line and empty ones.
fn shift_right(text: &str, step: &str) -> String {
    let shift = |(number, line): (usize, &str)| {
        let step = if number == 0 || line.trim().is_empty() { "" } else { step };
        format!("{step}{line}")
    };
    text.split_inclusive('\n').enumerate().map(shift).collect()
}

/// The key by which elements are compared and sorted: their tokens without spaces, as one would write them; then as
/// printed, because that preserves spaces in string literals. Attributes do not count: `#[cfg(…)] a()` is `a()`.
fn key(element: &Expr) -> String {
    let mut tokens: Vec<TokenTree> = element.to_token_stream().into_iter().collect();
    while let [TokenTree::Punct(hash), TokenTree::Group(_), ..] = &tokens[..]
        && hash.as_char() == '#'
    {
        tokens.drain(..2);
    }
    let tokens = tokens.into_iter().collect::<TokenStream>().to_string();
    format!("{}\n{tokens}", tokens.replace(' ', ""))
}
