//! Finds the comments of a Rust file, without interpreting them.

use std::ops::Range;

use opctl_model::lexer::{Lexer, Token};

/// One line of a comment, without the comment delimiters and surrounding whitespace.
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

/// Every non-empty line of every comment, in source order.
pub fn comments(text: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    for (token, range) in Lexer::new(text) {
        match token {
            Token::LineComment => line_comment(text, range, &mut found),
            Token::BlockComment => block_comment(text, range, &mut found),
            _ => {}
        }
    }
    found
}

/// `true` if the text may contain a comment that starts with a `+`, or with a name that should follow one. It only
/// compares bytes, so that most files need not be lexed.
pub fn may_have_markers(text: &str) -> bool {
    let is_sign = |c: char| c == '*' || c == '!' || (c.is_whitespace() && c != '\n');
    let starts_comment = |(at, _): (usize, &str)| {
        let before = text[..at].trim_end_matches(is_sign);
        before.is_empty() || before.ends_with(['/', '\n'])
    };
    ["kubebuilder", "opctl"].iter().any(|name| text.contains(name)) || text.match_indices('+').any(starts_comment)
}

fn line_comment(text: &str, range: Range<usize>, found: &mut Vec<Comment>) {
    let line = &text[range.clone()];
    let doc = line.starts_with("//!") || (line.starts_with("///") && !line.starts_with("////"));
    let (kind, signs) = if doc { (CommentKind::Doc, 3) } else { (CommentKind::Plain, 2) };
    found.extend(comment(text, kind, range.start + signs..range.end, &[]));
}

fn block_comment(text: &str, range: Range<usize>, found: &mut Vec<Comment>) {
    let block = &text[range.clone()];
    let doc = ["/**", "/*!"].iter().any(|sign| block.starts_with(sign))
        && !["/***", "/**/"].iter().any(|sign| block.starts_with(sign));
    let kind = if doc { CommentKind::Doc } else { CommentKind::Block };
    let mut from = range.start + 2;
    let end = if block[2..].ends_with("*/") { range.end - 2 } else { range.end };
    for line in text[from..end].split_inclusive('\n') {
        found.extend(comment(text, kind, from..from + line.len(), &['*', '!']));
        from += line.len();
    }
}

fn comment(text: &str, kind: CommentKind, range: Range<usize>, signs: &[char]) -> Option<Comment> {
    let line = &text[range.clone()];
    let shorter = line.trim_start().trim_start_matches(signs).trim_start();
    let start = range.start + (line.len() - shorter.len());
    let end = start + shorter.trim_end().len();
    (start < end).then_some(Comment { kind, range: start..end })
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

    /// Rust that looks like a comment but is not.
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

        #[test]
        fn no_marker_is_overlooked(text in "(?s)[/*! \t\n\r+a\u{2028}]{0,30}") {
            if comments(&text).iter().any(|comment| text[comment.range.clone()].starts_with('+')) {
                prop_assert!(may_have_markers(&text));
            }
        }
    }
}
