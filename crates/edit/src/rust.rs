//! Edits of Rust source. syn finds the byte spans, the edit is made in the text, so that comments and formatting
//! survive. Then the new text is parsed and compared with the old one.

mod argument;
mod comment;
mod gap;
mod list;
mod module;
pub mod paths;
mod rename;
mod version;

use proc_macro2::Span;
use syn::spanned::Spanned;

use super::EditError;
use opctl_model::lexer::{self, Excess};

pub use argument::add_argument;
pub use comment::{Function, add_comment, function_at};
pub use list::add_list_item;
pub use module::add_mod;
pub use rename::{KindNames, Package, Renames, ends_of_types};
pub use version::{Copied, Versions};

/// A parsed file, and the offset of its spans in the text: after a byte order mark and a `#!` line.
struct Source<'a> {
    text: &'a str,
    offset: usize,
    file: syn::File,
}

impl<'a> Source<'a> {
    fn parse(text: &'a str) -> Result<Self, syn::Error> {
        if let Some(Excess { reason, .. }) = lexer::excess(text) {
            return Err(syn::Error::new(Span::call_site(), format!("it {reason}")));
        }
        let file = syn::parse_file(text)?;
        let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let offset = mark + file.shebang.as_ref().map_or(0, String::len);
        Ok(Self { text, offset, file })
    }

    fn range(&self, span: Span) -> std::ops::Range<usize> {
        let range = span.byte_range();
        range.start + self.offset..range.end + self.offset
    }

    /// The range from the outer attributes and doc comments to the last byte.
    fn range_of(&self, node: &impl Spanned) -> std::ops::Range<usize> {
        self.range(node.span())
    }
}

/// The ranges of strings and comments in a Rust file.
pub fn texts_and_comments(text: &str) -> Vec<std::ops::Range<usize>> {
    let tokens = lexer::Lexer::new(text);
    tokens
        .filter(|(token, _)| !matches!(token, lexer::Token::Word | lexer::Token::Sign(_)))
        .map(|(_, range)| range)
        .collect()
}

/// The error for a file that is not Rust.
fn unparsed(error: &syn::Error, snippet: impl Into<String>) -> EditError {
    let place = error.span().start();
    EditError {
        reason: format!("not valid Rust: {error}"),
        at: Some((place.line, place.column + 1)),
        help: format!("fix the file and run the command again, or add this by hand:\n    {}", snippet.into()),
    }
}
