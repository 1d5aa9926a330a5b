//! Which values the templates of a chart read.
//!
//! A template that reads `.Values.image.tag` has no use for `.Values.image.tga`, so that key may be refused. One that hands on
//! `.Values.resources` as a whole takes any key. Actions are tokens here; what they compute is not known, so a value that is
//! not certainly read by its keys alone counts as used whole.

use std::collections::BTreeMap;

/// One use of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// Below `.Values`.
    pub path: Vec<String>,
    /// It is handed on, so all of its keys are.
    pub is_whole: bool,
}

/// All uses in the text of a template.
pub fn uses(text: &str) -> Vec<Use> {
    let mut reader = Reader { dots: vec![None], ..Reader::default() };
    actions(text).into_iter().for_each(|action| reader.action(&action));
    reader.uses.sort();
    reader.uses.dedup();
    reader.uses
}

#[derive(Default)]
struct Reader {
    uses: Vec<Use>,
    /// What `.` is in each open block: a value, or something else.
    dots: Vec<Option<Vec<String>>>,
    variables: BTreeMap<String, Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A keyword, a function, a number, or a path such as `$.Values.x`.
    Word(String),
    Text(String),
    Sign(char),
}

/// What only asks whether a value is there.
const TESTS: [&str; 12] = ["if", "else", "and", "or", "not", "eq", "ne", "empty", "true", "false", "nil", "hasKey"];
/// What takes a value and literal keys.
const LOOKUPS: [&str; 3] = ["index", "get", "hasKey"];

impl Reader {
    fn action(&mut self, tokens: &[Token]) {
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
        // `with .Values.x` and `$y := .Values.x` only give it another name.
        let body = usize::from(keyword == "with");
        let assigned =
            tokens.iter().position(|token| *token == Token::Sign('=')).filter(|at| word(at - 1).starts_with('$'));
        let from = assigned.map_or(body, |at| at + 1);
        let renamed = match &tokens[from.min(tokens.len())..] {
            [Token::Word(word)] if body == 1 || assigned.is_some() => self.path(word),
            _ => None,
        };
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", word);
            if let Some(mut path) = self.path(word(at)) {
                if LOOKUPS.contains(&before) {
                    while let Some(Token::Text(key)) = tokens.get(at + 1) {
                        path.push(key.clone());
                        at += 1;
                    }
                }
                let is_whole = !is_test && renamed.is_none() && before != "hasKey";
                self.uses.push(Use { path, is_whole });
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
                // In the other branch of `if` nothing has changed, and of the others it is what it was outside.
                self.dots.push(if word(1) == "with" { None } else { outer });
            }
            "end" if self.dots.len() > 1 => _ = self.dots.pop(),
            _ => {}
        }
    }

    /// The value that a word names.
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

/// The tokens of each `{{ … }}`, comments left out.
fn actions(text: &str) -> Vec<Vec<Token>> {
    let mut actions = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        rest = rest[at + 2..].trim_start_matches('-').trim_start();
        if rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, rest)| rest);
            continue;
        }
        let (tokens, length) = tokens(rest);
        rest = &rest[length..];
        actions.push(tokens);
    }
    actions
}

/// The tokens up to `}}`, and how long they are.
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
        let show = |it: &Use| format!("{}{}", it.path.join("."), if it.is_whole { "*" } else { "" });
        uses(text).iter().map(show).collect()
    }

    #[test]
    fn tells_what_is_used_whole_from_what_is_read_by_its_keys() {
        for (text, expected) in [
            ("{{ .Values.image.tag }}", "image.tag*"),
            ("{{- toYaml $.Values.resources | nindent 2 -}}", "resources*"),
            ("{{/* .Values.a */}}{{ .Release.Name }}", ""),
            ("{{ if .Values.ingress.enabled }}a{{ end }}", "ingress.enabled"),
            ("{{ if and .Values.a (not .Values.b) }}{{ end }}", "a b"),
            ("{{ if eq (toString .Values.a) \"x\" }}{{ end }}", "a*"),
            ("{{ with .Values.ingress }}{{ .host }}{{ else }}{{ .x }}{{ end }}{{ .y }}", "ingress ingress.host*"),
            ("{{ with .Values.ingress }}{{ toYaml . }}{{ end }}", "ingress ingress*"),
            ("{{ range .Values.hosts }}{{ .name }}{{ end }}", "hosts*"),
            ("{{ $i := .Values.image }}{{ $i.tag }}", "image image.tag*"),
            ("{{ $i := .Values.image | default dict }}{{ $i.tag }}", "image*"),
            ("{{ index .Values \"a-b\" \"c\" }}", "a-b.c*"),
            ("{{ index .Values $key }}", "*"),
            ("{{ include \"x\" (dict \"v\" .Values.a \"ctx\" $) }}", "a*"),
            ("{{ include \"x\" . }}{{ printf \"}} {{ .Values.no\" }}", ""),
            ("{{ .root.Values.global.x }}", "global.x*"),
            ("{{ tpl (toYaml .Values) . }}", "*"),
            ("{{ if hasKey .Values.a \"b\" }}{{ end }}", "a.b"),
            ("{{ with .Values.a }}{{ if .b }}{{ .c }}{{ else }}{{ .d }}{{ end }}{{ end }}", "a a.b a.c* a.d*"),
        ] {
            assert_eq!(found(text).join(" "), expected, "{text}");
        }
    }
}
