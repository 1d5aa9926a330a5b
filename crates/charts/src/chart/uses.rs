//! Finds the values that the templates of a chart read.
//!
//! A template that reads `.Values.image.tag` does not use `.Values.image.tga`, so that key may be rejected. One that
//! passes on `.Values.resources` as a whole uses any key. Actions are only tokenized, not evaluated, so a value counts
//! as used as a whole unless it is certainly read by its keys.

use std::collections::BTreeMap;

/// One use of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The path below `.Values`.
    pub path: Vec<String>,
    /// The template passes on the value, with all its keys.
    pub is_whole: bool,
    pub types: Types,
}

/// The types of a value that a template supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Types {
    /// Possibly only the type of the default.
    #[default]
    Unknown,
    /// Printed as YAML, so any scalar is valid in place of another.
    Printed,
    /// Passed to a function that also supports a string in place of a list or map.
    OrText,
    /// The template tests the type (`kindIs`), so there are several.
    Several,
}

/// All uses in the text of a template.
pub fn uses(text: &str) -> Vec<Use> {
    let mut reader = Reader::default();
    for part in parts(text) {
        if let Part::Action(tokens) = part {
            reader.action(&tokens);
        }
    }
    reader.uses.sort();
    reader.uses.dedup();
    reader.uses
}

/// Collects the uses of values from the actions of a template, in order.
pub struct Reader {
    pub uses: Vec<Use>,
    /// The meaning of `.` in each open block: a value, or `None` for anything else.
    dots: Vec<Option<Vec<String>>>,
    variables: BTreeMap<String, Vec<String>>,
}

impl Default for Reader {
    fn default() -> Self {
        Self { uses: Vec::new(), dots: vec![None], variables: BTreeMap::new() }
    }
}

/// A part of the text of a template.
pub enum Part<'a> {
    Text(&'a str),
    /// The tokens of `{{ … }}`.
    Action(Vec<Token>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A keyword, a function, a number, or a path such as `$.Values.x`.
    Word(String),
    Text(String),
    Sign(char),
}

/// Keywords and functions that only test for a value.
const TESTS: [&str; 12] = ["if", "else", "and", "or", "not", "eq", "ne", "empty", "true", "false", "nil", "hasKey"];
const ASKS_TYPE: [&str; 6] = ["kindIs", "kindOf", "typeIs", "typeIsLike", "typeOf", "isType"];
const PRINTS: [&str; 4] = ["toYaml", "toJson", "toPrettyJson", "toRawJson"];
/// Functions on a value and literal keys.
const LOOKUPS: [&str; 3] = ["index", "get", "hasKey"];

impl Reader {
    /// Adds the uses of an action.
    pub fn action(&mut self, tokens: &[Token]) {
        let word = |at: usize| match tokens.get(at) {
            Some(Token::Word(word)) => word.as_str(),
            _ => "",
        };
        let keyword = word(0);
        let is_test = matches!(keyword, "if" | "else")
            && tokens.iter().all(|token| match token {
                Token::Word(word) => {
                    TESTS.contains(&word.as_str()) || word.starts_with(['.', '$']) || word.parse::<f64>().is_ok()
                }
                Token::Text(_) => true,
                Token::Sign(sign) => matches!(sign, '(' | ')'),
            });
        // `with .Values.x` and `$y := .Values.x` only introduce another name.
        let body = usize::from(keyword == "with");
        let assigned =
            tokens.iter().position(|token| *token == Token::Sign('=')).filter(|at| word(at - 1).starts_with('$'));
        let from = assigned.map_or(body, |at| at + 1);
        let renamed = match &tokens[from.min(tokens.len())..] {
            // `range` assigns keys and items.
            [Token::Word(word)] if keyword != "range" && (body == 1 || assigned.is_some()) => self.path(word),
            _ => None,
        };
        let types = types(tokens);
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", word);
            if let Some(mut path) = self.path(word(at)) {
                if LOOKUPS.contains(&before) {
                    while let Some(Token::Text(key)) = tokens.get(at + 1) {
                        path.push(key.clone());
                        at += 1;
                    }
                    // `(index .Values "a-b").c`
                    if let [Token::Sign(')'), Token::Word(rest), ..] = &tokens[at + 1..]
                        && rest.starts_with('.')
                    {
                        path.extend(rest.split('.').filter(|key| !key.is_empty()).map(str::to_owned));
                        at += 2;
                    }
                }
                let is_whole = !is_test && renamed.is_none() && before != "hasKey";
                self.uses.push(Use { path, is_whole, types });
            }
            at += 1;
        }
        if let (Some(at), Some(path)) = (assigned, &renamed) {
            self.variables.insert(word(at - 1).to_owned(), path.clone());
        } else if let Some(at) = assigned {
            self.variables.remove(word(at - 1));
        }
        let dot = self.dots.last().cloned().flatten();
        match keyword {
            "with" => self.dots.push(renamed),
            "range" | "define" | "block" => self.dots.push(None),
            "if" => self.dots.push(dot),
            "else" if word(1) != "if" && self.dots.len() > 1 => {
                self.dots.pop();
                let outer = self.dots.last().cloned().flatten();
                // In the `else` branch of `if`, `.` is unchanged; in that of other blocks, it is that of the outer
                // block.
                self.dots.push(if word(1) == "with" { None } else { outer });
            }
            "end" if self.dots.len() > 1 => _ = self.dots.pop(),
            _ => {}
        }
    }

    /// The path of the value that a word refers to.
    fn path(&self, word: &str) -> Option<Vec<String>> {
        let mut names = word.split('.');
        let keys = |names: &mut dyn Iterator<Item = &str>| {
            names.filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        if word.starts_with(['.', '$']) && names.by_ref().any(|name| name == "Values") {
            return Some(keys(&mut names));
        }
        let (base, rest) = match word.strip_prefix('.') {
            Some(rest) => (self.dots.last()?.as_ref()?, rest),
            None => {
                let (name, rest) = word.split_once('.').unwrap_or((word, ""));
                (self.variables.get(name)?, rest)
            }
        };
        Some(base.iter().cloned().chain(keys(&mut rest.split('.'))).collect())
    }
}

/// `true` if a template evaluates values as templates, which may refer to any other value.
pub fn evaluates_values(text: &str) -> bool {
    let is_tpl = |token: &Token| is_helper(token) || matches!(token, Token::Word(word) if word == "tpl");
    parts(text).iter().any(|part| matches!(part, Part::Action(tokens) if tokens.iter().any(is_tpl)))
}

/// `true` for the name of Bitnami's helper, which evaluates strings verbatim, and other values as YAML.
fn is_helper(token: &Token) -> bool {
    matches!(token, Token::Text(text) if text.contains("tplvalues.render"))
}

/// The types that an action supports for its values.
fn types(tokens: &[Token]) -> Types {
    let has =
        |names: &[&str]| tokens.iter().any(|token| matches!(token, Token::Word(word) if names.contains(&&**word)));
    match () {
        () if has(&ASKS_TYPE) => Types::Several,
        // `join` returns a string unchanged.
        () if has(&["join"]) || tokens.iter().any(is_helper) => Types::OrText,
        () if has(&PRINTS) => Types::Printed,
        () => Types::Unknown,
    }
}

/// The actions of a template and the text between them, without comments.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        parts.push(Part::Text(before));
        let action = after.trim_start_matches('-').trim_start();
        rest = match action.strip_prefix("/*") {
            Some(comment) => {
                let after = comment.split_once("*/").map_or("", |(_, rest)| rest);
                after.split_once("}}").map_or("", |(_, rest)| rest)
            }
            None => {
                let (tokens, length) = tokens(action);
                parts.push(Part::Action(tokens));
                &action[length..]
            }
        };
    }
    parts.push(Part::Text(rest));
    parts
}

/// The tokens up to `}}`, and their length in bytes.
fn tokens(text: &str) -> (Vec<Token>, usize) {
    let mut tokens = Vec::new();
    let mut letters = text.char_indices().peekable();
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$' | '@');
    while let Some((at, letter)) = letters.next() {
        match letter {
            '}' if text[at..].starts_with("}}") => return (tokens, at + 2),
            '"' | '`' | '\'' => {
                let mut literal = String::new();
                while let Some((_, next)) = letters.next() {
                    match next {
                        '\\' if letter != '`' => literal.extend(letters.next().map(|(_, escaped)| escaped)),
                        end if end == letter => break,
                        other => literal.push(other),
                    }
                }
                tokens.push(Token::Text(literal));
            }
            _ if is_word(letter) => {
                let mut word = String::from(letter);
                while let Some((_, next)) = letters.next_if(|(_, next)| is_word(*next)) {
                    word.push(next);
                }
                tokens.push(Token::Word(word));
            }
            _ if letter.is_whitespace() || matches!(letter, ':' | '-') => {}
            sign => tokens.push(Token::Sign(sign)),
        }
    }
    (tokens, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let show = |it: &Use| {
            let types = match it.types {
                Types::Unknown => "",
                Types::Printed => "!",
                Types::OrText => "|",
                Types::Several => "?",
            };
            format!("{}{}{types}", it.path.join("."), if it.is_whole { "*" } else { "" })
        };
        uses(text).iter().map(show).collect()
    }

    #[test]
    fn tells_what_is_used_whole_from_what_is_read_by_its_keys() {
        for (text, expected) in [
            ("{{ .Values.image.tag }}", "image.tag*"),
            ("{{- toYaml $.Values.resources | nindent 2 -}}", "resources*!"),
            ("{{/* .Values.a */}}{{ .Release.Name }}", ""),
            ("{{ if .Values.ingress.enabled }}a{{ end }}", "ingress.enabled"),
            ("{{ if and .Values.a (not .Values.b) }}{{ end }}", "a b"),
            ("{{ if eq (toString .Values.a) \"x\" }}{{ end }}", "a*"),
            ("{{ with .Values.ingress }}{{ .host }}{{ else }}{{ .x }}{{ end }}{{ .y }}", "ingress ingress.host*"),
            ("{{ with .Values.ingress }}{{ toYaml . }}{{ end }}", "ingress ingress*!"),
            ("{{ range .Values.hosts }}{{ .name }}{{ end }}", "hosts*"),
            ("{{ $i := .Values.image }}{{ $i.tag }}", "image image.tag*"),
            ("{{ range $name, $route := .Values.routes }}{{ $route.host }}{{ end }}", "routes*"),
            ("{{ $i := .Values.image | default dict }}{{ $i.tag }}", "image*"),
            ("{{ index .Values \"a-b\" \"c\" }}", "a-b.c*"),
            ("{{ if (index .Values \"a-b\").c.d }}{{ end }}", "a-b.c.d*"),
            ("{{ index .Values $key }}", "*"),
            ("{{ include \"x\" (dict \"v\" .Values.a \"ctx\" $) }}", "a*"),
            ("{{ include \"x\" . }}{{ printf \"}} {{ .Values.no\" }}", ""),
            ("{{ .root.Values.global.x }}", "global.x*"),
            ("{{ tpl (toYaml .Values) . }}", "*!"),
            ("{{ include \"common.tplvalues.render\" (dict \"value\" .Values.x \"context\" $) }}", "x*|"),
            ("{{ .Values.urls | join \",\" }}", "urls*|"),
            ("{{ $type := typeOf .Values.x }}{{ if kindIs \"map\" .Values.y }}{{ end }}", "x*? y*?"),
            ("{{ if hasKey .Values.a \"b\" }}{{ end }}", "a.b"),
            ("{{ with .Values.a }}{{ if .b }}{{ .c }}{{ else }}{{ .d }}{{ end }}{{ end }}", "a a.b a.c* a.d*"),
        ] {
            assert_eq!(found(text).join(" "), expected, "{text}");
        }
    }
}
