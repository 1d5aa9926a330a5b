//! The grammar of a marker's arguments: `name=value,name=value;value,name={value,value}`.
//!
//! It is controller-gen's (controller-tools, pkg/markers/parse.go), except for what it accepts by accident: a value
//! is only empty if it is quoted, an argument occurs once, and quotes enclose a whole value.

use std::ops::Range;

/// One `name=value`; all ranges are byte offsets in the text.
#[derive(Debug)]
pub struct Argument<'a> {
    pub name: &'a str,
    pub name_range: Range<usize>,
    pub value: Value,
    /// Range from the name to the end of the value.
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub content: Content,
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A string, a number, or a boolean; the caller decides.
    Text { text: String, quoted: bool },
    /// `a;b` or `{a, b}`: two or more values, or braces around one. Never empty.
    List(Vec<Value>),
    /// `{key: value}`
    Map(Vec<(Value, Value)>),
}

/// The reason why the text is not a list of arguments, and the place.
#[derive(Debug)]
pub struct SyntaxError {
    pub range: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

/// Parses the arguments from `at` to the end of `text`. An error discards those before it, because their end may be
/// wrong.
///
/// `{a:b}` is a list if `is_list` is `true` for the argument, else a map.
pub fn parse(text: &str, at: usize, is_list: impl Fn(&str) -> bool) -> Result<Vec<Argument<'_>>, SyntaxError> {
    let mut scanner = Scanner { text, at, depth: 0 };
    let mut arguments = Vec::new();
    loop {
        arguments.push(scanner.argument(&is_list)?);
        scanner.blanks();
        match scanner.peek() {
            None => return Ok(arguments),
            Some(',') => scanner.at += 1,
            Some(_) => return Err(scanner.unexpected("`,` or the end of the line")),
        }
    }
}

struct Scanner<'a> {
    /// Ends at the end of the marker.
    text: &'a str,
    at: usize,
    /// Depth of nested braces.
    depth: usize,
}

/// Maximum depth of braces, which limits the stack.
const MAX_DEPTH: usize = 16;

/// Characters that end a bare value.
const DELIMITERS: [char; 3] = [',', ';', '}'];
/// Characters that end a bare key of a map.
const KEY_DELIMITERS: [char; 4] = [',', ';', '}', ':'];

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

    fn argument(&mut self, is_list: impl Fn(&str) -> bool) -> Result<Argument<'a>, SyntaxError> {
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
                help: Some(
                    "separate arguments with `,` and the values of one argument with `;`: `verbs=get;list`".into(),
                ),
            });
        }
        self.at += 1;
        self.blanks();
        let value = if self.peek() == Some('{') && is_list(name) {
            self.braced(start, |scanner| scanner.list(start))?
        } else {
            self.values(start)?
        };
        Ok(Argument { name, name_range, value, range: start..self.at })
    }

    /// `a`, or `a;b`; a trailing `;` is accepted.
    fn values(&mut self, outer: usize) -> Result<Value, SyntaxError> {
        let start = self.at;
        let mut values = vec![self.value(outer, &DELIMITERS)?];
        let mut end = self.at;
        let mut is_list = false;
        loop {
            self.blanks();
            if self.peek() != Some(';') {
                self.at = end;
                break;
            }
            is_list = true;
            self.at += 1;
            end = self.at;
            self.blanks();
            if self.peek().is_none_or(|c| c == ',' || c == '}') {
                self.at = end;
                break;
            }
            values.push(self.value(outer, &DELIMITERS)?);
            end = self.at;
        }
        match values.pop() {
            Some(value) if !is_list => Ok(value),
            last => {
                values.extend(last);
                Ok(Value { content: Content::List(values), range: start..self.at })
            }
        }
    }

    fn value(&mut self, outer: usize, delimiters: &[char]) -> Result<Value, SyntaxError> {
        let start = self.at;
        let (text, quoted) = match self.peek() {
            Some('{') => return self.braced(outer, |scanner| scanner.map_or_list(outer)),
            Some('"') => (self.quoted()?, true),
            Some('`') => (self.raw()?, true),
            _ => (self.bare(outer, delimiters)?, false),
        };
        Ok(Value { content: Content::Text { text, quoted }, range: start..self.at })
    }

    fn braced(
        &mut self,
        outer: usize,
        content: impl FnOnce(&mut Self) -> Result<Content, SyntaxError>,
    ) -> Result<Value, SyntaxError> {
        let start = self.at;
        if self.depth == MAX_DEPTH {
            let range = outer..self.text.len();
            return Err(SyntaxError { range, message: "too many braces inside one another".into(), help: None });
        }
        self.at += 1;
        self.depth += 1;
        self.blanks();
        let content = content(self)?;
        self.blanks();
        if self.peek() != Some('}') {
            return Err(self.unexpected("`,` or `}`"));
        }
        self.at += 1;
        self.depth -= 1;
        Ok(Value { content, range: start..self.at })
    }

    /// The content of `{a, b}`; a trailing `,` is accepted.
    fn list(&mut self, outer: usize) -> Result<Content, SyntaxError> {
        let mut values = vec![self.values(outer)?];
        while self.comma() {
            values.push(self.values(outer)?);
        }
        Ok(Content::List(values))
    }

    /// The content of `{key: value, key: value}`, or of a list.
    fn map_or_list(&mut self, outer: usize) -> Result<Content, SyntaxError> {
        if self.peek() == Some('}') {
            return Ok(Content::Map(Vec::new()));
        }
        let start = self.at;
        // A key is a string, so a map does not start with `{`.
        let is_map = self.peek() != Some('{') && self.value(outer, &KEY_DELIMITERS).is_ok() && {
            self.blanks();
            self.peek() == Some(':')
        };
        self.at = start;
        if !is_map {
            return self.list(outer);
        }
        let mut entries = vec![self.entry(outer)?];
        while self.comma() {
            entries.push(self.entry(outer)?);
        }
        Ok(Content::Map(entries))
    }

    fn entry(&mut self, outer: usize) -> Result<(Value, Value), SyntaxError> {
        let key = self.value(outer, &KEY_DELIMITERS)?;
        self.blanks();
        if self.peek() != Some(':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        self.blanks();
        Ok((key, self.values(outer)?))
    }

    /// `true` if `,` and another element follow.
    fn comma(&mut self) -> bool {
        self.blanks();
        if self.peek() != Some(',') {
            return false;
        }
        self.at += 1;
        self.blanks();
        self.peek().is_some_and(|c| c != '}')
    }

    fn bare(&mut self, outer: usize, delimiters: &[char]) -> Result<String, SyntaxError> {
        let start = self.at;
        let length = self.rest().find(delimiters).unwrap_or(self.rest().len());
        let text = self.rest()[..length].trim_end();
        if text.is_empty() {
            let whole = self.text[outer..start].trim_end();
            return Err(SyntaxError {
                range: outer..outer + whole.len(),
                message: format!("no value after `{whole}`"),
                help: Some("give it a value, or remove the argument; an empty value is `\"\"`".into()),
            });
        }
        if let Some((offset, quote)) = text.char_indices().find(|(_, c)| "\"'`{".contains(*c)) {
            return Err(SyntaxError {
                range: start..start + text.len(),
                message: format!("`{quote}` inside a value"),
                help: Some(match (quote, offset) {
                    ('\'', 0) => format!("single quotes cannot quote a value: write `\"{}\"`", text.trim_matches('\'')),
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

    /// A string in Go's syntax.
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
                    let code = rest.get(offset + 2..offset + 2 + digits).unwrap_or_default();
                    let plain = match escape {
                        '\\' | '"' => Some(escape),
                        'n' => Some('\n'),
                        't' => Some('\t'),
                        'r' => Some('\r'),
                        // `\x80` and above would be a byte that is not a character.
                        'x' | 'u' | 'U' => u32::from_str_radix(code, 16)
                            .ok()
                            .filter(|_| !code.starts_with('+'))
                            .filter(|code| escape != 'x' || *code < 0x80)
                            .and_then(char::from_u32),
                        _ => None,
                    };
                    let Some(plain) = plain else {
                        let start = self.at + offset;
                        return Err(SyntaxError {
                            range: start..start + 1 + escape.len_utf8(),
                            message: format!("unknown escape `\\{escape}`"),
                            help: Some("between backticks, a backslash is an ordinary character".into()),
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
        // At the end of the text, the last character is underlined rather than nothing.
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

    /// The values in plain notation: lists in brackets, maps in braces, strings in quotes.
    fn shown(value: &Value) -> String {
        match &value.content {
            Content::Text { text, .. } => format!("{text:?}"),
            Content::List(values) => format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(", ")),
            Content::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| format!("{}: {}", shown(key), shown(value)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Parses with `l` as a list; the other arguments may have any value.
    fn read(text: &str) -> Result<String, SyntaxError> {
        let arguments = parse(text, 0, |name| name == "l")?;
        let shown = arguments.iter().map(|argument| format!("{}={}", argument.name, shown(&argument.value)));
        Ok(shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn reads_all_forms_of_values() {
        for (text, expected) in [
            ("a=b", r#"a="b""#),
            ("a = b ", r#"a="b""#),
            ("a=b;c;d", r#"a=["b", "c", "d"]"#),
            ("a= b ; c", r#"a=["b", "c"]"#),
            ("a=b;c;", r#"a=["b", "c"]"#),
            ("a=b;", r#"a=["b"]"#),
            ("l={b,c}", r#"l=["b", "c"]"#),
            ("l={b}", r#"l=["b"]"#),
            ("l={ b , \"c,d\", }", r#"l=["b", "c,d"]"#),
            ("l={a:b,c}", r#"l=["a:b", "c"]"#),
            ("a={b,c}", r#"a=["b", "c"]"#),
            ("a={1;1,2;3}", r#"a=[["1", "1"], ["2", "3"]]"#),
            ("a={{1,1},{2,3}}", r#"a=[["1", "1"], ["2", "3"]]"#),
            ("a={k: v, `k 2`:w}", r#"a={"k": "v", "k 2": "w"}"#),
            ("a={k: {l: 1;2}, m: {n, o}}", r#"a={"k": {"l": ["1", "2"]}, "m": ["n", "o"]}"#),
            ("a={k: b:c}", r#"a={"k": "b:c"}"#),
            ("a={}", "a={}"),
            ("a=\"\"", r#"a="""#),
            ("a=\"x;y\\\"\\u0041\";`\\z`", r#"a=["x;y\"A", "\\z"]"#),
            ("a=/a//b/*;*", r#"a=["/a//b/*", "*"]"#),
            ("a=http://b:80", r#"a="http://b:80""#),
            ("a=-1;2.5;true", r#"a=["-1", "2.5", "true"]"#),
            ("a=b,c=d;e , f=`g`", r#"a="b" c=["d", "e"] f="g""#),
        ] {
            assert_eq!(read(text).unwrap_or_else(|error| panic!("{text}: {error:?}")), expected, "{text}");
        }
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
            "l={}",
            "a={,}",
            "a={b:}",
            "a={b:c,d}",
            "a={{b:c}:d}",
            "a=b}",
            "=b",
            ",",
            "a=\"b\"c",
            "a=\"\\xff\"",
            "a=b, c",
            "a=b;;c",
            "a=b{c}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let deep = format!("a={}", "{".repeat(100_000));
        assert!(read(&deep).is_err_and(|error| error.message.contains("braces")));
    }

    fn places(value: &Value, text: &str) -> bool {
        text.get(value.range.clone()).is_some_and(|text| !text.is_empty())
            && match &value.content {
                Content::Text { .. } => true,
                Content::List(values) => values.iter().all(|value| places(value, text)),
                Content::Map(entries) => entries.iter().all(|(key, value)| places(key, text) && places(value, text)),
            }
    }

    /// A value in one of its notations, with the expected result.
    fn any_value() -> impl Strategy<Value = (String, Value)> {
        let text = |text: String, quoted| Value { content: Content::Text { text, quoted }, range: 0..0 };
        let bare = "[a-z0-9*/.é-][a-zA-Z0-9*/. é_-]{0,6}[a-z0-9é]".prop_map(move |it| (it.clone(), text(it, false)));
        let raw = "[ -_a-zé🦀\n]{0,8}".prop_map(move |it| (format!("`{it}`"), text(it, true)));
        let quoted = "[ -~é🦀\n\t\r\\\\\"]{0,8}".prop_map(move |it| {
            let written = it.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n").replace('\t', "\\t");
            (format!("\"{}\"", written.replace('é', r"\u00e9").replace('\r', r"\x0D")), text(it, true))
        });
        prop_oneof![bare, raw, quoted].prop_recursive(3, 12, 3, move |inner| {
            let values = prop::collection::vec(inner.clone(), 1..4);
            let list = values.prop_map(|values| {
                let (written, values): (Vec<String>, Vec<Value>) = values.into_iter().unzip();
                (format!("{{ {} }}", written.join(" , ")), Value { content: Content::List(values), range: 0..0 })
            });
            let map = prop::collection::vec(("[a-z]{1,3}", inner), 0..3).prop_map(move |entries| {
                let written: Vec<String> = entries.iter().map(|(key, (value, _))| format!("{key}: {value}")).collect();
                let entries = entries.into_iter().map(|(key, (_, value))| (text(key, false), value)).collect();
                (format!("{{{}}}", written.join(",")), Value { content: Content::Map(entries), range: 0..0 })
            });
            prop_oneof![list, map]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(values in prop::collection::vec(any_value(), 1..4)) {
            let written: Vec<String> =
                values.iter().enumerate().map(|(index, (written, _))| format!("a{index} = {written}")).collect();
            let expected: Vec<String> =
                values.iter().enumerate().map(|(index, (_, value))| format!("a{index}={}", shown(value))).collect();
            let text = written.join(", ");
            prop_assert_eq!(read(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error:?}")))?, expected.join(" "));
        }

        #[test]
        fn every_place_is_inside_the_text(text in "[al=,;:{}\"`'\\\\x é0]{0,32}") {
            match parse(&text, 0, |name| name == "l") {
                Ok(arguments) => for argument in arguments {
                    prop_assert!(text.get(argument.range).is_some());
                    prop_assert!(text.get(argument.name_range).is_some());
                    prop_assert!(places(&argument.value, &text));
                },
                Err(error) => prop_assert!(text.get(error.range).is_some()),
            }
        }
    }
}
