//! Reads Cargo.lock to find the package of each dependency.
//!
//! Cargo always writes the file in the same form, so it is parsed by lines, in a tenth of a TOML parser's time.

use std::collections::BTreeSet;

use opctl_model::versions::Requirement;

/// The packages that a lock file pins, in its order.
#[derive(Debug, Default)]
pub struct Lock {
    pub packages: Vec<Locked>,
    /// Dependencies of each package.
    dependencies: Vec<Vec<usize>>,
}

#[derive(Debug, Default)]
pub struct Locked {
    pub name: String,
    pub version: String,
    /// `registry+…` or `git+…#commit`; `None` for a package in a local folder.
    pub source: Option<String>,
}

impl Lock {
    pub fn parse(text: &str) -> Self {
        let mut packages: Vec<Locked> = Vec::new();
        // The index of a package, and one of its dependencies: `name`, `name version` or `name version (source)`, the
        // shortest form that is unique.
        let mut entries: Vec<(usize, &str)> = Vec::new();
        let mut in_package = false;
        for line in text.lines() {
            if line.starts_with('[') {
                in_package = line == "[[package]]";
                if in_package {
                    packages.push(Locked::default());
                }
                continue;
            }
            let Some(index) = packages.len().checked_sub(1).filter(|_| in_package) else { continue };
            let package = &mut packages[index];
            if let Some(value) = line.strip_prefix("name = ") {
                package.name = unquoted(value).to_owned();
            } else if let Some(value) = line.strip_prefix("version = ") {
                package.version = unquoted(value).to_owned();
            } else if let Some(value) = line.strip_prefix("source = ") {
                package.source = Some(unquoted(value).to_owned());
            } else if line.trim_start().starts_with('"') {
                entries.push((index, unquoted(line)));
            }
        }
        let mut by_name = Vec::from_iter(0..packages.len());
        by_name.sort_by_key(|index| &packages[*index].name);
        let find = |entry: &str| {
            let mut words = entry.split(' ');
            let (name, version, source) = (words.next()?, words.next(), words.next());
            let source = source.map(|source| source.trim_matches(['(', ')']));
            let first = by_name.partition_point(|index| *packages[*index].name < *name);
            let mut named = by_name[first..].iter().copied().take_while(|index| packages[*index].name == name);
            named.find(|index| {
                let package = &packages[*index];
                // Only the package's own entry has the commit of a git source.
                let its_source = package.source.as_deref().map(|source| source.split('#').next().unwrap_or(source));
                version.is_none_or(|version| package.version == version)
                    && source.is_none_or(|source| its_source == Some(source))
            })
        };
        let mut dependencies = vec![Vec::new(); packages.len()];
        for (from, entry) in entries {
            dependencies[from].extend(find(entry));
        }
        Self { packages, dependencies }
    }

    /// The local package with this name, and this version if it is given.
    pub fn local(&self, name: &str, version: Option<&str>) -> Option<usize> {
        let mut found = self.packages.iter().enumerate().filter(|(_, package)| {
            package.source.is_none() && package.name == name && version.is_none_or(|version| package.version == version)
        });
        found.next().map(|(index, _)| index)
    }

    /// The package of a dependency of `from`: by its name, and by the required version if there are several.
    pub fn dependency(&self, from: usize, name: &str, requirement: Option<&str>) -> Option<usize> {
        let all = self.dependencies[from].iter().copied();
        let mut named: Vec<usize> = all.filter(|index| self.packages[*index].name == name).collect();
        if named.len() > 1 {
            let requirement = requirement.and_then(Requirement::parse);
            named.retain(|index| requirement.as_ref().is_none_or(|asked| asked.allows(&self.packages[*index].version)));
        }
        named.first().copied()
    }

    /// `root` and everything that is compiled for it.
    pub fn reached(&self, root: usize) -> BTreeSet<usize> {
        let (mut found, mut open) = (BTreeSet::new(), vec![root]);
        while let Some(index) = open.pop() {
            if found.insert(index) {
                open.extend(&self.dependencies[index]);
            }
        }
        found
    }

    /// The direct dependents of `target`.
    pub fn users(&self, target: usize) -> impl Iterator<Item = usize> {
        (0..self.packages.len()).filter(move |from| self.dependencies[*from].contains(&target))
    }

    /// `target` and everything that depends on it, directly or not.
    pub fn dependents(&self, target: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([target]);
        loop {
            let uses = |from: &usize| self.dependencies[*from].iter().any(|to| found.contains(to));
            let more: Vec<usize> = (0..self.packages.len()).filter(|from| !found.contains(from)).filter(uses).collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }
}

/// The content of a string, which may be an item of a list.
fn unquoted(value: &str) -> &str {
    value.trim().trim_end_matches(',').trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# This file is automatically @generated by Cargo.
version = 4

[[package]]
name = "app"
version = "0.1.0"
dependencies = [
 "a 1.2.0",
 "a 2.0.0",
 "b",
]

[[package]]
name = "a"
version = "1.2.0"
source = "registry+https://example.com/index"
checksum = "00"

[[package]]
name = "a"
version = "2.0.0"
source = "git+https://example.com/a?tag=v2#0123456789"

[[package]]
name = "b"
version = "0.3.1"
dependencies = [
 "a 2.0.0 (git+https://example.com/a?tag=v2)",
]

[[patch.unused]]
name = "c"
version = "1.0.0"
"#;

    #[test]
    fn a_dependency_is_the_version_that_is_asked_for() {
        let lock = Lock::parse(TEXT);
        let versions = |from, name: &str, asked| {
            lock.dependency(from, name, asked).map(|index| lock.packages[index].version.as_str())
        };
        assert_eq!(lock.packages.len(), 4);
        assert_eq!(versions(0, "a", Some("1")), Some("1.2.0"));
        assert_eq!(versions(0, "a", Some("2.0")), Some("2.0.0"));
        assert_eq!(versions(3, "a", None), Some("2.0.0"));
        assert_eq!(versions(0, "c", None), None);
        assert_eq!(lock.dependents(2).into_iter().collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(lock.reached(3).into_iter().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(lock.users(2).collect::<Vec<_>>(), [0, 3]);
    }
}
