//! Kubernetes' label selectors: parsed from text (`suite=basic,test in (a, b),!slow`) or JSON, matched against labels,
//! and printed.

use std::fmt;

use serde_json::Value;

/// Requirements that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(pub Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    DoesNotExist,
    Equals(String),
    In(Vec<String>),
    /// Also matches if the label is missing.
    NotIn(Vec<String>),
}

impl LabelSelector {
    /// Parses a selector. An empty text matches everything.
    pub fn parse(text: &str) -> Result<Self, String> {
        split(text)?.into_iter().map(|part| requirement(part.trim())).collect::<Result<_, _>>().map(Self)
    }

    /// Reads `matchLabels` and `matchExpressions`. Skips expressions that an API server rejects.
    pub fn of(selector: &Value) -> Self {
        let labels = selector["matchLabels"].as_object().into_iter().flatten();
        let labels = labels.map(|(key, value)| Requirement::equals(key, &text(value)));
        let expressions = selector["matchExpressions"].as_array().into_iter().flatten().filter_map(|expression| {
            let values = expression["values"].as_array().into_iter().flatten().map(text).collect();
            Requirement::new(expression["key"].as_str()?, expression["operator"].as_str()?, values)
        });
        Self(labels.chain(expressions).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Matches the labels of an object, given as JSON.
    pub fn selects_labels(&self, labels: &Value) -> bool {
        self.selects(|key| labels.get(key).map(text))
    }

    /// Matches an object; `label` returns the value of one of its labels.
    pub fn selects<L: AsRef<str>>(&self, label: impl Fn(&str) -> Option<L>) -> bool {
        self.0.iter().all(|Requirement { key, test }| {
            let value = label(key);
            let value = value.as_ref().map(AsRef::as_ref);
            let is_among = |values: &[String]| value.is_some_and(|value| values.iter().any(|it| it == value));
            match test {
                Test::Exists => value.is_some(),
                Test::DoesNotExist => value.is_none(),
                Test::Equals(wanted) => value == Some(wanted),
                Test::In(values) => is_among(values),
                Test::NotIn(values) => !is_among(values),
            }
        })
    }
}

impl Requirement {
    pub fn equals(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), test: Test::Equals(value.to_owned()) }
    }

    /// An item of `matchExpressions`. `None` if an API server rejects it, because the operator is unknown or its values
    /// are missing.
    pub fn new(key: &str, operator: &str, values: Vec<String>) -> Option<Self> {
        let test = match (operator, values.is_empty()) {
            ("Exists", true) => Test::Exists,
            ("DoesNotExist", true) => Test::DoesNotExist,
            ("In", false) => Test::In(values),
            ("NotIn", false) => Test::NotIn(values),
            _ => return None,
        };
        (!key.is_empty()).then(|| Self { key: key.to_owned(), test })
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let requirements: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&requirements.join(","))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, test } = self;
        match test {
            Test::Exists => write!(f, "{key}"),
            Test::DoesNotExist => write!(f, "!{key}"),
            Test::Equals(value) => write!(f, "{key}={value}"),
            Test::In(values) => write!(f, "{key} in ({})", values.join(",")),
            Test::NotIn(values) => write!(f, "{key} notin ({})", values.join(",")),
        }
    }
}

/// `true` for valid values of labels.
pub fn is_label_value(text: &str) -> bool {
    let outer = |c: char| c.is_ascii_alphanumeric();
    text.len() <= 63
        && text.chars().all(|c| outer(c) || "-_.".contains(c))
        && (text.is_empty() || text.starts_with(outer) && text.ends_with(outer))
}

/// A label that is not a string is invalid, but the requirement must not be ignored.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Splits at commas outside of parentheses.
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
            Test::Equals(value) => std::slice::from_ref(value),
            Test::Exists | Test::DoesNotExist => &[],
        };
        if key.is_empty() || !key.chars().all(is_key) || !values.iter().all(|value| is_label_value(value)) {
            return Err(format!("`{part}` is not a requirement of a label selector, such as `suite=basic`"));
        }
        Ok(Requirement { key: key.to_owned(), test })
    };
    if let Some((head, list)) = part.strip_suffix(')').and_then(|part| part.split_once('(')) {
        let values: Vec<String> = list.split(',').map(|value| value.trim().to_owned()).collect();
        return match head.split_whitespace().collect::<Vec<_>>()[..] {
            [key, "in"] => of(key, Test::In(values)),
            [key, "notin"] => of(key, Test::NotIn(values)),
            _ => Err(format!("`{part}` is not a requirement of a label selector, such as `suite in (basic, olm)`")),
        };
    }
    if let Some((key, value)) = part.split_once("!=") {
        return of(key, Test::NotIn(vec![value.trim().to_owned()]));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return of(key, Test::Equals(value.trim().to_owned()));
    }
    match part.strip_prefix('!') {
        Some(key) => of(key, Test::DoesNotExist),
        None => of(part, Test::Exists),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_those_of_kubernetes() {
        let label = |key: &str| match key {
            "suite" => Some("olm"),
            "test" => Some("a"),
            _ => None,
        };
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
            assert!(LabelSelector::parse(text).unwrap().selects(label), "{text}");
        }
        for text in ["suite=basic", "slow", "!test", "suite notin (olm)", "x in (y)", "suite=olm,test=b"] {
            assert!(!LabelSelector::parse(text).unwrap().selects(label), "{text}");
        }
        for text in ["=a", "a in b", "a in (b", "a)", "a,,b", "a in ((b))", "a b", "a=b c", "in (b)", "a=-"] {
            assert!(LabelSelector::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn those_of_objects_are_printed_as_kubectl_takes_them() {
        let selector = json!({ "matchLabels": { "app": "web" }, "matchExpressions": [
            { "key": "tier", "operator": "NotIn", "values": ["a", "b"] }, { "key": "one", "operator": "In", "values": ["a"] },
            { "key": "new", "operator": "Exists" }, { "key": "old", "operator": "DoesNotExist" }, { "key": "x", "operator": "In" },
        ] });
        let text = LabelSelector::of(&selector).to_string();
        assert_eq!(text, "app=web,tier notin (a,b),one in (a),new,!old");
        assert_eq!(LabelSelector::parse(&text).unwrap(), LabelSelector::of(&selector));
    }
}
