//! Properties of the commands, checked on the whole tree: order does not matter, repetition changes nothing, edits of
//! the user survive, an interrupted or rejected command changes nothing, and concurrent commands do not mix.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use opctl_edit::plan::{self, Step, Verdict};
use opctl_model::project::Features;

use crate::extent::takes_all;
use crate::sandbox::Sandbox;
use crate::tree::tree;

/// Runs a command in the sandbox's folder. Panics if it fails.
fn run(sandbox: &Sandbox, line: &str) {
    let output = sandbox.command("opctl").args(line.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "opctl {line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A project in the sandbox's folder.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    run(&sandbox, "init --domain example.com --project-name shop");
    sandbox
}

const APIS: [&str; 4] = [
    "create api --group cache --version v1alpha1 --kind Memcached --shortname mc",
    "create api --group cache --version v1 --kind Memcached --shortname mc --controller=false",
    "create api --group my-shop.eu --version v1 --kind Memcached --namespaced=false",
    "create api --group apps --version v1 --kind Deployment --resource=false",
];

/// The members of a workspace share a target folder, so cargo warns if their binaries have the same name. It would also
/// lint and test the runtime if it were a member.
#[test]
fn two_operators_in_a_workspace_share_the_runtime_and_no_name() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.folder.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = []\n").unwrap();
    run(&sandbox, "init operators/shop --domain example.com --api cache/v1/Memcached");
    run(&sandbox, "init operators/store --domain example.com");
    let output = sandbox.command("cargo").args(["metadata", "--no-deps", "--format-version", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
    let targets = list(&metadata["packages"]).into_iter().flat_map(|package| list(&package["targets"]));
    let mut binaries: Vec<String> = targets
        .filter(|target| target["kind"][0] == "bin")
        .map(|target| target["name"].as_str().unwrap().to_owned())
        .collect();
    binaries.sort();
    assert_eq!(binaries, ["shop-crdgen", "shop-manager", "store-crdgen", "store-manager"]);
    assert_eq!(list(&metadata["packages"]).len(), 2, "the runtime is no member");

    // The command that runs the compiled types finds the binary.
    let [shop, store] = ["shop", "store"].map(|name| sandbox.folder.join("operators").join(name));
    let crdgen = ["crdgen".to_owned()];
    let names =
        |folder: &Path| opctl_tools::programs(folder, &crdgen, &[], &Features::default()).map_err(|_| ()).unwrap();
    assert_eq!(names(&shop)[0].name, "shop-crdgen");
    assert_eq!(names(&store)[0].name, "store-crdgen");
}

fn permutations<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |first: usize| {
        let mut rest = items.to_vec();
        let item = rest.remove(first);
        permutations(&rest).into_iter().map(move |more| [vec![item.clone()], more].concat())
    };
    (0..items.len()).flat_map(with_first).collect()
}

/// `true` if tests are exhaustive; otherwise they take a sample that runs for seconds.
fn all() -> bool {
    takes_all("OPCTL_COMMANDS")
}

/// Tests three orders, or all 12 with `OPCTL_COMMANDS=all`. Another version of a kind is a copy of the first one, so it
/// comes later.
#[test]
fn the_order_of_commands_does_not_matter() {
    let mut first: Option<BTreeMap<String, Vec<u8>>> = None;
    let mut orders = permutations(&APIS);
    let at = |order: &[&str], line| order.iter().position(|other| *other == line);
    orders.retain(|order| at(order, APIS[0]) < at(order, APIS[1]));
    if !all() {
        // The last order is the reverse of the first, except for the versions, so each command runs before and after
        // each other.
        orders = [0, 5, 11].map(|order| orders[order].clone()).to_vec();
    }
    for order in orders {
        let sandbox = project();
        order.iter().for_each(|line| run(&sandbox, line));
        let tree = tree(&sandbox.folder);
        match &first {
            None => first = Some(tree),
            Some(first) => assert_eq!(differences(first, &tree), Vec::<&str>::new(), "{order:#?}"),
        }
    }
}

/// The paths whose texts differ or exist in only one of the trees.
fn differences<'a>(a: &'a BTreeMap<String, Vec<u8>>, b: &'a BTreeMap<String, Vec<u8>>) -> Vec<&'a str> {
    let mut paths: Vec<&str> = a.keys().chain(b.keys()).map(String::as_str).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.retain(|path| a.get(*path) != b.get(*path));
    paths
}

#[test]
fn the_apis_of_init_are_those_of_create_api() {
    let by_init = Sandbox::new();
    run(
        &by_init,
        "init --domain example.com --project-name shop --api cache/v1alpha1/Memcached --api my-shop.eu/v1/Fleet",
    );
    let by_create = project();
    run(&by_create, "create api --group my-shop.eu --version v1 --kind Fleet");
    run(&by_create, "create api --group cache --version v1alpha1 --kind Memcached");
    assert_eq!(differences(&tree(&by_init.folder), &tree(&by_create.folder)), Vec::<&str>::new());
}

#[test]
fn the_second_time_changes_nothing() {
    let sandbox = project();
    APIS.iter().for_each(|line| run(&sandbox, line));
    let once = tree(&sandbox.folder);
    let modified = |path: &String| std::fs::metadata(sandbox.folder.join(path)).unwrap().modified().unwrap();
    let times: Vec<_> = once.keys().map(modified).collect();
    APIS.iter().chain(&["manifests", "manifests --check"]).for_each(|line| run(&sandbox, line));
    assert_eq!(differences(&once, &tree(&sandbox.folder)), Vec::<&str>::new());
    assert_eq!(times, once.keys().map(modified).collect::<Vec<_>>());
}

#[test]
fn edits_of_the_user_survive() {
    let sandbox = project();
    run(&sandbox, APIS[0]);
    let mut edited = Vec::new();
    for (path, text) in tree(&sandbox.folder) {
        let text = String::from_utf8(text).unwrap();
        let comment = match Path::new(&path).extension().and_then(|extension| extension.to_str()) {
            Some("rs") => "// mine\n",
            Some("yaml" | "yml" | "toml") if !text.starts_with(opctl_source::emit::HEADER) => "# mine\n",
            None if path == "PROJECT" => "# mine\nmine: true\n",
            _ => continue,
        };
        std::fs::write(sandbox.folder.join(&path), text + comment).unwrap();
        edited.push((path, comment));
    }
    assert!(edited.len() > 10);
    APIS[1..].iter().for_each(|line| run(&sandbox, line));
    run(&sandbox, "create api --group ship --version v1 --kind Fleet");
    for (path, comment) in edited {
        let text = std::fs::read_to_string(sandbox.folder.join(&path)).unwrap();
        assert!(text.ends_with(comment), "{path} ends in {:?}", text.lines().last());
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    let sandbox = project();
    run(&sandbox, APIS[0]);
    std::fs::write(sandbox.folder.join("src/controller/mod.rs"), "pub mod cache;\n").unwrap();
    let before = tree(&sandbox.folder);
    for line in [
        "create api --group ship --version v1 --kind Fleet",
        "create api --group ship --version 1 --kind Fleet",
        "init --domain example.com",
        "manifests --path nowhere",
    ] {
        let output = sandbox.command("opctl").args(line.split_whitespace()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "opctl {line}");
        assert_eq!(differences(&before, &tree(&sandbox.folder)), Vec::<&str>::new(), "opctl {line}");
    }
}

#[test]
fn the_views_write_nothing() {
    let sandbox = Sandbox::new();
    let new = "init new --domain example.com --api cache/v1/Memcached";
    for (view, code) in [("--dry-run", 0), ("--diff", 0), ("--check", 1)] {
        let output = sandbox.command("opctl").args(new.split(' ')).arg(view).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{view}");
        assert!(!output.stdout.is_empty(), "{view}");
        assert!(tree(&sandbox.root()).is_empty() && !sandbox.folder.join("new").exists(), "{view}");
    }
}

#[test]
fn two_at_once_take_turns() {
    let sandbox = project();
    let spawn = |line: &str| {
        let mut command = sandbox.command("opctl");
        command.args(line.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let kinds: Vec<String> = (0..8).map(|n| format!("create api --group g{n} --version v1 --kind Kind{n}")).collect();
    let children: Vec<_> = kinds.iter().map(|line| spawn(line)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let one_by_one = project();
    kinds.iter().for_each(|line| run(&one_by_one, line));
    assert_eq!(differences(&tree(&sandbox.folder), &tree(&one_by_one.folder)), Vec::<&str>::new());
}

/// Interrupts at ten moments, or at forty with `OPCTL_COMMANDS=all`.
#[test]
fn an_interrupt_leaves_the_tree_as_it_was_or_as_it_should_be() {
    let done = project();
    run(&done, APIS[0]);
    let (before, after) = (tree(&project().folder), tree(&done.folder));
    let sandbox = project();
    let start = Instant::now();
    run(&sandbox, APIS[0]);
    let whole = start.elapsed();
    let steps = if all() { 40 } else { 10 };
    for delay in (0..steps).map(|step| whole * step / (steps - steps / 10)) {
        let sandbox = project();
        let mut child = sandbox
            .command("opctl")
            .args(APIS[0].split_whitespace())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(delay);
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
        child.wait().unwrap();
        let tree = tree(&sandbox.folder);
        assert!(tree == before || tree == after, "after {delay:?}: {:?}", differences(&after, &tree));
    }
}

/// A supervisor sends the signal to opctl alone. cargo and its child processes must stop, too.
#[test]
fn an_interrupt_stops_cargo_too() {
    let sandbox = project();
    run(&sandbox, APIS[0]);
    let before = tree(&sandbox.folder);
    let bin = tempfile::tempdir().unwrap();
    let script = r#"#!/bin/sh
case $1 in
metadata) printf '{"packages": [{"name": "p", "manifest_path": "%s/Cargo.toml", "targets": [{"kind": ["bin"], "name": "crdgen"}]}]}' "$PWD" ;;
*) sleep 600 & echo $! > "$(dirname "$0")/compiler"; wait ;;
esac
"#;
    let (cargo, compiler) = (bin.path().join("cargo"), bin.path().join("compiler"));
    std::fs::write(&cargo, script).unwrap();
    std::fs::set_permissions(&cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for signal in ["-INT", "-TERM"] {
        let mut command = sandbox.command("opctl");
        let path = command.get_envs().find(|(name, _)| *name == "PATH").unwrap().1.unwrap().to_owned();
        let path = std::env::join_paths(std::iter::once(bin.path().to_owned()).chain(std::env::split_paths(&path)));
        command.env("PATH", path.unwrap()).args(["manifests", "--engine", "cargo"]).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let pid = wait_for(|| std::fs::read_to_string(&compiler).ok().filter(|text| text.ends_with('\n')));
        let kill = |signal: &str, pid: &str| {
            Command::new("kill").args([signal, pid.trim()]).stderr(Stdio::null()).status().unwrap().success()
        };
        assert!(kill(signal, &child.id().to_string()));
        assert_eq!(child.wait().unwrap().code(), Some(130));
        wait_for(|| (!kill("-0", &pid)).then_some(()));
        std::fs::remove_file(&compiler).unwrap();
    }
    assert_eq!(differences(&before, &tree(&sandbox.folder)), Vec::<&str>::new());
}

/// Polls for up to two minutes.
fn wait_for<T>(ask: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed().as_secs() < 120, "in vain");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Runs on a pseudo-terminal (with `script` of util-linux) with this input.
fn on_a_terminal(sandbox: &Sandbox, line: &str, typed: &str) -> (i32, String) {
    let mut child = sandbox
        .command("script")
        .args(["-q", "-e", "-c", line, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` of util-linux is needed");
    child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap().replace('\r', ""))
}

#[test]
fn asks_on_a_terminal_for_what_was_not_said() {
    let mut sandbox = Sandbox::new();
    let (code, said) = on_a_terminal(&sandbox, "opctl init shop", "Bad Domain\nexample.com\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Domain, e.g. example.com: "), "{said}");
    assert!(said.contains("invalid domain `Bad Domain`"), "{said}");

    sandbox.folder.push("shop");
    let (code, said) = on_a_terminal(&sandbox, "opctl create api --kind Memcached", "?\ncache\n1\nv1\nmaybe\n\nn\n");
    assert_eq!(code, 0, "{said}");
    for text in [
        "Group",
        "the API group without the project's domain",
        "Version",
        "invalid version `1`",
        "Create Resource [Y/n]",
        "answer `y` or `n`",
        "Create Controller [Y/n]",
    ] {
        assert!(said.contains(text), "no {text} in {said}");
    }
    assert!(sandbox.folder.join("src/api/cache/v1/memcached.rs").exists());
    assert!(!sandbox.folder.join("src/controller/cache").exists());

    // Enter selects the first kind, and deletes nothing.
    let (code, said) = on_a_terminal(&sandbox, "opctl delete api", "\n\n");
    assert_eq!(code, 1, "{said}");
    for text in ["cache/v1 Memcached", "delete the API of `Memcached` v1? [y/N]", "nothing was deleted"] {
        assert!(said.contains(text), "no {text} in {said}");
    }
    assert!(sandbox.folder.join("src/api/cache/v1/memcached.rs").exists());

    // No prompts: a request for neither is an error, and the controller then serves the next version, too.
    let line = "opctl create api --group cache --version v1 --kind Memcached --resource=false";
    let (code, said) = on_a_terminal(&sandbox, line, "");
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("Create "), "{said}");
    let line = "opctl create api --group cache --version v1 --kind Bare --controller=false";
    let (code, said) = on_a_terminal(&sandbox, line, "");
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("Create "), "{said}");
    let line = "opctl create api --group cache --version v1beta1 --kind Memcached";
    let (code, said) = on_a_terminal(&sandbox, line, "y\n");
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("Create Controller"), "{said}");
}

#[test]
fn never_asks_with_yes_or_when_what_was_said_is_wrong() {
    let sandbox = project();
    let (code, said) = on_a_terminal(&sandbox, "opctl create api --yes", "");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("missing `--group`, `--version`, `--kind`"), "{said}");
    let (code, said) = on_a_terminal(&sandbox, "opctl create api --version 1", "");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("invalid version `1`") && !said.contains("Group,"), "{said}");
}

#[test]
fn colours_are_for_terminals() {
    let sandbox = project();
    let (_, said) = on_a_terminal(&sandbox, "opctl create api --yes", "");
    assert!(said.contains("\x1b["), "{said:?}");
    let (_, said) = on_a_terminal(&sandbox, "NO_COLOR=1 opctl create api --yes", "");
    assert!(!said.contains("\x1b["), "{said:?}");
    let output = sandbox.command("opctl").args(["create", "api"]).output().unwrap();
    assert!(!output.stderr.contains(&b'\x1b'));
    let output = sandbox.command("opctl").args(["create", "api", "--color", "always"]).output().unwrap();
    assert!(output.stderr.contains(&b'\x1b'));
}

#[test]
fn messages_are_wrapped_and_diffs_in_colour_on_a_terminal() {
    let sandbox = project();
    let line =
        "stty rows 24 cols 60; opctl create webhook --group cache --version v1 --kind Nothing --validation --yes";
    let (code, said) = on_a_terminal(&sandbox, line, "");
    assert_eq!(code, 1, "{said}");
    let visible = |line: &str| anstream::adapter::strip_str(line).to_string().chars().count();
    assert!(said.lines().count() > 2 && said.lines().all(|line| visible(line) <= 60), "{said}");
    let (_, said) = on_a_terminal(&sandbox, "opctl edit --namespaced --diff", "");
    assert!(said.contains("\x1b[32m+") && said.contains("\x1b[31m-"), "{said:?}");
}

/// The steps that change a folder from one state to another in one command.
fn steps(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<Step> {
    let text = |tree: &BTreeMap<String, Vec<u8>>, path: &str| {
        tree.get(path).map(|bytes| String::from_utf8(bytes.clone()).unwrap())
    };
    let step = |path: &str| {
        let (before, after) = (text(before, path), text(after, path));
        let verdict = match (&before, &after) {
            (None, _) => Verdict::Create,
            (_, None) => Verdict::Remove,
            _ => Verdict::Update,
        };
        Step {
            path: path.to_owned(),
            vendored: None,
            verdict,
            before: before.map(Into::into),
            after: after.map(Into::into),
        }
    };
    differences(before, after).into_iter().map(step).collect()
}

fn sandbox_with(files: &BTreeMap<String, Vec<u8>>) -> Sandbox {
    let sandbox = Sandbox::new();
    for (path, bytes) in files {
        let file = sandbox.folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
    sandbox
}

/// Leaves the folder in the state of a command that was killed after it put `count` files in place.
fn kill(folder: &Path, steps: &[Step], count: usize) {
    let mut stage = plan::stage(folder, steps, &["PROJECT"], &mut || false).unwrap().unwrap();
    (0..count).for_each(|_| assert!(stage.put_next().unwrap()));
    // A killed process does not clean up.
    std::mem::forget(stage);
}

#[test]
fn a_killed_run_is_undone_and_can_be_repeated() {
    const WEBHOOK: &str = "create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --validation";
    const CONVERSION: &str = "create webhook --group cache --version v1 --kind Memcached --conversion --spoke v1alpha1";
    let lose = |sandbox: &Sandbox, path: &str, from: &str| {
        let file = sandbox.folder.join(path);
        let text = std::fs::read_to_string(&file).unwrap();
        let kept: Vec<&str> = text.lines().filter(|line| !line.contains(from)).collect();
        assert!(kept.len() < text.lines().count(), "{path}: {text}");
        std::fs::write(file, kept.join("\n") + "\n").unwrap();
    };
    let controller = "src/controller/cache/memcached.rs";
    const DELETE: &str = "delete api --group cache --version v1alpha1 --kind Memcached";
    let cases: [(&[&str], &str); 9] = [
        (&[], "init --domain example.com --project-name shop"),
        (&["init --domain example.com --project-name shop"], APIS[0]),
        (&["init --domain example.com --project-name shop", APIS[0]], WEBHOOK),
        (&["init --domain example.com --project-name shop", APIS[0], APIS[1]], CONVERSION),
        (&["init --domain example.com --project-name shop", APIS[0]], "edit --namespaced"),
        (&["init --domain example.com --project-name shop", APIS[0]], "manifests"),
        (&["init --domain example.com --project-name shop", APIS[0]], "check --fix"),
        (&["init --domain example.com --project-name shop", APIS[0]], DELETE),
        (&["init --domain example.com --project-name shop", APIS[0]], "rename group --group cache --to store"),
    ];
    for (setup, line) in cases {
        let sandbox = Sandbox::new();
        setup.iter().for_each(|line| run(&sandbox, line));
        match line {
            "manifests" => {
                std::fs::remove_dir_all(sandbox.folder.join("config/crd")).unwrap();
                lose(&sandbox, "config/rbac/role.yaml", "update");
                lose(&sandbox, controller, "+kubebuilder:rbac");
            }
            "check --fix" => {
                lose(&sandbox, controller, "+kubebuilder:rbac");
                run(&sandbox, "manifests");
            }
            _ => {}
        }
        let before = tree(&sandbox.folder);
        run(&sandbox, line);
        let after = tree(&sandbox.folder);
        let steps = steps(&before, &after);
        assert!(steps.len() > 1, "{line}: {steps:?}");
        let sandbox = sandbox_with(&before);
        for count in 0..=steps.len() {
            kill(&sandbox.folder, &steps, count);
            let is_whole = count == steps.len();
            assert_eq!(plan::recover(&sandbox.folder).unwrap(), count > 0 && !is_whole, "{line}: {count}");
            let expected = if is_whole { &after } else { &before };
            assert_eq!(differences(expected, &tree(&sandbox.folder)), Vec::<&str>::new(), "{line}: {count}");
            assert_eq!(empty_folders(&sandbox.folder), Vec::<PathBuf>::new(), "{line}: {count}");
        }
        // After a rollback, the command has the same result as the first time.
        for count in [1, steps.len() - 1] {
            let sandbox = sandbox_with(&before);
            kill(&sandbox.folder, &steps, count);
            run(&sandbox, line);
            assert_eq!(differences(&after, &tree(&sandbox.folder)), Vec::<&str>::new(), "{line}: {count}");
            assert_eq!(empty_folders(&sandbox.folder), Vec::<PathBuf>::new(), "{line}: {count}");
        }
    }
}

#[test]
fn what_was_edited_after_a_killed_run_stays() {
    let before = BTreeMap::from([("a".to_owned(), b"old".to_vec()), ("b".to_owned(), b"old".to_vec())]);
    let after = BTreeMap::from(["a", "b", "c", "d"].map(|path| (path.to_owned(), b"new".to_vec())));
    let sandbox = sandbox_with(&before);
    kill(&sandbox.folder, &steps(&before, &after), 3);
    std::fs::write(sandbox.folder.join("b"), "mine").unwrap();
    assert!(plan::recover(&sandbox.folder).unwrap());
    let text = |text: &str| text.as_bytes().to_vec();
    assert_eq!(tree(&sandbox.folder), [("a".to_owned(), text("old")), ("b".to_owned(), text("mine"))].into());

    // After all files are in place, an edit does not cause a rollback.
    let sandbox = sandbox_with(&before);
    kill(&sandbox.folder, &steps(&before, &after), 4);
    let journal = sandbox.folder.join(plan::JOURNAL);
    std::fs::write(&journal, std::fs::read_to_string(&journal).unwrap() + "placed\n").unwrap();
    std::fs::write(sandbox.folder.join("b"), "mine").unwrap();
    assert!(!plan::recover(&sandbox.folder).unwrap());
    let expected = BTreeMap::from_iter(after.into_iter().chain([("b".to_owned(), text("mine"))]));
    assert_eq!(tree(&sandbox.folder), expected);
}

/// The journal of a cloned project is untrusted.
#[test]
fn a_journal_is_believed_about_its_own_folder_only() {
    let sandbox = Sandbox::new();
    let (root, outside) = (sandbox.folder.join("project"), sandbox.folder.join("outside"));
    let journal = root.join(plan::JOURNAL);
    for folder in [&root, &outside, &sandbox.folder.join("empty"), &outside.join("empty")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(sandbox.folder.join("b"), "mine").unwrap();
    std::fs::write(outside.join("b"), "mine").unwrap();
    std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", root.join("zero")).unwrap();
    let (before, sum) = (tree(&sandbox.folder), plan::checksum("mine"));
    let absolute = outside.join("empty").display().to_string();
    for folder in ["../empty", "link/empty", "a/../../empty", &absolute, "", ".", ".."] {
        for list in ["created", "emptied"] {
            let mut lists = BTreeMap::from([("created", vec![]), ("emptied", vec![])]);
            lists.insert(list, vec![folder]);
            let document = serde_json::json!({"created": lists["created"], "emptied": lists["emptied"], "files": []});
            std::fs::write(&journal, format!("{document}\n")).unwrap();
            assert!(!plan::recover(&root).unwrap(), "{folder}");
        }
    }
    let absolute = outside.join("b").display().to_string();
    for path in ["../b", "link/b", &absolute, "", "..", "zero"] {
        let files = serde_json::json!([
            {"path": path, "before": false, "after": sum}, {"path": "x", "before": false, "after": "y"}
        ]);
        let document = serde_json::json!({"created": [], "emptied": [], "files": files});
        std::fs::write(&journal, format!("{document}\n")).unwrap();
        assert!(!plan::recover(&root).unwrap(), "{path}");
        assert!(!journal.exists(), "{path}");
    }
    assert_eq!(differences(&before, &tree(&sandbox.folder)), Vec::<&str>::new());
    assert!(outside.join("empty").exists() && sandbox.folder.join("empty").exists());
}

/// Reading a link to a device would exhaust the memory, and a pipe would block.
#[test]
fn a_journal_is_a_regular_file() {
    let sandbox = project();
    let journal = sandbox.folder.join(plan::JOURNAL);
    std::os::unix::fs::symlink("/dev/zero", &journal).unwrap();
    run(&sandbox, APIS[0]);
    assert!(journal.symlink_metadata().is_err(), "a run replaces it by its own");
    assert!(Command::new("mkfifo").arg(&journal).status().unwrap().success());
    run(&sandbox, "check");
    run(&sandbox, APIS[1]);
    assert!(journal.symlink_metadata().is_err());
}

#[test]
fn init_that_is_killed_at_its_end_is_finished_by_any_command() {
    let sandbox = project();
    let after = tree(&sandbox.folder);
    for line in ["init --domain example.com --project-name shop", "check", "manifests --diff"] {
        let sandbox = Sandbox::new();
        let root = sandbox.folder.clone();
        kill(&root, &steps(&BTreeMap::new(), &after), after.len());
        let output = sandbox.command("opctl").args(line.split_whitespace()).output().unwrap();
        assert_eq!(output.status.success(), !line.starts_with("init"), "{line}");
        assert_eq!(differences(&after, &tree(&root)), Vec::<&str>::new(), "{line}");
    }
}

/// A catalog has no PROJECT, and every file in it is read.
#[test]
fn a_catalog_is_read_as_it_was_before_a_killed_run() {
    let sandbox = Sandbox::new();
    let bundle = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bundle/good");
    let add = format!("catalog add catalog {bundle} --image example.com/bundle:v0.1.0");
    let catalog = sandbox.folder.join("catalog");
    std::fs::create_dir(&catalog).unwrap();
    run(&sandbox, &add);
    let after = tree(&catalog);
    let steps = steps(&BTreeMap::new(), &after);
    for count in 0..=steps.len() {
        for line in ["catalog validate", "catalog render catalog", &add] {
            std::fs::remove_dir_all(&catalog).unwrap();
            std::fs::create_dir(&catalog).unwrap();
            kill(&catalog, &steps, count);
            // A new folder is put in place with all files in it.
            let is_written = after.keys().all(|path| catalog.join(path).exists());
            let read = opctl_olm::catalog::Catalog::read(opctl_olm::bundle::Folder {
                tree: &opctl_model::project::Tree::at(&catalog),
                shown: "catalog",
            });
            assert!(read.is_ok(), "the files of the run are no documents");
            run(&sandbox, line);
            let expected = if is_written || line == add { after.clone() } else { BTreeMap::new() };
            assert_eq!(differences(&expected, &tree(&catalog)), Vec::<&str>::new(), "{line}: {count}");
            assert_eq!(empty_folders(&catalog), Vec::<PathBuf>::new(), "{line}: {count}");
        }
    }
}

/// The empty folders below a folder, except for the record of the scaffold.
fn empty_folders(folder: &Path) -> Vec<PathBuf> {
    let below = walkdir::WalkDir::new(folder).min_depth(1).into_iter().map(|entry| entry.unwrap().into_path());
    let is_empty = |path: &PathBuf| path.is_dir() && std::fs::read_dir(path).unwrap().next().is_none();
    below.filter(|path| is_empty(path) && !path.components().any(|part| part.as_os_str() == ".opctl")).collect()
}

#[test]
fn output_that_is_lost_is_an_error() {
    let sandbox = Sandbox::new();
    for line in ["completion bash", "version", "--help"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = sandbox.command("opctl").args(line.split_whitespace()).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {stderr}");
        assert!(stderr.starts_with("error: cannot write to standard output: "), "{line}: {stderr}");
    }
}
