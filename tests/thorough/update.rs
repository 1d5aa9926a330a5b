//! `opctl update`: merges changes of the templates with edits of the user. Instead of running an older opctl, the
//! record of a project is changed to another text.

use std::convert::Infallible;
use std::fs;
use std::process::Stdio;

use opctl_edit::plan::{Entry, RECORD_FILE, Record, checksum};
use opctl_model::project::{ProjectFile, Resource};

use crate::dice::Dice;
use crate::edits::{edit, files, restore};
use crate::golden_copies::golden_copy;
use crate::project::{assert_same, init, opctl, succeeds};
use crate::record;
use crate::sandbox::{Sandbox, shell};

/// A project with all files in the record.
fn project() -> Sandbox {
    init("memcached-operator --domain example.com --api cache/v1alpha1/Memcached")
}

/// Runs a command that must fail and write nothing.
#[track_caller]
fn is_refused(sandbox: &Sandbox, arguments: &str) -> String {
    let before = files(sandbox);
    let output = opctl(sandbox, arguments);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments}: {text}");
    assert_same(&before, &files(sandbox), arguments);
    text
}

fn read(sandbox: &Sandbox, path: &str) -> String {
    fs::read_to_string(sandbox.folder.join(path)).unwrap()
}

fn write(sandbox: &Sandbox, path: &str, text: &str) {
    fs::write(sandbox.folder.join(path), text).unwrap();
}

/// Changes the record, as if an older opctl had written the file with this text, or not at all.
fn was(sandbox: &Sandbox, path: &str, text: Option<&str>) {
    let mut record = record::read(&sandbox.folder);
    match text {
        Some(text) => {
            write(sandbox, path, text);
            record.files.insert(path.to_owned(), Entry { text: text.to_owned(), revision: 0 });
        }
        None => _ = record.files.remove(path).unwrap(),
    }
    record::write(&sandbox.folder, &record);
}

/// A project of an older opctl, whose Makefile lacks a line for tests and differs in another one.
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
    assert!(output.contains("you deleted it; `--theirs Makefile` restores it"), "{output}");
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

    // Also for files of a kind.
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
    assert_eq!(record::read(&sandbox.folder).text("Makefile"), Some(today.as_str()));
    is_refused(&sandbox, "update --adopt");
    succeeds(&sandbox, "update --check");
    // As if it had been recorded from the beginning.
    let adopted = record::read(&sandbox.folder);
    let mut recorded = record::read(&project().folder);
    recorded.files.remove("LICENSE").unwrap();
    assert_eq!(adopted, recorded);
}

#[test]
fn an_entry_without_its_controller_may_have_a_finalizer() {
    let sandbox = project();
    succeeds(&sandbox, "create api --group crew --version v1 --kind Captain --finalizer");
    shell(&sandbox, "sed -i '/controller: true/d' PROJECT");
    succeeds(&sandbox, "update");
    succeeds(&sandbox, "update --check");
}

/// Another version shares the image of its kind, and may have a different controller.
#[test]
fn a_further_version_of_an_image_may_have_another_controller() {
    let sandbox = project();
    shell(
        &sandbox,
        "opctl -q create api --group batch --version v1alpha1 --kind Job --image nginx --container-port 80",
    );
    shell(&sandbox, "opctl -q create api --group batch --version v1beta1 --kind Job --controller-name second --yes");
    assert_eq!(succeeds(&sandbox, "update --check"), "everything is up to date\n");
}

#[test]
fn a_record_that_was_edited_is_no_base() {
    let sandbox = project();
    write(&sandbox, RECORD_FILE, "# A file.\n01234567 mine\n");
    let text = is_refused(&sandbox, "update");
    assert!(text.contains("error: `.opctl/scaffold.txt`, line 2: expected a key, a revision and a path"), "{text}");
    assert!(text.contains("restore `.opctl` from version control"), "{text}");

    write(&sandbox, RECORD_FILE, "<<<<<<< HEAD\n");
    let text = is_refused(&sandbox, "update");
    assert!(text.contains("`.opctl/scaffold.txt`, line 1: a conflict that git left"), "{text}");

    let sandbox = project();
    let mut newer = record::read(&sandbox.folder);
    newer.files.get_mut("Makefile").unwrap().revision = 4_000_000_000;
    record::write(&sandbox.folder, &newer);
    let text = is_refused(&sandbox, "update");
    assert!(text.contains("the scaffold has revision 4000000000, newer than this opctl's"), "{text}");
}

/// The record of an earlier opctl, whose texts were files of their own.
fn former(sandbox: &Sandbox) {
    let record = record::read(&sandbox.folder);
    let list =
        record.files.iter().map(|(path, entry)| format!("{}  {}  {path}\n", checksum(&entry.text), entry.revision));
    write(sandbox, RECORD_FILE, &list.collect::<String>());
    let texts = record.files.iter().map(|(path, entry)| (format!("base/{path}.base"), entry.text.as_str()));
    for (path, text) in texts.chain([(".gitattributes".to_owned(), "* -text\n"), ("README.md".to_owned(), "mine\n")]) {
        let path = sandbox.folder.join(".opctl").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn a_record_of_several_files_becomes_one() {
    let (sandbox, today) = older();
    let expected = {
        let record = record::read(&sandbox.folder);
        former(&sandbox);
        record
    };
    let is_same = |record: &Record| record.files == expected.files;
    assert!(is_same(&record::read(&sandbox.folder)));
    let base = ".opctl/base/Makefile.base";
    let text = read(&sandbox, base);
    write(&sandbox, base, &format!("{text}# edited\n"));
    assert!(is_refused(&sandbox, "update").contains(&format!("error: `{base}` is not as opctl wrote it")));
    write(&sandbox, base, &text);
    assert!(is_refused(&sandbox, "update --check").contains("update  .opctl/\n"));
    succeeds(&sandbox, "update");
    assert_eq!(read(&sandbox, "Makefile"), today);
    assert_eq!(record::files(&sandbox.folder).into_keys().collect::<Vec<_>>(), ["scaffold.txt"]);
    succeeds(&sandbox, "update --check");

    // Also if there is nothing else to update, and by any command that scaffolds.
    former(&sandbox);
    succeeds(&sandbox, "update");
    assert_eq!(record::files(&sandbox.folder).len(), 1);
    former(&sandbox);
    succeeds(&sandbox, "create api --group crew --version v1 --kind Captain");
    assert_eq!(record::files(&sandbox.folder).len(), 1);
    assert_eq!(succeeds(&sandbox, "update --check"), "everything is up to date\n");
}

/// Two branches add kinds side by side. git merges the record without a conflict, and it is the one of both.
#[test]
fn git_merges_the_record_of_two_branches() {
    let sandbox = project();
    shell(&sandbox, "git init -q -b main && git config user.name me && git config user.email me@example.com");
    shell(&sandbox, "git add -A && git commit -q -m main");
    let kinds = [("one", "Alpha"), ("two", "Beta"), ("three", "Gamma")];
    for (branch, kind) in kinds {
        shell(&sandbox, &format!("git checkout -q -b {branch} main"));
        succeeds(&sandbox, &format!("create api --group cache --version v1 --kind {kind}"));
        succeeds(&sandbox, &format!("create webhook --group cache --version v1 --kind {kind} --defaulting"));
        shell(&sandbox, &format!("git add -A && git commit -q -m {kind}"));
    }
    // The user's own lists conflict where both branches add a line; taking both lines is what a user does.
    shell(
        &sandbox,
        "printf '*.rs merge=union\n*.yaml merge=union\nPROJECT merge=union\n*.toml merge=union\n' >> .git/info/attributes",
    );
    shell(&sandbox, "git merge -q --no-edit one && git merge -q --no-edit two");
    let merged = record::read(&sandbox.folder);
    for (_, kind) in kinds {
        let module = kind.to_lowercase();
        for path in [format!("src/controller/cache/{module}.rs"), format!("src/api/cache/v1/{module}.rs")] {
            assert_eq!(merged.text(&path), Some(read(&sandbox, &path).as_str()), "{path}");
        }
    }
    for path in ["src/api/cache/v1/mod.rs", "src/controller/mod.rs", "src/webhook/mod.rs"] {
        assert_eq!(merged.text(path), Some(read(&sandbox, path).as_str()), "{path}");
    }
}

/// The number of iterations. The default finds problems with high probability.
fn times(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

/// A random version of a file in an older scaffold, with missing and different lines.
fn age(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..dice.between(1, 4) {
        let at = dice.below(lines.len());
        match dice.below(3) {
            0 if lines.len() > 1 => _ = lines.remove(at),
            1 => lines[at].push_str(" older"),
            _ => lines.insert(at, format!("older {}", dice.below(1000))),
        }
    }
    lines.join("\n") + "\n"
}

/// Updates random projects of older versions with random edits. `OPCTL_UPDATES=500` sets their number.
#[test]
fn no_line_of_the_user_is_lost() {
    let projects = ["minimal", "memcached", "wired", "worked-in"].map(|name| {
        let sandbox = golden_copy(name);
        let files = files(&sandbox);
        (sandbox, files)
    });
    let seed: u64 = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut conflicts = 0;
    for case in 0..times("OPCTL_UPDATES", 6) {
        let mut dice = Dice::new(seed.wrapping_mul(1_000_003) + case);
        let (sandbox, today) = &projects[dice.below(projects.len())];
        restore(sandbox, today);
        // The license, the header and Cargo.toml are inputs of other templates.
        let read_today = |path: &str| {
            let text = today.get(path).map(|text| String::from_utf8(text.clone()).unwrap());
            Ok::<_, Infallible>(text)
        };
        let scaffolded = Record::read(read_today).unwrap().unwrap();
        let recorded = scaffolded.files.keys().map(String::as_str);
        let is_answer = |path: &&str| ["LICENSE", "hack/boilerplate.txt", "Cargo.toml"].contains(path);
        // So are the type and the sample of a version that was copied from another one.
        let copies = copies(sandbox);
        let is_copy = |path: &&str| copies.iter().any(|copy| copy == path);
        let recorded = recorded.filter(|path| !is_answer(path) && !is_copy(path));
        let recorded: Vec<&str> = recorded.filter(|path| !today[*path].is_empty()).collect();
        let (mut own, mut expected) = (Vec::new(), Vec::new());
        for &path in &recorded {
            if dice.percent(40) {
                was(sandbox, path, Some(&age(&read(sandbox, path), &mut dice)));
            }
            if dice.percent(10) {
                fs::remove_file(sandbox.folder.join(path)).unwrap();
                expected.push((path, None));
            } else if dice.percent(50) {
                let mut lines = Vec::new();
                write(sandbox, path, &edit(&read(sandbox, path), path, &mut lines, &mut dice));
                own.push((path, lines));
            } else if !path.ends_with("kustomization.yaml")
                && Some(&*today[path]) == scaffolded.text(path).map(str::as_bytes)
            {
                expected.push((path, Some(&today[path])));
            }
        }
        let before = files(sandbox);
        if opctl(sandbox, "update").status.code() == Some(1) {
            assert!(files(sandbox) == before, "case {case}: refused, and yet changed");
            conflicts += 1;
        }
        restore(sandbox, &before);
        let output = opctl(sandbox, "update --conflicts markers");
        let printed = String::from_utf8(output.stderr).unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "case {case}: {printed}");
        for (path, lines) in own {
            let text = read(sandbox, path);
            for line in lines {
                let count = text.lines().filter(|other| *other == line).count();
                assert!(count == 1, "case {case}: `{path}` has `{line}` {count} times:\n{text}");
            }
        }
        for (path, text) in expected {
            let now = fs::read(sandbox.folder.join(path)).ok();
            assert!(now.as_ref() == text, "case {case}: `{path}` is not as scaffolded");
        }
    }
    println!("{conflicts} with conflicts");
}

fn copies(sandbox: &Sandbox) -> Vec<String> {
    let file = ProjectFile::parse(&read(sandbox, "PROJECT")).unwrap();
    let copied = file.resources.iter().filter(|resource| resource.options.from.is_some());
    let paths = copied.flat_map(|Resource { group, version, kind, .. }| {
        let (folder, module) = (group.module(), kind.module());
        let sample = format!("config/samples/{group}_{version}_{}.yaml", kind.singular());
        [format!("src/api/{folder}/{version}/{module}.rs"), sample]
    });
    paths.collect()
}

/// Kills the update at random moments. `OPCTL_KILLS=500` sets their number.
#[test]
fn a_killed_update_leaves_the_files_before_or_those_after() {
    let (sandbox, _) = older();
    for path in ["Dockerfile", "deny.toml", "src/main.rs"] {
        was(&sandbox, path, Some(&format!("{}# older\n", read(&sandbox, path))));
    }
    let before = files(&sandbox);
    let started = std::time::Instant::now();
    succeeds(&sandbox, "update");
    let took = u64::try_from(started.elapsed().as_micros()).unwrap();
    let after = files(&sandbox);
    let mut dice = Dice::new(1);
    let (mut undone, mut killed) = (0, 0);
    for _ in 0..times("OPCTL_KILLS", 8) {
        restore(&sandbox, &before);
        let mut child =
            sandbox.command("opctl").arg("update").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Reading and merging takes most of the time.
        let moment = took / 2 + dice.throw() % took;
        std::thread::sleep(std::time::Duration::from_micros(moment));
        killed += u64::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        undone += u64::from(opctl_edit::plan::recover(&sandbox.folder).unwrap());
        let now = files(&sandbox);
        assert!(now == before || now == after, "after a kill at {moment} µs");
    }
    println!("{killed} killed before their end, {undone} of them amid the writes");
}
