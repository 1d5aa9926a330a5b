//! Rust text → items, less what no manifest needs: tests, and the bodies of functions that no attribute can name.
//!
//! A controller is mostly such bodies, so this halves the time; and code in them need not be finished to be read past.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Item;

/// The items of a file. Spans are those of the text.
pub fn items(text: &str) -> syn::Result<Vec<Item>> {
    let tokens = TokenStream::from_str(&without_shebang(text))?;
    Ok(syn::parse2::<syn::File>(skimmed(tokens))?.items)
}

/// The text with a byte order mark and a `#!` line blanked, so that all else stays at its place.
fn without_shebang(text: &str) -> String {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = &text[mark..];
    // `#![…]` is an attribute.
    let is_shebang = rest.starts_with("#!") && !rest[2..].trim_start().starts_with('[');
    let line = if is_shebang { rest.find('\n').unwrap_or(rest.len()) } else { 0 };
    format!("{}{}", " ".repeat(mark + line), &rest[line..])
}

/// Items as tokens, at the level of a file, module, `impl` or trait.
fn skimmed(tokens: TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut kept = Vec::with_capacity(trees.len());
    let mut index = 0;
    while index < trees.len() {
        if let Some(end) = test_module(&trees[index..]) {
            index += end;
            continue;
        }
        if let Some((end, body)) = function(&trees[index..]) {
            let is_async = index.checked_sub(1).is_some_and(|before| is_word(&trees[before], "async"));
            kept.extend(trees[index..index + end].iter().cloned());
            kept.push(if is_async || body.needless { emptied(body.group) } else { body.group.clone().into() });
            index += end + 1;
            continue;
        }
        kept.push(match &trees[index] {
            // Modules, impls and traits hold items, too; in any other braces there is nothing to leave out.
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && holds_items(&trees[..index]) => {
                let mut inner = Group::new(Delimiter::Brace, skimmed(group.stream()));
                inner.set_span(group.span());
                inner.into()
            }
            tree => tree.clone(),
        });
        index += 1;
    }
    kept.into_iter().collect()
}

/// `#[cfg(test)] mod name { … }` at the start: how many trees it has.
fn test_module(trees: &[TokenTree]) -> Option<usize> {
    let [TokenTree::Punct(hash), TokenTree::Group(attribute), keyword, TokenTree::Ident(_), TokenTree::Group(body), ..] =
        trees
    else {
        return None;
    };
    let is_test = hash.as_char() == '#' && attribute.stream().to_string().replace(' ', "") == "cfg(test)";
    (is_test && is_word(keyword, "mod") && body.delimiter() == Delimiter::Brace).then_some(5)
}

struct Body<'a> {
    group: &'a Group,
    /// Defaults are made by functions without an argument, and skipped by functions of one. A method of more than a
    /// line is neither.
    needless: bool,
}

/// `fn name…(…) … { … }` at the start: how many trees stand before its body, and the body.
fn function(trees: &[TokenTree]) -> Option<(usize, Body<'_>)> {
    if !is_word(trees.first()?, "fn") || !matches!(trees.get(1), Some(TokenTree::Ident(_))) {
        return None;
    }
    let arguments = trees.iter().find_map(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group),
        _ => None,
    })?;
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let is_short = group.stream().into_iter().nth(SHORT).is_none();
                let needless = match arguments_of(arguments.stream()) {
                    Arguments::AtMostOne => false,
                    Arguments::Itself => !is_short,
                    Arguments::Several => true,
                };
                return Some((index, Body { group, needless }));
            }
            // A declaration in a trait has no body.
            TokenTree::Punct(punct) if punct.as_char() == ';' => return None,
            _ => {}
        }
    }
    None
}

/// Whether the item that these tokens begin is a module, an `impl` or a trait.
fn holds_items(before: &[TokenTree]) -> bool {
    let start = before.iter().rposition(|tree| match tree {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    });
    let item = &before[start.map_or(0, |end| end + 1)..];
    let word = item.iter().find(|tree| {
        ["mod", "impl", "trait", "fn", "struct", "enum", "union", "macro_rules"].iter().any(|word| is_word(tree, word))
    });
    word.is_some_and(|tree| ["mod", "impl", "trait"].iter().any(|word| is_word(tree, word)))
}

fn emptied(group: &Group) -> TokenTree {
    let mut empty = Group::new(group.delimiter(), TokenStream::new());
    empty.set_span(group.span());
    empty.into()
}

fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}

/// How many trees are more than a line.
const SHORT: usize = 16;

enum Arguments {
    AtMostOne,
    /// `self` alone.
    Itself,
    Several,
}

fn arguments_of(arguments: TokenStream) -> Arguments {
    let trees: Vec<TokenTree> = arguments.into_iter().collect();
    let mut depth = 0_i32;
    let mut found = Arguments::AtMostOne;
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Ident(ident) if ident == "self" => found = Arguments::Itself,
            TokenTree::Punct(punct) => match punct.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                // A comma at the end separates nothing.
                ',' if depth == 0 && index + 1 < trees.len() => return Arguments::Several,
                _ => {}
            },
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::spanned::Spanned;

    use super::*;

    fn skim(text: &str) -> String {
        items(text).unwrap().iter().map(|item| item.to_token_stream().to_string()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn leaves_out_tests_and_the_bodies_that_no_attribute_can_name() {
        let text = "fn three() -> i32 { 3 }
            fn is_zero(x: &i32) -> bool { *x == 0 }
            async fn run() { wait!() }
            fn two(a: u8, b: u8) { a + }
            fn is_bare(x: &Map<String, u8>,) -> bool { x.is_empty() }
            mod inner { impl A { fn of(&self) -> u8 { 1 } fn to(&self, x: u8) { x; } fn low() -> Self { A } } }
            struct A { x: u8 }
            #[cfg(test)] mod tests { not rust }";
        let kept = [
            "fn three () -> i32 { 3 }",
            "fn is_zero (x : & i32) -> bool { * x == 0 }",
            "async fn run () { }",
            "fn two (a : u8 , b : u8) { }",
            "fn is_bare (x : & Map < String , u8 > ,) -> bool { x . is_empty () }",
            "mod inner { impl A { fn of (& self) -> u8 { 1 } fn to (& self , x : u8) { } fn low () -> Self { A } } }",
            "struct A { x : u8 }",
        ];
        assert_eq!(skim(text), kept.join("\n"));
    }

    #[test]
    fn places_stay_as_they_are() {
        let text = "\u{feff}#!/usr/bin/env run\nfn f(a: u8, b: u8) { body }\nstruct S;";
        let item = &items(text).unwrap()[1];
        assert_eq!(&text[item.span().byte_range()], "struct S;");
    }
}
