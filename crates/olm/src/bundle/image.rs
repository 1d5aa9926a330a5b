//! References of container images, by the grammar of `distribution/reference` (`ParseNormalizedNamed`).

/// `true` for valid image references: `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`.
pub fn is_reference(text: &str) -> bool {
    if text.len() == 64 && text.bytes().all(is_hex) {
        return false;
    }
    let (text, digest) = text.split_once('@').map_or((text, None), |(name, digest)| (name, Some(digest)));
    let (host, rest) = match text.split_once('/') {
        Some((host, rest)) if is_like_host(host) => (Some(host), rest),
        _ => (None, text),
    };
    let (path, tag) = rest.split_once(':').map_or((rest, None), |(path, tag)| (path, Some(tag)));
    let length = host.map_or(0, |host| host.len() + 1) + path.len();
    length <= 255
        && host.is_none_or(is_host)
        && path.split('/').all(is_component)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest)
}

/// `true` if the reference has a digest, so the image cannot change.
pub fn is_pinned(text: &str) -> bool {
    text.contains('@')
}

/// `true` if the text before the first slash is a host; otherwise it is part of the path.
fn is_like_host(text: &str) -> bool {
    text.contains(['.', ':']) || text == "localhost" || text.bytes().any(|byte| byte.is_ascii_uppercase())
}

fn is_host(text: &str) -> bool {
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => {
            if address.is_empty() || !address.bytes().all(|byte| is_hex(byte.to_ascii_lowercase()) || byte == b':') {
                return false;
            }
            match rest {
                "" => return true,
                rest => ("a", rest.strip_prefix(':').unwrap_or("-").into()),
            }
        }
        None => text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port))),
    };
    let is_label = |label: &str| {
        let inner = |byte: &u8| byte.is_ascii_alphanumeric();
        let bytes = label.as_bytes();
        bytes.first().is_some_and(inner)
            && bytes.last().is_some_and(inner)
            && bytes.iter().all(|byte| inner(byte) || *byte == b'-')
    };
    name.split('.').all(is_label)
        && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A path component: lowercase letters and digits, separated by `.`, `_`, `__` or any number of `-`.
fn is_component(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_separator = |text: &str| matches!(text, "." | "_" | "__") || text.chars().all(|c| c == '-');
    let mut separators = text.split(inner).filter(|between| !between.is_empty());
    text.starts_with(inner) && text.ends_with(inner) && separators.all(is_separator)
}

fn is_tag(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=128).contains(&text.len()) && text.starts_with(word) && text.chars().all(|c| word(c) || matches!(c, '.' | '-'))
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    let length = match algorithm {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    hex.len() == length && hex.bytes().all(is_hex)
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_those_of_distribution() {
        let digest = format!("sha256:{}", "0f".repeat(32));
        for text in [
            "nginx",
            "a/b:v1",
            "quay.io/a/b__c:v1.2-x",
            "localhost:5000/a",
            "[::1]:5000/a",
            "A.example.com/a",
            "A/b",
            "a--b",
        ] {
            assert!(is_reference(text), "{text}");
            assert!(is_reference(&format!("{text}@{digest}")), "{text}");
        }
        let long = "a".repeat(256);
        for text in [
            "",
            "Nginx",
            "a:",
            "a/",
            "/a",
            "a b",
            "a..b",
            "a___b",
            "a@sha256:12",
            "quay.io/",
            "a:-x",
            "x:1/a:y z",
            &long,
            &digest[7..],
        ] {
            assert!(!is_reference(text), "{text}");
        }
    }
}
