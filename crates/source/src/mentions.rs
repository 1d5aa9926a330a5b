//! Finds the places where the source names fields, types and methods, for checks that need no types.

use std::ops::Range;

use crate::resolve::modules::Modules;
use crate::resolve::runtime;
use opctl_model::diagnostic::Span;
use opctl_model::lexer::{self, Token};

/// The spans of each name, in reading order: as an identifier, or as a string that equals the name. A name that
/// begins with `.` is a method call. Tests and the runtime are skipped.
pub fn read(modules: &Modules, names: &[&str]) -> Vec<Vec<Span>> {
    let mut found = vec![Vec::new(); names.len()];
    for file in modules.files() {
        if modules.package_of(&file).is_none_or(|(package, _)| package.name == runtime::PACKAGE) {
            continue;
        }
        let tokens = lexer::code(&file.text);
        for (index, (token, range)) in tokens.iter().enumerate() {
            if !matches!(token, Token::Word | Token::Literal) {
                continue;
            }
            let is_sign = |at: Option<usize>, sign: u8| {
                at.and_then(|at| tokens.get(at)).is_some_and(|(token, _)| *token == Token::Sign(sign))
            };
            let is_call = is_sign(index.checked_sub(1), b'.') && is_sign(Some(index + 1), b'(');
            let text = &file.text[range.clone()];
            let is_named = |name: &str| match (name.strip_prefix('.'), token) {
                (Some(method), Token::Word) => is_call && text == method,
                (Some(_), _) => false,
                (None, Token::Word) => text == name,
                (None, _) => text.trim_matches('"') == name,
            };
            let Some(at) = names.iter().position(|name| is_named(name)) else { continue };
            if !modules.removes(&file, range.start) {
                let range: Range<usize> = range.clone();
                found[at].push(Span { file: file.clone(), range });
            }
        }
    }
    found
}
