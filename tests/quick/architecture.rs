//! Holds the modules of `ARCHITECTURE.md`: who may use whom, which crate is known where, and who writes to disk.
//!
//! What is looked at is the tokens of `src`: a path in a macro counts, a path in a comment does not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Each module and the modules that it may use.
const MODULES: &[(&str, &[&str])] = &[
    ("names", &[]),
    ("versions", &[]),
    ("diagnostic", &[]),
    ("interrupt", &[]),
    ("lexer", &[]),
    ("threads", &[]),
    ("yaml", &[]),
    ("project", &["names", "diagnostic", "yaml"]),
    ("model", &["names", "versions", "diagnostic", "project"]),
    ("source", &["names", "versions", "diagnostic", "lexer", "threads", "project", "model"]),
    ("apiserver", &["names", "diagnostic", "project", "model"]),
    ("cluster", &["interrupt", "threads", "yaml"]),
    ("compat", &["model", "apiserver"]),
    ("compiled", &["names", "diagnostic", "project", "interrupt", "threads", "yaml"]),
    ("config", &["names", "diagnostic", "project", "model"]),
    ("grants", &["names", "diagnostic", "project", "model"]),
    ("spec", &["names", "project", "yaml"]),
    ("chart", &["names", "project", "spec", "yaml"]),
    ("operator_chart", &["yaml"]),
    ("olm", &["names", "diagnostic", "config", "yaml"]),
    ("reference", &["yaml"]),
    ("dashboards", &["model"]),
    ("emit", &["names", "versions", "diagnostic", "threads", "project", "model", "yaml"]),
    ("scaffold", &["names", "versions", "diagnostic", "project", "model"]),
    ("ansible", &["diagnostic", "config", "spec"]),
    ("bundle", &["names", "diagnostic", "project", "model", "apiserver", "config"]),
    ("catalog", &["names", "diagnostic", "project", "yaml", "config", "bundle"]),
    ("scorecard", &["diagnostic", "project", "config", "bundle"]),
    ("error", &[]),
    ("api", &["compiled", "error", "scaffold"]),
    ("edit", &["versions", "lexer", "yaml"]),
    ("plan", &["edit", "interrupt"]),
    (
        "commands",
        &[
            "names",
            "versions",
            "diagnostic",
            "project",
            "model",
            "source",
            "cluster",
            "compat",
            "compiled",
            "config",
            "spec",
            "ansible",
            "chart",
            "operator_chart",
            "olm",
            "reference",
            "dashboards",
            "emit",
            "grants",
            "apiserver",
            "bundle",
            "catalog",
            "scorecard",
            "scaffold",
            "edit",
            "plan",
            "interrupt",
            "threads",
            "error",
            "api",
        ],
    ),
    ("lib", &[]),
    ("main", &["commands"]),
];

/// Crates that are known in some modules or files only.
const CRATES: &[(&str, &[&str])] = &[
    ("syn", &["source/", "edit/"]),
    ("serde_derive_internals", &["source/"]),
    ("tera", &["scaffold/bundle.rs"]),
    ("serde_saphyr", &["yaml.rs", "crates/testenv/src/assets/index.rs", "crates/testenv/src/crds.rs"]),
    (
        "toml_edit",
        &[
            "edit/cargo.rs",
            "project/manifest.rs",
            "project/sources.rs",
            "project/workspace.rs",
            "scaffold/runtime.rs",
            "source/resolve/package.rs",
        ],
    ),
    ("pulldown_cmark", &["reference/mod.rs"]),
    ("schemars", &["source/", "emit/"]),
    // What is in `signatures.rs` is not compiled.
    ("k8s_openapi", &["compiled/", "emit/", "apiserver/", "project/builtin.rs", "source/requests/signatures.rs"]),
    ("annotate_snippets", &["diagnostic/mod.rs"]),
    ("granit_parser", &["config/yaml/", "spec/comments.rs"]),
    ("regex", &["crates/cel/src/pattern.rs", "config/select.rs"]),
    ("similar", &["edit/merge.rs", "plan/report.rs"]),
    ("ctrlc", &["interrupt.rs"]),
    ("jiff", &["commands/status/clock.rs"]),
    ("x509_parser", &["commands/status/certificate.rs"]),
    (
        "flate2",
        &[
            "bundle/rules/manifests.rs",
            "chart/release.rs",
            "crates/testenv/src/assets/archive.rs",
            "project/intake.rs",
            "scorecard/archive.rs",
        ],
    ),
    ("rcgen", &["crates/testenv/src/pki.rs"]),
    ("ring", &["plan/vendor.rs", "crates/testenv/src/assets/network.rs"]),
    ("tar", &["crates/testenv/src/assets/archive.rs", "project/intake.rs", "scorecard/archive.rs"]),
    ("glob", &["project/workspace.rs"]),
    ("semver", &["api/runtime.rs", "versions.rs"]),
    ("tempfile", &["compiled/helm/workspace.rs"]),
    ("unicode_normalization", &["source/resolve/modules.rs"]),
    ("ureq", &["crates/testenv/src/assets/network.rs", "crates/testenv/src/client.rs"]),
    ("nix", &["interrupt.rs", "crates/testenv/src/process.rs"]),
    ("opctl_cel", &["apiserver/"]),
    ("opctl_testenv", &["commands/"]),
    ("anyhow", &["api/", "commands/", "main.rs"]),
    ("clap", &["commands/", "main.rs"]),
    ("anstream", &["commands/", "compiled/cargo.rs", "main.rs"]),
];

/// The library crates, and the crates that each may depend on. None depends on opctl.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("cel", &["base64", "regex", "semver", "serde", "serde_json", "strsim", "thiserror"]),
    (
        "runtime",
        &[
            "axum",
            "base64",
            "clap",
            "flate2",
            "futures",
            "http",
            "http-body-util",
            "hyper",
            "hyper-timeout",
            "hyper-util",
            "json-patch",
            "k8s-openapi",
            "kube",
            "opentelemetry",
            "opentelemetry-otlp",
            "opentelemetry_sdk",
            "procfs",
            "prometheus-client",
            "rcgen",
            "ring",
            "rustls",
            "rustix",
            "schemars",
            "serde",
            "serde-saphyr",
            "serde_json",
            "serde_path_to_error",
            "thiserror",
            "tokio",
            "tokio-rustls",
            "tokio-util",
            "tower",
            "tracing",
            "tracing-opentelemetry",
            "tracing-subscriber",
        ],
    ),
    (
        "testenv",
        &[
            "base64",
            "flate2",
            "nix",
            "rcgen",
            "ring",
            "semver",
            "serde",
            "serde-saphyr",
            "serde_json",
            "tar",
            "thiserror",
            "ureq",
        ],
    ),
];

/// What changes the disk.
const WRITES: &[[&str; 2]] = &[
    ["fs", "copy"],
    ["fs", "create_dir"],
    ["fs", "create_dir_all"],
    ["fs", "hard_link"],
    ["fs", "remove_dir"],
    ["fs", "remove_dir_all"],
    ["fs", "remove_file"],
    ["fs", "rename"],
    ["fs", "set_permissions"],
    ["fs", "write"],
    ["fs", "OpenOptions"],
    ["File", "create"],
    ["File", "create_new"],
    ["File", "options"],
    ["OpenOptions", "new"],
];

/// What starts a program.
const PROGRAMS: &[[&str; 2]] = &[["Command", "new"], ["process", "Command"]];

/// What differs from one run to the next.
const UNSTEADY: &[[&str; 2]] = &[["SystemTime", "now"], ["Instant", "now"], ["env", "var"], ["env", "var_os"]];

#[test]
fn modules_use_only_the_modules_before_them() {
    let allowed: BTreeMap<&str, &[&str]> = MODULES.iter().copied().collect();
    let mut found = String::new();
    for file in opctl() {
        let allowed =
            allowed.get(file.module()).unwrap_or_else(|| panic!("the module `{}` has no row here", file.module()));
        for used in file.modules() {
            if used != file.module() && !allowed.contains(&used.as_str()) {
                writeln!(found, "{} uses `{used}`", file.path).unwrap();
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn crates_are_known_only_where_they_belong() {
    let mut found = String::new();
    // What the runtime depends on is its users', and listed in `LIBRARIES`.
    for file in files().into_iter().filter(|file| !file.path.starts_with("crates/runtime/")) {
        for (krate, places) in CRATES {
            let known =
                places.iter().any(|place| file.path == *place || place.ends_with('/') && file.path.starts_with(place));
            if !known && file.paths.iter().any(|path| path[0] == *krate && path.len() > 1) {
                writeln!(found, "{} knows `{krate}`", file.path).unwrap();
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn libraries_depend_only_on_crates_that_they_may_use() {
    let allowed: BTreeMap<&str, &[&str]> = LIBRARIES.iter().copied().collect();
    let mut found = String::new();
    for entry in std::fs::read_dir(Path::new(ROOT).join("crates")).unwrap() {
        let folder = entry.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let allowed = allowed.get(&*name).unwrap_or_else(|| panic!("the crate `{name}` has no row here"));
        let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let manifest: toml_edit::DocumentMut = manifest.parse().unwrap();
        assert!(!manifest.contains_key("build-dependencies"), "{name}: look there, too");
        let targets = manifest.get("target").and_then(|it| it.as_table_like()).into_iter().flat_map(|it| it.iter());
        let targets: Vec<_> = targets.filter_map(|(_, target)| target.as_table_like()).collect();
        let crates = |table: &str| -> BTreeSet<String> {
            let of_targets = targets.iter().filter_map(|target| target.get(table));
            let tables = manifest.get(table).into_iter().chain(of_targets).filter_map(|table| table.as_table_like());
            tables.flat_map(|table| table.iter()).map(|(name, _)| name.to_owned()).collect()
        };
        let allowed: BTreeSet<String> = allowed.iter().copied().map(String::from).collect();
        for used in crates("dependencies").difference(&allowed) {
            writeln!(found, "crates/{name} depends on `{used}`").unwrap();
        }
        if crates("dev-dependencies").contains("opctl") {
            writeln!(found, "crates/{name} is tested by means of opctl").unwrap();
        }
    }
    assert!(found.is_empty(), "{found}");
}

#[test]
fn only_the_plan_writes_to_disk() {
    // Helm reads charts from a temporary folder.
    let files = opctl().into_iter().filter(|file| file.module() != "plan" && file.path != "compiled/helm/workspace.rs");
    assert_eq!(uses(files, WRITES), "");
}

#[test]
fn cel_does_nothing_but_compute() {
    for pairs in [WRITES, PROGRAMS, UNSTEADY] {
        assert_eq!(uses(files_in("crates/cel/src", "").into_iter(), pairs), "");
    }
}

#[test]
fn programs_are_started_where_it_is_their_purpose() {
    // `edit/properties.rs` is a test; `commands/dev/` starts the operator, `commands/testenv/run.rs` what the user says.
    const STARTS: [&str; 5] =
        ["cluster/kubectl.rs", "commands/dev/mod.rs", "commands/testenv/run.rs", "interrupt.rs", "edit/properties.rs"];
    let starts = |file: &File| file.module() == "compiled" || STARTS.contains(&&*file.path);
    let files = opctl().into_iter().filter(|file| !starts(file));
    assert_eq!(uses(files, PROGRAMS), "");
}

#[test]
fn nothing_asks_the_clock_or_the_environment() {
    // Where cargo keeps the sources of other packages, where programs are and come from, and how long others are waited for.
    const ASK: [&str; 4] = ["commands/cargo_home.rs", "commands/environment.rs", "cluster/wait.rs", "interrupt.rs"];
    let asks = |file: &File| ASK.contains(&&*file.path);
    let files = opctl().into_iter().filter(|file| !asks(file));
    assert_eq!(uses(files, UNSTEADY), "");
}

/// Which files have one of these pairs of names somewhere in a path, outside of tests.
fn uses(files: impl Iterator<Item = File>, pairs: &[[&str; 2]]) -> String {
    let mut found = String::new();
    for file in files {
        for [first, second] in pairs {
            if file.paths.iter().any(|path| path.windows(2).any(|pair| pair == [*first, *second])) {
                writeln!(found, "{} uses `{first}::{second}`", file.path).unwrap();
            }
        }
    }
    found
}

/// A source file and the paths in it, but for those in its tests.
struct File {
    /// From `src`, with `/`; of a library from the root of the repository.
    path: String,
    /// How many modules it stands below the crate's root.
    depth: usize,
    paths: BTreeSet<Vec<String>>,
}

impl File {
    fn module(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }

    /// The modules that its paths lead into.
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

/// The files of opctl itself.
fn opctl() -> Vec<File> {
    let files = files_in("src", "src/");
    assert!(files.len() > 20, "these are not the sources");
    files
}

/// The files of opctl and of the libraries.
fn files() -> Vec<File> {
    let libraries = LIBRARIES.iter().flat_map(|(name, _)| files_in(&format!("crates/{name}/src"), ""));
    opctl().into_iter().chain(libraries).collect()
}

/// Those in a folder, with paths from `base`.
fn files_in(folder: &str, base: &str) -> Vec<File> {
    let base = Path::new(ROOT).join(base);
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(Path::new(ROOT).join(folder)).sort_by_file_name() {
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

/// Every path of two or more segments, groups such as `a::{b, c}` taken apart.
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

/// `#[cfg(test)] mod name { … }`, also `#[cfg(all(test, …))]`
fn is_test_module(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(_), TokenTree::Group(attribute), TokenTree::Ident(word), _, TokenTree::Group(_), ..] = tokens
    else {
        return false;
    };
    let attribute = attribute.stream().to_string().replace(' ', "");
    word == "mod" && (attribute == "cfg(test)" || attribute.starts_with("cfg(all(test,"))
}

/// Reads the path that starts at `at`, below `prefix` and returns the position after it.
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
