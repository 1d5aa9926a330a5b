//! The grammar of a marker's arguments: `name=value,name=value;value,name={value,value}`.
//!
//! It is controller-gen's (controller-tools, pkg/markers/parse.go), less what it accepts by accident: a value is never
//! empty unless it is quoted, an argument stands once, and quotes stand around a whole value.

use std::ops::Range;

/// One `name=value`; all ranges are bytes of the file.
#[derive(Debug)]
pub struct Argument<'a> {
    pub name: &'a str,
    pub name_range: Range<usize>,
    pub values: Vec<Value>,
    /// From the name to the last value.
    pub range: Range<usize>,
}

#[derive(Debug)]
pub struct Value {
    pub text: String,
    pub range: Range<usize>,
    pub quoted: bool,
}

/// Why the text is not a list of arguments, and where.
#[derive(Debug)]
pub struct SyntaxError {
    pub range: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

/// Reads the arguments in `range` of `text`; those before an error are lost, for their end may be wrong.
pub fn parse(text: &str, range: Range<usize>) -> Result<Vec<Argument<'_>>, SyntaxError> {
    let mut scanner = Scanner { text: &text[..range.end], at: range.start };
    let mut arguments = Vec::new();
    loop {
        arguments.push(scanner.argument()?);
        scanner.blanks();
        match scanner.peek() {
            None => return Ok(arguments),
            Some(',') => scanner.at += 1,
            Some(_) => return Err(scanner.unexpected("`,` or the end of the line")),
        }
    }
}

struct Scanner<'a> {
    /// Ends where the marker does.
    text: &'a str,
    at: usize,
}

/// What ends a bare value.
const DELIMITERS: [char; 3] = [',', ';', '}'];

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn argument(&mut self) -> Result<Argument<'a>, SyntaxError> {
        self.blanks();
        let start = self.at;
        let length = self.rest().find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        if length == 0 {
            return Err(self.unexpected("the name of an argument"));
        }
        self.at += length;
        let name_range = start..self.at;
        let name = &self.text[name_range.clone()];
        self.blanks();
        if self.peek() != Some('=') {
            return Err(SyntaxError {
                range: name_range,
                message: format!("expected `=` after `{name}`"),
                help: Some("`,` stands between arguments, `;` between the values of one: `verbs=get;list`".into()),
            });
        }
        self.at += 1;
        self.blanks();
        let values =
            if self.peek() == Some('{') { self.braced(start)? } else { self.separated(';', start, |c| c == ',')? };
        let end = self.at;
        Ok(Argument { name, name_range, values, range: start..end })
    }

    /// `{a, b}`
    fn braced(&mut self, start: usize) -> Result<Vec<Value>, SyntaxError> {
        self.at += 1;
        self.blanks();
        let values = self.separated(',', start, |c| c == '}')?;
        self.blanks();
        if self.peek() != Some('}') {
            return Err(self.unexpected("`}`"));
        }
        self.at += 1;
        Ok(values)
    }

    /// Values until something that is no `separator` follows; one separator too many at the end does no harm.
    fn separated(
        &mut self,
        separator: char,
        start: usize,
        ends: impl Fn(char) -> bool,
    ) -> Result<Vec<Value>, SyntaxError> {
        let mut values = vec![self.value(start)?];
        loop {
            let end = self.at;
            self.blanks();
            if self.peek() != Some(separator) {
                self.at = end;
                return Ok(values);
            }
            self.at += 1;
            self.blanks();
            if self.peek().is_none_or(&ends) {
                return Ok(values);
            }
            values.push(self.value(start)?);
        }
    }

    fn value(&mut self, argument: usize) -> Result<Value, SyntaxError> {
        let start = self.at;
        let (text, quoted) = match self.peek() {
            Some('"') => (self.quoted()?, true),
            Some('`') => (self.raw()?, true),
            _ => (self.bare(argument)?, false),
        };
        Ok(Value { text, range: start..self.at, quoted })
    }

    fn bare(&mut self, argument: usize) -> Result<String, SyntaxError> {
        let start = self.at;
        let length = self.rest().find(DELIMITERS).unwrap_or(self.rest().len());
        let text = self.rest()[..length].trim_end();
        if text.is_empty() {
            let whole = self.text[argument..start].trim_end();
            return Err(SyntaxError {
                range: argument..argument + whole.len(),
                message: format!("no value after `{whole}`"),
                help: Some("write `\"\"` where the empty text is meant, as in `groups=\"\"`".into()),
            });
        }
        if let Some((offset, quote)) = text.char_indices().find(|(_, c)| "\"'`{".contains(*c)) {
            return Err(SyntaxError {
                range: start..start + text.len(),
                message: format!("`{quote}` inside a value"),
                help: Some(match (quote, offset) {
                    ('\'', 0) => format!("single quotes are no quotes here: write `\"{}\"`", text.trim_matches('\'')),
                    _ => "put the whole value between `\"` and `\"`".into(),
                }),
            });
        }
        self.at += text.len();
        Ok(text.into())
    }

    fn raw(&mut self) -> Result<String, SyntaxError> {
        let Some(length) = self.rest()[1..].find('`') else { return Err(self.unterminated()) };
        let text = self.rest()[1..=length].to_owned();
        self.at += length + 2;
        Ok(text)
    }

    /// A string as Go writes it.
    fn quoted(&mut self) -> Result<String, SyntaxError> {
        let rest = self.rest();
        let mut text = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((offset, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += offset + 1;
                    return Ok(text);
                }
                '\\' => {
                    let Some((_, escape)) = chars.next() else { break };
                    let digits = match escape {
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        _ => 0,
                    };
                    let code = rest[offset + 2..].get(..digits).unwrap_or_default();
                    let plain = match escape {
                        '\\' | '"' => Some(escape),
                        'n' => Some('\n'),
                        't' => Some('\t'),
                        'r' => Some('\r'),
                        // `\x80` and above would be a byte that is no character.
                        'x' | 'u' | 'U' => u32::from_str_radix(code, 16)
                            .ok()
                            .filter(|code| escape != 'x' || *code < 0x80)
                            .and_then(char::from_u32),
                        _ => None,
                    };
                    let Some(plain) = plain else {
                        let start = self.at + offset;
                        return Err(SyntaxError {
                            range: start..start + 1 + escape.len_utf8(),
                            message: format!("unknown escape `\\{escape}`"),
                            help: Some("between backticks a backslash stands for itself".into()),
                        });
                    };
                    text.push(plain);
                    for _ in 0..digits {
                        chars.next();
                    }
                }
                _ => text.push(c),
            }
        }
        Err(self.unterminated())
    }

    fn unterminated(&self) -> SyntaxError {
        SyntaxError { range: self.at..self.text.len(), message: "a quoted value has no end".into(), help: None }
    }

    fn unexpected(&self, expected: &str) -> SyntaxError {
        let length = self.peek().map_or(0, char::len_utf8);
        let found = self.peek().map_or_else(|| "the end of the line".into(), |c| format!("`{c}`"));
        // At the end, underline the last character rather than nothing.
        let start =
            if length == 0 { self.text.char_indices().next_back().map_or(0, |(start, _)| start) } else { self.at };
        SyntaxError {
            range: start..self.at + length,
            message: format!("expected {expected}, found {found}"),
            help: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str) -> Vec<(String, Vec<String>)> {
        let arguments = parse(text, 0..text.len()).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        arguments
            .into_iter()
            .map(|argument| (argument.name.into(), argument.values.into_iter().map(|value| value.text).collect()))
            .collect()
    }

    #[test]
    fn reads_all_forms_of_values() {
        for (text, expected) in [
            ("a=b", vec!["b"]),
            ("a = b ", vec!["b"]),
            ("a=b;c;d", vec!["b", "c", "d"]),
            ("a= b ; c", vec!["b", "c"]),
            ("a=b;c;", vec!["b", "c"]),
            ("a={b,c}", vec!["b", "c"]),
            ("a={ b , \"c,d\", }", vec!["b", "c,d"]),
            ("a=\"\"", vec![""]),
            ("a=\"x;y\\\"\\u0041\";`\\z`", vec!["x;y\"A", "\\z"]),
            ("a=/a//b/*;*", vec!["/a//b/*", "*"]),
            ("a=1;2.5", vec!["1", "2.5"]),
        ] {
            assert_eq!(values(text), [("a".into(), expected.into_iter().map(String::from).collect())], "{text}");
        }
        assert_eq!(values("a={b},c=d;e , f=`g`").len(), 3);
    }

    #[test]
    fn refuses_what_is_no_argument() {
        for text in [
            "",
            "a",
            "a=",
            "a=,b=c",
            "a=b,",
            "a=;b",
            "a=b c\"d\"",
            "a='b'",
            "a=\"b",
            "a=`b",
            "a=\"\\q\"",
            "a={b",
            "a={b;c}",
            "a={}",
            "a=b}",
            "=b",
            ",",
            "a=\"b\"c",
            "a=\"\\xff\"",
            "a=b, c",
            "a=b;;c",
        ] {
            assert!(parse(text, 0..text.len()).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_place_is_inside_the_text(text in "[a=,;{}\"`'\\\\x é0]{0,24}") {
            match parse(&text, 0..text.len()) {
                Ok(arguments) => for argument in arguments {
                    prop_assert!(text.get(argument.range).is_some());
                    for value in argument.values {
                        prop_assert!(text.get(value.range).is_some_and(|text| !text.is_empty()));
                    }
                },
                Err(error) => prop_assert!(text.get(error.range).is_some()),
            }
        }
    }
}
