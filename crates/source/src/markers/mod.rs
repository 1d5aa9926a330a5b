//! Parses the markers in the comments of a Rust file.
//!
//! A marker is a `// +kubebuilder:…` or `// +opctl:…` line anywhere in a file: above an item, in a function, on its
//! own. The syntax is controller-gen's, but parsing is strict: text that looks like a marker must be one, or it is an
//! error with its place, because a marker that is silently ignored is a permission that is missing at run time.

mod allow;
mod arguments;
mod comments;
mod csv;
pub mod diagnostics;
pub mod go;
mod grammar;
mod kubernetes;
mod line;
mod patch;
mod rbac;
pub mod table;
mod webhook;

use std::ops::Range;
use std::sync::Arc;

use self::arguments::{Arguments, problem};
use self::comments::CommentKind;
use self::go::GO_MARKERS;
use self::line::Line;
use self::table::{MARKERS, Marker};
use crate::markers::diagnostics::{OP101, OP102, OP103, OP111, OP112};
use opctl_model::diagnostic::{Diagnostic, SourceFile, Span};
use opctl_model::names::nearest;
use opctl_model::{Authority, Operator};

/// The markers of a file, in source order. A marker with an error adds nothing.
#[derive(Debug, Default)]
pub struct Markers {
    pub operator: Operator,
    /// More than one is an error, which is only known for the whole crate.
    pub authorities: Vec<Authority>,
    /// Number of markers.
    pub count: usize,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads every marker of a file. The file need not parse as Rust.
pub fn read(file: &Arc<SourceFile>) -> Markers {
    read_but(file, |_| false, |_| true)
}

/// Like [`read`], without markers in code that a `cfg` removes: `is_removed` decides by position. `is_code` decides
/// which codes `allow` markers may have.
pub fn read_but(file: &Arc<SourceFile>, is_removed: impl Fn(usize) -> bool, is_code: impl Fn(&str) -> bool) -> Markers {
    let mut markers = Markers::default();
    if !comments::may_have_markers(&file.text) {
        return markers;
    }
    let comments = comments::comments(&file.text);
    let mut next = 0;
    while let Some(comment) = comments.get(next) {
        let text = &file.text[comment.range.clone()];
        if !["+", PREFIX, OWN_PREFIX].iter().any(|start| text.starts_with(start)) {
            next += 1; // Prose, as most comments are.
            continue;
        }
        let line = Line::join(file, &comments[next..]);
        next += match recognise(&line, comment.kind) {
            Recognised::Nothing => 1,
            Recognised::Marker(..) if is_removed(comment.range.start) => {
                let warning = OP112
                    .warning("a marker is not read")
                    .at(line.whole(), "a `cfg` removes the module around it")
                    .help("move it out of the module, or remove it");
                markers.diagnostics.push(warning);
                line.length
            }
            Recognised::Marker(marker, arguments) => {
                markers.add(marker, arguments, &line, &is_code);
                line.length
            }
            Recognised::Problem(problem) => {
                markers.diagnostics.push(*problem);
                line.length
            }
        };
    }
    markers
}

/// Warns of a file with markers that belongs to no crate.
pub fn warn_of_unread(file: &Arc<SourceFile>) -> Option<Diagnostic> {
    if !comments::may_have_markers(&file.text) {
        return None;
    }
    let comments = comments::comments(&file.text);
    let first = comments.iter().enumerate().find_map(|(index, comment)| {
        let line = Line::join(file, &comments[index..]);
        matches!(recognise(&line, comment.kind), Recognised::Marker(..)).then(|| line.whole())
    })?;
    let warning = OP112.warning(format!("the markers of `{}` are not read", file.path));
    let help = "declare the file with `mod`, or remove it; a feature that is off by default leaves a `mod` out, too";
    Some(warning.at(first, "no `mod` leads to this file").help(help))
}

impl Markers {
    fn add(&mut self, marker: &'static Marker, arguments: Range<usize>, line: &Line, is_code: &dyn Fn(&str) -> bool) {
        self.count += 1;
        if line.dangling {
            let end = line.text.len();
            let help = "end only lines with `\\` that the next `//` line continues; it stands directly below, and is no \
                        marker itself";
            let message = "nothing continues this marker";
            self.diagnostics.push(problem(OP111, &line.span(&(end - 1..end)), message, help));
            return;
        }
        let mut read = Self::default();
        let arguments = Arguments::read(marker, line, arguments, is_code, &mut read.diagnostics);
        (marker.read)(&arguments, &mut read);
        if read.diagnostics.iter().any(Diagnostic::is_error) {
            self.diagnostics.append(&mut read.diagnostics);
        } else {
            self.append(read);
        }
    }

    /// Appends the markers of `other`.
    fn append(&mut self, mut other: Self) {
        self.operator.append(&mut other.operator);
        self.authorities.append(&mut other.authorities);
        self.count += other.count;
        self.diagnostics.append(&mut other.diagnostics);
    }
}

enum Recognised {
    /// Prose, or a marker of another tool.
    Nothing,
    /// A marker of the table, and the range of its arguments in the line.
    Marker(&'static Marker, Range<usize>),
    Problem(Box<Diagnostic>),
}

impl From<Diagnostic> for Recognised {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Problem(Box::new(diagnostic))
    }
}

const PREFIX: &str = "kubebuilder";
const OWN_PREFIX: &str = "opctl";
/// The prefix of operator-sdk, whose bundle markers have another part:
/// `+operator-sdk:csv:customresourcedefinitions:`.
const SDK_PREFIX: &str = "operator-sdk";

/// Parses the prefix: `+kubebuilder:`.
fn recognise(line: &Line, kind: CommentKind) -> Recognised {
    let Some(after_plus) = line.text.strip_prefix('+') else { return without_plus(line, kind) };
    if let Some(go) = go::find(after_plus) {
        let (name, span) = line.shown(1 + go.name.len());
        return OP103.error(format!("{name} is for Go types")).at(span, "has no effect in Rust").help(go.rust).into();
    }
    let marker = after_plus.trim_start();
    let (prefix, rest) = split_word(marker);
    let known = [PREFIX, OWN_PREFIX, SDK_PREFIX].contains(&prefix);
    let joined = marker.len() == after_plus.len();
    if let Some(name) = rest.strip_prefix(':')
        && known
        && joined
    {
        return named(line, kind, prefix, name);
    }
    // `+ kubebuilder:…` and `+kubebuilder rbac:…` are typos, `+ kubebuilder is …` is prose.
    let slip = rest.starts_with(':') || (known && joined);
    match nearest(prefix, [PREFIX, OWN_PREFIX, SDK_PREFIX]) {
        Some(meant) if slip => {
            let (shown, span) = line.shown(line.text.len() - rest.len());
            OP101
                .error(format!("{shown} is almost a marker"))
                .at(span, "no marker starts like this, so it would be ignored")
                .help(format!("write `+{meant}:`"))
                .into()
        }
        _ => misspelt(line),
    }
}

/// Detects a typo that hides the prefix at the start of a marker: `+kubebuilderrbac:`, `+kube builder:rbac:`.
fn misspelt(line: &Line) -> Recognised {
    let ends: Vec<usize> = line.text.char_indices().map(|(place, c)| place + c.len_utf8()).collect();
    let slip = MARKERS.iter().find_map(|Marker { name, .. }| {
        // The name starts after the `+`; a typo makes it longer or shorter.
        let ends = ends.get(name.len() - 1..)?.iter().take(3).copied();
        ends.into_iter().find(|end| nearest(&line.text[1..*end], [*name]).is_some()).map(|end| (*name, end))
    });
    let Some((meant, end)) = slip else { return Recognised::Nothing };
    let (shown, span) = line.shown(end);
    OP101
        .error(format!("{shown} is almost a marker"))
        .at(span, "no marker starts like this, so it would be ignored")
        .help(format!("write `+{meant}:`"))
        .into()
}

/// Parses the name, which follows `+kubebuilder:`, to the end of the line.
fn named(line: &Line, kind: CommentKind, prefix: &str, rest: &str) -> Recognised {
    let name_start = line.text.len() - rest.len();
    let name = rest[..rest.find('=').unwrap_or(rest.len())].trim_end();
    let (first, after_first) = match rest.strip_prefix("csv:").filter(|_| prefix == SDK_PREFIX) {
        Some(more) => rest.split_at(rest.len() - split_word(more).1.len()),
        None => split_word(rest),
    };
    let Some(marker) = table::find(&format!("{prefix}:{first}")) else {
        let trimmed = name.trim_start();
        let (word, _) = split_word(trimmed);
        let (shown, span) = line.shown(name_start + name.len() - trimmed.len() + word.len());
        return problem(OP101, &span, format!("unknown marker {shown}"), meant(prefix, trimmed)).into();
    };
    let (shown, name_span) = line.shown(1 + marker.name.len());
    if kind != CommentKind::Plain {
        if after_first.starts_with(char::is_whitespace) {
            return Recognised::Nothing; // Prose about the marker.
        }
        let kind = if kind == CommentKind::Doc { "doc" } else { "block" };
        return OP102
            .error(format!("a marker in a {kind} comment"))
            .at(line.whole(), format!("{kind} comments are not read"))
            .help("start the line with `//`")
            .into();
    }
    let arguments = match after_first.trim_start() {
        "" => "",
        after => match after.strip_prefix(':') {
            Some(arguments) => arguments,
            None => {
                let help = format!("write `+{}`", marker.usage());
                return problem(OP101, &name_span, format!("expected `:` after {shown}"), help).into();
            }
        },
    };
    Recognised::Marker(marker, line.text.len() - arguments.len()..line.text.len())
}

/// A suggestion for an unknown name.
fn meant(prefix: &str, name: &str) -> String {
    let name = name.trim_start_matches([':', ' ']);
    let (word, _) = split_word(name);
    let ours = || MARKERS.iter().map(|marker| marker.name);
    let go = GO_MARKERS.iter().map(|go| go.name).filter(|name| name.starts_with(PREFIX));
    let mut names: Vec<(&str, &str)> = ours().chain(go).filter_map(|name| name.split_once(':')).collect();
    names.sort_by_key(|(own, _)| *own != prefix);
    let near = nearest(word, names.iter().map(|(_, name)| *name));
    let near = near.or_else(|| nearest(name, names.iter().map(|(_, name)| *name)));
    match names.iter().find(|(_, name)| Some(*name) == near) {
        Some((prefix, name)) => format!("did you mean `+{prefix}:{name}`?"),
        None => format!("the markers are `+{}`", ours().collect::<Vec<_>>().join("`, `+")),
    }
}

/// Detects a missing `+`: `// kubebuilder:rbac:…`.
fn without_plus(line: &Line, kind: CommentKind) -> Recognised {
    let (prefix, rest) = split_word(&line.text);
    let Some(name) = rest.strip_prefix(':').filter(|_| kind == CommentKind::Plain) else {
        return Recognised::Nothing;
    };
    let (first, _) = split_word(name);
    let Some(marker) = table::find(&format!("{prefix}:{first}")) else { return Recognised::Nothing };
    OP101
        .error(format!("`{}` without `+` is not a marker", marker.name))
        .at(line.span(&(0..prefix.len())), "so it would be ignored")
        .help(format!("write `+{}`", marker.name))
        .into()
}

impl Line {
    /// The first `length` bytes for a message, and their span.
    fn shown(&self, length: usize) -> (String, Span) {
        (format!("`{}`", &self.text[..length]), self.span(&(0..length)))
    }
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(text.len()))
}
