//! Edits of Cargo.lock.

/// Renames a package of the workspace, and keeps cargo's order. A text without the package is returned unchanged.
pub fn rename_package(text: &str, old: &str, new: &str) -> String {
    const PACKAGE: &str = "\n[[package]]\n";
    let name = |block: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix("name = "));
        line.unwrap_or_default().trim_matches('"').to_owned()
    };
    let mut blocks: Vec<String> = text.split(PACKAGE).map(str::to_owned).collect();
    let is_own = |block: &String| name(block) == old && !block.lines().any(|line| line.starts_with("source = "));
    let Some(own) = blocks.iter().skip(1).position(is_own).filter(|_| old != new) else { return text.to_owned() };
    let block = blocks.remove(own + 1).replacen(&format!("name = \"{old}\""), &format!("name = \"{new}\""), 1);
    let at = blocks.iter().skip(1).position(|other| name(other).as_str() > new).map_or(blocks.len(), |at| at + 1);
    blocks.insert(at, block);
    blocks.join(PACKAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_stay_sorted_in_a_lock() {
        let lock = |names: &[&str]| {
            let package = |name: &&str| match *name {
                "own" | "a" | "z" => format!("[[package]]\nname = \"{name}\"\nversion = \"1\"\n"),
                name => format!("[[package]]\nname = \"{name}\"\nversion = \"1\"\nsource = \"registry\"\n"),
            };
            format!("version = 4\n\n{}", names.iter().map(package).collect::<Vec<_>>().join("\n"))
        };
        for (names, old, new, expected) in [
            (["bar", "own", "rand"], "own", "z", ["bar", "rand", "z"]),
            (["bar", "own", "rand"], "own", "a", ["a", "bar", "rand"]),
            (["bar", "rand", "z"], "z", "own", ["bar", "own", "rand"]),
        ] {
            assert_eq!(rename_package(&lock(&names), old, new), lock(&expected));
        }
    }
}
