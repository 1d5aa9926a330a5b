//! Maps ranges of a parsed text to positions in its file, which may contain the text as a scalar of another document.

use std::ops::Range;
use std::sync::Arc;

use opctl_model::diagnostic::{SourceFile, Span};

pub enum Origin {
    /// The text is the file, without its first `skipped` bytes.
    File { file: Arc<SourceFile>, skipped: usize },
    /// The text is a literal block. `lines` has the start of each line in the text and in the file.
    Block { file: Arc<SourceFile>, lines: Vec<(usize, usize)> },
    /// The text was folded or quoted: all ranges map to one position.
    One(Span),
}

impl Origin {
    pub fn shifted(file: &Arc<SourceFile>, skipped: usize) -> Self {
        Self::File { file: Arc::clone(file), skipped }
    }

    /// `text` is the value of the scalar at `span`; in a literal block, the span starts with its content.
    pub fn within(text: &str, span: &Span) -> Self {
        let source = &span.file.text;
        let below = source[..span.range.start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent = span.range.start - below;
        let mut lines = Vec::new();
        let (mut inside, mut outside) = (0, below);
        for (line, raw) in text.split_inclusive('\n').zip(source[below..].split_inclusive('\n')) {
            let content = line.trim_end_matches(['\r', '\n']);
            if !content.is_empty() && raw.get(indent..).is_none_or(|raw| !raw.starts_with(content)) {
                return Self::One(span.clone());
            }
            lines.push((inside, outside + indent.min(raw.len())));
            inside += line.len();
            outside += raw.len();
        }
        Self::Block { file: Arc::clone(&span.file), lines }
    }

    /// The position of a range, cut at the end of its first line.
    pub fn span(&self, range: Range<usize>) -> Span {
        let (file, start, end) = match self {
            Self::One(span) => return span.clone(),
            Self::File { file, skipped } => (file, range.start + skipped, range.end + skipped),
            Self::Block { file, lines } => {
                let line = lines.partition_point(|(inside, _)| *inside <= range.start);
                let (inside, outside) = lines[..line].last().copied().unwrap_or_default();
                (file, range.start - inside + outside, range.end.max(range.start) - inside + outside)
            }
        };
        let text = &file.text;
        let start = floor(text, start);
        let shown = &text[start..floor(text, end).max(start)];
        let shown = shown.split(['\r', '\n']).next().unwrap_or_default().trim_end();
        Span { file: Arc::clone(file), range: start..start + shown.len() }
    }
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
