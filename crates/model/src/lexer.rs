//! Rust text → tokens, precise enough to distinguish strings, comments and braces. Text that is not Rust causes no
//! error: the lexer continues with the next character.

mod nesting;

use std::ops::Range;

pub use nesting::{Excess, excess};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// An identifier, keyword or number. For a raw identifier, the name without `r#`.
    Word,
    /// A string or character literal, or a lifetime.
    Literal,
    LineComment,
    BlockComment,
    /// Any other character, by its first byte.
    Sign(u8),
}

/// The tokens of a text with their ranges, without whitespace.
pub struct Lexer<'a> {
    text: &'a str,
    /// Invariant: on a character boundary.
    at: usize,
}

/// The number of bytes to skip at the start: a byte order mark, and a shebang line such as `#!/usr/bin/env …`, but not
/// `#![…]`.
pub fn preamble(text: &str) -> usize {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mark = text.len() - rest.len();
    let is_shebang = rest.strip_prefix("#!").is_some_and(|rest| !rest.trim_start().starts_with('['));
    mark + if is_shebang { rest.find('\n').unwrap_or(rest.len()) } else { 0 }
}

/// All tokens except comments.
pub fn code(text: &str) -> Vec<(Token, Range<usize>)> {
    // A token and the whitespace before it have about this many bytes.
    let mut tokens = Vec::with_capacity(text.len() / 6);
    tokens.extend(Lexer::new(text).code());
    tokens
}

/// The index of the token after the group that opens at `at`.
pub fn behind_group(tokens: &[(Token, Range<usize>)], at: usize) -> usize {
    let mut depth = 0;
    for (index, (token, _)) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Sign(b'(' | b'[' | b'{') => depth += 1,
            Token::Sign(b')' | b']' | b'}') => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return index + 1;
        }
    }
    tokens.len()
}

impl Iterator for Lexer<'_> {
    type Item = (Token, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        self.at += self.length(|byte| byte.is_ascii_whitespace());
        let start = self.at;
        let bytes = self.bytes();
        let first = *bytes.first()?;
        let token = match (first, bytes.get(1)) {
            (b'/', Some(b'/')) => {
                self.at += self.text[start..].find('\n').unwrap_or(bytes.len());
                Token::LineComment
            }
            (b'/', Some(b'*')) => {
                self.block_comment();
                Token::BlockComment
            }
            (b'"', _) => self.string(),
            (b'\'', _) => self.quote(),
            _ if is_word(first) => self.word(),
            _ => {
                self.at += 1;
                Token::Sign(first)
            }
        };
        Some((token, start..self.at))
    }
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: preamble(text) }
    }

    /// All tokens except comments.
    pub fn code(self) -> impl Iterator<Item = (Token, Range<usize>)> + use<'a> {
        self.filter(|(token, _)| !matches!(token, Token::LineComment | Token::BlockComment))
    }

    fn bytes(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// The number of bytes at the current position that satisfy the predicate.
    fn length(&self, is_such: impl Fn(u8) -> bool) -> usize {
        let bytes = self.bytes();
        let mut length = 0;
        while length < bytes.len() && is_such(bytes[length]) {
            length += 1;
        }
        length
    }

    /// Skips a block comment. Block comments nest.
    fn block_comment(&mut self) {
        let bytes = self.bytes();
        let (mut index, mut depth) = (0, 0);
        while index < bytes.len() {
            depth += match &bytes[index..] {
                [b'/', b'*', ..] => 1,
                [b'*', b'/', ..] => -1,
                _ => {
                    index += 1;
                    continue;
                }
            };
            index += 2;
            if depth == 0 {
                break;
            }
        }
        self.at += index;
    }

    /// Skips a string. The escapes of strings, byte strings and C strings end in the same way.
    fn string(&mut self) -> Token {
        let bytes = self.bytes();
        let mut index = 1;
        while let Some(byte) = bytes.get(index) {
            index += 1;
            match byte {
                b'"' => break,
                // The escaped byte may start a multi-byte character, whose other bytes are neither a quote nor a
                // backslash.
                b'\\' => index += 1,
                _ => {}
            }
        }
        self.at += index.min(bytes.len());
        Token::Literal
    }

    /// A character literal (`'a'`, `'\''`, `'"'`) or a lifetime (`'a`).
    fn quote(&mut self) -> Token {
        self.at += 1;
        let rest = &self.text[self.at..];
        let mut chars = rest.chars();
        match (chars.next(), chars.next()) {
            (Some('\\'), Some(escaped)) => {
                let escape = 1 + escaped.len_utf8();
                let tail = rest[escape..].lines().next().unwrap_or_default();
                self.at += escape + tail.find('\'').map_or(0, |end| end + 1);
            }
            (Some(c), Some('\'')) if c != '\'' && c != '\n' => self.at += c.len_utf8() + 1,
            // A lifetime. Its name must not be read as the prefix of a raw string.
            _ => self.at += self.length(is_word),
        }
        Token::Literal
    }

    /// A word, or a raw string, which has no escapes.
    fn word(&mut self) -> Token {
        let length = self.length(is_word);
        let is_prefix = matches!(&self.bytes()[..length], b"r" | b"br" | b"cr");
        self.at += length;
        let hashes = if is_prefix { self.length(|byte| byte == b'#') } else { 0 };
        if !is_prefix || self.bytes().get(hashes) != Some(&b'"') {
            return Token::Word;
        }
        let end = format!("\"{}", "#".repeat(hashes));
        let body = self.at + hashes + 1;
        self.at = self.text[body..].find(&end).map_or(self.text.len(), |found| body + found + end.len());
        Token::Literal
    }
}

/// `true` for bytes of words. Non-ASCII bytes count, since outside of strings and comments they are letters.
fn is_word(byte: u8) -> bool {
    WORDS[usize::from(byte)]
}

static WORDS: [bool; 256] = {
    let mut words = [false; 256];
    let mut byte = 0;
    while byte < words.len() {
        words[byte] = byte >= 128 || byte == b'_' as usize || (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    words
};
