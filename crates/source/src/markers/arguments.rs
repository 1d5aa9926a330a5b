//! The arguments of a marker, checked against the [table](super::table): known names, no duplicates, none missing, of
//! the right type. The marker's own function interprets the values.

use std::ops::Range;

use super::grammar::{self, Content, SyntaxError};
use super::line::Line;
use super::table::{Argument, Form, Marker, Need, Type};
use crate::markers::diagnostics::{OP105, OP106, OP107, OP108, OP110};
use opctl_model::diagnostic::{Code, Diagnostic, Span};
use opctl_model::names::nearest;

/// The arguments that have the right type.
pub struct Arguments<'a> {
    pub marker: &'static Marker,
    /// `true` for the codes of diagnostics.
    pub is_code: &'a dyn Fn(&str) -> bool,
    line: &'a Line,
    given: Vec<GivenArgument>,
}

struct GivenArgument {
    argument: &'static Argument,
    /// The range from the name to the last value.
    range: Range<usize>,
    values: Vec<Value<Scalar>>,
}

enum Scalar {
    Text(String),
    List(Vec<String>),
    Integer(i64),
    Boolean(bool),
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value<T> {
    pub it: T,
    pub span: Span,
}

/// A problem whose help suggests one fix.
pub fn problem(code: &'static Code, at: &Span, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    code.error(message).at(at.clone(), "").help(help)
}

impl<'a> Arguments<'a> {
    /// Parses `range` of the line, which follows the marker's name and its `:`. `problems` must be empty, so that
    /// they are the marker's first.
    pub fn read(
        marker: &'static Marker,
        line: &'a Line,
        range: Range<usize>,
        is_code: &'a dyn Fn(&str) -> bool,
        problems: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut arguments = Self { marker, is_code, line, given: Vec::new() };
        if range.is_empty() && !marker.arguments.is_empty() {
            let message = format!("`+{}` has no arguments", marker.name);
            problems.push(problem(OP107, &line.whole(), message, format!("write `+{}`", marker.usage())));
            return arguments;
        }
        match marker.form {
            Form::Named => match grammar::parse(&line.text[..range.end], range.start, |name| {
                marker.argument(name).is_some_and(|argument| argument.kind.is_list())
            }) {
                Ok(written) => written.into_iter().for_each(|written| arguments.take(written, problems)),
                Err(SyntaxError { range, message, help }) => {
                    let problem = OP108.error(message).at(line.span(&range), "");
                    problems.push(help.into_iter().fold(problem, Diagnostic::help));
                }
            },
            Form::Positional => arguments.take_in_order(range),
        }
        // A missing argument may be among those with syntax errors.
        if problems.is_empty() {
            problems.extend(arguments.missing());
        }
        arguments
    }

    fn take_in_order(&mut self, range: Range<usize>) {
        let text = &self.line.text[..range.end];
        let mut at = range.start;
        for (index, argument) in self.marker.arguments.iter().enumerate() {
            let rest = text[at..].trim_start();
            let is_last = index + 1 == self.marker.arguments.len();
            let length = if is_last { None } else { rest.find(char::is_whitespace) }.unwrap_or(rest.len());
            if length == 0 {
                return;
            }
            let range = text.len() - rest.len()..text.len() - rest.len() + length;
            at = range.end;
            let value = Value { it: Scalar::Text(text[range.clone()].into()), span: self.line.span(&range) };
            self.given.push(GivenArgument { argument, range, values: vec![value] });
        }
    }

    fn take(&mut self, written: grammar::Argument, problems: &mut Vec<Diagnostic>) {
        let grammar::Argument { name, name_range, value, range } = written;
        let Some(argument) = self.marker.argument(name) else {
            let names: Vec<&str> = self.marker.arguments.iter().map(|argument| argument.name).collect();
            let help = match nearest(name, names.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("it takes `{}`", names.join("`, `")),
            };
            let message = format!("`+{}` has no argument `{name}`", self.marker.name);
            return problems.push(problem(OP105, &self.line.span(&name_range), message, help));
        };
        if self.find(name).is_some() {
            let help = match argument.kind.is_list() {
                true => "join the values with `;`, or write a second marker",
                false => "remove one of them, or write a second marker",
            };
            let message = format!("argument `{name}` is given twice");
            return problems.push(problem(OP106, &self.line.span(&range), message, help));
        }
        let written = match value.content {
            Content::List(values) if argument.kind.is_list() => values,
            Content::List(values) => {
                let span = self.line.span(&values.get(1).unwrap_or(&values[0]).range);
                let help = "write one marker for each, or put quotes around a value with `;` inside";
                return problems.push(problem(OP108, &span, format!("`{name}` takes one value"), help));
            }
            _ => vec![value],
        };
        let before = problems.len();
        let values = written.into_iter().filter_map(|value| self.value(argument, value, problems)).collect();
        if problems.len() == before {
            self.given.push(GivenArgument { argument, range, values });
        }
    }

    fn value(
        &self,
        argument: &'static Argument,
        value: grammar::Value,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<Value<Scalar>> {
        let span = self.line.span(&value.range);
        let name = argument.name;
        let mut refuse = |message: String, help: String| {
            problems.push(problem(OP108, &span, message, help));
            None
        };
        if argument.kind == Type::Lists {
            let texts = |values: Vec<grammar::Value>| -> Option<Vec<String>> {
                let text = |value: grammar::Value| match value.content {
                    Content::Text { text, quoted } if quoted || !text.is_empty() => Some(text),
                    _ => None,
                };
                values.into_iter().map(text).collect()
            };
            let Some(texts) = Some(value.content).and_then(|content| match content {
                Content::List(values) => texts(values),
                _ => None,
            }) else {
                return refuse(
                    format!("`{name}` takes lists in braces"),
                    format!("write it as in `{name}={}`", argument.example),
                );
            };
            return Some(Value { it: Scalar::List(texts), span });
        }
        let Content::Text { text, quoted } = value.content else {
            let found = if matches!(value.content, Content::Map(_)) { "a map" } else { "a list" };
            let help = "put quotes around a value with `{` or `;` inside: `\"…\"`, or backticks".into();
            return refuse(format!("`{name}` takes {}, and this is {found}", argument.kind.one()), help);
        };
        if text.is_empty() && !argument.may_be_empty {
            let help = "remove the argument, or give it a value".into();
            return refuse(format!("`{name}` has an empty value"), help);
        }
        if !quoted && text.contains(char::is_whitespace) {
            let help = match argument.kind.is_list() {
                true => {
                    format!("separate values with `;`: `{}`", text.split_whitespace().collect::<Vec<_>>().join(";"))
                }
                false => format!("put quotes around it: `\"{text}\"`"),
            };
            return refuse(format!("`{text}` has blanks inside"), help);
        }
        let it = match argument.kind {
            Type::Text | Type::Texts | Type::Lists => Some(Scalar::Text(text.clone())),
            Type::Integer => integer(&text).filter(|_| !quoted).map(Scalar::Integer),
            Type::Boolean => text.parse().ok().filter(|_| !quoted).map(Scalar::Boolean),
            Type::OneOf(words) | Type::SomeOf(words) => {
                let Some(word) = words.iter().find(|word| word.eq_ignore_ascii_case(&text)) else {
                    let help = match nearest(&text, words.iter().copied()) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => format!("it takes `{}`", words.join("`, `")),
                    };
                    problems.push(problem(OP110, &span, format!("`{name}` has no value `{text}`"), help));
                    return None;
                };
                Some(Scalar::Text((*word).into()))
            }
        };
        match it {
            Some(it) => Some(Value { it, span }),
            None => {
                let help = match quoted {
                    true => format!("remove the quotes, as in `{name}={}`", argument.example),
                    false => format!("write it as in `{name}={}`", argument.example),
                };
                refuse(format!("`{name}` takes {}, not `{text}`", argument.kind.one()), help)
            }
        }
    }

    fn missing(&self) -> Option<Diagnostic> {
        let is_missing = |argument: &&Argument| {
            let is_needed = match argument.need {
                Need::Required => true,
                Need::Unless(other) => self.find(other).is_none(),
                Need::Optional => false,
            };
            is_needed && self.find(argument.name).is_none()
        };
        let missing: Vec<&Argument> = self.marker.arguments.iter().filter(is_missing).collect();
        let names: Vec<String> = missing.iter().map(|argument| format!("`{}`", argument.name)).collect();
        let message = match names.len() {
            0 => return None,
            1 => format!("missing argument {}", names[0]),
            _ => format!("missing arguments {}", names.join(", ")),
        };
        let problem = OP107.error(message).at(self.marker_span(), "");
        if self.marker.form == Form::Positional {
            return Some(problem.help(format!("write `+{}`", self.marker.usage())));
        }
        let help = |Argument { name, example, about, .. }: &Argument| format!("add `{name}={example}`: {about}");
        Some(missing.into_iter().map(help).fold(problem, Diagnostic::help))
    }

    fn find(&self, name: &str) -> Option<&GivenArgument> {
        debug_assert!(self.marker.argument(name).is_some(), "`{name}` is not in the table");
        self.given.iter().find(|given| given.argument.name == name)
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &Value<Scalar>> {
        self.find(name).into_iter().flat_map(|given| &given.values)
    }

    /// The span of the marker, from `+` to its end.
    pub fn marker_span(&self) -> Span {
        self.line.whole()
    }

    /// The span of an argument with its name, if it is present.
    pub fn span(&self, name: &str) -> Option<Span> {
        Some(self.line.span(&self.find(name)?.range))
    }

    /// All values of a list; empty if it is absent.
    pub fn texts(&self, name: &str) -> Vec<Value<&str>> {
        let texts = self.values(name).filter_map(|Value { it, span }| match it {
            Scalar::Text(text) => Some(Value { it: text.as_str(), span: span.clone() }),
            Scalar::List(_) | Scalar::Integer(_) | Scalar::Boolean(_) => None,
        });
        texts.collect()
    }

    /// All lists of a list of lists; empty if it is absent.
    pub fn lists(&self, name: &str) -> Vec<Value<&[String]>> {
        let lists = self.values(name).filter_map(|Value { it, span }| match it {
            Scalar::List(texts) => Some(Value { it: texts.as_slice(), span: span.clone() }),
            Scalar::Text(_) | Scalar::Integer(_) | Scalar::Boolean(_) => None,
        });
        lists.collect()
    }

    pub fn text(&self, name: &str) -> Option<Value<&str>> {
        self.texts(name).into_iter().next()
    }

    pub fn integer(&self, name: &str) -> Option<Value<i64>> {
        self.values(name).find_map(|Value { it, span }| match it {
            Scalar::Integer(it) => Some(Value { it: *it, span: span.clone() }),
            Scalar::Text(_) | Scalar::List(_) | Scalar::Boolean(_) => None,
        })
    }

    pub fn boolean(&self, name: &str) -> Option<Value<bool>> {
        self.values(name).find_map(|Value { it, span }| match it {
            Scalar::Boolean(it) => Some(Value { it: *it, span: span.clone() }),
            Scalar::Text(_) | Scalar::List(_) | Scalar::Integer(_) => None,
        })
    }
}

/// Digits with an optional `-`.
fn integer(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

impl Type {
    /// The noun for a single value in messages.
    fn one(self) -> &'static str {
        match self {
            Self::Text | Self::Texts | Self::OneOf(_) | Self::SomeOf(_) => "a text",
            Self::Lists => "a list",
            Self::Integer => "a whole number",
            Self::Boolean => "`true` or `false`",
        }
    }
}

impl Marker {
    /// The marker with its required arguments.
    pub fn usage(&self) -> String {
        let needed = self.arguments.iter().filter(|argument| argument.need != Need::Optional);
        let needed = needed.map(|argument| argument.name);
        match self.form {
            _ if self.arguments.is_empty() => self.name.to_owned(),
            Form::Named => {
                format!("{}:{}", self.name, needed.map(|name| format!("{name}=…")).collect::<Vec<_>>().join(","))
            }
            Form::Positional => format!("{}:{}", self.name, needed.collect::<Vec<_>>().join(" ")),
        }
    }
}
