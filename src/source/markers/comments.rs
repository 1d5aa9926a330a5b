//! Finds the comments of a Rust file. Knows Rust's tokens just well enough never to take a string for a comment, and
//! nothing of what the comments say. Text that is not Rust gives no error: the lexer carries on as well as it can.

use std::ops::Range;

/// One line of a comment, without the comment's own signs and the blanks around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub kind: CommentKind,
    pub range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentKind {
    /// `// …`, also with four slashes or more.
    Plain,
    /// `/// …`, `//! …`, and the lines of `/** … */` and `/*! … */`.
    Doc,
    /// A line of `/* … */`.
    Block,
}

/// Every line of every comment that is not empty, in source order.
pub fn comments(text: &str) -> Vec<Comment> {
    let mut lexer = Lexer { text, at: shebang(text), found: Vec::new() };
    while let Some(next) = lexer.peek() {
        lexer.token(next);
    }
    lexer.found
}

/// `#!/usr/bin/env …` is no Rust, `#![…]` is.
fn shebang(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("#!") else { return 0 };
    if rest.trim_start().starts_with('[') { 0 } else { text.find('\n').unwrap_or(text.len()) }
}

struct Lexer<'a> {
    text: &'a str,
    /// Invariant: on a character boundary.
    at: usize,
    found: Vec<Comment>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn token(&mut self, next: char) {
        match next {
            '/' if self.rest().starts_with("//") => self.line_comment(),
            '/' if self.rest().starts_with("/*") => self.block_comment(),
            '"' => self.string(),
            '\'' => self.quote(),
            c if is_word(c) => self.word(),
            c => self.at += c.len_utf8(),
        }
    }

    fn line_comment(&mut self) {
        let line = self.rest().lines().next().unwrap_or_default();
        let doc = line.starts_with("//!") || (line.starts_with("///") && !line.starts_with("////"));
        let (kind, signs) = if doc { (CommentKind::Doc, 3) } else { (CommentKind::Plain, 2) };
        let range = self.at + signs..self.at + line.len();
        self.at = range.end;
        self.found(kind, range, &[]);
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let start = self.at;
        let text = self.text;
        let mut depth = 0;
        let mut end = text.len();
        while self.at < text.len() {
            if self.rest().starts_with("/*") {
                depth += 1;
                self.at += 2;
            } else if self.rest().starts_with("*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    end = self.at - 2;
                    break;
                }
            } else {
                self.at += self.peek().map_or(1, char::len_utf8);
            }
        }
        let doc = ["/**", "/*!"].iter().any(|sign| text[start..].starts_with(sign))
            && !text[start..].starts_with("/***")
            && !text[start..].starts_with("/**/");
        let kind = if doc { CommentKind::Doc } else { CommentKind::Block };
        let mut from = (start + 2).min(end);
        for line in text[from..end].split_inclusive('\n') {
            self.found(kind, from..from + line.len(), &['*', '!']);
            from += line.len();
        }
    }

    /// Strings, byte strings and C strings have the same escapes as far as their end is concerned.
    fn string(&mut self) {
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '"' => return,
                '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                _ => {}
            }
        }
    }

    /// A character literal (`'a'`, `'\''`, `'"'`) or a lifetime (`'a`).
    fn quote(&mut self) {
        self.at += 1;
        let mut chars = self.rest().chars();
        match (chars.next(), chars.next()) {
            (Some('\\'), Some(escaped)) => {
                let escape = 1 + escaped.len_utf8();
                let tail = self.rest()[escape..].lines().next().unwrap_or_default();
                self.at += escape + tail.find('\'').map_or(0, |end| end + 1);
            }
            (Some(c), Some('\'')) if c != '\'' && c != '\n' => self.at += c.len_utf8() + 1,
            _ => {
                // A lifetime; its name must not be taken for the prefix of a raw string.
                let name = self.rest().find(|c| !is_word(c)).unwrap_or(self.rest().len());
                self.at += name;
            }
        }
    }

    /// An identifier, keyword or number; or the prefix of a raw string, which has no escapes.
    fn word(&mut self) {
        let length = self.rest().find(|c| !is_word(c)).unwrap_or(self.rest().len());
        let raw = matches!(&self.rest()[..length], "r" | "br" | "cr");
        self.at += length;
        if !raw {
            return;
        }
        let hashes = self.rest().len() - self.rest().trim_start_matches('#').len();
        if !self.rest()[hashes..].starts_with('"') {
            return; // A raw identifier.
        }
        let end = format!("\"{}", "#".repeat(hashes));
        let body = self.at + hashes + 1;
        self.at = self.text[body..].find(&end).map_or(self.text.len(), |found| body + found + end.len());
    }

    fn found(&mut self, kind: CommentKind, range: Range<usize>, signs: &[char]) {
        let line = &self.text[range.clone()];
        let shorter = line.trim_start().trim_start_matches(signs).trim_start();
        let start = range.start + (line.len() - shorter.len());
        let end = start + shorter.trim_end().len();
        if start < end {
            self.found.push(Comment { kind, range: start..end });
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<(CommentKind, &str)> {
        comments(text).into_iter().map(|comment| (comment.kind, &text[comment.range])).collect()
    }

    #[test]
    fn finds_every_kind_of_comment() {
        let text = "#!/bin//sh\n//! doc\n// a\r\nfn f() { // b\n    //c\n}\n/// doc\n//// d\n/* e\n * f\n */ /** g */ /**/ /*** h */";
        use CommentKind::{Block, Doc, Plain};
        assert_eq!(
            texts(text),
            [
                (Doc, "doc"),
                (Plain, "a"),
                (Plain, "b"),
                (Plain, "c"),
                (Doc, "doc"),
                (Plain, "// d"),
                (Block, "e"),
                (Block, "f"),
                (Doc, "g"),
                (Block, "h"),
            ]
        );
    }

    #[test]
    fn carries_on_in_text_that_is_no_rust() {
        assert_eq!(texts("}}} ' // a\n'' // b\n'\\"), [(CommentKind::Plain, "a"), (CommentKind::Plain, "b")]);
        for text in ["\"", "r#\"", "/*", "'", "'\\", "r#", "b'", "/", "/**", "//", "é'é", "'é"] {
            assert!(comments(text).is_empty(), "{text}");
        }
    }

    /// Rust that looks like a comment and is none.
    const DECOYS: &[&str] = &[
        r#""// no""#,
        r#""\"// no""#,
        r#""\\""#,
        "\"\n// no\n\"",
        r###"r"\" "###,
        r###"r#"" // no "#"###,
        r####"br##""# // no "##"####,
        r###"cr#"// no"#"###,
        r#"b"// no""#,
        r#"c"// no""#,
        "'\"'",
        "'\\''",
        "'\\\"'",
        "'\\\\'",
        "'\\u{2f}'",
        "b'\"'",
        "b'\\''",
        "'/'",
        "'é'",
        "'a",
        "'static",
        "'r#loop",
        "<'a>",
        "r#type",
        "a / b",
        "0..=9",
        "1_000u32",
        "{",
        "}",
        "x!",
        "#[doc = \"// no\"]",
        "&'a str",
    ];

    const COMMENTS: &[(&str, CommentKind, &str)] = &[
        ("// one\n", CommentKind::Plain, "one"),
        ("//two \"\n", CommentKind::Plain, "two \""),
        ("// it's\n", CommentKind::Plain, "it's"),
        ("/// three /* \n", CommentKind::Doc, "three /*"),
        ("//! four\n", CommentKind::Doc, "four"),
        ("/* five /* \" */ ' */", CommentKind::Block, "five /* \" */ '"),
    ];

    proptest! {
        #[test]
        fn strings_are_never_comments(picks in prop::collection::vec(0..DECOYS.len() + COMMENTS.len(), 0..40)) {
            let mut text = String::new();
            let mut expected = Vec::new();
            for pick in picks {
                match COMMENTS.get(pick) {
                    Some((comment, kind, inner)) => {
                        text.push_str(comment);
                        expected.push((*kind, *inner));
                    }
                    None => text.push_str(DECOYS[pick - COMMENTS.len()]),
                }
                text.push(' ');
            }
            prop_assert_eq!(texts(&text), expected);
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s)[/*!\"'\\\\r#bc\na é]{0,60}") {
            comments(&text);
        }
    }
}
