//! `opctl rename`: the result is the same as a project created with the new name, with the user's code kept.

use std::fs;
use std::path::Path;

use opctl_model::project::{Origin, ProjectFile, Resource};

use crate::cores::on_all_cores;
use crate::edits::files;
use crate::golden::{can_be_made, names};
use crate::golden_copies::{GoldenCopy, golden_copy, third};
use crate::helm::has_helm;
use crate::project::{assert_same, init, opctl, succeeds};
use crate::sandbox::{Sandbox, shell};
use crate::tree;

fn project_of(sandbox: &Sandbox) -> ProjectFile {
    ProjectFile::parse(&fs::read_to_string(sandbox.folder.join("PROJECT")).unwrap()).unwrap()
}

/// Renames of a project, there and back. Only two, since there are many projects.
fn renames(file: &ProjectFile, number: usize) -> Vec<[String; 2]> {
    let ProjectFile { name, domain, .. } = file;
    let mut renames = vec![
        ["project --to zoo-operator".to_owned(), format!("project --to {name}")],
        ["domain --to zoo.example.org".to_owned(), format!("domain --to {domain}")],
    ];
    let own = || file.resources.iter().filter(|resource| resource.origin == Origin::Own);
    let mut known = Vec::new();
    for Resource { group, kind, plural, .. } in own() {
        let plural = plural.as_ref().map(|plural| format!(" --plural {plural}")).unwrap_or_default();
        let pair = [
            format!("kind --group {group} --kind {kind} --to Zebra"),
            format!("kind --group {group} --kind Zebra --to {kind}{plural}"),
        ];
        if !known.contains(&pair) {
            known.push(pair);
        }
    }
    let first = number % known.len().max(1);
    known.rotate_left(first);
    renames.extend(known.into_iter().take(1));
    let is_shared =
        |group: &str| file.resources.iter().any(|it| it.group_module() == group && it.origin != Origin::Own);
    if let Some(Resource { group, .. }) = own().find(|resource| !is_shared(&resource.group_module())) {
        renames.push([format!("group --group {group} --to zoo"), format!("group --group zoo --to {group}")]);
    }
    let first = number % renames.len();
    renames.rotate_left(first);
    renames.truncate(2);
    renames
}

#[track_caller]
fn there_and_back(sandbox: &Sandbox, name: &str, number: usize) {
    let has_record = sandbox.folder.join(".opctl").exists();
    let before = files(sandbox);
    let checked = opctl(sandbox, "check").status.code();
    for [there, back] in renames(&project_of(sandbox), number) {
        succeeds(sandbox, &format!("rename {there}"));
        succeeds(sandbox, "manifests --check");
        if has_record {
            succeeds(sandbox, "update --check");
        }
        assert_eq!(opctl(sandbox, "check").status.code(), checked, "{name}: {there}");
        assert!(files(sandbox) != before, "{name}: {there}");
        succeeds(sandbox, &format!("rename {back}"));
        assert_same(&before, &files(sandbox), &format!("{name}: {there}, {back}"));
    }
}

#[test]
fn every_golden_project_is_renamed_and_back_again() {
    let names: Vec<_> = third(2, names().into_iter().enumerate()).filter(|(_, name)| can_be_made(name)).collect();
    on_all_cores(&names, |(number, name)| there_and_back(&golden_copy(name), name, *number));
}

#[test]
fn every_example_is_renamed_and_back_again() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut examples: Vec<_> = fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()).collect();
    examples.sort();
    for (number, example) in third(0, examples.into_iter().enumerate()) {
        let name = example.file_name().unwrap().to_str().unwrap();
        let mut sandbox = Sandbox::new();
        sandbox.folder = sandbox.root().join("examples").join(name);
        for (path, text) in tree::tree(&example).into_iter().filter(|(path, _)| !path.starts_with("target/")) {
            let path = sandbox.folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
        std::os::unix::fs::symlink(crates, sandbox.root().join("crates")).unwrap();
        there_and_back(&sandbox, name, number);
    }
}

/// Commands before the rename, the rename, and commands that create the expected project.
const SHAPES: [(&str, &str); 4] = [
    ("plain", "opctl create api --group GROUP --version v1 --kind KIND --owns apps/v1/Deployment"),
    (
        "webhooks",
        "opctl create api --group GROUP --version v1alpha1 --kind KIND && \
         opctl create api --group GROUP --version v1 --kind KIND --controller=false && \
         opctl create webhook --group GROUP --version v1 --kind KIND --defaulting --validation --conversion --spoke v1alpha1",
    ),
    ("chart", "opctl create api --group GROUP --version v1 --kind KIND --helm-chart CHART"),
    ("role", "cp -r ROLES . && opctl create api --group GROUP --version v1 --kind KIND --ansible-role site"),
];

#[test]
fn a_project_is_as_if_it_had_been_made_with_the_new_name() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let make = |name: &str, domain: &str, lines: &str, group: &str, kind: &str| {
        let lines = lines.replace("GROUP", group).replace("KIND", kind);
        let lines = lines.replace("CHART", tests.join("charts/plain").to_str().unwrap());
        let lines = lines.replace("ROLES", tests.join("ansible/specs/roles").to_str().unwrap());
        let sandbox = init(&format!("{name} --domain {domain} --owner Zoo --yes"));
        shell(&sandbox, &lines);
        sandbox
    };
    for (shape, lines) in SHAPES {
        if shape == "chart" && !has_helm("a chart that is renamed") {
            continue;
        }
        let before = GoldenCopy::of(&make("shop", "example.com", lines, "cache", "Memcached"));
        for (rename, name, domain, group, kind) in [
            ("kind --group cache --kind Memcached --to Store", "shop", "example.com", "cache", "Store"),
            ("group --group cache --to store", "shop", "example.com", "store", "Memcached"),
            ("domain --to example.org", "shop", "example.org", "cache", "Memcached"),
            ("project --to market", "market", "example.com", "cache", "Memcached"),
        ] {
            let sandbox = before.write();
            succeeds(&sandbox, &format!("rename {rename}"));
            let expected = make(name, domain, lines, group, kind);
            assert_same(&files(&expected), &files(&sandbox), &format!("{shape}: {rename}"));
        }
    }
}

/// A kind `Memcached` in two groups, with code that is easily confused.
fn confusing() -> Sandbox {
    let sandbox = init("shop --domain example.com --yes");
    for group in ["cache", "backup"] {
        shell(&sandbox, &format!("opctl create api --group {group} --version v1 --kind Memcached --yes"));
    }
    sandbox
}

#[test]
fn what_only_looks_like_the_name_stays() {
    let sandbox = confusing();
    let write = |path: &str, text: &str| {
        let path = sandbox.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let code = "use crate::api::backup::v1::memcached::Memcached;\n\n\
        // +kubebuilder:rbac:groups=cache.example.com;backup.example.com,resources=memcacheds,verbs=get\n\
        pub fn other(_: Memcached) {}\n\n\
        pub mod own {\n    use crate::api::cache::v1::memcached::Memcached;\n\n    pub fn own(_: Memcached) {}\n}\n";
    write("src/user.rs", code);
    let rules = "rules:\n- apiGroups: [cache.example.com, backup.example.com]\n  resources: [memcacheds]\nhost: cache.example.com\n";
    write("config/extra/own.yaml", rules);
    succeeds(&sandbox, "rename kind --group cache --kind Memcached --to Store");
    let read = |path: &str| fs::read_to_string(sandbox.folder.join(path)).unwrap();
    let (before, after) = code.split_once("pub mod own").unwrap();
    let renamed = after.replace("memcached::Memcached", "store::Store").replace("_: Memcached", "_: Store");
    assert_eq!(read("src/user.rs"), format!("{before}pub mod own{renamed}"));
    succeeds(&sandbox, "rename group --group cache --to store");
    assert_eq!(read("config/extra/own.yaml"), rules.replacen("cache.", "store.", 1));
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let sandbox = confusing();
    let before = files(&sandbox);
    let path = sandbox.folder.join("src/api/cache/v1/memcached.rs");
    let types = fs::read_to_string(&path).unwrap();
    for (own, why) in [
        (format!("{types}\npub struct StoreSpec;\n"), "another `StoreSpec`"),
        (types.replacen("use kube::", "use kube::runtime::reflector::Store;\nuse kube::", 1), "another `Store`"),
        (format!("{types}\nfn broken( {{\n"), "cannot be read"),
    ] {
        fs::write(&path, own).unwrap();
        let output = opctl(&sandbox, "rename kind --group cache --kind Memcached --to Store");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains(why), "{said}");
        fs::write(&path, &types).unwrap();
        assert_same(&before, &files(&sandbox), why);
    }
}

#[test]
fn files_in_the_way_and_files_that_cannot_be_read_are_refused() {
    let sandbox = confusing();
    let before = files(&sandbox);
    let folder = sandbox.folder.join("src/api/cache/v1/store");
    for (path, text, why) in [
        (folder.join("mod.rs"), &b"//! Own.\n"[..], "a module of the same name"),
        (folder.join("text.rs"), b"// \xff\n", "text.rs"),
    ] {
        fs::create_dir_all(&folder).unwrap();
        fs::write(&path, text).unwrap();
        let output = opctl(&sandbox, "rename kind --group cache --kind Memcached --to Store");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains(why), "{said}");
        fs::remove_dir_all(&folder).unwrap();
        assert_same(&before, &files(&sandbox), why);
    }
    std::os::unix::fs::symlink("lib.rs", sandbox.folder.join("src/link.rs")).unwrap();
    let said = succeeds(&sandbox, "rename kind --group cache --kind Memcached --to Store");
    assert!(said.contains("links are not followed") && said.contains("src/link.rs"), "{said}");
}

#[test]
fn a_group_can_have_the_name_of_its_kind_and_its_entry_can_be_in_one_line() {
    let sandbox = init("shop --domain example.com --api web/v1/Store --yes");
    let before = files(&sandbox);
    succeeds(&sandbox, "rename group --group web --to store");
    succeeds(&sandbox, "manifests --check");
    succeeds(&sandbox, "rename group --group store --to web");
    assert_same(&before, &files(&sandbox), "there and back");

    let path = sandbox.folder.join("PROJECT");
    let project = fs::read_to_string(&path).unwrap();
    let (start, rest) = project.split_once("resources:\n").unwrap();
    let (entries, end) = rest.split_once("\nversion:").unwrap();
    let mut value: serde_json::Value = serde_saphyr::from_str(&format!("resources:\n{entries}")).unwrap();
    let in_one_line = format!("{start}resources: {}\nversion:{end}", value["resources"].take());
    fs::write(&path, &in_one_line).unwrap();
    succeeds(&sandbox, "rename kind --group web --kind Store --to Person --plural people");
    assert_eq!(project_of(&sandbox).resources[0].plural().to_string(), "people");
    succeeds(&sandbox, "rename kind --group web --kind Person --to Store");
    assert_eq!(fs::read_to_string(&path).unwrap(), in_one_line);
}

#[test]
fn files_that_were_copied_for_a_version_move_with_it() {
    let sandbox = confusing();
    let append = |path: &str, text: &str| {
        let path = sandbox.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, format!("{before}{text}")).unwrap();
    };
    append("src/api/cache/v1/common.rs", "//! For all.\n");
    append("src/api/cache/v1/mod.rs", "pub mod common;\n");
    append("src/api/cache/v1/memcached.rs", "\nmod sub;\n\n#[allow(unused_imports)]\nuse super::common;\n");
    append("src/api/cache/v1/memcached/sub.rs", "//! For one.\n");
    succeeds(&sandbox, "manifests");
    succeeds(&sandbox, "create api --group cache --version v2 --kind Memcached --yes");
    let before = files(&sandbox);
    succeeds(&sandbox, "rename kind --group cache --kind Memcached --to Store");
    succeeds(&sandbox, "rename group --group cache --to target");
    for path in ["v1/common.rs", "v2/common.rs", "v1/store/sub.rs", "v2/store/sub.rs"] {
        assert!(sandbox.folder.join("src/api/target").join(path).is_file(), "{path}");
    }
    succeeds(&sandbox, "manifests --check");
    succeeds(&sandbox, "update --check");
    succeeds(&sandbox, "rename group --group target --to cache");
    succeeds(&sandbox, "rename kind --group cache --kind Store --to Memcached");
    assert_same(&before, &files(&sandbox), "there and back");
}
