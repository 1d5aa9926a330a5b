//! Versions as `github.com/blang/semver/v4` parses them, the library of Kubernetes and OLM: semantic versions whose
//! numbers, also those of the pre-release, fit into 64 bits.

use semver::Version;

/// Parses `1.2.3-rc.1+build`.
pub fn parse(text: &str) -> Option<Version> {
    let version = Version::parse(text).ok()?;
    let is_short = |part: &str| part.parse::<u64>().is_ok() || part.bytes().any(|c| !c.is_ascii_digit());
    (version.pre.is_empty() || version.pre.split('.').all(is_short)).then_some(version)
}

/// Normalizes `v1.2` and `01.2` to `1.2.0`, without validating the parts. `None` if an incomplete version contains `-`
/// or `+`.
///
/// Source: `normalizeAndParse` of `pkg/cel/library/semverlib.go` of k8s.io/apiserver, and blang's `ParseTolerant`.
pub fn complete(text: &str) -> Option<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 && parts.last()?.contains(['+', '-']) {
        return None;
    }
    parts.resize(3, "0".to_owned());
    Some(parts.join("."))
}

fn without_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let trimmed = part.trim_start_matches('0');
    if trimmed.starts_with(|c: char| c.is_ascii_digit()) { trimmed.to_owned() } else { format!("0{trimmed}") }
}
