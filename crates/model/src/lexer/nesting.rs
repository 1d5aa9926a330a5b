//! Rejects texts that a parser cannot handle. A parser needs stack for each level of nesting, and syn needs time for
//! each pair of digits in a number, so both are counted before parsing.

use std::ops::Range;

use super::{Lexer, Token};

/// The maximum cost of nested brackets and operators; an operator costs 1. A stack of 8 MiB suffices, also in a debug
/// build.
const LIMIT: usize = 1024;

/// The maximum length of a number, in bytes. syn's time is quadratic in it.
const LONGEST_NUMBER: usize = 1000;

/// The first token that exceeds a limit.
#[derive(Debug, PartialEq, Eq)]
pub struct Excess {
    pub range: Range<usize>,
    pub reason: &'static str,
}

impl Excess {
    fn of_nesting(range: Range<usize>) -> Self {
        // Each of these costs `LIMIT`.
        let reason =
            "is nested too deeply: more than 128 brackets, 256 generic arguments, or 1,024 operators within each other";
        Self { range, reason }
    }

    fn of_number(range: Range<usize>) -> Self {
        Self { range, reason: "has a number of more than 1,000 digits" }
    }
}

/// Keywords that nest the expression after them.
const PREFIXES: &[&str] = &["as", "break", "else", "if", "in", "let", "match", "return", "unsafe", "while", "yield"];

/// The first token that is nested too deeply, or a number that is too long. Comparisons in one expression may be
/// counted as nested, although Rust does not nest them; everything that is nested is counted.
pub fn excess(text: &str) -> Option<Excess> {
    Nesting::default().check(text, Lexer::new(text))
}

#[derive(Default)]
struct Nesting {
    /// The open brackets including `<`, each with the number of operators before it.
    open: Vec<(u8, usize)>,
    /// The total cost of `open`.
    around: usize,
    /// The number of operators since the innermost bracket was opened, or since the last separator.
    operators: usize,
    /// The number of attribute strings around the text.
    strings: usize,
}

impl Nesting {
    fn check(&mut self, text: &str, lexer: Lexer) -> Option<Excess> {
        let mut tokens = lexer.code().peekable();
        // The last two signs, and the end of the last token.
        let (mut before, mut last, mut end) = (b' ', b' ', 0);
        while let Some((token, range)) = tokens.next() {
            let joint = if end == range.start { last } else { b' ' };
            let next = tokens.peek();
            let adjacent = next.filter(|(_, next)| next.start == range.end).and_then(|(token, _)| sign(*token));
            match token {
                Token::Sign(b'[') if last == b'#' || (before, last) == (b'#', b'!') => self.open(b'#'),
                Token::Sign(b'#') => {}
                Token::Sign(bracket @ (b'(' | b'[' | b'{')) => self.open(bracket),
                Token::Sign(bracket @ (b')' | b']' | b'}')) => {
                    self.close_group();
                    let goes_on = match next {
                        Some((Token::Word, next)) => matches!(&text[next.clone()], "else" | "as"),
                        Some((Token::Sign(sign), _)) => !matches!(sign, b'#' | b'(' | b'['),
                        _ => false,
                    };
                    if bracket == b'}' && !goes_on {
                        // Generic arguments cannot continue after the brace.
                        self.close_angles();
                        self.operators = 0;
                    }
                }
                // A shift such as `1 << 0`.
                Token::Sign(b'<') if joint == b'<' && is_number(text, next) => self.close_angle(),
                Token::Sign(b'<') if adjacent != Some(b'=') => self.open(b'<'),
                Token::Sign(b'>') if !matches!(joint, b'-' | b'=') => self.close_angle(),
                Token::Sign(b',') => self.operators = 0,
                Token::Sign(b';') => {
                    self.close_angles();
                    self.operators = 0;
                }
                Token::Sign(b'|') if joint == b'|' => {
                    self.close_angles();
                    self.operators += 1;
                }
                Token::Sign(_) => self.operators += 1,
                Token::Word if range.len() > LONGEST_NUMBER && is_number(text, Some(&(token, range.clone()))) => {
                    return Some(Excess::of_number(range));
                }
                Token::Word => self.operators += usize::from(PREFIXES.contains(&&text[range.clone()])),
                Token::Literal if self.has_code_in_strings() => {
                    let content = content(&text[range.clone()]);
                    let mut inner = Self { around: self.cost(), strings: self.strings + 1, ..Self::default() };
                    // Any escape may encode a bracket.
                    inner.operators = 4 * (content.matches("\\x").count() + content.matches("\\u").count());
                    if let Some(Excess { reason, .. }) = inner.check(content, Lexer::new(content)) {
                        return Some(Excess { range, reason });
                    }
                }
                Token::Literal | Token::LineComment | Token::BlockComment => {}
            }
            if self.cost() > LIMIT {
                return Some(Excess::of_nesting(range));
            }
            (before, last, end) = (last, sign(token).unwrap_or(b' '), range.end);
        }
        None
    }

    fn cost(&self) -> usize {
        self.around + self.operators
    }

    fn open(&mut self, bracket: u8) {
        self.open.push((bracket, self.operators));
        self.around += self.operators + weight(bracket);
        self.operators = 0;
    }

    fn close(&mut self) {
        let Some((bracket, before)) = self.open.pop() else { return };
        self.around -= before + weight(bracket);
        // An attribute precedes its item. After other brackets, a call, an index or an operator may follow.
        self.operators = before + usize::from(bracket != b'#');
    }

    fn close_angle(&mut self) {
        match self.open.last() {
            Some((b'<', _)) => self.close(),
            _ => self.operators += 1,
        }
    }

    /// Closes those `<` that were comparisons.
    fn close_angles(&mut self) {
        while let Some((b'<', _)) = self.open.last() {
            self.close();
        }
    }

    fn close_group(&mut self) {
        self.close_angles();
        self.close();
    }

    /// `true` if strings may contain code: `#[kube(attr = "serde(default = \"path\")")]` has code in a string within a
    /// string.
    fn has_code_in_strings(&self) -> bool {
        match self.strings {
            0 => self.open.iter().any(|(bracket, _)| *bracket == b'#'),
            strings => strings == 1,
        }
    }
}

/// The cost of a bracket: the number of operators that need as much stack.
fn weight(bracket: u8) -> usize {
    if bracket == b'<' { 4 } else { 8 }
}

/// The text between the quotes of a string; empty for a character or a lifetime.
fn content(literal: &str) -> &str {
    let content = if literal.starts_with('\'') { None } else { literal.split_once('"') };
    content.map_or("", |(_, content)| content.trim_end_matches(['"', '#']))
}

fn sign(token: Token) -> Option<u8> {
    match token {
        Token::Sign(sign) => Some(sign),
        _ => None,
    }
}

fn is_number(text: &str, token: Option<&(Token, Range<usize>)>) -> bool {
    token.is_some_and(|(token, range)| *token == Token::Word && text.as_bytes()[range.start].is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(open: &str, depth: usize, inner: &str, close: &str) -> String {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    }

    #[test]
    fn what_is_nested_is_counted() {
        let cases = [
            ("(", ")", 128),
            ("{", "}", 128),
            ("[", "]", 128),
            ("Vec<", ">", 256),
            ("Vec <", "> ", 256),
            ("A<B<0>, A<", ">>", 256),
            ("A<&&B, ", ">", 256),
            ("<", " as T>::X", 256),
            ("fn() -> A<", ">", 146),
            ("!", "", 1024),
            ("return ", "", 1024),
            ("a = ", "", 1024),
            ("a.b", "", 1024),
            ("|| ", "", 512),
            ("if a {} else ", "", 341),
            ("a(", ")", 128),
        ];
        for (open, close, depth) in cases {
            assert!(excess(&nested(open, depth / 2, "a", close)).is_none(), "{depth} {open}");
            assert!(excess(&nested(open, depth + 1, "a", close)).is_some(), "{depth} {open}");
        }
        let in_attribute = nested("A::<", 300, "u8", ">");
        assert!(excess(&format!("#[serde(default = \"{in_attribute}\")]")).is_some());
        assert!(excess(&format!("# ! [serde(default = r#\"{in_attribute}\"#)]")).is_some());
        assert!(excess(&format!("const A: &str = \"{in_attribute}\";")).is_none());
        assert!(excess(&format!("#[a = \"{}\"]", "\\x3c".repeat(300))).is_some());
    }

    #[test]
    fn long_numbers_are_refused() {
        for (digits, is_too_long) in [(1000, false), (1001, true)] {
            for text in ["9".repeat(digits), format!("a(0x{})", "f".repeat(digits - 2))] {
                assert_eq!(excess(&text).is_some_and(|it| it.reason.contains("number")), is_too_long, "{digits}");
            }
        }
        assert_eq!(excess(&format!("a{} \"{}\"", "1".repeat(5000), "1".repeat(5000))), None);
    }

    #[test]
    fn what_stands_side_by_side_is_not() {
        let cases = [
            "a(b);",
            "fn f(a: A<B>) -> C<D> { e.f() }",
            "Vec<u8>,",
            "1 << 0,",
            "a < b;",
            "#[doc = \"(\"] ",
            "A => { b }",
            "\"a\" => { b }",
            "struct A { b: C<D>, }",
            "if a < b { c } ",
            "\"((<<!!\",",
            "'a', b'(',",
            "#[doc = \"it's 'a' \\\"b\\\"\"] ",
            "// ((<\n",
            "<A as B>::C,",
            "a -> b,",
            "'('; ",
            "if a < b { c } else { d } ",
        ];
        for case in cases {
            assert_eq!(excess(&case.repeat(5000)), None, "{case}");
        }
        assert_eq!(excess(&"a < b || ".repeat(200)), None);
    }
}
