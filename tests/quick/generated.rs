//! Properties of every file that `opctl manifests` generates: it begins with the header, contains no version, is
//! restored if it is missing, is shown if it differs, is kept if it belongs to the user, and is deleted with its
//! source.
#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use opctl_source::emit::HEADER;

use crate::sandbox::Sandbox;
use crate::tree::tree;

/// Every type of file. The last one has its own namespace.
const FOLDERS: [&str; 7] = [
    "config/crd",
    "config/crd/bases",
    "config/rbac",
    "config/rbac/kinds",
    "config/rbac/namespaces/after",
    "config/rbac/namespaces/before",
    "config/rbac/namespaces",
];

#[test]
fn generated_files_follow_the_source_and_nothing_else() {
    let project = project();
    let generated = generated(&project);
    let folders: BTreeSet<&str> = generated.keys().map(|path| path.rsplit_once('/').unwrap().0).collect();
    assert_eq!(folders, FOLDERS[..6].iter().copied().collect());
    for (path, text) in &generated {
        assert!(text.starts_with(&format!("{HEADER}\n---\n")) || path.contains("rbac/kinds/"), "{path}");
        assert!(!text.contains(env!("CARGO_PKG_VERSION")), "{path} names a version");
    }

    // Missing files.
    generated.keys().for_each(|path| fs::remove_file(project.folder.join(path)).unwrap());
    is_told(&project, &generated, "create");
    restores(&project, &generated);

    // Files changed by hand.
    write(&project, &generated, |text| format!("{text}# changed\n"));
    is_told(&project, &generated, "update");
    let (success, diff) = opctl(&project, &["manifests", "--diff"]);
    assert!(success);
    for path in generated.keys() {
        assert!(diff.contains(&format!("--- a/{path}\n")), "{path} is not in\n{diff}");
    }
    assert_eq!(diff.matches("\n-# changed\n").count(), generated.len());
    restores(&project, &generated);

    // Files of the user.
    write(&project, &generated, |text| text.replace(HEADER, "# Mine."));
    let mine = tree(&project.folder);
    let (success, told) = opctl(&project, &["manifests"]);
    assert!(!success && tree(&project.folder) == mine);
    for path in generated.keys() {
        assert!(told.contains(&format!("error: `{path}`: not ours")), "{path} is not in\n{told}");
    }
    write(&project, &generated, String::clone);

    // Files without a source, next to one of the user.
    for folder in FOLDERS {
        fs::write(project.folder.join(folder).join("old.yaml"), format!("{HEADER}\n")).unwrap();
        fs::write(project.folder.join(folder).join("mine.yaml"), "kind: Mine\n").unwrap();
    }
    let (success, told) = opctl(&project, &["manifests", "--check"]);
    assert!(!success);
    assert!(opctl(&project, &["manifests"]).0);
    for folder in FOLDERS {
        assert!(told.contains(&format!("remove  {folder}/old.yaml\n")), "{folder} is not in\n{told}");
        assert!(!project.folder.join(folder).join("old.yaml").exists());
        assert!(project.folder.join(folder).join("mine.yaml").exists());
    }
    restores(&project, &generated);
}

fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.folder = sandbox.root().join("shop");
    fs::create_dir(&sandbox.folder).unwrap();
    assert!(opctl(&sandbox, &["init", "--domain", "example.com", "--api", "cache/v1/Memcached"]).0);
    let controllers = sandbox.folder.join("src/controller/mod.rs");
    let marker = "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,namespace=zoo\n";
    let text = fs::read_to_string(&controllers).unwrap();
    fs::write(controllers, format!("{text}{marker}")).unwrap();
    assert!(opctl(&sandbox, &["manifests"]).0);
    sandbox
}

fn generated(project: &Sandbox) -> BTreeMap<String, String> {
    let texts = tree(&project.folder).into_iter().map(|(path, text)| (path, String::from_utf8(text).unwrap()));
    texts.filter(|(_, text)| text.starts_with(HEADER)).collect()
}

fn write(project: &Sandbox, files: &BTreeMap<String, String>, text: impl Fn(&String) -> String) {
    files.iter().for_each(|(path, was)| fs::write(project.folder.join(path), text(was)).unwrap());
}

/// `--check` reports each file, and changes none.
fn is_told(project: &Sandbox, files: &BTreeMap<String, String>, word: &str) {
    let before = tree(&project.folder);
    let (success, told) = opctl(project, &["manifests", "--check"]);
    assert!(!success && tree(&project.folder) == before);
    for path in files.keys() {
        assert!(told.contains(&format!("{word}  {path}\n")), "{path} is not in\n{told}");
    }
}

fn restores(project: &Sandbox, files: &BTreeMap<String, String>) {
    assert!(opctl(project, &["manifests"]).0);
    assert!(opctl(project, &["manifests", "--check"]).0);
    assert_eq!(generated(project), *files);
}

/// `true` on success, and the output.
fn opctl(project: &Sandbox, arguments: &[&str]) -> (bool, String) {
    let output = project.command("opctl").args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}
