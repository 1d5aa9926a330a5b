//! `opctl update`: what is new in the templates, and what the user changed since. Instead of an older opctl, the record of a project is
//! made older: it says that opctl wrote another text.

use std::fs;
use std::process::Output;

use ring::digest::{SHA256, digest};
use walkdir::WalkDir;

use crate::golden::shell;
use crate::sandbox::Sandbox;
use crate::tree;

/// A project whose files are all recorded.
fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl init memcached-operator --domain example.com --api cache/v1alpha1/Memcached");
    sandbox.folder.push("memcached-operator");
    sandbox
}

fn opctl(sandbox: &Sandbox, arguments: &str) -> Output {
    sandbox.command("opctl").args(arguments.split_whitespace()).output().unwrap()
}

#[track_caller]
fn succeeds(sandbox: &Sandbox, arguments: &str) -> String {
    let output = opctl(sandbox, arguments);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{arguments}: {text}");
    text
}

/// Fails, and writes nothing.
#[track_caller]
fn is_refused(sandbox: &Sandbox, arguments: &str) -> String {
    let before = (tree::tree(&sandbox.folder), tree::record(&sandbox.folder));
    let output = opctl(sandbox, arguments);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments}: {text}");
    assert!((tree::tree(&sandbox.folder), tree::record(&sandbox.folder)) == before, "{arguments}: {text}");
    text
}

fn read(sandbox: &Sandbox, path: &str) -> String {
    fs::read_to_string(sandbox.folder.join(path)).unwrap()
}

fn write(sandbox: &Sandbox, path: &str, text: &str) {
    fs::write(sandbox.folder.join(path), text).unwrap();
}

fn sha256(text: &str) -> String {
    digest(&SHA256, text.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Has an older opctl have written the file with this text, or not at all.
fn was(sandbox: &Sandbox, path: &str, text: Option<&str>) {
    let list = read(sandbox, ".opctl/scaffold.txt");
    let others = list.lines().filter(|line| !line.ends_with(&format!("  {path}")));
    let mut lines: Vec<String> = others.map(str::to_owned).collect();
    let base = format!(".opctl/base/{path}.base");
    match text {
        Some(text) => {
            write(sandbox, &base, text);
            write(sandbox, path, text);
            lines.push(format!("{}  0  {path}", sha256(text)));
        }
        None => fs::remove_file(sandbox.folder.join(&base)).unwrap(),
    }
    lines.sort_by_key(|line| line.rsplit("  ").next().unwrap().to_owned());
    write(sandbox, ".opctl/scaffold.txt", &format!("{}\n", lines.join("\n")));
}

/// A project that an older opctl made: there, the Makefile had no line for tests, and another one.
fn older() -> (Sandbox, String) {
    let sandbox = project();
    let today = read(&sandbox, "Makefile");
    let old = today.replace(".PHONY: test\n", ".PHONY: test-all\n");
    assert_ne!(old, today);
    was(&sandbox, "Makefile", Some(&old));
    (sandbox, today)
}

#[test]
fn a_file_that_nobody_edited_is_replaced() {
    let (sandbox, today) = older();
    is_refused(&sandbox, "update --check");
    assert!(succeeds(&sandbox, "update --diff").contains("+.PHONY: test\n"));
    let output = succeeds(&sandbox, "update");
    assert!(output.contains("update  Makefile\n") && output.contains("revision 1, "), "{output}");
    assert_eq!(read(&sandbox, "Makefile"), today);
    let output = succeeds(&sandbox, "update --check");
    assert_eq!(output, "everything is up to date\n");
}

#[test]
fn edits_elsewhere_in_the_file_are_kept() {
    let (sandbox, today) = older();
    let mine = "\n.PHONY: mine\nmine:\n\techo mine\n";
    write(&sandbox, "Makefile", &format!("{}{mine}", read(&sandbox, "Makefile")));
    succeeds(&sandbox, "update");
    assert_eq!(read(&sandbox, "Makefile"), format!("{today}{mine}"));
    succeeds(&sandbox, "update --check");
}

#[test]
fn where_both_changed_the_same_the_user_decides() {
    let conflict = || {
        let (sandbox, today) = older();
        let own = read(&sandbox, "Makefile").replace(".PHONY: test-all\n", ".PHONY: test-mine\n");
        write(&sandbox, "Makefile", &own);
        (sandbox, own, today)
    };
    let (sandbox, own, today) = conflict();
    let text = is_refused(&sandbox, "update");
    assert!(text.contains("error: `Makefile`: you and the scaffold changed the same line: "), "{text}");
    assert!(text.contains("`--ours Makefile` keeps your file"), "{text}");
    is_refused(&sandbox, "update --ours Makefile --theirs Makefile");
    is_refused(&sandbox, "update --ours Makefil");
    succeeds(&sandbox, "update --ours Makefile");
    assert_eq!(read(&sandbox, "Makefile"), own);
    succeeds(&sandbox, "update --check");

    let (sandbox, _, _) = conflict();
    succeeds(&sandbox, "update --theirs ./Makefile");
    assert_eq!(read(&sandbox, "Makefile"), today);
    succeeds(&sandbox, "update --check");

    let (sandbox, own, _) = conflict();
    let output = opctl(&sandbox, "update --conflicts markers");
    assert_eq!(output.status.code(), Some(1));
    let marked = read(&sandbox, "Makefile");
    let lines = "<<<<<<< yours\n.PHONY: test-mine\n||||||| scaffolded\n.PHONY: test-all\n=======\n.PHONY: test\n>>>>>>> new scaffold\n";
    assert!(marked.contains(lines), "{marked}");
    let text = is_refused(&sandbox, "update");
    assert!(text.contains("has a conflict"), "{text}");
    write(&sandbox, "Makefile", &own);
    succeeds(&sandbox, "update --check");
}

#[test]
fn what_the_user_deleted_stays_deleted_until_it_is_restored() {
    let (sandbox, today) = older();
    fs::remove_file(sandbox.folder.join("Makefile")).unwrap();
    let output = succeeds(&sandbox, "update");
    assert!(output.contains("you deleted it; `--theirs Makefile` brings it back"), "{output}");
    assert!(!sandbox.folder.join("Makefile").exists());
    assert_eq!(succeeds(&sandbox, "update"), "nothing to do, everything is up to date\n");
    succeeds(&sandbox, "update --restore Makefile");
    assert_eq!(read(&sandbox, "Makefile"), today);
    succeeds(&sandbox, "update --check");
}

#[test]
fn new_files_are_created_unless_there_is_one() {
    let sandbox = project();
    let today = read(&sandbox, "deny.toml");
    was(&sandbox, "deny.toml", None);
    fs::remove_file(sandbox.folder.join("deny.toml")).unwrap();
    assert!(succeeds(&sandbox, "update").contains("create  deny.toml\n"));
    assert_eq!(read(&sandbox, "deny.toml"), today);

    was(&sandbox, "deny.toml", None);
    assert!(!succeeds(&sandbox, "update").contains("deny.toml"), "it is the same");
    was(&sandbox, "deny.toml", None);
    write(&sandbox, "deny.toml", "# mine\n");
    assert!(is_refused(&sandbox, "update").contains("`deny.toml`: the scaffold has a new file of this name"));
    succeeds(&sandbox, "update --ours deny.toml");
    assert_eq!(read(&sandbox, "deny.toml"), "# mine\n");

    // Also those of a kind.
    let types = "src/api/cache/v1alpha1/memcached.rs";
    let today = read(&sandbox, types);
    was(&sandbox, types, Some(&today.replace("//! ", "//! Old: ")));
    succeeds(&sandbox, "update");
    assert_eq!(read(&sandbox, types), today);
}

#[test]
fn cargo_toml_is_merged_by_values() {
    let sandbox = project();
    let today = read(&sandbox, "Cargo.toml");
    let serde = "serde_json = \"1\"\n";
    let old = today.replace(serde, "serde_json = \"0.9\"\n");
    assert_ne!(old, today);
    was(&sandbox, "Cargo.toml", Some(&old));
    write(&sandbox, "Cargo.toml", &old.replace("\"0.9\"\n", "\"1.0.200\"\nurl = \"2\"\n"));
    succeeds(&sandbox, "update");
    assert_eq!(read(&sandbox, "Cargo.toml"), today.replace(serde, "serde_json = \"1.0.200\"\nurl = \"2\"\n"));
}

#[test]
fn a_project_without_a_record_is_adopted() {
    let (sandbox, today) = older();
    let own = read(&sandbox, "Makefile");
    fs::remove_dir_all(sandbox.folder.join(".opctl")).unwrap();
    fs::remove_file(sandbox.folder.join("deny.toml")).unwrap();
    assert!(is_refused(&sandbox, "update").contains("opctl update --adopt"));
    let output = succeeds(&sandbox, "update --adopt");
    assert!(output.contains("\n  Makefile\n  deny.toml (deleted)\n"), "{output}");
    assert_eq!(read(&sandbox, "Makefile"), own, "it stays as it is");
    assert_eq!(read(&sandbox, ".opctl/base/Makefile.base"), today);
    is_refused(&sandbox, "update --adopt");
    succeeds(&sandbox, "update --check");
    // As if it had been recorded from the beginning.
    let adopted = tree::record(&sandbox.folder);
    let recorded = tree::record(&project().folder);
    assert_eq!(
        adopted.keys().collect::<Vec<_>>(),
        recorded.keys().filter(|path| **path != "base/LICENSE.base").collect::<Vec<_>>()
    );
    assert!(adopted.iter().all(|(path, text)| path == "scaffold.txt" || recorded[path] == *text));
}

#[test]
fn a_record_that_was_edited_is_no_base() {
    let sandbox = project();
    let base = ".opctl/base/Makefile.base";
    write(&sandbox, base, &format!("{}# edited\n", read(&sandbox, base)));
    let text = is_refused(&sandbox, "update");
    assert!(text.contains(&format!("error: `{base}` is not as opctl wrote it")), "{text}");
    assert!(text.contains("restore `.opctl` from version control"), "{text}");

    let sandbox = project();
    write(&sandbox, ".opctl/scaffold.txt", "<<<<<<< HEAD\n");
    assert!(is_refused(&sandbox, "update").contains("`.opctl/scaffold.txt`, line 1: expected a checksum"));

    let sandbox = project();
    let list = read(&sandbox, ".opctl/scaffold.txt");
    write(&sandbox, ".opctl/scaffold.txt", &list.replacen("  1  ", "  4000000000  ", 1));
    let text = is_refused(&sandbox, "update");
    assert!(text.contains("the scaffold has revision 4000000000, newer than this opctl's"), "{text}");
}

/// Whether an existing project is updated depends on it.
#[test]
fn each_change_of_a_template_is_listed_with_a_reason() {
    let templates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let files = WalkDir::new(&templates).sort_by_file_name().into_iter().map(Result::unwrap);
    let mut all = String::new();
    for file in files.filter(|file| file.file_type().is_file() && file.file_name() != "CHANGES") {
        let path = file.path().strip_prefix(&templates).unwrap().to_str().unwrap();
        all.push_str(&format!("{} {path}\n", sha256(&fs::read_to_string(file.path()).unwrap())));
    }
    let digest = sha256(&all)[..16].to_owned();
    let changes = fs::read_to_string(templates.join("CHANGES")).unwrap();
    assert!(
        changes.contains(&format!("\ndigest {digest}\n")),
        "a template has changed: if existing projects should get the change, add a line to `templates/CHANGES` that says why; then write \
         `digest {digest}` there"
    );
    let revisions: Vec<u32> = opctl::scaffold::revisions::reasons().map(|reason| reason.revision).collect();
    assert!(revisions.is_sorted_by(|a, b| a >= b) && revisions.last() == Some(&1), "{revisions:?}");
}
