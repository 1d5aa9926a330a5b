//! Names of domains, groups, versions, kinds and plurals: parsed once at the edge, trusted inside.
//!
//! Text comes in, a name or a [`NameError`] with the violated rule goes out. The rules are the API server's, and
//! stricter if a valid name would generate Rust code that does not compile.

use std::cmp::Reverse;
use std::fmt;

use heck::{ToKebabCase, ToPascalCase, ToSnakeCase};

/// An invalid name: its type, the text, and the violated rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid {what} `{text}`: {rule}")]
pub struct NameError {
    pub what: &'static str,
    pub text: String,
    pub rule: String,
}

fn refuse<T>(what: &'static str, text: &str, rule: impl Into<String>) -> Result<T, NameError> {
    Err(NameError { what, text: text.into(), rule: rule.into() })
}

/// RFC 1123 label: lowercase letters, digits and `-`, starts and ends with a letter or digit, 1 to 63 characters.
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && is_label_of_any_length(text)
}

/// RFC 1123 subdomain as Kubernetes checks it: labels joined by dots, at most 253 characters in all. A single label may
/// have more than 63.
pub fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label_of_any_length)
}

fn is_label_of_any_length(text: &str) -> bool {
    let outer = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(outer) && text.ends_with(outer) && text.chars().all(|c| outer(c) || c == '-')
}

/// RFC 1035 label: an RFC 1123 label that starts with a letter.
pub fn is_dns_1035_label(text: &str) -> bool {
    is_dns_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

const SUBDOMAIN_RULE: &str = "use lowercase letters, digits, `-` and `.`; each part starts and ends with a letter or digit, at most 253 characters";
const LABEL_RULE: &str =
    "use lowercase letters, digits and `-`, start and end with a letter or digit, at most 63 characters";
const LABEL_1035_RULE: &str =
    "use lowercase letters, digits and `-`, start with a letter, end with a letter or digit, at most 63 characters";

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(String); // Invariant: checked by `parse`.

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// The name of a project: an RFC 1035 label, short enough that all names derived from it are valid.
    ProjectName
);
name!(
    /// The domain in which API groups end, e.g. `example.com`.
    Domain
);
name!(
    /// A group as written on the command line, without the domain: `cache`, `metrics-server`, or `apps` of Kubernetes.
    Group
);
name!(
    /// An API version in Kubernetes' format: `v1`, `v1beta2`, `v2alpha1`.
    Version
);
name!(
    /// A kind: UpperCamelCase ASCII, at most 63 characters.
    Kind
);
name!(
    /// The name of a controller, except for the first one of a kind: an RFC 1035 label.
    ControllerName
);
name!(
    /// The path of a Rust type from the root of the crate or from another crate: `cert_manager::Certificate`.
    TypePath
);
name!(
    /// The lowercase plural of a kind, as in URLs and in the name of the CRD.
    Plural
);
name!(
    /// A reference to a container image: `[REGISTRY[:PORT]/]PATH[:TAG][@DIGEST]`.
    Image
);

name!(
    /// A namespace: an RFC 1123 label.
    Namespace
);

impl Namespace {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if is_dns_label(text) { Ok(Self(text.into())) } else { refuse("namespace", text, LABEL_RULE) }
    }
}

impl ProjectName {
    /// The longest suffix in the scaffold is `-controller-manager-metrics-service` (35 characters); the result must be
    /// a label.
    pub const MAX: usize = 63 - 35;

    pub fn parse(text: &str) -> Result<Self, NameError> {
        if !is_dns_1035_label(text) {
            return refuse("project name", text, LABEL_1035_RULE);
        }
        if text.len() > Self::MAX {
            return refuse(
                "project name",
                text,
                format!("use at most {} characters: Kubernetes objects are named after it", Self::MAX),
            );
        }
        if is_rust_keyword(&text.to_snake_case()) || RESERVED_CRATES.contains(&text.to_snake_case().as_str()) {
            let near = format!("{text}-operator");
            let hint =
                if near.len() <= Self::MAX { format!(": use another one, e.g. `{near}`") } else { String::new() };
            let rule = format!("it is a Rust keyword or the name of a crate that the operator uses{hint}");
            return refuse("project name", text, rule);
        }
        Ok(Self(text.into()))
    }

    /// A valid name similar to this text, if there is one: `My Operator` → `my-operator`.
    pub fn near(text: &str) -> Option<Self> {
        let kebab = text.to_kebab_case().to_ascii_lowercase();
        let legal: String = kebab.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let start = legal.trim_start_matches(|c: char| !c.is_ascii_lowercase());
        let short = start[..start.len().min(Self::MAX)].trim_end_matches('-');
        Self::parse(short).or_else(|_| Self::parse(&format!("{short}-operator"))).ok()
    }

    /// The name of the library crate: `memcached_operator`.
    pub fn crate_name(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl Domain {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if is_dns_subdomain(text) { Ok(Self(text.into())) } else { refuse("domain", text, SUBDOMAIN_RULE) }
    }
}

impl Group {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if !is_dns_subdomain(text) {
            return refuse("group", text, SUBDOMAIN_RULE);
        }
        Ok(Self(text.into()))
    }

    /// The Rust module: `-` and `.` become `_`, a leading digit gets the prefix `_`. Keywords, and names of crates that
    /// files next to the module use, get the suffix `_`.
    pub fn module(&self) -> String {
        let name = self.0.replace(['-', '.'], "_");
        match name {
            name if name.starts_with(|c: char| c.is_ascii_digit()) => format!("_{name}"),
            name if CRATES_BESIDE_GROUPS.contains(&name.as_str()) => format!("{name}_"),
            name => as_identifier(name),
        }
    }
}

impl Version {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        match VersionParts::of(text) {
            Some(_) if text.len() <= 63 => Ok(Self(text.into())),
            _ => refuse("version", text, "use `v1`, `v1beta2`, `v2alpha1`, …"),
        }
    }

    /// The sort key for Kubernetes' order of versions: `v1alpha1 < v1alpha2 < v1beta1 < v1 < v2`, but `v2alpha1 < v1`.
    pub fn priority(&self) -> impl Ord + use<> {
        VersionParts::of(&self.0).expect("checked by parse")
    }
}

impl<'de> serde::Deserialize<'de> for Version {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// `(stability, major, minor)`: alpha 0, beta 1, stable 2.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct VersionParts(u8, u64, u64);

impl VersionParts {
    fn of(text: &str) -> Option<Self> {
        let number = |digits: &str| -> Option<u64> {
            let legal =
                digits.starts_with(|c: char| ('1'..='9').contains(&c)) && digits.chars().all(|c| c.is_ascii_digit());
            legal.then(|| digits.parse().ok()).flatten()
        };
        let rest = text.strip_prefix('v')?;
        for (word, stability) in [("alpha", 0), ("beta", 1)] {
            if let Some((major, minor)) = rest.split_once(word) {
                return Some(Self(stability, number(major)?, number(minor)?));
            }
        }
        Some(Self(2, number(rest)?, 0))
    }
}

impl Kind {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if !Self::is_upper_camel(text) {
            let camel = text.to_pascal_case();
            let hint = if Self::is_upper_camel(&camel) { format!(", e.g. `{camel}`") } else { String::new() };
            return refuse(
                "kind",
                text,
                format!("use UpperCamelCase: ASCII letters and digits, an upper-case letter first{hint}"),
            );
        }
        if text.len() > 63 {
            return refuse("kind", text, "use at most 63 characters");
        }
        Ok(Self(text.into()))
    }

    fn is_upper_camel(text: &str) -> bool {
        text.starts_with(|c: char| c.is_ascii_uppercase()) && text.chars().all(|c| c.is_ascii_alphanumeric())
    }

    /// The Rust module and file stem: `MemcachedCluster` → `memcached_cluster`, `Type` → `type_`.
    pub fn module(&self) -> String {
        as_identifier(self.0.to_snake_case())
    }

    /// The module with the conversion of a version.
    pub fn conversion_module(&self) -> String {
        format!("{}_conversion", self.0.to_snake_case())
    }

    /// The Rust type: the kind, or with the suffix `Object` if the files of a kind use its name for something else.
    pub fn type_name(&self) -> String {
        match USED_TYPES.contains(&self.as_str()) {
            true => format!("{self}Object"),
            false => self.to_string(),
        }
    }

    /// The singular: the kind in lowercase.
    pub fn singular(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    /// The plural that kube-derive uses by default.
    pub fn plural(&self) -> Plural {
        Plural(default_plural(&self.singular()))
    }
}

impl ControllerName {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if !is_dns_1035_label(text) {
            return refuse("controller name", text, LABEL_1035_RULE);
        }
        Ok(Self(text.into()))
    }

    /// The Rust module and file stem: `captain-backup` → `captain_backup`.
    pub fn module(&self) -> String {
        as_identifier(self.0.replace('-', "_"))
    }

    /// The condition in which this controller reports its progress: `captain-backup` → `CaptainBackupReady`.
    pub fn condition(&self) -> String {
        format!("{}Ready", self.0.to_pascal_case())
    }
}

impl TypePath {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_name = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && text != "_"
                && !is_rust_keyword(text)
        };
        let (first, rest) = text.split_once("::").unwrap_or((text, ""));
        if (first == "crate" || is_name(first)) && rest.split("::").all(is_name) {
            return Ok(Self(text.into()));
        }
        refuse("type", text, "use its path, e.g. `cert_manager::Certificate` or `crate::types::Certificate`")
    }

    /// The crate of the type; `None` for this crate.
    pub fn krate(&self) -> Option<&str> {
        self.0.split("::").next().filter(|first| *first != "crate")
    }
}

impl Plural {
    /// A Rust function or variable for several objects: `my-things` → `my_things`.
    pub fn variable(&self) -> String {
        as_identifier(self.0.replace('-', "_"))
    }

    pub fn parse(text: &str) -> Result<Self, NameError> {
        if is_dns_1035_label(text) { Ok(Self(text.into())) } else { refuse("plural", text, LABEL_1035_RULE) }
    }
}

impl Image {
    /// Source: `reference.go` and `regexp.go` of github.com/distribution/reference, the grammar of container runtimes.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        match Self::wrong(text) {
            None => Ok(Self(text.into())),
            Some(rule) => refuse("image", text, rule),
        }
    }

    pub fn has_digest(&self) -> bool {
        self.0.contains('@')
    }

    pub fn tag(&self) -> Option<&str> {
        let name = self.0.split('@').next().unwrap_or_default();
        // A colon before the last slash belongs to the port of the registry.
        name.rsplit('/').next().and_then(|last| last.split_once(':')).map(|(_, tag)| tag)
    }

    /// The rule that the reference violates.
    fn wrong(text: &str) -> Option<&'static str> {
        let (rest, digest) = text.split_once('@').map_or((text, None), |(rest, digest)| (rest, Some(digest)));
        if digest.is_some_and(|digest| !Self::is_digest(digest)) {
            return Some("a digest is an algorithm and at least 32 hexadecimal digits, e.g. `@sha256:…`");
        }
        // A colon before the last slash belongs to the port of the registry.
        let start = rest.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match rest[start..].split_once(':') {
            Some((last, tag)) => (&rest[..start + last.len()], Some(tag)),
            None => (rest, None),
        };
        if tag.is_some_and(|tag| !Self::is_tag(tag)) {
            return Some(
                "a tag has letters, digits, `_`, `.` and `-`, does not start with `.` or `-`, and at most 128 characters",
            );
        }
        let is_registry = |first: &str| first.contains(['.', ':']) || first == "localhost";
        let path = match name.split_once('/') {
            Some((first, path)) if is_registry(first) => {
                let (host, port) = first.split_once(':').unwrap_or((first, "1"));
                if !is_dns_subdomain(&host.to_ascii_lowercase()) || port.parse::<u16>().is_err() {
                    return Some(
                        "the part before the first `/` is a registry, a host name with an optional port: `registry.example.com:5000/`",
                    );
                }
                path
            }
            _ => name,
        };
        let is_sound = name.len() <= 255 && path.split('/').all(Self::is_path_component);
        (!is_sound).then_some("use `[REGISTRY/]PATH[:TAG][@DIGEST]`, e.g. `memcached:1.6.39-alpine`, the path in lowercase letters, digits, and `.`, `_`, `-` between them")
    }

    /// Letters and digits, separated by `.`, `_`, `__` or dashes.
    fn is_path_component(text: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let mut separators = text.split(is_plain).filter(|separator| !separator.is_empty());
        text.starts_with(is_plain)
            && text.ends_with(is_plain)
            && separators.all(|it| matches!(it, "." | "_" | "__") || it.chars().all(|c| c == '-'))
    }

    fn is_tag(text: &str) -> bool {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.starts_with(is_word) && text.len() <= 128 && text.chars().all(|c| is_word(c) || c == '.' || c == '-')
    }

    fn is_digest(text: &str) -> bool {
        text.split_once(':').is_some_and(|(algorithm, hex)| {
            let parts = algorithm.split(['+', '.', '_', '-']);
            let is_name = |part: &str| {
                part.starts_with(|c: char| c.is_ascii_alphabetic()) && part.chars().all(|c| c.is_ascii_alphanumeric())
            };
            parts.into_iter().all(is_name) && hex.len() >= 32 && hex.chars().all(|c| c.is_ascii_hexdigit())
        })
    }
}

/// Checks a short name or category, which must be an RFC 1035 label.
pub fn parse_label(what: &'static str, text: &str) -> Result<String, NameError> {
    if is_dns_1035_label(text) { Ok(text.into()) } else { refuse(what, text, LABEL_1035_RULE) }
}

/// The plural of a lowercase word by kube-derive's rules, which have no irregular nouns.
///
/// Source: `to_plural` in kube-derive 5, which panics on `y` alone; here it becomes `ys`.
pub fn default_plural(word: &str) -> String {
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| word.ends_with(suffix));
    if word.is_empty() {
        String::new()
    } else if ends(&["s", "x", "z", "ch", "sh"]) {
        format!("{word}es")
    } else if let Some(stem) = word.strip_suffix('y')
        && stem.ends_with(|c| !"aeiou".contains(c))
    {
        format!("{stem}ies")
    } else {
        format!("{word}s")
    }
}

/// Corrects a kind in place of a resource: `Deployment/status` → `deployments/status`.
pub fn resource_of_kind(text: &str) -> Option<String> {
    let (kind, subresource) = text.split_at(text.find('/').unwrap_or(text.len()));
    if !kind.starts_with(char::is_uppercase) {
        return None;
    }
    let lower = kind.to_lowercase();
    let plural = if lower.ends_with('s') { lower } else { default_plural(&lower) };
    Some(format!("{plural}{subresource}"))
}

/// The closest of `words` within an edit distance of 1, or 2 for a text of five characters or more, as for typos.
/// Ignores case.
pub fn nearest<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let text = text.to_lowercase();
    let limit = if text.chars().count() < 5 { 1 } else { 2 };
    words
        .into_iter()
        .map(|word| (strsim::osa_distance(&text, &word.to_lowercase()), word))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// The words, the nearest to `text` first; of equally near ones, those that begin like it.
pub fn by_distance<'a>(text: &str, words: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let common = |word: &str| text.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    let mut words: Vec<&str> = words.into_iter().collect();
    words.sort_by_key(|word| (strsim::osa_distance(text, word), Reverse(common(word))));
    words
}

/// `true` for keywords of Rust 2024, strict or reserved.
pub fn is_rust_keyword(text: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
        "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct",
        "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while",
        "yield",
    ];
    KEYWORDS.contains(&text)
}

/// Makes a snake-case name an identifier: a keyword gets the suffix `_`.
fn as_identifier(name: String) -> String {
    if is_rust_keyword(&name) { format!("{name}_") } else { name }
}

/// Names that the type of a kind must not shadow: `Self`, the prelude, and imports of the generated files.
const USED_TYPES: &[&str] = &[
    "Action",
    "Arc",
    "AsMut",
    "AsRef",
    "Box",
    "Children",
    "Clone",
    "Condition",
    "Context",
    "Controller",
    "Copy",
    "CustomResource",
    "Debug",
    "Default",
    "Deserialize",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "Error",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Hash",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "JsonSchema",
    "KubeSchema",
    "None",
    "ObjectRef",
    "Ok",
    "Option",
    "Ord",
    "Outcome",
    "PartialEq",
    "PartialOrd",
    "Resource",
    "ResourceExt",
    "Result",
    "Runnable",
    "Self",
    "Send",
    "Serialize",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
];

/// Crates that `src/api/mod.rs`, `src/controller/mod.rs` and `src/webhook/mod.rs` use next to the modules of groups.
const CRATES_BESIDE_GROUPS: &[&str] = &["k8s_openapi", "kube", "opctl_runtime"];

/// Crate names that would shadow a dependency of the generated operator.
const RESERVED_CRATES: &[&str] = &[
    "alloc",
    "anyhow",
    "axum",
    "clap",
    "core",
    "futures",
    "http",
    "k8s_openapi",
    "kube",
    "manager",
    "opctl_runtime",
    "prometheus_client",
    "proc_macro",
    "schemars",
    "serde",
    "serde_json",
    "std",
    "test",
    "thiserror",
    "tokio",
    "tower",
    "tower_test",
    "tracing",
    "tracing_subscriber",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_by_maturity() {
        let mut versions: Vec<Version> =
            ["v2", "v1", "v2alpha1", "v1beta10", "v1beta2"].map(|text| Version::parse(text).unwrap()).into();
        versions.sort_by_key(Version::priority);
        assert_eq!(
            versions.iter().map(Version::as_str).collect::<Vec<_>>(),
            ["v2alpha1", "v1beta2", "v1beta10", "v1", "v2"]
        );
    }

    #[test]
    fn versions_sort_as_kube_sorts_them() {
        let mut versions =
            ["v2", "v1", "v2alpha1", "v1beta10", "v1beta2", "v12alpha1"].map(|text| Version::parse(text).unwrap());
        versions.sort_by_key(Version::priority);
        assert!(versions.is_sorted_by_key(|version| kube_core::Version::parse(version.as_str()).priority()));
    }

    #[test]
    fn refuses_what_the_api_server_or_rustc_would() {
        for text in ["1", "v0", "v1.2", "banana", "v1gamma1", "v1beta", "v01", "V1", ""] {
            assert!(Version::parse(text).is_err(), "{text}");
        }
        for text in ["memcached", "My_Kind", "", "Käse", "1Kind"] {
            assert!(Kind::parse(text).is_err(), "{text}");
        }
        for text in ["", "-a", "a-", "A", "a..b", "a_b"] {
            assert!(Domain::parse(text).is_err(), "{text}");
            assert!(Group::parse(text).is_err(), "{text}");
        }
        for text in ["1s", "Pods", "a.b", ""] {
            assert!(Plural::parse(text).is_err(), "{text}");
        }
    }

    /// As the API server does for groups, names of objects and prefixes of labels.
    #[test]
    fn labels_of_a_subdomain_may_be_longer_than_a_label() {
        let long = "a".repeat(64);
        assert!(!is_dns_label(&long));
        assert!(Group::parse(&format!("{long}.example.com")).is_ok());
        assert!(Domain::parse(&"a.".repeat(127)[..253]).is_ok());
        assert!(Domain::parse(&"a".repeat(254)).is_err());
    }

    #[test]
    fn reads_references_to_images_as_runtimes_do() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for text in [
            "memcached",
            "memcached:1.6.39-alpine",
            "library/a__b/c--d.e:V_1",
            "localhost/a",
            "localhost:5000/a/b:1",
            "registry.example.com:5000/a/b",
            "Registry.Example.com/a",
            &format!("a@{digest}"),
            &format!("ghcr.io/a/b:v1@{digest}"),
        ] {
            assert_eq!(Image::parse(text).map(|image| image.to_string()).as_deref(), Ok(text));
        }
        for text in [
            "",
            "Memcached",
            "a:",
            "a:-1",
            "a:b:c",
            "a b",
            "/a",
            "a/",
            "a//b",
            "a___b",
            "a._b",
            "-a",
            "a-",
            "a@b",
            "a@sha256:12",
            "https://a.b/c",
            "a.b:x/c",
            "a.b:/c",
            "a:99999/c",
            "ä",
            "a:1@",
        ] {
            assert!(Image::parse(text).is_err(), "{text}");
        }
        assert!(Image::parse(&format!("a:{}", "1".repeat(129))).is_err());
        assert!(Image::parse(&"a".repeat(256)).is_err());
    }

    #[test]
    fn suggests_a_legal_project_name() {
        for (text, near) in [
            ("My Operator", Some("my-operator")),
            ("2024_thing", Some("thing")),
            ("kube", Some("kube-operator")),
            ("a-very-long-name-that-goes-on-and-on", Some("a-very-long-name-that-goes-o")),
            ("日本", None),
        ] {
            assert_eq!(ProjectName::near(text).as_ref().map(ProjectName::as_str), near, "{text}");
        }
    }

    #[test]
    fn plurals_are_those_of_kube() {
        for kind in ["Memcached", "Proxy", "Gateway", "Box", "Class", "Mesh", "Branch", "Quiz", "A", "By", "A1y"] {
            let gvk = kube_core::GroupVersionKind::gvk("g", "v1", kind);
            assert_eq!(
                Kind(kind.into()).plural().as_str(),
                kube_core::discovery::ApiResource::from_gvk(&gvk).plural,
                "{kind}"
            );
        }
    }

    #[test]
    fn modules_are_legal_rust() {
        for (group, module) in [
            ("metrics-server", "metrics_server"),
            ("a.b", "a_b"),
            ("3scale", "_3scale"),
            ("type", "type_"),
            ("self", "self_"),
            ("kube", "kube_"),
            ("k8s-openapi", "k8s_openapi_"),
            ("opctl-runtime", "opctl_runtime_"),
            // The files next to these modules use these crates by other paths only.
            ("serde", "serde"),
            ("std", "std"),
            ("core", "core"),
        ] {
            assert_eq!(Group::parse(group).unwrap().module(), module);
        }
        for (kind, module, type_name) in [
            ("HTTPRoute", "http_route", "HTTPRoute"),
            ("Type", "type_", "Type"),
            ("Mod", "mod_", "Mod"),
            ("Main", "main", "Main"),
            ("Self", "self_", "SelfObject"),
            ("Option", "option", "OptionObject"),
            ("Condition", "condition", "ConditionObject"),
        ] {
            let kind = Kind::parse(kind).unwrap();
            assert_eq!((kind.module().as_str(), kind.type_name().as_str()), (module, type_name));
        }
        assert_eq!(Kind::parse("Type").unwrap().conversion_module(), "type_conversion");
        assert_eq!(ControllerName::parse("match").unwrap().module(), "match_");
    }

    #[test]
    fn finds_slips_of_the_fingers_only() {
        let verbs = ["get", "list", "watch", "deletecollection"];
        assert_eq!(nearest("wacth", verbs), Some("watch"));
        assert_eq!(nearest("List", verbs), Some("list"));
        assert_eq!(nearest("delete-collection", verbs), Some("deletecollection"));
        assert_eq!(nearest("gte", verbs), Some("get"));
        assert_eq!(nearest("read", verbs), None);
    }
}
