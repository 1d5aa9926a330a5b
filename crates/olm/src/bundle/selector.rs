//! Kubernetes' label selectors as text: `suite=basic,test in (a, b),!slow`.

use std::collections::BTreeMap;

/// All of its requirements have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    /// Also without the label.
    NotIn(Vec<String>),
}

impl LabelSelector {
    /// An empty text selects everything.
    pub fn parse(text: &str) -> Result<Self, String> {
        split(text)?.into_iter().map(|part| requirement(part.trim())).collect::<Result<_, _>>().map(Self)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|Requirement { key, test }| {
            let value = labels.get(key);
            match test {
                Test::Exists => value.is_some(),
                Test::Absent => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            }
        })
    }
}

/// At commas outside of parentheses.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let (mut start, mut is_open) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' if !is_open => is_open = true,
            ')' if is_open => is_open = false,
            '(' | ')' => return Err(format!("`{text}` is not a label selector: the parentheses do not match")),
            ',' if !is_open => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if is_open {
        return Err(format!("`{text}` is not a label selector: `)` is missing"));
    }
    parts.push(&text[start..]);
    Ok(if text.trim().is_empty() { Vec::new() } else { parts })
}

fn requirement(part: &str) -> Result<Requirement, String> {
    let of = |key: &str, test: Test| {
        let key = key.trim();
        let is_key = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let values = match &test {
            Test::In(values) | Test::NotIn(values) => values.as_slice(),
            Test::Exists | Test::Absent => &[],
        };
        let is_value = |value: &String| value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if key.is_empty() || !key.chars().all(is_key) || !values.iter().all(is_value) {
            return Err(format!("`{part}` is not a requirement of a label selector, such as `suite=basic`"));
        }
        Ok(Requirement { key: key.to_owned(), test })
    };
    let one = |value: &str| vec![value.trim().to_owned()];
    if let Some((head, list)) = part.strip_suffix(')').and_then(|part| part.split_once('(')) {
        let values: Vec<String> = list.split(',').map(|value| value.trim().to_owned()).collect();
        return match head.split_whitespace().collect::<Vec<_>>()[..] {
            [key, "in"] => of(key, Test::In(values)),
            [key, "notin"] => of(key, Test::NotIn(values)),
            _ => Err(format!("`{part}` is not a requirement of a label selector, such as `suite in (basic, olm)`")),
        };
    }
    if let Some((key, value)) = part.split_once("!=") {
        return of(key, Test::NotIn(one(value)));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return of(key, Test::In(one(value)));
    }
    match part.strip_prefix('!') {
        Some(key) => of(key, Test::Absent),
        None => of(part, Test::Exists),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_those_of_kubernetes() {
        let labels: BTreeMap<String, String> =
            [("suite", "olm"), ("test", "a")].map(|(key, value)| (key.into(), value.into())).into();
        for text in [
            "",
            " ",
            "suite=olm",
            "suite == olm , test",
            "suite in (basic, olm)",
            "suite notin (basic),!slow",
            "suite!=basic",
            "x!=y",
        ] {
            assert!(LabelSelector::parse(text).unwrap().selects(&labels), "{text}");
        }
        for text in ["suite=basic", "slow", "!test", "suite notin (olm)", "x in (y)", "suite=olm,test=b"] {
            assert!(!LabelSelector::parse(text).unwrap().selects(&labels), "{text}");
        }
        for text in ["=a", "a in b", "a in (b", "a)", "a,,b", "a in ((b))", "a b", "a=b c", "in (b)"] {
            assert!(LabelSelector::parse(text).is_err(), "{text}");
        }
    }
}
