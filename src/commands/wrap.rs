//! Wraps messages at words, for a terminal.

use terminal_size::{Width, terminal_size_of};
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

/// The maximum width in columns. Longer lines are hard to read.
const WIDEST: usize = 100;

/// The programs in command lines that messages show.
const PROGRAMS: &[&str] = &["cargo", "cd", "docker", "export", "helm", "kubectl", "make", "opctl", "rustup"];

/// The width for text in columns; `None` if the output is not a terminal.
pub fn columns(output: impl std::os::fd::AsFd) -> Option<usize> {
    let (Width(width), _) = terminal_size_of(output)?;
    Some(usize::from(width).min(WIDEST)).filter(|width| *width >= 40)
}

/// Wraps each line. Continuation lines are indented to the start of the text, after `  help: ` and the like. Command
/// lines and code are not wrapped, so that users can copy them.
pub fn wrap(text: &str, width: usize) -> String {
    text.split_inclusive('\n').map(|line| wrap_line(line, width)).collect()
}

/// Wraps diagnostics: only their messages and help, not the source.
pub fn wrap_diagnostics(text: &str, width: usize) -> String {
    let is_text = |line: &str| {
        let plain = plain(line);
        let start = plain.trim_start();
        start.starts_with("= ") || start.starts_with("error[") || start.starts_with("warning[")
    };
    let lines = text.split_inclusive('\n');
    lines.map(|line| if is_text(line) { wrap_line(line, width) } else { line.to_owned() }).collect()
}

/// Wraps examples so that they can still be copied: command lines with a backslash, comments with another `#`.
pub fn examples(text: &str, width: usize) -> String {
    text.split_inclusive('\n').map(|line| wrap_example(line, width)).collect()
}

fn wrap_example(line: &str, width: usize) -> String {
    let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
    if display_width(body) <= width {
        return line.to_owned();
    }
    let text = body.trim_start();
    let indent = &body[..body.len() - text.len()];
    if text.starts_with("# ") {
        return textwrap::fill(body, Options::new(width).subsequent_indent(&format!("{indent}# "))) + end;
    }
    let mut lines = vec![indent.to_owned()];
    for word in shell_words(text) {
        let last = lines.last_mut().expect("the first line exists");
        let is_first = last.trim_start().is_empty();
        if !is_first && display_width(last) + display_width(word) + " ".len() + " \\".len() > width {
            lines.push(format!("{indent}  {word}"));
        } else {
            last.push_str(if is_first { "" } else { " " });
            last.push_str(word);
        }
    }
    lines.join(" \\\n") + end
}

/// The words of a command line. A quoted word may contain spaces.
fn shell_words(line: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    line.split(move |char| {
        match (quote, char) {
            (None, '\'' | '"') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            _ => {}
        }
        quote.is_none() && char == ' '
    })
}

fn wrap_line(line: &str, width: usize) -> String {
    let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
    let plain = plain(body);
    let indent = hanging_indent(&plain);
    let text = plain.get(indent..).unwrap_or_default();
    if display_width(body) <= width || is_code(text) || !text.contains(' ') {
        return line.to_owned();
    }
    let indent = " ".repeat(indent.min(width / 2));
    let options = Options::new(width)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(body, options).join("\n") + end
}

/// The column at which the text of a line begins: after its indentation, and after a word with a colon or in a column
/// of its own.
fn hanging_indent(plain: &str) -> usize {
    let start = plain.len() - plain.trim_start().len();
    let rest = &plain[start..];
    if let Some(note) = rest.strip_prefix("= ") {
        return start + 2 + hanging_indent(note);
    }
    let word = rest.find(' ').unwrap_or(rest.len());
    let gap = rest[word..].len() - rest[word..].trim_start().len();
    let is_label = word < 20 && rest[..word].ends_with(':');
    let is_column = gap > 1 || rest.starts_with("# ");
    if is_label || is_column { start + word + gap } else { start }
}

fn is_code(text: &str) -> bool {
    let is_command = |program: &str| PROGRAMS.contains(&program) && text.contains(" -");
    let is_assignment = |rest: &str| rest.contains('=') && !rest.contains(' ');
    text.starts_with("// ")
        || text.strip_prefix("export ").is_some_and(is_assignment)
        || text.split(' ').next().is_some_and(is_command)
}

/// The text without colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_can_be_copied() {
        let text =
            "Examples:\n  # A controller with a finalizer\n  opctl run --flag 'two words' --other\n  opctl run\n";
        let wrapped = "\
Examples:
  # A controller with
  # a finalizer
  opctl run --flag \\
    'two words' \\
    --other
  opctl run
";
        assert_eq!(examples(text, 22), wrapped);
        assert_eq!(examples(text, 80), text);
    }

    #[test]
    fn continuations_begin_below_the_text() {
        let text = "error: one two three four five\n  help: one two three four\n  ok       one two three four\n";
        let wrapped = "\
error: one two three
       four five
  help: one two three
        four
  ok       one two three
           four
";
        assert_eq!(wrap(text, 24), wrapped);
    }

    #[test]
    fn colours_take_no_columns() {
        assert_eq!(
            wrap("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: one two three\n", 20),
            "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: one two three\n"
        );
    }

    #[test]
    fn command_lines_paths_and_code_are_whole() {
        for line in [
            "  help: kubectl get crd widgets.example.com -o yaml\n",
            "    // +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n",
            "create  config/crd/bases/cache.example.com_memcacheds.yaml\n",
        ] {
            assert_eq!(
                wrap(line, 40).split_whitespace().collect::<Vec<_>>(),
                line.split_whitespace().collect::<Vec<_>>()
            );
            assert!(wrap(line, 40).lines().all(|line| !line.ends_with("get ")), "{line}");
        }
        let row = "created     customresourcedefinition.apiextensions.k8s.io/memcacheds.cache.example.com\n";
        assert_eq!(wrap(row, 40), row);
        let export = "             export KUBECONFIG=/home/me/.cache/opctl/testenv/dev-4711/kubeconfig\n";
        assert_eq!(wrap(export, 40), export);
        let sentence = "help: opctl follows modules and `use`, and nothing else";
        assert_eq!(wrap(sentence, 40), "help: opctl follows modules and `use`,\n      and nothing else");
    }

    #[test]
    fn the_source_in_a_diagnostic_is_not_wrapped() {
        let text = "\
error[OP010]: one two three four five
   |
18 |     pub range: (u16, u16), // a longer line
   = help: one two three four five
";
        let wrapped = "\
error[OP010]: one two three
              four five
   |
18 |     pub range: (u16, u16), // a longer line
   = help: one two three four
           five
";
        assert_eq!(wrap_diagnostics(text, 30), wrapped);
    }
}
