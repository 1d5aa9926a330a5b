//! The text of a CEL expression → tokens, with the escapes of strings resolved.

use std::ops::Range;

use super::parse::Problem;

type Read<T> = Result<T, Problem>;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// Operators, brackets, and the keywords `true`, `false`, `null` and `in`, which are never names.
    Sign(&'static str),
    Name(String),
    Int(String),
    Uint(String),
    Double(String),
    String(String),
    Bytes(Vec<u8>),
    End,
}

pub fn tokens(text: &str) -> Read<Vec<(Token, Range<usize>)>> {
    // Longer signs first.
    const SIGNS: [&str; 24] = [
        "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+",
        "*", "/", "%",
    ];
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if matches!(first, ' ' | '\t' | '\r' | '\n' | '\u{c}') {
            at += 1;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some((token, length)) = quoted(rest, at)? {
            tokens.push((token, at..at + length));
            at += length;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let word = &rest[..length];
            let word = ["true", "false", "null", "in"]
                .into_iter()
                .find(|known| *known == word)
                .map_or_else(|| Token::Name(word.to_owned()), Token::Sign);
            tokens.push((word, at..at + length));
            at += length;
        } else if let Some((token, length)) = number(rest) {
            tokens.push((token, at..at + length));
            at += length;
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            tokens.push((Token::Sign(sign), at..at + sign.len()));
            at += sign.len();
        } else {
            let message = match first {
                '\'' | '"' => "this string has no end".to_owned(),
                '=' => "`=` is not an operator; equality is `==`".to_owned(),
                '&' | '|' => format!("`{first}` is not an operator; CEL has `{first}{first}`"),
                _ => format!("`{first}` means nothing in CEL"),
            };
            return Err(Problem::at(at..at + first.len_utf8(), message));
        }
    }
    tokens.push((Token::End, text.len()..text.len()));
    Ok(tokens)
}

fn number(text: &str) -> Option<(Token, usize)> {
    let digits = |from: usize| from + text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let bytes = text.as_bytes();
    let whole = digits(0);
    if whole > 0 && text.starts_with("0x") {
        let end = 2 + bytes[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if end > 2 {
            return Some(match bytes.get(end) {
                Some(b'u' | b'U') => (Token::Uint(text[..end].to_owned()), end + 1),
                _ => (Token::Int(text[..end].to_owned()), end),
            });
        }
    }
    let mut end = whole;
    if bytes.get(whole) == Some(&b'.') && digits(whole + 1) > whole + 1 {
        end = digits(whole + 1);
    }
    if end == 0 {
        return None;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digits(end + 1 + sign) > end + 1 + sign {
            end = digits(end + 1 + sign);
        }
    }
    Some(match bytes.get(end) {
        _ if end > whole => (Token::Double(text[..end].to_owned()), end),
        Some(b'u' | b'U') => (Token::Uint(text[..end].to_owned()), end + 1),
        _ => (Token::Int(text[..end].to_owned()), end),
    })
}

/// Lexes a string literal at the start of `text`, which begins at byte `at` of the expression.
fn quoted(text: &str, at: usize) -> Read<Option<(Token, usize)>> {
    let is_bytes = text.starts_with(['b', 'B']);
    let prefix = usize::from(is_bytes);
    let raw = text[prefix..].starts_with(['r', 'R']);
    let open = prefix + usize::from(raw);
    let Some(quote @ ('\'' | '"')) = text[open..].chars().next() else { return Ok(None) };
    let triple = quote.to_string().repeat(3);
    for delimiter in [triple.as_str(), &triple[..1]] {
        let start = open + delimiter.len();
        if !text[open..].starts_with(delimiter) {
            continue;
        }
        let Some(end) = closing(&text[start..], delimiter, raw).map(|end| start + end) else { continue };
        let inner = text[start..end].replace("\r\n", "\n").replace('\r', "\n");
        let value = if raw { inner.into_bytes() } else { unescape(&inner, is_bytes, at)? };
        let token = if is_bytes {
            Token::Bytes(value)
        } else {
            Token::String(String::from_utf8(value).expect("escapes of a string are code points"))
        };
        return Ok(Some((token, end + delimiter.len())));
    }
    Err(Problem::at(at..at + open + 1, "this string has no end"))
}

fn closing(text: &str, delimiter: &str, raw: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if rest.starts_with(delimiter) {
            return Some(at);
        }
        let next = rest.chars().next()?;
        if delimiter.len() == 1 && matches!(next, '\n' | '\r') {
            return None;
        }
        at += next.len_utf8();
        if next == '\\' && !raw {
            at += text[at..].chars().next()?.len_utf8();
        }
    }
}

fn unescape(text: &str, is_bytes: bool, at: usize) -> Read<Vec<u8>> {
    let mut value = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(backslash) = rest.find('\\') {
        value.extend_from_slice(&rest.as_bytes()[..backslash]);
        let escape = &rest[backslash + 1..];
        let letter = escape.chars().next().expect("`closing` skips what follows a backslash");
        let wrong = || Problem::at(at..at + 1, format!("`\\{letter}` is not an escape in a CEL string"));
        let simple = match letter {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '`' | '?' => letter as u8,
            _ => 0,
        };
        if simple != 0 {
            value.push(simple);
            rest = &escape[1..];
            continue;
        }
        let (from, digits, base) = match letter {
            'x' | 'X' => (1, 2, 16),
            'u' if !is_bytes => (1, 4, 16),
            'U' if !is_bytes => (1, 8, 16),
            '0'..='3' => (0, 3, 8),
            _ => return Err(wrong()),
        };
        let code = escape
            .get(from..from + digits)
            .filter(|digits| digits.chars().all(|digit| digit.is_digit(base)))
            .and_then(|digits| u32::from_str_radix(digits, base).ok())
            .ok_or_else(wrong)?;
        if is_bytes {
            value.push(u8::try_from(code).map_err(|_| wrong())?);
        } else {
            let code = char::from_u32(code).ok_or_else(wrong)?;
            value.extend_from_slice(code.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = &escape[from + digits..];
    }
    value.extend_from_slice(rest.as_bytes());
    Ok(value)
}
