//! Copies in `templates/`: the arguments of operators in the README of a project, and the digest of all templates in
//! `CHANGES`. `SNAPSHOTS=overwrite` updates both.

use std::fs;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use snapbox::{Assert, Data};
use walkdir::WalkDir;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn is_recorded(path: &str, text: String) {
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(text), Data::read_from(&root(path), None).raw());
}

/// One test, since the digest includes the updated README. If it fails for `CHANGES`, a template has changed: add a
/// line with the reason if existing projects should get the change.
#[test]
fn the_readme_has_every_argument_and_each_change_of_a_template_is_listed() {
    const README: &str = "templates/project/README.md.tera";
    let table = format!(
        "{}{}[% if charts %]{}[% endif %][% if ansible %]{}[% endif %]{}",
        rows("manager/options"),
        rows("leader_election"),
        rows("helm/mod"),
        rows("ansible/mod"),
        rows("telemetry/mod")
    );
    let readme = fs::read_to_string(root(README)).unwrap();
    let (before, rest) = readme.split_once("\n|---|---|---|---|\n").unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    is_recorded(README, format!("{before}\n|---|---|---|---|\n{table}\n{after}"));

    let templates = root("templates");
    let files = WalkDir::new(&templates).sort_by_file_name().into_iter().map(Result::unwrap);
    let mut all = String::new();
    for file in files.filter(|file| file.file_type().is_file() && file.file_name() != "CHANGES") {
        let path = file.path().strip_prefix(&templates).unwrap().to_str().unwrap();
        all.push_str(&format!("{} {path}\n", sha256(&fs::read_to_string(file.path()).unwrap())));
    }
    let changes = fs::read_to_string(templates.join("CHANGES")).unwrap();
    let (before, rest) = changes.split_once("\ndigest ").unwrap();
    let (_, after) = rest.split_once('\n').unwrap();
    is_recorded("templates/CHANGES", format!("{before}\ndigest {}\n{after}", &sha256(&all)[..16]));
    let revisions: Vec<u32> = opctl::scaffold::revisions::reasons().map(|reason| reason.revision).collect();
    assert!(revisions.is_sorted_by(|a, b| a >= b) && revisions.last() == Some(&1), "{revisions:?}");
}

fn sha256(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Table rows of the arguments in a file of the runtime, with their help.
fn rows(file: &str) -> String {
    let text = fs::read_to_string(root(&format!("crates/runtime/src/{file}.rs"))).unwrap();
    let fields: Vec<&str> = text.split("    /// ").skip(1).filter(|field| field.contains("    #[arg(")).collect();
    assert!(fields.len() > 1, "{file}");
    fields.into_iter().map(row).collect()
}

/// `field` begins with its documentation.
fn row(field: &str) -> String {
    let (help, rest) = field.split_once("\n    #[arg(").unwrap();
    let (arg, rest) = rest.split_once("    pub ").unwrap();
    let name = rest.split_once(':').unwrap().0;
    let value = |key: &str| {
        let (_, rest) = arg.split_once(key)?;
        let text = rest.trim_start_matches(" = ").split([',', ')', '\n']).next()?;
        Some(text.trim_matches('"').replace("Format::", "").to_lowercase())
    };
    let variable = value("env = ").map_or_else(|| name.to_uppercase(), |name| name.to_uppercase());
    let default = value("default_value_t").or_else(|| value("default_value")).filter(|text| !text.is_empty());
    let default = default.map(|text| format!("`{text}` ")).unwrap_or_default();
    format!("| `--{}` | `{variable}` | {default}| {help} |\n", name.replace('_', "-"))
}
