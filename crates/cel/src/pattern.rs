//! Regular expressions of Go, as in `pattern` of schemas and `matches` of CEL.
//!
//! They are translated to the syntax of the `regex` crate. Both follow RE2. The differences are rewritten: classes such
//! as `\d` are ASCII in Go, a `{` that begins no repetition is literal, so is `[` inside a class, and there is `\Q…\E`.

use std::iter::Peekable;
use std::str::Chars;

mod syntax;

pub use regex::Regex;

pub use syntax::check;

/// Compiles a regular expression. `None` if only one of the two languages supports it.
pub fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(&translate(pattern)?).ok()
}

fn translate(pattern: &str) -> Option<String> {
    let mut chars = pattern.chars().peekable();
    let mut out = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, &mut out, false)?,
            '[' => class(&mut chars, &mut out)?,
            '{' => match repetition(chars.clone()) {
                Some(length) => {
                    out.push('{');
                    out.extend(chars.by_ref().take(length));
                }
                None => out.push_str("\\{"),
            },
            '}' => out.push_str("\\}"),
            ']' => out.push_str("\\]"),
            c => out.push(c),
        }
    }
    Some(out)
}

/// Translates the escape after a `\`.
fn escape(chars: &mut Peekable<Chars>, out: &mut String, in_class: bool) -> Option<()> {
    let c = chars.next()?;
    let class = match c {
        'd' => "0-9",
        'w' => "0-9A-Za-z_",
        's' => "\\t\\n\\f\\r ",
        'D' => "^0-9",
        'W' => "^0-9A-Za-z_",
        'S' => "^\\t\\n\\f\\r ",
        _ => "",
    };
    match c {
        _ if !class.is_empty() => out.extend(["[", class, "]"]),
        'b' | 'B' if !in_class => out.extend(["(?-u:\\", &c.to_string(), ")"]),
        'Q' if !in_class => {
            let rest: String = chars.collect();
            let (literal, rest) = rest.split_once("\\E").unwrap_or((&rest, ""));
            out.push_str(&regex::escape(literal));
            out.push_str(&translate(rest)?);
        }
        'a' | 'f' | 't' | 'n' | 'r' | 'v' | 'x' | 'p' | 'P' => out.extend(['\\', c]),
        'A' | 'z' if !in_class => out.extend(['\\', c]),
        c if c.is_ascii_punctuation() => {
            out.push('\\');
            out.push(c);
        }
        _ => return None,
    }
    // `\x{10FFFF}` and `\p{Greek}` keep their braces.
    if matches!(c, 'x' | 'p' | 'P') && chars.peek() == Some(&'{') {
        for c in chars.by_ref() {
            out.push(c);
            if c == '}' {
                break;
            }
        }
    }
    Some(())
}

fn class(chars: &mut Peekable<Chars>, out: &mut String) -> Option<()> {
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    if chars.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(c) = chars.next() {
        match c {
            ']' => {
                out.push(']');
                return Some(());
            }
            '\\' => escape(chars, out, true)?,
            '[' if chars.peek() == Some(&':') => {
                let name: String = chars.by_ref().take_while(|c| *c != ']').collect();
                out.extend(["[", &name, "]"]);
            }
            // The `regex` crate gives these characters a meaning when doubled.
            '[' | '&' | '~' => out.extend(['\\', c]),
            '-' if chars.peek() == Some(&'-') || out.ends_with('-') => out.push_str("\\-"),
            c => out.push(c),
        }
    }
    None
}

/// Length of `n}`, `n,}` or `n,m}`, if `chars` begins with one of these.
fn repetition(chars: Peekable<Chars>) -> Option<usize> {
    let inside: String = chars.take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '}')).collect();
    let (counts, _) = inside.split_once('}')?;
    let (min, max) = counts.split_once(',').unwrap_or((counts, ""));
    let is_count = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    (is_count(min) && (max.is_empty() || is_count(max))).then_some(counts.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::{check, compile};

    #[test]
    fn reads_what_go_reads() {
        let good = [
            ("a{", "a{"),
            ("{}", "{}"),
            ("a{,2}", "a{,2}"),
            ("^[a-z&&b]$", "&"),
            ("^[[:alpha:]]$", "x"),
            ("^[[]$", "["),
            (r"^\Qa.b\E+$", "a.bb"),
            (r"^\pL\x{41}\x41$", "éAA"),
            ("(?P<name>a)", "a"),
            ("(?i)^ABC$", "abc"),
            ("^a{2,3}$", "aaa"),
            ("^[]a]$", "]"),
            (r"^[\w.-]+$", "a-b.c"),
            (r"^[\]\[]+$", "[]"),
        ];
        for (pattern, text) in good {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
            assert!(compile(pattern).unwrap().is_match(text), "{pattern}");
        }
        assert!(!compile(r"^\d$").unwrap().is_match("٣"), "classes are ASCII");
    }

    #[test]
    fn refuses_what_go_refuses() {
        for pattern in ["(", "[a", "a**b(", "(?=a)", "(?<!a)b", r"(a)\1", "(?x)a", r"\y", "a{2,1}", "*a", r"a\"] {
            assert!(check(pattern).is_err(), "{pattern}");
        }
    }
}
