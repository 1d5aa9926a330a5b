//! The order of modules in crates, as documented in `ARCHITECTURE.md`. Cargo's manifests enforce the order of crates,
//! and clippy restricts which crates may write, start programs, and read the clock or the environment (`.ci/clippy`).
//!
//! Compares the tokens of the sources: paths in macros count, paths in comments do not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use walkdir::WalkDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The modules of opctl, and the modules that each may use. All except `commands` are libraries, independent of the
/// command line.
const OPCTL: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("scaffold", &[]),
    ("custom_objects", &[]),
    ("diagnostics", &[]),
    ("kept", &["error"]),
    ("drift", &["error", "diagnostics", "kept"]),
    ("adopt", &["error"]),
    ("places", &["error", "diagnostics", "drift"]),
    ("rendered", &["places"]),
    ("compatibility", &["error", "diagnostics", "kept", "places"]),
    ("roles", &["error", "kept"]),
    ("kinds", &["kept"]),
    ("api", &["error", "scaffold", "diagnostics"]),
    ("rename", &["error", "scaffold", "api"]),
    ("import", &["error", "scaffold", "api"]),
    ("doctor", &["error", "scaffold", "rendered", "places"]),
    (
        "commands",
        &[
            "error",
            "scaffold",
            "rendered",
            "custom_objects",
            "diagnostics",
            "compatibility",
            "drift",
            "places",
            "roles",
            "adopt",
            "kinds",
            "api",
            "rename",
            "import",
            "doctor",
        ],
    ),
    ("lib", &[]),
    ("main", &["commands"]),
];

/// The layers of opctl-source. `requests` only uses names, so that it needs neither schemas nor values.
const SOURCE: &[(&str, &[&str])] = &[
    ("diagnostics", &[]),
    ("attributes", &["diagnostics"]),
    ("markers", &["diagnostics"]),
    ("known", &[]),
    ("resolve", &["diagnostics", "attributes", "markers", "known"]),
    ("evaluate", &["diagnostics", "attributes", "known", "resolve"]),
    ("derive", &["diagnostics", "attributes", "known", "resolve", "evaluate"]),
    ("mentions", &["resolve"]),
    ("metrics", &["diagnostics", "resolve"]),
    ("crd_calls", &["resolve"]),
    ("account", &["diagnostics", "resolve"]),
    ("ownership", &["diagnostics", "markers", "resolve", "crd_calls"]),
    ("requests", &["diagnostics", "known", "resolve", "mentions"]),
    ("emit", &["diagnostics", "markers"]),
    ("grants", &["diagnostics"]),
    ("identities", &["resolve"]),
    (
        "source",
        &[
            "diagnostics",
            "markers",
            "resolve",
            "evaluate",
            "derive",
            "mentions",
            "metrics",
            "account",
            "ownership",
            "requests",
        ],
    ),
    ("lib", &["account", "ownership", "resolve", "source"]),
];

#[test]
fn modules_use_only_the_modules_before_them() {
    assert_eq!(wrong("src", OPCTL), "");
    assert_eq!(wrong("crates/source/src", SOURCE), "");
}

/// Without doctests, examples would never be compiled. Examples in explanations of diagnostics are for `opctl explain`.
#[test]
fn crates_without_doctests_have_no_examples() {
    let mut count = 0;
    for manifest in ["Cargo.toml".into()].into_iter().chain(crates().map(|name| format!("crates/{name}/Cargo.toml"))) {
        if !fs::read_to_string(&manifest).unwrap().contains("\ndoctest = false\n") {
            continue;
        }
        count += 1;
        let sources = WalkDir::new(manifest.replace("Cargo.toml", "src")).into_iter().map(Result::unwrap);
        let is_source =
            |path: &Path| path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("diagnostics.rs");
        for path in sources.map(|entry| entry.into_path()).filter(|path| is_source(path)) {
            let text = fs::read_to_string(&path).unwrap();
            let docs = text.lines().filter_map(|line| line.trim_start().strip_prefix("//")?.strip_prefix(['/', '!']));
            let mut fences = docs.map(str::trim).filter(|line| line.starts_with("```"));
            while let (Some(begin), _) = (fences.next(), fences.next()) {
                assert_eq!(begin, "```text", "{}", path.display());
            }
        }
    }
    assert!(count > 4, "{count}");
}

fn crates() -> impl Iterator<Item = String> {
    fs::read_dir("crates").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap())
}

/// The uses in a folder that are not in the table.
fn wrong(folder: &str, table: &[(&str, &[&str])]) -> String {
    let allowed: BTreeMap<&str, &[&str]> = table.iter().copied().collect();
    let mut wrong = String::new();
    let files = files_in(folder);
    assert!(files.len() > 20, "these are not the sources");
    for file in files {
        let allowed =
            allowed.get(file.module()).unwrap_or_else(|| panic!("the module `{}` has no row here", file.module()));
        for used in file.modules() {
            let is_module = table.iter().any(|(module, _)| *module == used);
            if is_module && used != file.module() && !allowed.contains(&used.as_str()) {
                writeln!(wrong, "{} uses `{used}`", file.path).unwrap();
            }
        }
    }
    wrong
}

/// A source file and its paths, except for those in tests.
struct File {
    /// The path from the folder, separated by `/`.
    path: String,
    /// The depth of its module below the crate root.
    depth: usize,
    paths: BTreeSet<Vec<String>>,
}

impl File {
    fn module(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }

    /// The modules that its paths refer to.
    fn modules(&self) -> BTreeSet<String> {
        let module = |path: &Vec<String>| {
            let supers = path.iter().take_while(|segment| *segment == "super").count();
            let at = match path[0].as_str() {
                "crate" | "opctl" => 1,
                "super" if supers == self.depth => supers,
                _ => return None,
            };
            path.get(at).filter(|segment| *segment != "*").cloned()
        };
        self.paths.iter().filter_map(module).collect()
    }
}

/// The files in a folder.
fn files_in(folder: &str) -> Vec<File> {
    let base = Path::new(ROOT).join(folder);
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(&base).sort_by_file_name() {
        let entry = entry.unwrap();
        if entry.path().extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let path = entry.path().strip_prefix(&base).unwrap().to_str().unwrap().replace('\\', "/");
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let tokens = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        let modules = Path::new(&path).components().count();
        let is_root = matches!(path.as_str(), "lib.rs" | "main.rs");
        let depth = if is_root { 0 } else { modules - usize::from(path.ends_with("/mod.rs")) };
        let mut paths = BTreeSet::new();
        collect(tokens, &mut paths);
        files.push(File { path, depth, paths });
    }
    files
}

/// Every path of two or more segments, with groups such as `a::{b, c}` expanded.
fn collect(tokens: TokenStream, paths: &mut BTreeSet<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if is_test_module(&tokens[at..]) {
            at += 5;
            continue;
        }
        match &tokens[at] {
            TokenTree::Ident(_) => at = path(&tokens, at, &mut Vec::new(), paths),
            TokenTree::Group(group) => {
                collect(group.stream(), paths);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// `true` for `#[cfg(test)] mod name { … }`, also with `#[cfg(all(test, …))]`.
fn is_test_module(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(_), TokenTree::Group(attribute), TokenTree::Ident(word), _, TokenTree::Group(_), ..] = tokens
    else {
        return false;
    };
    let attribute = attribute.stream().to_string().replace(' ', "");
    word == "mod" && (attribute == "cfg(test)" || attribute.starts_with("cfg(all(test,"))
}

/// Reads the path at `at`, after `prefix`, and returns the index after it.
fn path(tokens: &[TokenTree], mut at: usize, prefix: &mut Vec<String>, paths: &mut BTreeSet<Vec<String>>) -> usize {
    let start = prefix.len();
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => prefix.push(ident.to_string()),
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => prefix.push("*".into()),
            Some(TokenTree::Group(group)) if prefix.len() > start => {
                let list: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut inside = 0;
                while inside < list.len() {
                    inside = match &list[inside] {
                        TokenTree::Ident(_) => path(&list, inside, prefix, paths),
                        _ => inside + 1,
                    };
                }
                prefix.truncate(start);
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        let [Some(TokenTree::Punct(first)), Some(TokenTree::Punct(second))] = [tokens.get(at), tokens.get(at + 1)]
        else {
            break;
        };
        if first.as_char() != ':' || second.as_char() != ':' {
            break;
        }
        at += 2;
    }
    if prefix.len() > 1 {
        paths.insert(prefix.clone());
    }
    prefix.truncate(start);
    at
}

#[test]
fn paths_are_found_anywhere() {
    let text = "use crate::{a, b::{C, d::E}}; fn f(x: super::super::g::H) { m!(crate::i::J); k.l::<n::O>() } \
                // crate::no::p\n#[cfg(test)] mod tests { use crate::q::R; } fn s() { std::fs::write() }";
    let mut paths = BTreeSet::new();
    collect(text.parse().unwrap(), &mut paths);
    let paths: Vec<String> = paths.iter().map(|path| path.join("::")).collect();
    assert_eq!(
        paths,
        ["crate::a", "crate::b::C", "crate::b::d::E", "crate::i::J", "n::O", "std::fs::write", "super::super::g::H",]
    );
}
