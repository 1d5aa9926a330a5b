//! `opctl explain`: prints the documentation of a diagnostic code.

use std::fmt::Write;

use clap::Args;
use clap::builder::styling::Style;
use clap_complete::engine::ArgValueCandidates;

use super::{Console, Outcome};
use crate::commands::complete;
use crate::diagnostics;
use crate::error::UserError;
use opctl_model::diagnostic::Diagnostic;
use opctl_model::names::nearest;

/// Explain an error or warning code and how to fix it
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # Explain OP014
  opctl explain OP014

  # List all codes
  opctl explain")]
pub struct ExplainArgs {
    /// The code of an error or warning
    #[arg(add = ArgValueCandidates::new(complete::codes))]
    pub code: Option<String>,
}

const BOLD: Style = Style::new().bold();

/// The width of a line, in columns.
const WIDTH: usize = 80;

pub fn run(args: &ExplainArgs, console: &Console) -> Outcome {
    match args.code.as_deref().map_or_else(|| Ok(list()), explanation) {
        Ok(text) => {
            console.print(&text);
            Outcome::Done
        }
        Err(refusal) => {
            console.error(&refusal);
            Outcome::Problems
        }
    }
}

/// A hint to the explanations of these diagnostics, for the end of the output of `render`.
pub fn hint(diagnostics: &[Diagnostic]) -> Option<String> {
    let mut codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect();
    codes.sort_unstable();
    codes.dedup();
    match codes[..] {
        [] => None,
        [code] => Some(format!("for details run `opctl explain {code}`")),
        [first, ..] => Some(format!("for details run `opctl explain {first}` (also {})", codes[1..].join(", "))),
    }
}

/// All codes, each with the first sentence of its explanation.
fn list() -> String {
    let mut text = String::new();
    for code in diagnostics::all() {
        let paragraph = plain(&code.explanation().trim().split("\n\n").next().unwrap_or_default().replace('\n', " "));
        let sentence = paragraph.split_once(". ").map_or(paragraph.trim_end_matches('.'), |(sentence, _)| sentence);
        let lines = wrapped(sentence, WIDTH - 7);
        let _ = writeln!(text, "{BOLD}{code}{BOLD:#}  {}", lines.join("\n       "));
    }
    text
}

fn explanation(code: &str) -> Result<String, UserError> {
    let digits = code.trim_start_matches(['O', 'o']).trim_start_matches(['P', 'p']);
    let wanted = format!("OP{digits:0>3}");
    match diagnostics::find(&wanted) {
        Some(code) => Ok(format!("{BOLD}{code}{BOLD:#}\n\n{}", rendered(code.explanation().trim()))),
        None => {
            let refusal = UserError::new(format!("there is no code `{code}`"));
            let one_off = |near: &&str| near.chars().zip(wanted.chars()).filter(|(a, b)| a == b).count() > 3;
            let refusal = match nearest(&wanted, diagnostics::all().iter().map(|code| code.name)).filter(one_off) {
                Some(near) => refusal.help(format!("did you mean `{near}`?")),
                None => refusal,
            };
            Err(refusal.help("`opctl explain` lists all codes"))
        }
    }
}

/// Formats Markdown for a terminal: wraps paragraphs and lists, keeps code unchanged, and drops the targets of links.
fn rendered(markdown: &str) -> String {
    let mut text = String::new();
    let mut paragraph = String::new();
    let mut fenced = false;
    for line in markdown.lines().chain([""]) {
        let fence = line.starts_with("```");
        let item = line.starts_with("- ");
        let apart = fenced || fence || item || line.is_empty() || line.starts_with(['#', '|']);
        if apart && !paragraph.is_empty() {
            let indent = if paragraph.starts_with("- ") { "  " } else { "" };
            let lines = wrapped(&plain(&paragraph), WIDTH - indent.len());
            let _ = writeln!(text, "{}", lines.join(&format!("\n{indent}")));
            paragraph.clear();
        }
        if fence {
            fenced = !fenced;
        } else if fenced {
            let _ = writeln!(text, "    {line}");
        } else if let Some(heading) = line.strip_prefix('#') {
            let _ = writeln!(text, "{BOLD}{}{BOLD:#}", heading.trim_start_matches(['#', ' ']));
        } else if line.starts_with('|') {
            let _ = writeln!(text, "{}", plain(line));
        } else if line.is_empty() {
            text.push('\n');
        } else {
            paragraph.push_str(line.trim_end());
            paragraph.push(' ');
        }
    }
    format!("{}\n", text.trim_end())
}

/// Replaces `[text](target)` by `text`, except in code.
fn plain(markdown: &str) -> String {
    let pieces = markdown.split('`').enumerate().map(|(number, piece)| {
        // Every second part is code.
        if number % 2 == 1 {
            return piece.to_owned();
        }
        let mut links = piece.split("](");
        let first = links.next().unwrap_or_default().to_owned();
        let text = links.fold(first, |text, rest| text + rest.split_once(')').map_or(rest, |(_, after)| after));
        text.replace('[', "")
    });
    pieces.collect::<Vec<_>>().join("`")
}

fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_line_that_stands_alone() {
        assert!(!list().contains("]("));
    }

    #[test]
    fn codes_are_found_however_they_are_written() {
        for code in ["OP014", "op014", "op14", "14", "Op14"] {
            assert_eq!(explanation(code).unwrap(), explanation("OP014").unwrap(), "{code}");
        }
        assert_eq!(explanation("OP01").unwrap(), explanation("OP001").unwrap());
        assert!(explanation("E0308").is_err());
    }

    #[test]
    fn markdown_is_made_for_a_terminal() {
        let markdown = "See [the `page`](a.md#b) of\nit.\n\n- one\n  more\n- `[x](y)`\n\n```sh\nls [a](b)\n```\n";
        assert_eq!(rendered(markdown), "See the `page` of it.\n\n- one more\n- `[x](y)`\n\n    ls [a](b)\n");
    }
}
