//! The members of a cargo workspace are those of `cargo metadata`, and opctl rejects the workspaces that cargo rejects.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use opctl_model::diagnostic::{self, Diagnostic};
use opctl_model::project::{CargoToml, Tree, Workspaces};
use opctl_source as source;
use proptest::prelude::*;
use proptest::sample::subsequence;
use snapbox::{Assert, Data};

use crate::sandbox::Sandbox;
use crate::write::write;

/// The folders of members and default members, relative to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    members: BTreeSet<String>,
    default_members: BTreeSet<String>,
}

/// The result of opctl; an error if it rejects the workspace.
fn found_by_opctl(tree: &Tree) -> Result<Found, Box<Diagnostic>> {
    let workspaces = Workspaces::of(tree);
    let folders = |members: &[std::rc::Rc<CargoToml>]| members.iter().map(|member| member.folder.clone()).collect();
    Ok(match workspaces.rooted_in("")? {
        Some(workspace) => {
            Found { members: folders(&workspace.members), default_members: folders(&workspace.default_members) }
        }
        None => {
            let own: Vec<_> = workspaces.manifest("")?.into_iter().filter(|manifest| manifest.has_package()).collect();
            Found { members: folders(&own), default_members: folders(&own) }
        }
    })
}

/// The result of cargo, or its error.
fn found_by_cargo(root: &Path) -> Result<Found, String> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
    let folder = |package: &serde_json::Value| {
        let manifest = package["manifest_path"].as_str().unwrap().trim_end_matches("/Cargo.toml");
        match manifest.strip_prefix(root.to_str().unwrap()) {
            Some(below) => below.trim_start_matches('/').to_owned(),
            None => format!("../{}", manifest.rsplit('/').next().unwrap()),
        }
    };
    let packages = list(&metadata["packages"]);
    let by_id: BTreeMap<String, String> =
        packages.iter().map(|package| (package["id"].to_string(), folder(package))).collect();
    let default_members = list(&metadata["workspace_default_members"]);
    Ok(Found {
        members: by_id.values().cloned().collect(),
        default_members: default_members.iter().map(|id| by_id[&id.to_string()].clone()).collect(),
    })
}

/// Writes the packages, and the root with this Cargo.toml. Returns the folder of the root.
fn write_all(sandbox: &Sandbox, root: &str, packages: &[Package]) -> std::path::PathBuf {
    let folder = sandbox.folder.canonicalize().unwrap().join("root");
    write(&folder.join("Cargo.toml"), root);
    write(&folder.join("src/lib.rs"), "");
    for package in packages {
        write(&folder.join(&package.folder).join("Cargo.toml"), &package.manifest);
        write(&folder.join(&package.folder).join("src/lib.rs"), "");
    }
    folder
}

struct Package {
    folder: String,
    manifest: String,
}

fn package(folder: &str, rest: &str) -> Package {
    let name = folder.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let manifest = format!("[package]\nname = \"p{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}");
    Package { folder: folder.into(), manifest }
}

/// The packages of all cases in [`members_are_those_that_cargo_finds`], which have no dependencies.
const PACKAGES: &[&str] =
    &["lib", "lib/deep/c", "ops/.hidden", "ops/a-one", "ops/a-two", "ops/b-two", "ops/é", "../out"];

/// Each `[workspace]` and its members; `-` if cargo rejects it.
const CASES: &[(&str, &str)] = &[
    ("members = ['ops/a-*', 'ops/b-two']", "ops/a-one ops/a-two ops/b-two"),
    ("members = ['ops/*']", "ops/.hidden ops/a-one ops/a-two ops/b-two ops/é"),
    ("members = ['ops/*/']", "ops/.hidden ops/a-one ops/a-two ops/b-two ops/é"),
    ("members = ['./ops/a-*/']", "ops/a-one ops/a-two"),
    ("members = ['ops/?-two']", "ops/a-two ops/b-two"),
    ("members = ['ops/?']", "ops/é"),
    ("members = ['ops/[a-b]-two']", "ops/a-two ops/b-two"),
    ("members = ['ops/[!.é]*']", "ops/a-one ops/a-two ops/b-two"),
    ("members = ['ops/.h*']", "ops/.hidden"),
    ("members = ['*/a-one', 'l*b']", "lib ops/a-one"),
    ("members = ['**/c']", "lib/deep/c"),
    ("members = ['**/**/a-one']", "ops/a-one"),
    ("members = ['ops/**/a-one']", "ops/a-one"),
    ("members = ['lib/**/c']", "lib/deep/c"),
    ("members = ['ops/../lib']", "lib"),
    ("members = ['ops/a-*/../../lib']", "lib"),
    ("members = ['ops//a-one']", "ops/a-one"),
    ("members = ['ops/a-one', 'ops/a-*', 'ops/a-one']", "ops/a-one ops/a-two"),
    ("members = ['ops/a-one/Cargo.toml']", ""),
    ("members = ['ops/a-one/*.toml', 'lib']", "lib"),
    ("members = []", ""),
    ("", ""),
    ("members = ['ops/*']\nexclude = ['ops/.hidden', 'ops/é', 'ops/a-one']", "ops/a-two ops/b-two"),
    ("members = ['ops/*']\nexclude = ['ops']", ""),
    ("members = ['ops/*', 'ops/b-two']\nexclude = ['ops']", "ops/b-two"),
    ("members = ['ops/a-*']\nexclude = ['op']", "ops/a-one ops/a-two"),
    ("members = ['ops/a-*']\nexclude = ['ops/a-*']", "ops/a-one ops/a-two"),
    ("members = ['ops/a-*']\nexclude = ['./ops/a-one/']", "ops/a-two"),
    ("members = ['ops/a-*']\nexclude = ['lib/../ops/a-one']", "ops/a-one ops/a-two"),
    ("members = ['ops', 'ops/a-*']\nexclude = ['ops']", "-"),
    ("members = ['ops/a-*']\ndefault-members = ['ops/a-one']", "ops/a-one ops/a-two"),
    ("members = ['ops/a-*']\nexclude = ['ops/a-one']\ndefault-members = ['ops/a-*']", "ops/a-two"),
    ("members = ['ops/a-*']\ndefault-members = ['ops/b-two']", "-"),
    ("members = ['ops/a-*']\ndefault-members = ['ops/*']", "-"),
    ("members = ['ops/a-*', 'ops/c']", "-"),
    ("members = ['ops/c-*']", "-"),
    ("members = ['*']", "-"),
    ("members = ['lib/**']", "-"),
    ("members = ['ops/a**']", "-"),
    ("members = ['ops/[a']", "-"),
    ("members = ['ops/[a/b]-two']", "-"),
    ("members = ['.*']", "-"),
    ("members = ['../out']", "-"),
    ("members = 'ops/*'", "-"),
    ("members = ['ops/a-one', 1]", "-"),
];

#[test]
fn members_are_those_that_cargo_finds() {
    let sandbox = Sandbox::new();
    let packages: Vec<Package> = PACKAGES.iter().map(|folder| package(folder, "")).collect();
    for (workspace, expected) in CASES {
        for root in ["", "[package]\nname = \"root\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"] {
            let folder = write_all(&sandbox, &format!("[workspace]\nresolver = '2'\n{workspace}\n{root}"), &packages);
            let opctl = found_by_opctl(&Tree::at(&folder));
            let cargo = found_by_cargo(&folder);
            let mut expected: BTreeSet<String> = expected.split_whitespace().map(String::from).collect();
            let is_refused = expected.remove("-");
            if !root.is_empty() {
                expected.insert(String::new());
            }
            assert_eq!(opctl.is_err(), is_refused, "{workspace}: {opctl:?}");
            assert_eq!(opctl.as_ref().ok(), cargo.as_ref().ok(), "{workspace}: {cargo:?}");
            assert!(is_refused || opctl.unwrap().members == expected, "{workspace}");
        }
    }
}

/// Path dependencies, `package.workspace` keys and nested roots: the packages, the root's manifest, and the members;
/// `-` if cargo rejects it.
#[test]
fn path_dependencies_are_members() {
    let on = |path: &str| format!("[dependencies]\np = {{ path = \"{path}\", package = \"p\" }}\n");
    let named = |folder: &str, rest: &str| {
        let Package { folder, manifest } = package(folder, rest);
        Package { folder, manifest: manifest.replace("name = \"p", "name = \"") }
    };
    let nested = "[workspace]\nmembers = []\n";
    let shared = "members = ['a']\n[workspace.dependencies]\np = { path = 'lib/b' }";
    let platform = "[target.'cfg(windows)'.build-dependencies]\np = { path = '../b', optional = true }\n[dev-dependencies]\nq = { path = '../c' }\n";
    let cases: Vec<(&str, Vec<Package>, &str)> = vec![
        ("members = ['a']", vec![named("a", &on("../b")), named("b", &on("../c")), named("c", "")], "a b c"),
        ("members = ['a']", vec![named("a", platform), named("b", ""), named("c", "")], "a b c"),
        (shared, vec![named("a", "[dependencies]\np.workspace = true\n"), named("lib/b", "")], "a lib/b"),
        (shared, vec![named("a", "[dependencies]\nq.workspace = true\n"), named("lib/b", "")], "-"),
        (
            "members = ['a']\nexclude = ['b']",
            vec![named("a", &on("../b")), named("b", &on("../c")), named("c", "")],
            "a",
        ),
        ("members = ['a']\nexclude = ['b']", vec![named("a", &on("../b")), named("b", nested)], "a"),
        ("members = ['a']", vec![named("a", &on("../b")), named("b", nested)], "-"),
        ("members = ['a', 'b']", vec![named("a", ""), named("b", nested)], "-"),
        ("members = ['a']", vec![named("a", &on("../gone"))], "-"),
        ("members = ['a']\nexclude = ['gone']", vec![named("a", &on("../gone"))], "a"),
        ("members = ['a']", vec![named("a", &on("../../out")), named("../out", "")], "a"),
        ("members = ['a']", vec![named("a", &on("../../gone"))], "-"),
        ("members = ['a', '../out']", vec![named("a", ""), named("../out", "workspace = '../root'\n")], "a ../out"),
        ("members = ['a']", vec![named("a", &on("../../out")), named("../out", "workspace = '../root'\n")], "a ../out"),
        ("members = ['a']", vec![named("a", "workspace = '../b'\n"), named("b", nested)], "-"),
        ("members = ['a']", vec![named("a", "workspace = '../b'\n"), named("b", "")], "-"),
        ("members = ['a']", vec![named("a", "workspace = '..'\n")], "a"),
        (
            "members = ['a', 'b']",
            vec![named("a", ""), Package { folder: "b".into(), manifest: named("a", "").manifest }],
            "-",
        ),
        ("members = ['a']", vec![Package { folder: "a".into(), manifest: "[dependencies]\n".into() }], "-"),
        ("members = ['a']", vec![Package { folder: "a".into(), manifest: "[package\n".into() }], "-"),
        ("members = ['a']", vec![named("a", "[patch.crates-io]\nb = { path = '../b' }\n"), named("b", "")], "a"),
    ];
    for (workspace, packages, expected) in cases {
        let sandbox = Sandbox::new();
        let folder = write_all(&sandbox, &format!("[workspace]\nresolver = '2'\n{workspace}\n"), &packages);
        let (opctl, cargo) = (found_by_opctl(&Tree::at(&folder)), found_by_cargo(&folder));
        let expected: BTreeSet<String> = expected.split_whitespace().map(String::from).collect();
        let what = || format!("{workspace} {:?}", packages.iter().map(|it| &it.manifest).collect::<Vec<_>>());
        assert_eq!(opctl.as_ref().ok(), cargo.as_ref().ok(), "{}: {cargo:?} {opctl:?}", what());
        assert_eq!(opctl.map(|found| found.members).ok(), (!expected.contains("-")).then_some(expected), "{}", what());
    }
}

const FOLDERS: &[&str] =
    &["a", "lib", "lib/deep/c", "ops/.h", "ops/a", "ops/a/x", "ops/ab", "ops/b", "../out", "../out/x"];

const PATTERNS: &[&str] = &[
    "a",
    "lib",
    "ops/a",
    "ops/b",
    "./ops/ab/",
    "ops/*",
    "ops/a*",
    "ops/?",
    "ops/[ab]",
    "ops/[!a.]*",
    "ops/.*",
    "ops/.h",
    "*",
    "**/x",
    "lib/**/c",
    "lib/*/c",
    "**",
    "ops/**",
    "l*",
    "[l-z]*",
    "ops/*/x",
    "ops/../lib",
    "nothing",
    "nothing/*",
    "a**",
    "ops/[a",
    "../out",
    "../*",
    "../out/x",
    ".",
    "*/*",
    "lib/deep/c",
    "ops/a/x",
    "ops",
    "**/[abc]",
    "?*",
    "ops//b",
    "lib/src",
    "*/src",
    "ops/a/Cargo.toml",
];

const EXCLUDES: &[&str] = &[
    "a",
    "lib",
    "lib/deep",
    "./ops/a",
    "ops",
    "ops/a/x",
    "op",
    "ops/*",
    "../out",
    "ops/b/",
    "ops/b/../a",
    "ops/.h",
    ".",
];

/// A random package: its folder, its dependencies with their tables, and the index of more lines in its Cargo.toml.
fn random_package() -> impl Strategy<Value = (usize, Vec<(usize, usize)>, usize)> {
    let dependencies = prop::collection::vec((0..FOLDERS.len(), 0..6_usize), 0..3);
    (0..FOLDERS.len(), dependencies, 0..40_usize)
}

/// The relative path between two folders, both relative to the root.
fn way(from: &str, to: &str) -> String {
    let up = from.split('/').filter(|part| *part != "..").map(|_| "../").collect::<String>();
    match from.strip_prefix("../") {
        Some(_) => format!("{up}root/{to}"),
        None => format!("{up}{to}"),
    }
}

/// `inherits`: the root excludes no package, so it can have dependencies for all.
fn render_package((folder, dependencies, extra): &(usize, Vec<(usize, usize)>, usize), inherits: bool) -> Package {
    let folder = FOLDERS[*folder];
    let mut head = String::new();
    let mut tables = String::new();
    for (index, (to, table)) in dependencies.iter().enumerate() {
        let to = FOLDERS[*to];
        let table = match table {
            0 => "dependencies",
            1 => "dev-dependencies",
            2 => "build-dependencies",
            3 => "target.'cfg(windows)'.dependencies",
            4 => "target.x86_64-unknown-linux-gnu.dev_dependencies",
            _ => {
                if inherits && !folder.starts_with("..") && *extra > 0 {
                    tables += &format!("[dependencies.s{index}]\nworkspace = true\n");
                }
                continue;
            }
        };
        if to != folder {
            tables += &format!(
                "[{table}.d{index}]\npath = '{}'\npackage = 'x'\noptional = {}\n",
                way(folder, to),
                table == "dependencies"
            );
        }
    }
    match extra {
        0 => tables += "[workspace]\n",
        1 => head += &format!("workspace = '{}'\n", way(folder, "")),
        2 => head += "workspace = '..'\n",
        3 | 4 if folder.starts_with("..") => head += &format!("workspace = '{}'\n", way(folder, "")),
        _ => {}
    }
    let mut package = package(folder, &format!("{head}{tables}"));
    if *extra == 5 {
        package.manifest = package.manifest.replacen("name = \"p", "name = \"same\" # \"", 1);
    }
    package
}

/// `PROPTEST_CASES=600` sets the number of workspaces; each takes 30 ms.
#[test]
fn random_workspaces_have_the_members_that_cargo_finds() {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 60 };
    let accepted = Cell::new(0);
    proptest!(ProptestConfig { cases, failure_persistence: None, ..default }, |(
        packages in prop::collection::vec(random_package(), 1..8),
        members in subsequence(PATTERNS, 0..4),
        listed in 0..3_usize,
        exclude in prop::option::of(subsequence(EXCLUDES, 0..3)),
        default_members in prop::option::weighted(0.2, subsequence(PATTERNS, 0..3)),
        has_package in any::<bool>(),
        dependency in prop::option::of(0..FOLDERS.len())
    )| {
        let sandbox = Sandbox::new();
        // With the names of existing packages, cargo accepts more of the workspaces.
        let plain = packages.iter().take(listed).map(|(folder, ..)| FOLDERS[*folder]).filter(|folder| !folder.starts_with(".."));
        let members: Vec<&str> = members.into_iter().chain(plain).collect();
        let mut root = format!("[workspace]\nresolver = '2'\nmembers = {members:?}\n");
        let inherits = exclude.is_none();
        root += &exclude.map(|exclude| format!("exclude = {exclude:?}\n")).unwrap_or_default();
        root += &default_members.map(|list| format!("default-members = {list:?}\n")).unwrap_or_default();
        let folders: BTreeSet<&str> = packages.iter().map(|(folder, ..)| FOLDERS[*folder]).collect();
        root += "[workspace.dependencies]\n";
        for index in 0..3 {
            root += &format!("s{index} = {{ path = '{}', package = 'x' }}\n", folders.iter().nth(index % folders.len()).unwrap());
        }
        if has_package {
            root += "[package]\nname = 'root'\nversion = '0.1.0'\nedition = '2021'\n";
            if let Some(to) = dependency {
                root += &format!("[dependencies.one]\npath = '{}'\npackage = 'x'\n", FOLDERS[to]);
            }
        }
        let packages: Vec<Package> = packages.iter().map(|package| render_package(package, inherits)).collect();
        let folder = write_all(&sandbox, &root, &packages);
        let (opctl, cargo) = (found_by_opctl(&Tree::at(&folder)), found_by_cargo(&folder));
        let manifests = || packages.iter().map(|it| format!("--- {}\n{}", it.folder, it.manifest)).collect::<String>();
        prop_assert_eq!(opctl.as_ref().ok(), cargo.as_ref().ok(), "{:?} {:?}\n{}{}", opctl, cargo, root, manifests());
        accepted.set(accepted.get() + u32::from(cargo.is_ok()));
    });
    assert!(accepted.get() * 20 > cases && accepted.get() < cases, "cargo accepts {} of {cases}", accepted.get());
}

const KIND: &str = "
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = \"example.com\", version = \"v1\", kind = \"KIND\", namespaced)]
pub struct KINDSpec { pub size: u32 }
";

const DEPENDENCIES: &str = "[dependencies]\nkube = { version = \"*\", features = [\"derive\"] }\nk8s-openapi = { version = \"*\", features = [\"latest\"] }\n\
                            schemars = \"*\"\nserde = { version = \"1\", features = [\"derive\"] }\n";

/// A tree with a kind named `Kind` in each of these folders.
fn with_kinds(root: &str, kinds: &[(&str, &str)], more: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::empty();
    tree.lay_over("Cargo.toml", root);
    for (folder, kind) in kinds {
        let below = |path: &str| opctl_model::project::join(folder, path);
        if !folder.is_empty() {
            tree.lay_over(below("Cargo.toml"), package(folder, DEPENDENCIES).manifest);
        }
        tree.lay_over(below("src/lib.rs"), KIND.replace("KIND", kind));
    }
    more.iter().for_each(|(path, text)| tree.lay_over(*path, *text));
    tree
}

/// The derived kinds, and the diagnostics.
fn kinds(tree: &Tree, folder: &str) -> (Vec<String>, String) {
    let source = source::read(tree, folder);
    let kinds = source.operator.apis.into_iter().map(|api| api.kind).collect();
    (kinds, diagnostic::render(&source.diagnostics, false))
}

#[test]
fn the_kinds_of_all_members_are_found() {
    let root = format!("[package]\nname = \"root\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{DEPENDENCIES}");
    let workspace = "[workspace]\nmembers = [\"ops/a-*\", \"ops/b-two\"]\nexclude = [\"ops/a-old\"]\ndefault-members = [\"ops/b-two\"]\n";
    let members = [("ops/a-one", "One"), ("ops/a-two", "Two"), ("ops/b-two", "Three"), ("ops/a-old", "Old")];
    assert_eq!(kinds(&with_kinds(workspace, &members, &[]), ""), (strings(&["One", "Three", "Two"]), String::new()));
    // A package at the root is another member.
    let all = [&members[..], &[("", "Root")]].concat();
    let tree = with_kinds(&format!("{root}{workspace}"), &all, &[]);
    assert_eq!(kinds(&tree, ""), (strings(&["One", "Root", "Three", "Two"]), String::new()));
    assert_eq!(kinds(&tree, "ops/a-two"), (strings(&["Two"]), String::new()));
}

/// A project in another project has its own manifests. Below a root without PROJECT, all kinds are read.
#[test]
fn a_project_in_a_project_is_read_by_itself() {
    let root = format!(
        "[package]\nname = \"root\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{DEPENDENCIES}[workspace]\nmembers = [\"one\", \"two\"]\n"
    );
    let members = [("", "Root"), ("one", "One"), ("two", "Two")];
    let tree = with_kinds(&root, &members, &[("one/PROJECT", ""), ("PROJECT", "")]);
    assert_eq!(kinds(&tree, "").0, ["Root", "Two"]);
    assert_eq!(kinds(&tree, "one").0, ["One"]);
    let tree = with_kinds(&root, &members, &[("one/PROJECT", "")]);
    assert_eq!(kinds(&tree, "").0, ["One", "Root", "Two"]);
}

/// Types of other crates are resolved for operators, even if a member is a procedural macro.
#[test]
fn a_member_may_be_a_procedural_macro() {
    let with = KIND.replace("KIND", "One").replace("u32", "Option<ipnet::IpNet>");
    let lock = "version = 4\n\n[[package]]\nname = \"pz_one\"\nversion = \"0.1.0\"\ndependencies = [\n \"ipnet\",\n]\n\n[[package]]\nname = \"ipnet\"\nversion = \"2.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n\n[[package]]\nname = \"pa_macro\"\nversion = \"0.1.0\"\n";
    let one =
        package("z-one", &format!("{DEPENDENCIES}ipnet = \"2\"\npa_macro = {{ path = \"../a-macro\" }}\n")).manifest;
    let makes = package("a-macro", "[lib]\nproc-macro = true\n").manifest;
    let more = [
        ("Cargo.lock", lock),
        ("z-one/Cargo.toml", &one),
        ("z-one/src/lib.rs", &with),
        ("a-macro/Cargo.toml", &makes),
        ("a-macro/src/lib.rs", "extern crate proc_macro;"),
    ];
    let (found, problems) = kinds(&with_kinds("[workspace]\nmembers = [\"*\"]\n", &[], &more), "");
    assert_eq!(found, [""; 0]);
    assert!(problems.contains("the source of `ipnet 2.0.0` is not on disk"), "{problems}");
}

/// An invalid workspace is a single error with a location, and nothing is read.
#[test]
fn a_workspace_that_cargo_refuses_is_an_error() {
    let kinds_of = |workspace: &str, more: &[(&str, &str)]| {
        kinds(&with_kinds(&format!("[workspace]\n{workspace}\n"), &[("a", "A"), ("b", "B")], more), "")
    };
    let nested = package("b", &format!("{DEPENDENCIES}[workspace]\n")).manifest;
    let other = package("b", "workspace = \"../c\"\n").manifest;
    let same = package("a", "").manifest;
    let gone = package("b", "[dependencies]\ngone = { path = \"../gone\" }\n").manifest;
    let cases: Vec<(&str, Vec<(&str, &str)>)> = vec![
        ("members = [\"a\", \"gone\"]", vec![]),
        ("members = [\"a\", \"c*\"]", vec![("c/README.md", "")]),
        ("members = [\"b\"]", vec![("b/Cargo.toml", &gone)]),
        ("members = [\"a\", \"b\"]", vec![("b/Cargo.toml", "[dependencies]\n")]),
        ("members = [\"a\", \"b\"]", vec![("b/Cargo.toml", "[package\n")]),
        ("members = [\"a\", \"b[\"]", vec![]),
        ("members = \"a\"", vec![]),
        ("members = [\"a\"]\ndefault-members = [\"b\"]", vec![]),
        ("members = [\"a\", \"b\"]", vec![("b/Cargo.toml", &nested)]),
        ("members = [\"a\", \"b\"]", vec![("b/Cargo.toml", &other), ("c/Cargo.toml", "[workspace]\n")]),
        ("members = [\"a\", \"b\"]", vec![("b/Cargo.toml", &other)]),
        ("members = [\"a\", \"b\"]", vec![("b/Cargo.toml", &same)]),
        ("members = []", vec![]),
    ];
    let mut text = String::new();
    for (workspace, more) in cases {
        let (found, problems) = kinds_of(workspace, &more);
        assert_eq!(found, [""; 0], "{workspace}");
        text += &format!("# {}\n\n{}", workspace.replace('\n', "; "), problems);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workspaces.txt");
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(text), Data::read_from(&path, None).raw());
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}
