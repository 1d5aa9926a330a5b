//! Commands suggested in messages do not remove lines of the user, unless the message mentions it.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;

use crate::edits::{files, restore};
use crate::sandbox::{Sandbox, shell};

/// Mistakes and edits, after which commands suggest other commands.
const EDITS: &[&str] = &[
    "sed -i 's/domain: example.com/domain: example.org/' PROJECT",
    "sed -i 's/kind = \"Memcached\"/kind = \"Memcache\"/' src/api/cache/v1/memcached.rs",
    "sed -i 's/group = \"cache.example.com\"/group = \"web.example.com\"/' src/api/cache/v1/memcached.rs",
    "sed -i '/pub mod memcached;/d' src/api/cache/v1/mod.rs",
    "sed -i '/memcached::controller/d' src/controller/mod.rs",
    "rm src/controller/cache/memcached.rs",
    "rm config/crd/kustomization.yaml config/samples/kustomization.yaml",
    "sed -i 1d config/rbac/role.yaml",
    "echo '// mine' >> runtime/src/names.rs",
    "sed -i 's/::new(reconcile)/::new(reconcile).owns::<k8s_openapi::api::core::v1::Service>()/' src/controller/cache/memcached.rs",
];

const COMMANDS: &[&str] = &[
    "doctor --offline",
    "check",
    "manifests",
    "update",
    "create api --group cache --version v1 --kind Memcached --yes",
    "create api --group cache --version v1 --kind Memcached --image nginx --yes",
    "create webhook --group cache --version v1 --kind Memcached --validation --yes",
    "delete api --group cache --version v1 --kind Memcached",
    "rename kind --group cache --kind Memcached --to Store",
    "init . --domain example.com",
];

/// A project with a comment of the user in each file that users own.
fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl -q init shop --domain example.com --api cache/v1/Memcached");
    sandbox.folder.push("shop");
    shell(&sandbox, "opctl -q create webhook --group cache --version v1 --kind Memcached --validation");
    for path in files(&sandbox).into_keys().filter(|path| !path.starts_with("runtime/") && !path.starts_with(".opctl/"))
    {
        let comment = match path.rsplit_once('.').map(|(_, end)| end) {
            Some("rs") => "// mine",
            Some("yaml" | "toml") => "# mine",
            _ => continue,
        };
        let file = sandbox.folder.join(&path);
        let text = fs::read_to_string(&file).unwrap();
        if !text.starts_with(opctl_source::emit::HEADER) {
            fs::write(file, format!("{text}{comment}\n")).unwrap();
        }
    }
    sandbox
}

/// The paths of files with a comment of the user.
fn own(sandbox: &Sandbox) -> BTreeSet<String> {
    let has = |text: &Vec<u8>| String::from_utf8_lossy(text).lines().any(|line| line.ends_with(" mine"));
    files(sandbox)
        .into_iter()
        .filter(|(path, text)| !path.starts_with(".opctl/") && has(text))
        .map(|(path, _)| path)
        .collect()
}

/// Commands that write files of a project.
const WRITING: &[&str] =
    &["check", "create", "delete", "edit", "generate", "import", "init", "manifests", "rename", "update"];

/// The suggested opctl commands in a message that write files, each with its line.
fn suggestions(said: &str) -> BTreeSet<(String, String)> {
    let is_writing = |text: &str| WRITING.contains(&text.split(' ').next().unwrap());
    let mut found = BTreeSet::new();
    for line in said.lines() {
        let quoted = line.split('`').skip(1).step_by(2).chain(line.trim_start().strip_prefix("help: "));
        for command in quoted.filter(|text| text.strip_prefix("opctl ").is_some_and(is_writing)) {
            found.insert((command.to_owned(), line.to_owned()));
        }
    }
    found
}

#[test]
fn a_suggested_command_keeps_the_lines_of_the_user() {
    let sandbox = project();
    let clean = files(&sandbox);
    let (mut count, mut wrong) = (0, Vec::new());
    for edit in EDITS {
        restore(&sandbox, &clean);
        shell(&sandbox, edit);
        let edited = files(&sandbox);
        let before = own(&sandbox);
        let mut suggested = BTreeSet::new();
        for command in COMMANDS {
            restore(&sandbox, &edited);
            let output = sandbox.command("opctl").args(command.split(' ')).output().unwrap();
            suggested.extend(suggestions(&String::from_utf8_lossy(&output.stderr)));
            suggested.extend(suggestions(&String::from_utf8_lossy(&output.stdout)));
            // A rejected command writes nothing, and any other keeps the lines.
            let lost: Vec<String> = before.difference(&own(&sandbox)).cloned().collect();
            if !lost.is_empty() && !command.starts_with("delete") && !command.starts_with("rename") {
                wrong.push(format!("{edit}: opctl {command}: {lost:?}"));
            }
        }
        for (command, line) in suggested {
            let says_so =
                ["drop", "delete", "remove", "--theirs", "rename", "your edits"].iter().any(|word| line.contains(word));
            // Another folder, a placeholder, or more than a command.
            let is_whole = !command.contains(['<', '…', '|', '>'])
                && !command.split(' ').any(|word| word.len() > 2 && word == word.to_uppercase());
            if says_so || !is_whole {
                continue;
            }
            restore(&sandbox, &edited);
            count += 1;
            let _ = sandbox.command("sh").args(["-c", &format!("{command} </dev/null")]).output().unwrap();
            let lost: Vec<String> = before.difference(&own(&sandbox)).cloned().collect();
            if !lost.is_empty() {
                wrong.push(format!("{edit}: {line}: {lost:?}"));
            }
        }
    }
    assert!(count > 20, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
