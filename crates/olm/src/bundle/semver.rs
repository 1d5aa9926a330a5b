//! Versions and ranges as OLM parses them: semver 2, in the dialect of Go's `blang/semver`. Its ranges have no carets,
//! tildes or commas, but wildcards (`1.x`).

use std::cmp::Ordering;

pub use semver::Version;

/// Parses `1.2.3-rc.1+build`: three numbers without leading zeros and without `v`.
pub fn parse(text: &str) -> Result<Version, String> {
    opctl_cel::version::parse(text).ok_or_else(|| wrong(text, &mistake(text)))
}

/// Like [`parse`], but accepts `v1.2`, ` 1.2.3 ` and `01.2.3` as well.
pub fn parse_tolerant(text: &str) -> Result<Version, String> {
    let complete = opctl_cel::version::complete(text.trim());
    parse(&complete.ok_or_else(|| wrong(text, "a short version has no `-` or `+`"))?)
}

fn wrong(text: &str, why: &str) -> String {
    format!("`{text}` is not a semantic version: {why}")
}

/// The first mistake in an invalid version.
fn mistake(text: &str) -> String {
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
    let (numbers, pre) = rest.split_once('-').map_or((rest, None), |(numbers, pre)| (numbers, Some(pre)));
    let is_number = |part: &str| part.parse::<u64>().is_ok_and(|number| number.to_string() == part);
    if numbers.split('.').count() != 3 {
        return "it needs three numbers, such as `1.2.3`".into();
    }
    if let Some(part) = numbers.split('.').find(|part| !is_number(part)) {
        return format!("`{part}` is not a number without leading zeros");
    }
    if let Some(part) = pre.into_iter().chain(build).flat_map(|list| list.split('.')).find(|part| !is_identifier(part))
    {
        return format!("`{part}` is not made of letters, digits and `-`");
    }
    let is_wrong = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit()) && !is_number(part);
    let part = pre.into_iter().flat_map(|list| list.split('.')).find(is_wrong);
    format!("`{}` has a leading zero", part.unwrap_or_default())
}

/// `true` for valid identifiers after `-` or `+`, which are separated by dots.
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// `>=1.0.0 <2.0.0 || 3.x`: a space is *and*, `||` is *or*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range(Vec<Vec<(Comparison, Version)>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Range {
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: String| format!("`{text}` is not a range of versions: {why}");
        let mut any: Vec<Vec<(Comparison, Version)>> = vec![Vec::new()];
        let words = words(text);
        if words.is_empty() {
            return Err(wrong("it is empty".into()));
        }
        for (at, word) in words.iter().enumerate() {
            if word == "||" {
                if at == 0 {
                    return Err(wrong("`||` is first".into()));
                }
                if at == words.len() - 1 {
                    return Err(wrong("`||` is last".into()));
                }
                any.push(Vec::new());
                continue;
            }
            let digit =
                word.find(|c: char| c.is_ascii_digit()).ok_or_else(|| wrong(format!("`{word}` has no version")))?;
            let (sign, version) = word.split_at(digit);
            let all = any.last_mut().expect("it begins with one");
            all.extend(comparisons(sign.trim(), version).map_err(wrong)?);
        }
        Ok(Self(any))
    }

    pub fn contains(&self, version: &Version) -> bool {
        self.0.iter().any(|all| all.iter().all(|(comparison, bound)| comparison.holds(version.cmp_precedence(bound))))
    }
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
        }
    }
}

/// Splits at whitespace, except between an operator and its version.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c == ' ' && !word.ends_with(['>', '<', '=']) {
            words.push(std::mem::take(&mut word));
        } else if c != ' ' {
            word.push(c);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// The comparisons for an operator and a version: two for a wildcard.
fn comparisons(sign: &str, text: &str) -> Result<Vec<(Comparison, Version)>, String> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    if !text.contains('x') {
        let version = parse(text)?;
        let comparison = match sign {
            "" | "=" | "==" => Equal,
            "!" | "!=" => NotEqual,
            ">" => Greater,
            ">=" => GreaterOrEqual,
            "<" => Less,
            "<=" => LessOrEqual,
            _ => return Err(format!("`{sign}` is not a comparison")),
        };
        return Ok(vec![(comparison, version)]);
    }
    let parts: Vec<&str> = text.split('.').collect();
    let flat: Vec<&str> = parts.iter().map(|part| if *part == "x" { "0" } else { part }).collect();
    let low = parse(&match flat.len() {
        2 => format!("{}.0", flat.join(".")),
        _ => flat.join("."),
    })?;
    let high = match parts.get(1) {
        Some(&"x") => Version::new(low.major.saturating_add(1), 0, 0),
        _ => Version::new(low.major, low.minor.saturating_add(1), 0),
    };
    Ok(match sign {
        ">" => vec![(GreaterOrEqual, high)],
        ">=" => vec![(GreaterOrEqual, low)],
        "<" => vec![(Less, low)],
        "<=" => vec![(Less, high)],
        "" | "=" | "==" => vec![(GreaterOrEqual, low), (Less, high)],
        "!" | "!=" => vec![(Less, low), (GreaterOrEqual, high)],
        _ => return Err(format!("`{sign}` is not a comparison")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_strict_or_tolerant() {
        for text in ["1.2.3", "0.0.0", "1.2.3-rc.1+b.01", "10.20.30-x-y"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        for text in ["", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-ä", "1.2.x", "1.2.3.4"] {
            assert!(parse(text).is_err(), "{text}");
        }
        for (text, meant) in
            [("v1.2", "1.2.0"), (" 1 ", "1.0.0"), ("01.02.03", "1.2.3"), ("0.0.1", "0.0.1"), ("00.0.0", "0.0.0")]
        {
            assert_eq!(parse_tolerant(text).unwrap().to_string(), meant, "{text}");
        }
        assert!(parse_tolerant("1.2-rc").is_err());
    }

    #[test]
    fn versions_have_the_precedence_of_semver() {
        let sorted =
            ["1.0.0-1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.1", "1.10.0"];
        for pair in sorted.windows(2) {
            let [one, other] = [pair[0], pair[1]].map(|text| parse(text).unwrap());
            assert!(one.cmp_precedence(&other).is_lt(), "{pair:?}");
        }
    }

    #[test]
    fn ranges_are_those_of_blang() {
        for (range, inside, outside) in [
            (">=1.0.0 <2.0.0", "1.5.0", "2.0.0"),
            (">= 1.0.0 < 2.0.0", "1.0.0", "0.9.0"),
            ("1.x", "1.9.9", "2.0.0"),
            ("1.2.x", "1.2.9", "1.3.0"),
            ("<=1.x", "1.9.0", "2.0.0"),
            (">1.2.x", "1.3.0", "1.2.9"),
            ("<1.0.0 || 3.0.0", "3.0.0", "1.0.0"),
            ("!=1.0.0", "1.0.1", "1.0.0"),
            ("1.0.0", "1.0.0", "1.0.1"),
        ] {
            let parsed = Range::parse(range).unwrap();
            let contains = |text: &str| parsed.contains(&parse(text).unwrap());
            assert!(contains(inside) && !contains(outside), "{range}");
        }
        for text in ["", "^1.0.0", "~1.0.0", "1.0", "a", "|| 1.0.0", "1.0.0 ||", "=>1.0.0", "1.0.0, <2.0.0"] {
            assert!(Range::parse(text).is_err(), "{text}");
        }
    }
}
