//! A marker's text: one line of a comment, or several joined by a trailing `\`, with a mapping to the file.

use std::ops::Range;
use std::sync::Arc;

use super::comments::{Comment, CommentKind};
use opctl_model::diagnostic::{SourceFile, Span};

/// Text in which every byte comes from the file.
pub struct Line {
    pub file: Arc<SourceFile>,
    pub text: String,
    /// Start of a piece: its offset in `text`, and in the file. Invariant: sorted, the first one is at 0 of `text`.
    pieces: Vec<(usize, usize)>,
    /// Number of comments that it consists of.
    pub length: usize,
    /// The last line ends in `\`, and no comment continues it.
    pub dangling: bool,
}

impl Line {
    /// Joins the first of `comments` with those that continue it: plain comments, each directly below the previous
    /// one.
    pub fn join(file: &Arc<SourceFile>, comments: &[Comment]) -> Self {
        let mut line = Self { file: file.clone(), text: String::new(), pieces: Vec::new(), length: 0, dangling: false };
        for comment in comments {
            line.length += 1;
            line.pieces.push((line.text.len(), comment.range.start));
            let text = &file.text[comment.range.clone()];
            let Some(continued) = text.strip_suffix('\\').filter(|_| comment.kind == CommentKind::Plain) else {
                line.text.push_str(text);
                return line;
            };
            let follows = comments.get(line.length).is_some_and(|next| {
                let gap = &file.text[comment.range.end..next.range.start];
                let is_marker = file.text[next.range.clone()].starts_with('+');
                gap.trim() == "//" && gap.matches('\n').count() == 1 && !is_marker
            });
            if !follows {
                line.text.push_str(text);
                line.dangling = true;
                return line;
            }
            line.text.push_str(continued);
        }
        line
    }

    /// The span of a range of `text` in the file.
    pub fn span(&self, range: &Range<usize>) -> Span {
        let start = self.place(range.start);
        // The end follows the last byte, because the next byte may be on another line.
        let end = if range.is_empty() { start } else { self.place(range.end - 1) + 1 };
        Span { file: self.file.clone(), range: start..end }
    }

    pub fn whole(&self) -> Span {
        self.span(&(0..self.text.len()))
    }

    fn place(&self, at: usize) -> usize {
        let index = self.pieces.partition_point(|(start, _)| *start <= at) - 1;
        let (start, place) = self.pieces[index];
        place + (at - start)
    }
}
