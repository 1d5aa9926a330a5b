//! Every kind is accounted for: each match of a text search is derived, rejected, or belongs to another crate.

use std::fs;
use std::path::Path;

use opctl_model::Operator;
use opctl_model::project::Tree;
use opctl_source::{self as source, Account, Source};
use walkdir::WalkDir;

use crate::oracle::manifest;

/// The number of `#[kube(…)]` attributes with a kind, by text search.
pub fn searched(folder: &Path) -> usize {
    let files = WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let texts = files.map(|path| fs::read_to_string(path).unwrap());
    texts
        .map(|text| {
            text.split("#[kube(").skip(1).filter(|rest| rest.split(")]").next().unwrap().contains("kind =")).count()
        })
        .sum()
}

/// Panics unless all of them are derived, or belong elsewhere.
pub fn holds(what: &str, found: usize, Source { operator: Operator { apis, .. }, account, .. }: &Source) {
    assert_eq!(account.found, found, "{what}: {account:?}");
    assert_eq!(account.refused, 0, "{what}: {account:?}");
    assert_eq!(
        (account.written, account.written + account.left_out + account.elsewhere),
        (apis.len(), found),
        "{what}: {account:?}"
    );
}

#[test]
fn as_many_kinds_are_derived_as_a_search_finds() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    for entry in fs::read_dir(tests.join("examples")).unwrap() {
        let folder = entry.unwrap().path();
        let source = source::read(&Tree::at(&folder), "");
        holds(&folder.display().to_string(), searched(&folder.join("src")), &source);
    }
    let mut large = Tree::at("nowhere");
    large.lay_over("Cargo.toml", manifest("large"));
    let mut modules = String::new();
    let folder = tests.join("tests/large");
    for entry in WalkDir::new(&folder).min_depth(1).into_iter().map(Result::unwrap) {
        let path = entry.path().strip_prefix(&folder).unwrap().display().to_string();
        match entry.file_type().is_dir() {
            true if entry.depth() == 1 => modules.push_str(&format!("mod {path};\n")),
            true => {}
            false => large.lay_over(format!("src/{path}"), fs::read_to_string(entry.path()).unwrap()),
        }
    }
    large.lay_over("src/lib.rs", modules);
    holds("tests/large", searched(&folder), &source::read(&large, ""));
}

#[test]
fn all_that_is_found_is_told() {
    let kind = |name: &str, attributes: &str, field: &str| {
        format!(
            "{attributes}\n#[derive(kube::CustomResource, schemars::JsonSchema)]\n\
             #[kube(group = \"g\", version = \"v1\", kind = \"{name}\")]\nstruct {name}Spec {{ x: {field} }}\n"
        )
    };
    let text = [
        kind("A", "", "u8"),
        kind("B", "", "Missing"),
        kind("C", "#[cfg(test)]", "u8"),
        kind("D", "// +opctl:external", "Missing"),
        format!("#[cfg(test)] mod tests {{ {} }}\n", kind("E", "", "u8")),
        format!("fn f() {{ {} }}\n", kind("F", "", "u8")),
        format!("const _: () = {{ {} }};\n", kind("G", "", "u8")),
        format!("mod inner {{ {} }}\n", kind("H", "#[cfg_attr(all(), doc = \"x\")]", "u8")),
        format!("make! {{ {} }}\n", kind("I", "", "u8")),
        format!("#[test] fn t() {{ {} }}\n", kind("J", "", "u8")),
        kind("K", "", "u8").replace("#[kube(", "#[cfg_attr(all(), kube(").replace("\")]", "\"))]"),
        kind("L", "", "u8")
            .replace("#[kube(", "#[cfg_attr(not(test), kube(namespaced), kube(")
            .replace("\")]", "\"))]"),
        format!("struct S;\nimpl S {{ fn g() {{ {} }} }}\n", kind("M", "", "u8")),
    ];
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", manifest("oracle"));
    tree.lay_over("src/lib.rs", format!("mod other;\n{}", text.concat()));
    tree.lay_over("src/other.rs", kind("N", "", "u8"));
    tree.lay_over("src/lost.rs", kind("O", "", "u8"));
    tree.lay_over("src/external/mod.rs", kind("P", "", "u8").replace("kind =", "schema = \"disabled\", kind ="));
    let source = source::read(&tree, "");
    let kinds: Vec<&str> = source.operator.apis.iter().map(|api| api.kind.as_str()).collect();
    assert_eq!(kinds, ["A", "H", "K", "L", "N"]);
    // Rejected: B, F, G, I and M; also O and P, which are in no module.
    assert_eq!(source.account, Account { found: 16, written: 5, refused: 7, left_out: 3, elsewhere: 1 });
    let told: Vec<&str> = source.diagnostics.iter().map(|problem| problem.code.name).collect();
    assert_eq!(told, ["OP021", "OP021", "OP021", "OP021", "OP010", "OP029", "OP029"]);
}
