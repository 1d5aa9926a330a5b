//! Copies the types of one version of a kind to another version.
//!
//! The content of the version's folder is copied as well, so that a change of one version never changes another. Items
//! from elsewhere that both versions use are reported.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::spanned::Spanned;

use super::argument::{is_text, kubes};
use super::paths::{PathAt, paths};
use super::{Source, add_argument, unparsed};
use crate::EditError;
use crate::text::{line_end, line_start, starts_line};
use opctl_model::lexer::{Lexer, Token};

/// Two versions of a kind, whose types are in the module `api::GROUP::VERSION`.
#[derive(Clone, Copy, Debug)]
pub struct Versions<'a> {
    pub group_module: &'a str,
    /// The full group: `cache.example.com`.
    pub group: &'a str,
    pub kind: &'a str,
    pub from: &'a str,
    pub to: &'a str,
}

/// A file of the new version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    pub text: String,
    /// The remaining paths to the old version, each with its position in the old text.
    pub shares: Vec<(String, usize)>,
}

impl Versions<'_> {
    fn module(&self) -> [&str; 3] {
        ["api", self.group_module, self.from]
    }

    /// The modules in the folder of the version that the file uses, each with its position; `false` for absolute paths.
    pub fn used(&self, text: &str, file: &[String]) -> Vec<(String, Range<usize>, bool)> {
        let mut found = Vec::new();
        for path in paths(text) {
            let Some(module) = self.below(&path, file) else { continue };
            let (_, range) = path.segments.last().expect("a path has a segment");
            let is_relative = path.segments[0].0 != "crate";
            found.push((module, range.clone(), is_relative));
        }
        found
    }

    /// The module in the folder of the version that a path refers to.
    fn below(&self, path: &PathAt, file: &[String]) -> Option<String> {
        let absolute = path.absolute(file)?;
        let rest = absolute.strip_prefix(&self.module().map(str::to_owned)[..])?;
        rest.first().cloned()
    }

    /// Copies a file of the old version's folder. `file` is its module; `copied` are all modules of the folder that are
    /// copied.
    pub fn copy(&self, text: &str, file: &[String], copied: &BTreeSet<String>) -> Result<Copied, EditError> {
        let mut changes: Vec<(Range<usize>, &str)> = Vec::new();
        let mut shares = Vec::new();
        let mut kept = BTreeSet::new();
        for path in paths(text) {
            let Some(at) = path.segments.iter().position(|(name, _)| *name == self.from) else { continue };
            let up_to = PathAt { segments: path.segments[..=at].to_vec(), ..path.clone() };
            if up_to.absolute(file).is_none_or(|absolute| absolute != self.module()) {
                continue;
            }
            let range = path.segments[at].1.clone();
            match self.below(&path, file).filter(|module| copied.contains(module)) {
                Some(_) => changes.push((range, self.to)),
                None => {
                    let names: Vec<&str> = path.segments.iter().map(|(name, _)| *name).collect();
                    shares.push((names.join("::"), range.start));
                    kept.insert(range.start);
                }
            }
        }
        // A `use` tree that also contains items that are not copied is kept.
        changes.retain(|(range, _)| !kept.contains(&range.start));
        changes.extend(self.mentions(text).into_iter().map(|range| (range, self.to)));
        let source = Source::parse(text).map_err(|error| unparsed(&error, format!("the type of {}", self.to)))?;
        let quoted = format!("\"{}\"", self.to);
        let mut is_declared = false;
        for kube in kubes(&source.file).filter(|kube| kube.says("version", self.from)) {
            if !kube.says("kind", self.kind) {
                let place = kube.lists.first().map(|(attribute, _)| attribute.span().start());
                return Err(EditError {
                    at: place.map(|place| (place.line, place.column + 1)),
                    reason: format!("another kind than `{}` is declared there", self.kind),
                    help: "move each kind to a separate file, and run the command again".into(),
                });
            }
            is_declared = true;
            let pairs = kube.lists.iter().flat_map(|(_, arguments)| arguments.pairs());
            for pair in pairs {
                let argument = pair.value();
                let range = source.range_of(*argument);
                if is_text(argument, "version", self.from) {
                    changes.push((range.end - self.from.len() - 2..range.end, &quoted));
                } else if ["storage", "served", "deprecated"].iter().any(|name| argument.path().is_ident(name)) {
                    let end = pair.punct().map_or(range.end, |comma| source.range_of(comma).end);
                    changes.push((with_blanks(text, range.start..end), ""));
                }
            }
        }
        changes.sort_by_key(|(range, _)| range.start);
        changes.dedup();
        let mut new = text.to_owned();
        for (range, with) in changes.into_iter().rev() {
            new.replace_range(range, with);
        }
        if is_declared {
            new = add_argument(&new, self.kind, self.to, "storage = false")?;
        }
        Ok(Copied { text: new, shares })
    }

    /// The positions in comments with the `apiVersion` of objects: `cache.example.com/v1`.
    fn mentions(&self, text: &str) -> Vec<Range<usize>> {
        let wanted = format!("{}/{}", self.group, self.from);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
        let mut found = Vec::new();
        for (token, range) in Lexer::new(text) {
            if !matches!(token, Token::LineComment | Token::BlockComment) {
                continue;
            }
            for (at, _) in text[range.clone()].match_indices(&wanted) {
                let (start, end) = (range.start + at, range.start + at + wanted.len());
                let is_whole = !text[..start].ends_with(is_part)
                    && !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
                if is_whole {
                    found.push(end - self.from.len()..end);
                }
            }
        }
        found
    }
}

/// An argument with its whitespace: a separate line, or the space up to the next argument.
fn with_blanks(text: &str, range: Range<usize>) -> Range<usize> {
    let end = line_end(text, range.end.saturating_sub(1));
    if starts_line(text, range.start) && text[range.end..end].trim().is_empty() {
        return line_start(text, range.start)..end;
    }
    let blanks = text[range.end..].len() - text[range.end..].trim_start_matches(' ').len();
    range.start..range.end + blanks
}
