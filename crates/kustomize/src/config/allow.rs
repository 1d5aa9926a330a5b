//! `# +opctl:allow:CODE reason` in manifests.

use std::sync::Arc;

use opctl_model::Allow;
use opctl_model::diagnostic::{SourceFile, Span};
use opctl_model::project::{Tree, join};

use super::is_yaml;

/// The markers `# +opctl:allow:CODE reason` in the manifests, at the end of a line or above it. Unreadable files are
/// skipped.
pub fn allows(tree: &Tree, folder: &str) -> Vec<Allow> {
    let mut allows = Vec::new();
    let files = tree.files_below(&join(folder, "config")).unwrap_or_default();
    for path in files.into_iter().filter(|path| is_yaml(path)) {
        let Some(text) = tree.read(&path).ok().flatten().filter(|text| text.contains(ALLOW)) else { continue };
        let file = SourceFile::new(path, text);
        let mut start = 0;
        for line in file.text.split_inclusive('\n') {
            let end = start + line.len();
            if let Some((before, marker)) = line.split_once(ALLOW) {
                let (code, reason) = marker.trim().split_once(char::is_whitespace).unwrap_or((marker.trim(), ""));
                let place = start + before.len()..start + line.trim_end().len();
                let covers = if before.trim().is_empty() { end..item_end(&file.text, end) } else { start..end };
                let span = |range| Span { file: Arc::clone(&file), range };
                allows.push(Allow {
                    code: code.into(),
                    reason: reason.trim().into(),
                    covers: span(covers),
                    span: span(place),
                });
            }
            start = end;
        }
    }
    allows
}

const ALLOW: &str = "# +opctl:allow:";

/// End of the item that starts on the next line without a comment: the item's line and all lines indented deeper.
fn item_end(text: &str, from: usize) -> usize {
    let mut end = from;
    let mut item = None;
    for line in text[from..].split_inclusive('\n') {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if !content.is_empty() && !content.starts_with('#') {
            match item {
                None => item = Some(indent),
                Some(first) if indent <= first => break,
                Some(_) => {}
            }
        }
        end += line.len();
    }
    end
}
