//! Adds or replaces a line comment above a function.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, TraitItem};

use super::gap::insert_line_before;
use super::{Source, unparsed};
use crate::EditError;
use crate::text::{line_end, line_start, replace};

/// A function of a file, or an item with code outside of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Position among all functions of the file, in source order. Edits of comments do not change it.
    pub number: usize,
    /// The range including comments, docs and attributes above.
    pub range: Range<usize>,
}

/// The innermost function around a position.
pub fn function_at(text: &str, at: usize) -> Option<Function> {
    let source = Source::parse(text).ok()?;
    let anchors = anchors(&source);
    let around = |anchor: &&Anchor| (anchor.whole.start..=anchor.whole.end).contains(&at);
    // Inner items come after outer ones; items within a function are part of it.
    let innermost = anchors.iter().filter(around).max_by_key(|anchor| (anchor.is_function, anchor.whole.start))?;
    Some(Function { number: innermost.number, range: innermost.top(text)..innermost.whole.end })
}

/// Adds the line `// COMMENT` above a function, or replaces another comment there, unless it already exists. Code stays
/// the same, token for token.
pub fn add_comment(text: &str, function: usize, comment: &str, instead_of: Option<&str>) -> Result<String, EditError> {
    let source = Source::parse(text).map_err(|error| unparsed(&error, format!("// {comment}")))?;
    let refuse = |reason: &str| EditError {
        at: None,
        reason: reason.into(),
        help: format!("add this line above the function that needs it:\n    // {comment}"),
    };
    let Some(anchor) = anchors(&source).into_iter().nth(function) else {
        return Err(refuse("the function is not where it was"));
    };
    let about = anchor.top(text)..anchor.whole.end;
    if text[about.clone()].lines().any(|line| ends_with_comment(line, comment)) {
        return Ok(text.into());
    }
    let new = match instead_of {
        None => insert_line_before(text, anchor.place_for(text, comment), &format!("// {comment}")),
        Some(old) => match text[about.clone()].find(old) {
            Some(at) => replace(text, about.start + at..about.start + at + old.len(), comment),
            None => return Err(refuse(&format!("`{old}` is not where it was"))),
        },
    };
    match syn::parse_file(&new) {
        Ok(file) if file == source.file => Ok(new),
        _ => Err(refuse("cannot add the comment without changing the code")),
    }
}

/// The text of a line comment; `None` for doc comments.
fn content(line: &str) -> Option<&str> {
    let text = line.trim().strip_prefix("//")?;
    let is_doc = text.starts_with('!') || (text.starts_with('/') && !text.starts_with("//"));
    (!is_doc).then(|| text.trim())
}

fn ends_with_comment(line: &str, comment: &str) -> bool {
    let before = line.trim_end().strip_suffix(comment).map(str::trim_end);
    before.is_some_and(|before| before.ends_with("//") && !before.ends_with("///"))
}

/// An item above which a comment can be added.
struct Anchor {
    number: usize,
    is_function: bool,
    /// The range including doc comments and attributes.
    whole: Range<usize>,
    /// The end of the docs.
    docs: Option<usize>,
    /// The start of the code, below docs, attributes and comments.
    bare: usize,
}

impl Anchor {
    /// The start of the comments directly above.
    fn top(&self, text: &str) -> usize {
        let mut top = line_start(text, self.whole.start);
        while top > 0 {
            let above = line_start(text, top - 1);
            if content(&text[above..top]).is_none() {
                break;
            }
            top = above;
        }
        top
    }

    /// The position for a comment: after the last comment with the same beginning (up to a `:`), or after the docs;
    /// else above everything.
    fn place_for(&self, text: &str, comment: &str) -> usize {
        let start = &comment[..comment.find(':').unwrap_or(comment.len())];
        let mut at = self.top(text);
        let mut alike = None;
        for line in text[at..line_start(text, self.bare).max(at)].split_inclusive('\n') {
            at += line.len();
            if content(line).is_some_and(|other| other.starts_with(start)) {
                alike = Some(at);
            }
        }
        let docs = self.docs.map(|end| line_end(text, end)).filter(|end| *end <= line_start(text, self.whole.end));
        alike.or(docs).unwrap_or(line_start(text, self.whole.start))
    }
}

/// All items of a file, in source order; inner items come after outer ones.
fn anchors(source: &Source) -> Vec<Anchor> {
    let mut finder = Finder { source, found: Vec::new() };
    finder.visit_file(&source.file);
    finder.found
}

struct Finder<'a, 's> {
    source: &'a Source<'s>,
    found: Vec<Anchor>,
}

impl Finder<'_, '_> {
    fn add(&mut self, node: &impl Spanned, attributes: &[Attribute], is_function: bool) {
        let whole = self.source.range_of(node);
        let outer = attributes.iter().filter(|attribute| matches!(attribute.style, syn::AttrStyle::Outer));
        let end = |attribute: &Attribute| self.source.range_of(attribute).end;
        self.found.push(Anchor {
            number: self.found.len(),
            is_function,
            docs: outer.clone().filter(|attribute| attribute.path().is_ident("doc")).map(end).max(),
            bare: code_after(self.source.text, outer.map(end).max().unwrap_or(whole.start)),
            whole,
        });
    }
}

/// The start of the next code, skipping whitespace and line comments.
fn code_after(text: &str, at: usize) -> usize {
    let rest = text[at..].trim_start();
    let start = text.len() - rest.len();
    if rest.starts_with("//") { code_after(text, line_end(text, start)) } else { start }
}

impl<'ast> Visit<'ast> for Finder<'_, '_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Fn(function) => self.add(item, &function.attrs, true),
            Item::Const(constant) => self.add(item, &constant.attrs, false),
            Item::Static(constant) => self.add(item, &constant.attrs, false),
            Item::Impl(block) => self.add(item, &block.attrs, false),
            Item::Trait(definition) => self.add(item, &definition.attrs, false),
            Item::Macro(call) => self.add(item, &call.attrs, false),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if let ImplItem::Fn(function) = item {
            self.add(item, &function.attrs, true);
        }
        visit::visit_impl_item(self, item);
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        if let TraitItem::Fn(function) = item {
            self.add(item, &function.attrs, true);
        }
        visit::visit_trait_item(self, item);
    }
}
