//! A problem in a file of the user: message, location and help. Diagnostics are collected, so that all are shown at
//! once; they are rendered in one place and know nothing of Kubernetes.

mod code;
pub mod formats;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

pub use code::{Chapter, Class, Code, ReportedBy};

/// A text file as it was read, shared by all spans in it.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Displayed path: relative to the project root, with `/`.
    pub path: String,
    pub text: String,
}

impl SourceFile {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { path: path.into(), text: text.into() })
    }
}

/// A range of bytes in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub file: Arc<SourceFile>,
    pub range: Range<usize>,
}

impl Span {
    /// `true` if the other span starts in this one.
    pub fn contains(&self, other: &Self) -> bool {
        self.file.path == other.file.path && self.range.contains(&other.range.start)
    }

    /// 1-based line and column (in characters) of the first byte.
    pub fn line_column(&self) -> (usize, usize) {
        let before = &self.file.text[..self.range.start.min(self.file.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

impl Span {
    /// The range of the lines of the span. Only these are rendered, so large files cost nothing.
    fn lines(&self) -> Range<usize> {
        let Range { start, end } = self.range;
        let text = &self.file.text;
        let first = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        first..text[end..].find('\n').map_or(text.len(), |newline| end + newline)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_column();
        write!(f, "{}:{line}:{column}", self.file.path)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Prevents all writing.
    Error,
    Warning,
}

/// One problem.
///
/// `message` is lowercase, without a final period; each entry of `help` is one way to fix the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: &'static Code,
    pub message: String,
    /// The location and its label, which may be empty.
    pub span: Option<(Span, String)>,
    pub help: Vec<String>,
}

impl Diagnostic {
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.span = Some((span, label.into()));
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// `true` if only a compiler can determine whether it is a mistake.
    pub fn needs_compiler(&self) -> bool {
        self.code.class == Class::CompilerOnly
    }
}

/// Longer lines are not quoted, only their location is shown: they are unreadable, and may have a diagnostic every few
/// bytes.
const LONGEST_LINE: usize = 2000;

/// Renders diagnostics in the style of rustc, with carets under the source. `color` adds ANSI colors.
pub fn render(diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for diagnostic in diagnostics {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(&diagnostic.message).id(diagnostic.code.name));
        if let Some((span, label)) = &diagnostic.span {
            let (line, column) = span.line_column();
            let lines = span.lines();
            let start = lines.start;
            let text = &span.file.text[lines];
            if text.lines().all(|line| line.len() <= LONGEST_LINE) {
                let annotation = AnnotationKind::Primary.span(span.range.start - start..span.range.end - start);
                let annotation = if label.is_empty() { annotation } else { annotation.label(label) };
                group =
                    group.element(Snippet::source(text).line_start(line).path(&span.file.path).annotation(annotation));
            } else {
                group = group.element(Origin::path(&span.file.path).line(line).char_column(column));
                if !label.is_empty() {
                    group = group.element(Level::NOTE.message(label));
                }
            }
        }
        for help in &diagnostic.help {
            group = group.element(Level::HELP.message(help));
        }
        text.push_str(&renderer.render(&[group]));
        text.push_str("\n\n");
    }
    text
}
