//! Rust text → items, without the parts that no manifest needs: tests, and the bodies of functions that no attribute
//! can name.
//!
//! A controller consists mostly of such bodies, so this halves the time; and their code need not be complete.

use std::ops::Range;

use memchr::memmem;
use syn::File;

use opctl_model::lexer::{Lexer, Token, behind_group, code, preamble};

/// The items of a file. Spans are those in the original text.
pub fn items(text: &str) -> syn::Result<File> {
    syn::parse_str(&skimmed(text))
}

/// All items of a file.
pub fn whole(text: &str) -> syn::Result<File> {
    let preamble = preamble(text);
    let blank = " ".repeat(preamble);
    syn::parse_str(&format!("{blank}{}", &text[preamble..]))
}

/// `true` if a text may have a custom resource: kube's derive, or `#[kube(…)]` with a renamed derive. It only
/// compares bytes.
pub fn may_declare_kind(text: &str) -> bool {
    text.contains("CustomResource")
        || text.match_indices("kube").any(|(at, word)| {
            let before = text[..at].chars().next_back();
            let is_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !is_word && text[at + word.len()..].trim_start().starts_with(['(', '/'])
        })
}

/// A `#[kube(…)]` with a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindAttribute {
    /// The word `kube`.
    pub at: Range<usize>,
    /// Offset of its type's name; `None` if a macro declares the type.
    pub name: Option<usize>,
}

/// All kinds of a file.
pub fn kinds_in(text: &str) -> Vec<KindAttribute> {
    if !may_declare_kind(text) {
        return Vec::new();
    }
    let tokens: Vec<_> = code(text);
    let word = |index: usize| tokens.get(index).map_or("", |(_, range)| &text[range.clone()]);
    let mut kinds: Vec<KindAttribute> = Vec::new();
    for at in (0..tokens.len()).filter(|at| word(*at) == "kube" && word(at + 1) == "(") {
        let end = behind_group(&tokens, at + 1);
        if !(at + 2..end).any(|at| word(at) == "kind" && word(at + 1) == "=") {
            continue;
        }
        // Skips the following attributes and the visibility; within `cfg_attr`, first the end of that.
        let mut next = end;
        let name = loop {
            next = match word(next) {
                ")" | "]" | "," | "#" | "pub" => next + 1,
                "[" | "(" => behind_group(&tokens, next),
                "struct" | "enum" | "union" => break tokens.get(next + 1).map(|(_, range)| range.start),
                _ if (at..next).all(|at| word(at) != "]") && !word(next).is_empty() => next + 1,
                _ => break None,
            };
        };
        // A type may have several attributes.
        if name.is_none() || kinds.last().is_none_or(|last| last.name != name) {
            kinds.push(KindAttribute { at: tokens[at].1.clone(), name });
        }
    }
    kinds
}

/// The range at which the code of a procedural macro generates `#[kube(…)]`, as tokens or as a string.
pub fn kind_made_in(text: &str) -> Option<Range<usize>> {
    let tokens: Vec<_> = code(text);
    let starts =
        |words: &[(Token, Range<usize>)]| words.iter().map(|(_, range)| &text[range.clone()]).eq(["[", "kube", "("]);
    let written = tokens.windows(3).find(|words| starts(words)).map(|words| words[1].1.clone());
    let is_text =
        |(token, range): &&(Token, Range<usize>)| *token == Token::Literal && text[range.clone()].contains("[kube(");
    written.or_else(|| tokens.iter().find(is_text).map(|(_, range)| range.clone()))
}

/// `true` if a file has no child module in another file.
pub fn is_leaf(text: &str) -> bool {
    let mut tokens = Lexer::new(modules_part(text)).code();
    while let Some((token, range)) = tokens.next() {
        // Only `mod name;`, because the tokens of inline modules are included.
        if token == Token::Word && &text[range] == "mod" {
            let raw = usize::from(tokens.next().is_some_and(|(_, name)| text[name.end..].starts_with('#'))) * 2;
            if tokens.nth(raw).is_some_and(|(token, _)| token == Token::Sign(b';')) {
                return false;
            }
        }
    }
    true
}

/// The start of a text that contains everything that may be a `mod name;`, also in a string or a comment. It only
/// compares bytes: most files have no such item, and most others have it at the top, so little of them is lexed.
pub fn modules_part(text: &str) -> &str {
    let end = |at: usize| {
        let rest = &text[at + "mod".len()..];
        let name = rest.trim_start();
        let after = name.trim_start_matches(|c: char| c.is_alphanumeric() || "_#".contains(c)).trim_start();
        match after.bytes().next() {
            _ if name.len() == rest.len() && !name.starts_with('/') => None,
            Some(b';') => Some(text.len() - after.len() + 1),
            // A comment may be between the words.
            Some(b'/') => Some(text.len()),
            _ => None,
        }
    };
    let ends = memmem::find_iter(text.as_bytes(), "mod").filter_map(end);
    &text[..ends.max().unwrap_or(0)]
}

/// The text with the needless parts blanked, so that offsets remain valid.
fn skimmed(text: &str) -> String {
    let mut skim = Skim { text, tokens: code(text), at: 0, needless: Vec::new() };
    skim.needless.push(0..preamble(text));
    while skim.at < skim.tokens.len() {
        skim.items();
        // An extra brace: the parser reports it.
        skim.at += 1;
    }
    let mut skimmed = text.as_bytes().to_vec();
    for range in skim.needless {
        skimmed[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    String::from_utf8(skimmed).expect("tokens end where characters end")
}

/// Maximum number of tokens in a body of a few lines.
const SHORT: usize = 100;

struct Skim<'a> {
    text: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    /// Index of the next token.
    at: usize,
    needless: Vec<Range<usize>>,
}

impl<'a> Skim<'a> {
    /// Items of a file, module, `impl` or trait, up to the closing brace.
    fn items(&mut self) {
        // The first token of the current item.
        let (mut start, mut is_test, mut is_async, mut keyword) = (self.at, false, false, "");
        while let Some((token, _)) = self.tokens.get(self.at) {
            match token {
                Token::Sign(b'}') => return,
                Token::Sign(b'#') if keyword.is_empty() => {
                    is_test |= self.attribute() == "[cfg(test)]";
                    continue;
                }
                Token::Sign(b';') => {}
                Token::Sign(b'{') => {
                    match keyword {
                        // Only these contain items; nothing is blanked in other braces.
                        "mod" if is_test => {
                            self.group();
                            let end = self.tokens[self.at - 1].1.end;
                            // Its comments are blanked too: they would document the next item, or none.
                            let before = start.checked_sub(1).map_or(0, |before| self.tokens[before].1.end);
                            self.needless.push(before..end);
                        }
                        "mod" | "impl" | "trait" => {
                            self.at += 1;
                            self.items();
                            self.at += 1;
                        }
                        _ => self.group(),
                    }
                    (start, is_test, is_async, keyword) = (self.at, false, false, "");
                    continue;
                }
                Token::Sign(b'(' | b'[') => {
                    self.group();
                    continue;
                }
                Token::Word => {
                    let word = self.word(self.at);
                    is_async |= word == "async";
                    if word == "fn" && matches!(self.tokens.get(self.at + 1), Some((Token::Word, _))) {
                        self.function(is_async);
                        (start, is_test, is_async, keyword) = (self.at, false, false, "");
                        continue;
                    }
                    if keyword.is_empty()
                        && ["mod", "impl", "trait", "struct", "enum", "union", "macro_rules"].contains(&word)
                    {
                        keyword = word;
                    }
                }
                _ => {}
            }
            let ends = *token == Token::Sign(b';');
            self.at += 1;
            if ends {
                (start, is_test, is_async, keyword) = (self.at, false, false, "");
            }
        }
    }

    /// Skips `#[…]` or `#![…]`; returns its text without whitespace.
    fn attribute(&mut self) -> String {
        self.at += 1;
        if self.sign(self.at) == Some(b'!') {
            self.at += 1;
        }
        let start = self.at;
        self.group();
        self.tokens[start..self.at].iter().map(|(_, range)| &self.text[range.clone()]).collect()
    }

    /// Skips `fn name…(…) … { … }`. Defaults are functions without parameters, and `skip_serializing_if` names
    /// functions with one; of the others, which these may call, only bodies of a few lines are kept.
    fn function(&mut self, is_async: bool) {
        let mut is_called = None;
        while let Some((token, _)) = self.tokens.get(self.at) {
            match token {
                Token::Sign(b'(') => {
                    let start = self.at + 1;
                    self.group();
                    is_called.get_or_insert_with(|| self.is_method_or_takes_several(start..self.at.saturating_sub(1)));
                }
                Token::Sign(b'[') => self.group(),
                Token::Sign(b'{') => {
                    let start = self.at;
                    self.group();
                    let is_needless = is_async || is_called.unwrap_or(false) && self.at - start > SHORT;
                    if is_needless && self.sign(self.at - 1) == Some(b'}') && !self.counts(start..self.at) {
                        self.needless.push(self.tokens[start].1.end..self.tokens[self.at - 1].1.start);
                    }
                    return;
                }
                // A declaration in a trait has no body.
                Token::Sign(b';') => {
                    self.at += 1;
                    return;
                }
                Token::Sign(b'}') => return,
                _ => self.at += 1,
            }
        }
    }

    /// `true` if a block has items that count in any block: an `impl`, a module, or a custom resource.
    fn counts(&self, block: Range<usize>) -> bool {
        block.into_iter().any(|index| {
            self.tokens[index].0 == Token::Word
                && match self.word(index) {
                    "impl" | "mod" => true,
                    "kube" => self.sign(index + 1) == Some(b'('),
                    _ => false,
                }
        })
    }

    /// `true` if no attribute can name a function with these parameters, other than a method with `self` alone.
    fn is_method_or_takes_several(&self, arguments: Range<usize>) -> bool {
        let mut depth = 0_i32;
        arguments.clone().any(|index| {
            match self.tokens[index].0 {
                Token::Word if self.word(index) == "self" => return true,
                Token::Sign(b'<' | b'(' | b'[' | b'{') => depth += 1,
                Token::Sign(b'>' | b')' | b']' | b'}') => depth -= 1,
                // A trailing comma separates nothing.
                Token::Sign(b',') if depth == 0 && index + 1 < arguments.end => return true,
                _ => {}
            }
            false
        })
    }

    /// Skips a group in parentheses, brackets or braces.
    fn group(&mut self) {
        let mut depth = 0_i32;
        while let Some((token, _)) = self.tokens.get(self.at) {
            match token {
                Token::Sign(b'(' | b'[' | b'{') => depth += 1,
                Token::Sign(b')' | b']' | b'}') => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth <= 0 {
                return;
            }
        }
    }

    fn word(&self, index: usize) -> &'a str {
        &self.text[self.tokens[index].1.clone()]
    }

    fn sign(&self, index: usize) -> Option<u8> {
        match self.tokens.get(index)?.0 {
            Token::Sign(sign) => Some(sign),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quote::ToTokens;
    use syn::spanned::Spanned;

    use super::*;

    fn skim(text: &str) -> String {
        items(text).unwrap().items.iter().map(|item| item.to_token_stream().to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn leaves_out_tests_and_the_bodies_that_no_attribute_can_name() {
        let text = "fn three() -> i32 { 3 }
            fn is_zero(x: &i32) -> bool { *x == 0 }
            async fn run() { wait!() }
            fn two(a: u8, b: u8) -> u8 { a + b }
            fn is_bare(x: &Map<String, u8>,) -> bool { x.is_empty() }
            mod inner { impl A { fn of(&self) -> u8 { 1 } fn to(&self, x: u8) { x; } fn low() -> Self { A } } }
            struct A { x: u8 }
            /// Helpers of tests.
            #[cfg(test)] pub(crate) mod support { not rust }
            struct B;
            /** Tests. */
            #[cfg(test)] mod tests { not rust }";
        let kept = [
            "fn three () -> i32 { 3 }",
            "fn is_zero (x : & i32) -> bool { * x == 0 }",
            "async fn run () { }",
            "fn two (a : u8 , b : u8) -> u8 { a + b }",
            "fn is_bare (x : & Map < String , u8 > ,) -> bool { x . is_empty () }",
            "mod inner { impl A { fn of (& self) -> u8 { 1 } fn to (& self , x : u8) { x ; } fn low () -> Self { A } } }",
            "struct A { x : u8 }",
            "struct B ;",
        ];
        assert_eq!(skim(text), kept.join("\n"));
    }

    #[test]
    fn places_stay_as_they_are() {
        let text = "\u{feff}#!/usr/bin/env run\nfn f(a: u8, b: u8) { body }\nstruct S;";
        let item = &items(text).unwrap().items[1];
        assert_eq!(&text[item.span().byte_range()], "struct S;");
    }

    proptest! {
        #[test]
        fn no_module_is_overlooked(
            start in prop::sample::select(&["", "\"mod\" ", "a; ", "model;"]),
            first in prop::sample::select(GAPS),
            name in prop::sample::select(&["a", "r#type", "é_1"]),
            second in prop::sample::select(GAPS),
        ) {
            let text = format!("{start}pub mod {first}{name}{second};");
            prop_assert!(!is_leaf(&text), "{text}");
        }
    }

    const GAPS: &[&str] = &["", " ", "\n", "/* ; */", " // {\n "];
}
