//! Evaluates a `.dockerignore` by the rules of BuildKit (moby/patternmatcher).

use regex::Regex;

/// The patterns in order. The last matching one decides.
pub struct Dockerignore(Vec<Pattern>);

struct Pattern {
    excludes: bool,
    regex: Regex,
}

impl Dockerignore {
    pub fn parse(text: &str) -> Self {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let patterns = lines.map(|line| {
            let (excludes, glob) = line.strip_prefix('!').map_or((true, line), |glob| (false, glob));
            Pattern { excludes, regex: regex(glob) }
        });
        Self(patterns.collect())
    }

    pub fn lets_through(&self, path: &str) -> bool {
        // A pattern that matches a folder applies to everything in it.
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        let and_above: Vec<&str> = folders.chain([path]).collect();
        let last = self.0.iter().rfind(|pattern| and_above.iter().any(|path| pattern.regex.is_match(path)));
        last.is_none_or(|pattern| !pattern.excludes)
    }
}

/// `*` does not match `/`, `**` does.
fn regex(glob: &str) -> Regex {
    let escaped = regex::escape(glob.trim_matches('/'));
    let (inner, rest) = match escaped.strip_suffix(r"\*\*") {
        Some(inner) => (inner, ".*"),
        None => (&*escaped, ""),
    };
    let inner = inner.replace(r"\*\*/", "(.*/)?").replace(r"\*\*", ".*").replace(r"\*", "[^/]*");
    Regex::new(&format!("^{inner}{rest}$")).unwrap()
}

#[test]
fn follows_the_examples_of_dockers_documentation() {
    let lets_through = |text: &str, path: &str| Dockerignore::parse(text).lets_through(path);
    for (text, refused, passed) in [
        ("*/temp*", "somedir/temporary.txt", "temp.txt"),
        ("*/temp*", "somedir/temp/file", "somedir/subdir/temporary.txt"),
        ("*/*/temp*", "somedir/subdir/temporary.txt", "somedir/temporary.txt"),
        ("**/*.go", "a/b/c.go", "a/b/c.rs"),
        ("**/*.go", "c.go", "go"),
        ("*.md\n!README.md", "CHANGES.md", "README.md"),
        ("*.md\n!README*.md\nREADME-secret.md", "README-secret.md", "README-public.md"),
        ("**\n!**/src/**\n**/target", "a/src/target/x", "a/src/x"),
    ] {
        assert!(!lets_through(text, refused) && lets_through(text, passed), "{text}");
    }
}
