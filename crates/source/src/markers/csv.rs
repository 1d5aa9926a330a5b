//! Parses the marker `+operator-sdk:csv:customresourcedefinitions:…` into a [`Displayed`], with the type or field
//! below it.

use std::ops::Range;

use super::arguments::{Arguments, problem};
use crate::markers::diagnostics::{OP107, OP110};
use opctl_model::Displayed;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::lexer::{Token, behind_group, code};

pub(super) fn read(arguments: &Arguments, problems: &mut Vec<Diagnostic>) -> Option<Displayed> {
    let text = |name| arguments.text(name).map(|value| value.it.to_owned());
    let part = text("type");
    let before = problems.len();
    match (&part, arguments.span("resources"), arguments.span("xDescriptors")) {
        (Some(_), Some(span), _) => {
            let message = "`resources` is for a kind, but `type` makes this a field";
            problems.push(problem(OP110, &span, message, "write a marker above the type"));
        }
        (None, _, Some(span)) => {
            let message = "missing argument `type`: `xDescriptors` is for a field";
            problems.push(problem(OP107, &span, message, "add `type=spec` or `type=status`"));
        }
        _ => {}
    }
    let mut resources = Vec::new();
    for list in arguments.lists("resources") {
        match list.it {
            [kind, version] if !kind.is_empty() && !version.is_empty() => {
                resources.push([kind.clone(), version.clone(), String::new()]);
            }
            // `""` for any name is common.
            [kind, version, name] if !kind.is_empty() && !version.is_empty() => {
                resources.push([kind.clone(), version.clone(), name.clone()]);
            }
            _ => {
                let help = "write it as `{Deployment,v1}` or `{Deployment,v1,NAME}`";
                problems.push(problem(OP110, &list.span, "a resource has a kind, a version and a name", help));
            }
        }
    }
    if problems.len() > before {
        return None;
    }
    let span = arguments.marker_span();
    let target = target(&span.file.text, span.range.end).map(|range| Span { file: span.file.clone(), range });
    Some(Displayed {
        part,
        display_name: text("displayName"),
        order: arguments.integer("order").map(|value| value.it),
        x_descriptors: arguments.texts("xDescriptors").into_iter().map(|value| value.it.to_owned()).collect(),
        resources,
        target,
        span,
    })
}

/// The name of the type or field after a position, with only comments and attributes in between.
fn target(text: &str, behind: usize) -> Option<Range<usize>> {
    let tokens: Vec<(Token, Range<usize>)> = code(text);
    let mut at = tokens.partition_point(|(_, range)| range.start < behind);
    let word =
        |at: usize| tokens.get(at).filter(|(token, _)| *token == Token::Word).map(|(_, range)| &text[range.clone()]);
    let is = |at: usize, sign: u8| tokens.get(at).is_some_and(|(token, _)| *token == Token::Sign(sign));
    while is(at, b'#') {
        at = behind_group(&tokens, at + 1);
    }
    if word(at) == Some("pub") {
        at += 1;
        if is(at, b'(') {
            at = behind_group(&tokens, at);
        }
    }
    // The lexer splits a raw identifier into three tokens.
    let name = |at: usize| match word(at)? {
        "r" if is(at + 1, b'#') => word(at + 2).map(|_| (tokens[at].1.start..tokens[at + 2].1.end, at + 3)),
        _ => Some((tokens[at].1.clone(), at + 1)),
    };
    match word(at)? {
        "struct" | "enum" => name(at + 1).map(|(range, _)| range),
        _ => name(at).filter(|(_, behind)| is(*behind, b':')).map(|(range, _)| range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_about_the_type_or_field_below_it() {
        for (text, name) in [
            ("// m\n#[kube(a = [1])]\n/// Doc.\npub struct RackSpec {", Some("RackSpec")),
            ("// m\n\n#[serde(default)]\npub(crate) height: i32,", Some("height")),
            ("// m\npub r#type: i32,", Some("r#type")),
            ("// m\nenum A {}", Some("A")),
            ("// m\nfn a() {}", None),
            ("// m\n}\nstruct A;", None),
            ("// m", None),
        ] {
            assert_eq!(target(text, 4.min(text.len())).map(|range| &text[range]), name, "{text}");
        }
    }
}
