//! Renamed files and folders: compares the paths of a scaffold with old names with those with new names.

use std::collections::BTreeSet;

/// A path without an unambiguous counterpart among the new ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot derive the new name of `{0}`")]
pub struct UnknownMove(pub String);

/// Pairs of an old and a new path, longest first, since the folder of a kind is within that of its group.
#[derive(Debug, Default)]
pub struct Moves(Vec<(String, String)>);

impl Moves {
    /// Computes the moves. `words` are the old and new names in paths.
    ///
    /// # Errors
    ///
    /// If an old path has no counterpart, or several.
    pub fn between(
        old: &BTreeSet<String>,
        new: &BTreeSet<String>,
        words: &[(String, String)],
    ) -> Result<Self, UnknownMove> {
        let mut moves = BTreeSet::new();
        for path in old.difference(new) {
            let candidate = |new: &'_ String| Some((replaced(path, new, words)?, new.clone()));
            let candidates: BTreeSet<_> = new.difference(old).filter_map(candidate).collect();
            let other = match Vec::from_iter(&candidates)[..] {
                // No new path fits: the file of another kind is in the way.
                [] => new.iter().find_map(candidate).map(|(_, path)| path),
                // The new name of a group may be the name of a kind.
                [(few, path), (more, _), ..] if few < more => Some(path.clone()),
                [(_, path)] => Some(path.clone()),
                _ => None,
            };
            let other = other.ok_or_else(|| UnknownMove(path.clone()))?;
            moves.extend(folders(path, &other));
            moves.insert((path.clone(), other));
        }
        // A folder is not moved if one of its files stays.
        moves.retain(|(folder, _)| old.contains(folder) || !new.iter().any(|path| is_below(path, folder)));
        let mut moves: Vec<_> = moves.into_iter().collect();
        moves.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
        Ok(Self(moves))
    }

    /// The new path of a file.
    pub fn apply(&self, path: &str) -> String {
        let moved = self.0.iter().find(|(old, _)| path == old || is_below(path, old));
        moved.map_or_else(|| path.to_owned(), |(old, new)| format!("{new}{}", &path[old.len()..]))
    }

    /// Renamed modules of the crate by their old paths, with their new names.
    pub fn modules(&self) -> impl Iterator<Item = (Vec<String>, String)> {
        self.0.iter().filter_map(|(old, new)| {
            let module = |path: &str| -> Option<Vec<String>> {
                let path = path.strip_prefix("src/")?.trim_end_matches(".rs");
                Some(path.trim_end_matches("/mod").split('/').map(str::to_owned).collect())
            };
            let (old, new) = (module(old)?, module(new)?.pop()?);
            (old.last() != Some(&new)).then_some((old, new))
        })
    }
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The smallest number of names to replace in a path to get the other one.
fn replaced(old: &str, new: &str, words: &[(String, String)]) -> Option<usize> {
    let word = |(from, to): &(String, String)| {
        Some(1 + replaced(old.strip_prefix(from.as_str())?, new.strip_prefix(to.as_str())?, words)?)
    };
    let mut rest = (old.chars(), new.chars());
    let same = match (rest.0.next(), rest.1.next()) {
        (None, None) => Some(0),
        (Some(a), Some(b)) if a == b => replaced(rest.0.as_str(), rest.1.as_str(), words),
        _ => None,
    };
    words.iter().filter_map(word).chain(same).min()
}

/// The folders on the way to a file that are renamed, and the one with its submodules.
fn folders(old: &str, new: &str) -> Vec<(String, String)> {
    let [old_parts, new_parts] = [old, new].map(|path| path.trim_end_matches(".rs").split('/').collect::<Vec<_>>());
    if old_parts.len() != new_parts.len() {
        return Vec::new();
    }
    let differ = (0..old_parts.len()).filter(|&at| old_parts[at] != new_parts[at]);
    differ.map(|at| (old_parts[..=at].join("/"), new_parts[..=at].join("/"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    fn words() -> [(String, String); 1] {
        [("cache".into(), "store".into())]
    }

    #[test]
    fn folders_move_with_all_that_is_in_them() {
        let old = set(&["src/api/cache/mod.rs", "src/api/cache/v1/cache.rs", "config/samples/cache_v1_cache.yaml"]);
        let group = set(&["src/api/store/mod.rs", "src/api/store/v1/cache.rs", "config/samples/store_v1_cache.yaml"]);
        let moves = Moves::between(&old, &group, &words()).unwrap();
        assert_eq!(moves.apply("src/api/cache/v1/own.rs"), "src/api/store/v1/own.rs");
        assert_eq!(moves.apply("config/samples/cache_v1_cache.yaml"), "config/samples/store_v1_cache.yaml");
        assert_eq!(moves.apply("src/api/caches/own.rs"), "src/api/caches/own.rs");

        let kind = set(&["src/api/cache/mod.rs", "src/api/cache/v1/store.rs", "config/samples/cache_v1_store.yaml"]);
        let moves = Moves::between(&old, &kind, &words()).unwrap();
        assert_eq!(moves.apply("src/api/cache/v1/cache/own.rs"), "src/api/cache/v1/store/own.rs");
        assert_eq!(moves.apply("src/api/cache/own.rs"), "src/api/cache/own.rs");
        let modules: Vec<_> = moves.modules().collect();
        let path = ["api", "cache", "v1", "cache"].map(str::to_owned).to_vec();
        assert!(!modules.is_empty() && modules.iter().all(|module| *module == (path.clone(), "store".to_owned())));
    }

    #[test]
    fn a_file_without_a_counterpart_is_refused() {
        let [old, new] = [set(&["src/cache.rs"]), set(&["src/other.rs"])];
        assert!(Moves::between(&old, &new, &words()).is_err());
    }
}
