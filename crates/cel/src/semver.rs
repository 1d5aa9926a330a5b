//! Versions: `1.2.3-rc.1+build`.
//!
//! Source: `github.com/blang/semver/v4`, and `normalizeAndParse` of `pkg/cel/library/semverlib.go` of k8s.io/apiserver.

use std::cmp::Ordering;

#[derive(Debug)]
pub struct Semver {
    /// Major, minor, patch.
    pub numbers: [u64; 3],
    before: Vec<Part>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Less than any text.
    Number(u64),
    Text(String),
}

impl Semver {
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let (major, minor, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, before) = rest.split_once('-').map_or((rest, None), |(patch, before)| (patch, Some(before)));
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
        if build.is_some_and(|build| !build.split('.').all(is_word)) {
            return None;
        }
        let part = |text: &str| {
            if text.bytes().all(|c| c.is_ascii_digit()) {
                number(text).map(Part::Number)
            } else {
                is_word(text).then(|| Part::Text(text.to_owned()))
            }
        };
        let before = match before {
            Some(before) => before.split('.').map(part).collect::<Option<Vec<_>>>()?,
            None => Vec::new(),
        };
        Some(Self { numbers: [number(major)?, number(minor)?, number(patch)?], before })
    }

    /// Takes `v1.2` and `01.2.3`, too.
    pub fn parse_tolerant(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
        let last = parts.last()?;
        if parts.len() < 3 && last.contains(['+', '-']) {
            return None;
        }
        parts.resize(3, "0".to_owned());
        Self::parse(&parts.join("."))
    }

    pub fn compare(&self, other: &Self) -> Ordering {
        let is_release = |version: &Self| version.before.is_empty();
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| is_release(self).cmp(&is_release(other)))
            .then_with(|| self.before.cmp(&other.before))
    }
}

fn without_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let trimmed = part.trim_start_matches('0');
    if trimmed.starts_with(|c: char| c.is_ascii_digit()) { trimmed.to_owned() } else { format!("0{trimmed}") }
}

/// Without zeros before it.
fn number(text: &str) -> Option<u64> {
    let is_plain =
        !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}
