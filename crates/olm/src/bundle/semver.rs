//! Versions and ranges as OLM reads them: semver 2, in the dialect of Go's `blang/semver`, whose ranges have no carets, tildes or
//! commas, but wildcards (`1.x`).

use std::cmp::Ordering;
use std::fmt;

/// `1.2.3-rc.1+build`. Ordered by precedence; the build metadata does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    pub pre: Vec<String>,
    pub build: Vec<String>,
}

impl Version {
    /// Strictly: three numbers without leading zeros, no `v`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("`{text}` is not a semantic version: {why}"));
        let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
        let (numbers, pre) = rest.split_once('-').map_or((rest, None), |(numbers, pre)| (numbers, Some(pre)));
        let parts: Vec<&str> = numbers.split('.').collect();
        let [major, minor, patch] = parts[..] else { return wrong("it needs three numbers, such as `1.2.3`") };
        let mut version = Self::default();
        for (field, part) in [(&mut version.major, major), (&mut version.minor, minor), (&mut version.patch, patch)] {
            match number(part) {
                Some(number) => *field = number,
                None => return wrong(&format!("`{part}` is not a number without leading zeros")),
            }
        }
        for (field, list) in [(&mut version.pre, pre), (&mut version.build, build)] {
            for part in list.into_iter().flat_map(|list| list.split('.')) {
                if !is_identifier(part) {
                    return wrong(&format!("`{part}` is not made of letters, digits and `-`"));
                }
                field.push(part.to_owned());
            }
        }
        if let Some(part) = version.pre.iter().find(|part| is_digits(part) && number(part).is_none()) {
            return wrong(&format!("`{part}` has a leading zero"));
        }
        Ok(version)
    }

    /// Also `v1.2`, ` 1.2.3 ` and `01.2.3`.
    pub fn parse_tolerant(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let trimmed = trimmed.strip_prefix('v').unwrap_or(trimmed);
        let mut parts: Vec<String> = trimmed.splitn(3, '.').map(str::to_owned).collect();
        for part in &mut parts {
            let kept = part.trim_start_matches('0');
            let is_zero = kept.is_empty() || !kept.starts_with(|first: char| first.is_ascii_digit());
            *part = if part.len() > 1 && is_zero {
                format!("0{kept}")
            } else if part.len() > 1 {
                kept.into()
            } else {
                part.clone()
            };
        }
        if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
            return Err(format!("`{text}` is not a semantic version: a short version has no `-` or `+`"));
        }
        parts.resize(3.max(parts.len()), "0".to_owned());
        Self::parse(&parts.join("."))
    }

    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// Without what is behind `+`.
    pub fn without_build(&self) -> Self {
        Self { build: Vec::new(), ..self.clone() }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.pre.is_empty() {
            write!(f, "-{}", self.pre.join("."))?;
        }
        if !self.build.is_empty() {
            write!(f, "+{}", self.build.join("."))?;
        }
        Ok(())
    }
}

/// The order of precedence. Versions that differ in their build metadata only are of equal precedence.
pub fn precedence(one: &Version, other: &Version) -> Ordering {
    let numbers = |version: &Version| [version.major, version.minor, version.patch];
    numbers(one).cmp(&numbers(other)).then_with(|| match (one.pre.is_empty(), other.pre.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            let pairs = one.pre.iter().zip(&other.pre);
            let order = pairs.map(|(one, other)| identifiers(one, other)).find(|order| order.is_ne());
            order.unwrap_or(one.pre.len().cmp(&other.pre.len()))
        }
    })
}

/// Numbers are lower than words.
fn identifiers(one: &str, other: &str) -> Ordering {
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(other),
    }
}

fn number(text: &str) -> Option<u64> {
    let has_leading_zero = text.len() > 1 && text.starts_with('0');
    if is_digits(text) && !has_leading_zero { text.parse().ok() } else { None }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A part between the dots behind `-` or `+`.
pub fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// `>=1.0.0 <2.0.0 || 3.x`: blanks are *and*, `||` is *or*.
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
        self.0.iter().any(|all| all.iter().all(|(comparison, bound)| comparison.holds(precedence(version, bound))))
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

/// Split at blanks, except between a sign and its version.
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

/// What a sign and a version say; a wildcard is two comparisons.
fn comparisons(sign: &str, text: &str) -> Result<Vec<(Comparison, Version)>, String> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    if !text.contains('x') {
        let version = Version::parse(text)?;
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
    let low = Version::parse(&match flat.len() {
        2 => format!("{}.0", flat.join(".")),
        _ => flat.join("."),
    })?;
    let high = match parts.get(1) {
        Some(&"x") => Version { major: low.major.saturating_add(1), ..Version::default() },
        _ => Version { major: low.major, minor: low.minor.saturating_add(1), ..Version::default() },
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
            assert_eq!(Version::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "1.2", "v1.2.3", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", "1.2.3-ä", "1.2.x", "1.2.3.4"] {
            assert!(Version::parse(text).is_err(), "{text}");
        }
        for (text, meant) in
            [("v1.2", "1.2.0"), (" 1 ", "1.0.0"), ("01.02.03", "1.2.3"), ("0.0.1", "0.0.1"), ("00.0.0", "0.0.0")]
        {
            assert_eq!(Version::parse_tolerant(text).unwrap().to_string(), meant, "{text}");
        }
        assert!(Version::parse_tolerant("1.2-rc").is_err());
    }

    #[test]
    fn versions_have_the_precedence_of_semver() {
        let sorted =
            ["1.0.0-1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.1", "1.10.0"];
        for pair in sorted.windows(2) {
            let [one, other] = [pair[0], pair[1]].map(|text| Version::parse(text).unwrap());
            assert!(precedence(&one, &other).is_lt(), "{pair:?}");
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
            let contains = |text: &str| parsed.contains(&Version::parse(text).unwrap());
            assert!(contains(inside) && !contains(outside), "{range}");
        }
        for text in ["", "^1.0.0", "~1.0.0", "1.0", "a", "|| 1.0.0", "1.0.0 ||", "=>1.0.0", "1.0.0, <2.0.0"] {
            assert!(Range::parse(text).is_err(), "{text}");
        }
    }
}
