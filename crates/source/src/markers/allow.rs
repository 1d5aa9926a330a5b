//! Parses the marker `+opctl:allow:CODE reason` into an [`Allow`], with the range of code that it covers.

use std::ops::Range;

use super::arguments::{Arguments, problem};
use crate::markers::diagnostics::OP110;
use opctl_model::Allow;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::lexer::{Token, code};

pub(super) fn read(arguments: &Arguments, problems: &mut Vec<Diagnostic>) -> Option<Allow> {
    let (code, reason) = (arguments.text("CODE")?, arguments.text("reason")?);
    if !(arguments.is_code)(code.it) {
        let help = "use the code from the message, such as `OP417`; `opctl explain` lists them";
        problems.push(problem(OP110, &code.span, format!("there is no diagnostic `{}`", code.it), help));
    }
    let (span, covers) = place(arguments);
    Some(Allow { code: code.it.into(), reason: reason.it.into(), span, covers })
}

/// The spans of a marker, and of the code that it covers.
pub(super) fn place(arguments: &Arguments) -> (Span, Span) {
    let span = arguments.marker_span();
    let range = covered(&span.file.text, &span.range);
    let covers = Span { file: span.file.clone(), range };
    (span, covers)
}

/// The range of the item that a comment at `comment` belongs to.
fn covered(text: &str, comment: &Range<usize>) -> Range<usize> {
    let tokens: Vec<(Token, Range<usize>)> = code(text);
    let next = tokens.partition_point(|(_, range)| range.start < comment.start);
    let line = text[..comment.start].rfind('\n').map_or(0, |end| end + 1);
    let is_behind_code = next.checked_sub(1).is_some_and(|last| tokens[last].1.end > line);
    if is_behind_code {
        let start = start_of(&tokens, next - 1);
        return tokens[start].1.start..end_of(text, &tokens, start, next - 1).max(comment.end);
    }
    // The end of the comments before the next token, some of which are markers.
    let comments = text[..tokens.get(next).map_or(text.len(), |(_, range)| range.start)].trim_end().len();
    comment.start..end_of(text, &tokens, next, next).max(comments)
}

/// The first token of the statement or item that contains the token `last`.
fn start_of(tokens: &[(Token, Range<usize>)], last: usize) -> usize {
    let mut depth = 0;
    let mut start = last;
    // A block that the last token itself closes is part of the item.
    if matches!(tokens[last].0, Token::Sign(b'}' | b')' | b']')) {
        depth = 1;
    }
    for index in (0..last).rev() {
        match tokens[index].0 {
            Token::Sign(b'}') if depth == 0 => return start,
            Token::Sign(b'}' | b')' | b']') => depth += 1,
            Token::Sign(b'{') if depth == 0 => return start,
            Token::Sign(b'{' | b'(' | b'[') => depth = (depth - 1).max(0),
            Token::Sign(b';') if depth == 0 => return start,
            _ => {}
        }
        start = index;
    }
    start
}

/// The end of the statement or item that begins with the token `first`: its `;` or its last brace, but not before the
/// token `least`.
fn end_of(text: &str, tokens: &[(Token, Range<usize>)], first: usize, least: usize) -> usize {
    let mut depth = 0;
    let mut end = 0;
    let mut is_arm = false;
    let is_let = tokens.get(first).is_some_and(|(_, range)| &text[range.clone()] == "let");
    for (index, (token, range)) in tokens.iter().enumerate().skip(first) {
        match token {
            Token::Sign(b'{' | b'(' | b'[') => depth += 1,
            Token::Sign(b'}' | b')' | b']') if depth == 0 && index > least => return end,
            Token::Sign(b'}' | b')' | b']') => depth -= 1,
            _ => {}
        }
        end = range.end;
        let next = tokens.get(index + 1).map(|(token, range)| (*token, &text[range.clone()]));
        let is_over = match token {
            Token::Sign(b';') => true,
            Token::Sign(b',') => is_arm,
            Token::Sign(b'}') if !is_let => {
                !matches!(next, Some((Token::Sign(b'.' | b'?' | b';' | b',' | b'='), _) | (_, "else")))
            }
            _ => false,
        };
        if is_over && depth <= 0 && index >= least {
            return end;
        }
        is_arm |= depth == 0 && *token == Token::Sign(b'=') && matches!(next, Some((Token::Sign(b'>'), _)));
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text that the comment `// allow` covers.
    fn covered_in(text: &str) -> &str {
        let start = text.find("// allow").unwrap();
        let comment = start + 3..start + text[start..].find('\n').unwrap_or(text.len() - start);
        &text[covered(text, &comment)]
    }

    #[test]
    fn covers_what_follows() {
        for (text, last) in [
            ("// allow\nlet a = api.get(&name).await?;\nlet b = 1;", "await?;"),
            ("// allow\nlet S { a, .. } = s;\nb();", "= s;"),
            ("// allow\nlet a = if b { c } else { d };\nb();", "{ d };"),
            ("// allow\nlet Some(a) = b else { return };\nb();", "return };"),
            ("// allow\nlet a = vec![1; 2];\nb();", "2];"),
            ("// allow\napi.patch(&a, &b, &Patch::Apply(S { a: 1, b })).await?;\nb();", "await?;"),
            ("// allow\nmatch a {\n  B => c,\n}\nb();", "=> c,\n}"),
            ("// allow\nmatch a { B => c }.await?;\nb();", ".await?;"),
            ("// allow\nif a { b } else if c { d } else { e }\nf();", "{ e }"),
            ("// allow\nfor a in b { c(); d(); }\nf();", "d(); }"),
            (
                "// allow\n/// Doc.\n#[instrument(skip(ctx))]\npub async fn f(a: B<C, D>) -> E { a(); b() }\nfn g() {}",
                "b() }",
            ),
            ("// allow\nimpl A for B {\n fn c() {}\n fn d() {}\n}\nstruct E;", "fn d() {}\n}"),
            ("// allow\nstruct E;\nstruct F;", "E;"),
            ("// allow\nuse a::{b, c};\nuse d;", "c};"),
            ("// allow\nconst A: [u8; 2] = [1, 2];\nb!();", "2];"),
            ("// allow\nm! { a; b }\nc();", "b }"),
            ("// allow\n// +kubebuilder:rbac:x\n// +kubebuilder:rbac:y\nfn f() { g(); }\nfn h() {}", "g(); }"),
            ("// allow\n// +kubebuilder:rbac:x\n", "rbac:x"),
            ("match a {\n // allow\n A => b(c, d),\n E => f,\n}", "d),"),
            ("match a {\n // allow\n A => { b(); }\n E => f,\n}", "b(); }"),
            ("fn f() {\n a();\n // allow\n b()\n}\nfn c() {}", "b()"),
            ("Controller::new(a, b)\n // allow\n .owns(c, d)\n .run(e);\nf();", ".run(e);"),
            ("// allow", "allow"),
            ("fn f() {} // b }\n// allow\n/* } */ a('}', \"}\");\nb();", "\"}\");"),
        ] {
            let covered = covered_in(text);
            assert!(covered.starts_with("allow") && covered.ends_with(last), "{text}\n→ {covered}");
        }
    }

    #[test]
    fn covers_the_statement_that_it_stands_behind() {
        for (text, expected) in [
            ("a();\nlet b = c.d()?; // allow\ne();", "let b = c.d()?; // allow"),
            ("a();\nlet b = c // allow\n  .d()?;\ne();", "let b = c // allow\n  .d()?;"),
            ("a();\nb\n  .c() // allow\n  .d()\n  .await?;\ne();", "b\n  .c() // allow\n  .d()\n  .await?;"),
            ("a();\nb(\n  c, // allow\n  d,\n);\ne();", "b(\n  c, // allow\n  d,\n);"),
            ("struct A;\nasync fn f() { // allow\n  g();\n}\nfn h() {}", "async fn f() { // allow\n  g();\n}"),
            ("fn f() {\n  g();\n} // allow\nfn h() {}", "fn f() {\n  g();\n} // allow"),
            ("fn f() {\n  if a { b }\n  c() // allow\n}\n", "c() // allow"),
            ("fn f() { a(); b(); } // allow\n", "fn f() { a(); b(); } // allow"),
        ] {
            assert_eq!(covered_in(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn covers_something_of_any_text(before in "[{}()\\[\\];,.=>a \n]{0,20}", after in "[{}()\\[\\];,.=>a \n]{0,40}") {
            let text = format!("{before}// allow\n{after}");
            prop_assert!(covered_in(&text).contains("allow"));
        }
    }
}
