//! `.helmignore`: the files in the folder of a chart that do not belong to the chart.
//!
//! The rules are those of helm, not of git: a pattern is matched against the path and the name, each rule is
//! independent of the others, and a negated rule ignores everything that it does not match.

use glob::{MatchOptions, Pattern};

pub const FILE: &str = ".helmignore";

/// The patterns of a chart.
pub struct Rules(Vec<Rule>);

struct Rule {
    pattern: Pattern,
    is_negated: bool,
    /// The pattern ends with `/`, so it matches only folders.
    is_for_folders: bool,
    /// The pattern contains another `/`, so it is matched against the path.
    is_path: bool,
}

impl Rules {
    /// # Errors
    ///
    /// If a line is not a valid pattern of helm.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        // helm always ignores these.
        lines.chain(["templates/.?*"]).map(Rule::parse).collect::<Result<_, _>>().map(Self)
    }

    /// `true` if the file or one of its folders is ignored.
    pub fn ignore(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
        folders.into_iter().any(|folder| self.has(folder, true)) || self.has(path, false)
    }

    fn has(&self, path: &str, is_folder: bool) -> bool {
        self.0.iter().any(|rule| match (rule.is_for_folders && !is_folder, rule.is_negated) {
            (true, is_negated) => is_negated,
            (false, is_negated) => rule.matches(path) != is_negated,
        })
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Self, String> {
        if line.contains("**") {
            return Err(format!("`{line}`: helm does not support `**`"));
        }
        let (is_negated, text) = line.strip_prefix('!').map_or((false, line), |text| (true, text));
        let (is_for_folders, text) = text.strip_suffix('/').map_or((false, text), |text| (true, text));
        // Go's patterns negate a class with `^`.
        let pattern = Pattern::new(&text.trim_start_matches('/').replace("[^", "[!"));
        let pattern = pattern.map_err(|error| format!("`{line}`: {error}"))?;
        Ok(Self { pattern, is_negated, is_for_folders, is_path: text.contains('/') })
    }

    fn matches(&self, path: &str) -> bool {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        self.pattern.matches_with(if self.is_path { path } else { name }, options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_ignored_as_helm_ignores_them() {
        for (rules, path, is_ignored) in [
            ("", "templates/a.yaml", false),
            ("", "templates/.a.yaml", true),
            ("# *", "a", false),
            ("*.png", "img/a.png", true),
            ("img/", "img/a.png", true),
            ("img/", "charts/a/img/b.png", true),
            ("img/", "img", false),
            ("/img", "charts/img", false),
            ("/img", "img", true),
            ("docs/*", "docs/a/b", true),
            ("ci/*.yaml", "ci/a.yaml", true),
            ("ci/*.yaml", "charts/a/ci/a.yaml", false),
            ("crds/kustomization.yaml", "crds/kustomization.yaml", true),
            ("[^a]", "b", true),
            ("[^a]", "a", false),
            ("!a", "a", false),
            ("!a", "b", true),
            (" a \r", "a", true),
        ] {
            assert_eq!(Rules::parse(rules).unwrap().ignore(path), is_ignored, "{rules:?} {path}");
        }
        assert_eq!(Rules::parse("a/**").err().unwrap(), "`a/**`: helm does not support `**`");
    }
}
