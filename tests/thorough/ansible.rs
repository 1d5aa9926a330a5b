//! `opctl create api --ansible-role` and `--ansible-playbook` with the roles in `tests/ansible`. The results are
//! recorded next to them.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use snapbox::{Assert, Data};

use crate::sandbox::Sandbox;

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ansible")
}

/// `true` on success, and the output.
fn run(sandbox: &Sandbox, line: &str) -> (bool, String) {
    let output = sandbox.command("sh").args(["-c", &format!("{line} 2>&1")]).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

/// An empty project with the roles and playbooks of a case.
fn project(case: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    assert!(run(&sandbox, "opctl init demo --domain example.com --license none --yes").0);
    sandbox.folder.push("demo");
    if cases().join(case).is_dir() {
        assert!(run(&sandbox, &format!("cp -r {}/. .", cases().join(case).display())).0);
    }
    sandbox
}

const SITE: &str = "opctl create api --group web --version v1 --kind Site";

#[test]
fn roles_and_playbooks_become_kinds_as_recorded() {
    let mut failures = Vec::new();
    for (case, option) in [
        ("specs", "--ansible-role site"),
        ("defaults", "--ansible-role"),
        ("permissions", "--ansible-role roles/site/"),
        ("unclear", "--ansible-role site"),
        ("playbook", "--ansible-playbook site.yml"),
        ("new-role", "--ansible-role"),
        ("new-playbook", "--ansible-playbook --ansible-role web"),
        ("collection", "--ansible-role example.web.server --namespaced=false"),
    ] {
        let sandbox = project(case);
        let (_, said) = run(&sandbox, &format!("{SITE} {option}"));
        let mut text = format!("$ opctl create api --kind Site {option}\n{said}\n");
        let mut paths = vec![
            "src/api/web/v1/site.rs",
            "src/controller/web/site.rs",
            "src/controller/web/site/permissions.rs",
            "config/samples/web_v1_site.yaml",
        ];
        if case.starts_with("new") {
            paths.extend(["playbooks/site.yml", "roles/site/tasks/main.yml", "roles/web/tasks/main.yml"]);
        }
        for path in paths {
            if let Ok(file) = fs::read_to_string(sandbox.folder.join(path)) {
                text += &format!("==> {path} <==\n{file}\n");
            }
        }
        for line in [
            "opctl manifests --check",
            "opctl check --deny-warnings",
            "opctl update --check",
            "rustfmt --edition 2024 --check src/lib.rs",
        ] {
            let (is_done, said) = run(&sandbox, line);
            text += &format!("$ {line}\n{said}{}", if is_done { "" } else { "? 1\n" });
        }
        let recorded = Data::read_from(&cases().join(format!("{case}.txt")), None).raw();
        let result = Assert::new().action_env("SNAPSHOTS").try_eq(None, Data::text(text), recorded);
        failures.extend(result.err().map(|error| error.to_string()));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

/// An edit of the case `specs`, options, and the expected message.
const BAD: [(&str, &str, &str); 14] = [
    ("echo '- [' > roles/site/tasks/main.yml", "", "roles/site/tasks/main.yml:1:3"),
    ("echo 'name: x' > roles/site/tasks/main.yml", "", "expected a list of tasks"),
    ("echo 'a: [' > roles/site/defaults/main.yml", "", "roles/site/defaults/main.yml"),
    ("sed -i 's/type: float/type: double/' roles/site/meta/argument_specs.yml", "", "argument_specs.yml:29:15"),
    ("sed -i 's/\"off\"/off/' roles/site/meta/argument_specs.yml", "", "put it in quotes"),
    ("echo '- include_role: {name: gone}' > roles/site/tasks/main.yml", "", "there is no role `gone` in `roles`"),
    ("mkdir playbooks; echo 'hosts: x' > playbooks/x.yml", "--ansible-playbook x.yml", "expected a list of plays"),
    ("true", "--ansible-playbook ../x.yml", "invalid playbook `../x.yml`"),
    ("true", "--ansible-role a/b", "invalid role `a/b`"),
    ("true", "--ansible-role --image x", "`--image` does not fit `--ansible-role`"),
    ("true", "--ansible-role --controller=false", "`--controller=false` does not fit `--ansible-role`"),
    ("true", "--ansible-role --finalizer", "add `.finalizer(…)` to the controller"),
    ("true", "--plugins=ansible", "requires `--ansible-role` or `--ansible-playbook`"),
    ("true", "--ansible-role --owns core/v1/ConfigMap", "the controller watches what the tasks create"),
];

#[test]
fn bad_roles_are_refused_and_nothing_is_written() {
    for (edit, options, expected) in BAD {
        let sandbox = project("specs");
        assert_eq!(run(&sandbox, edit), (true, String::new()), "{edit}");
        run(&sandbox, "git init -q && git add -A");
        let options = if options.is_empty() { "--ansible-role" } else { options };
        let (is_done, said) = run(&sandbox, &format!("{SITE} {options}"));
        assert!(!is_done && said.contains(expected) && said.ends_with("nothing was written\n"), "{edit}\n{said}");
        assert_eq!(run(&sandbox, "git status --porcelain | grep -v ^A").1, "", "{edit}");
    }
}

#[test]
fn permissions_follow_the_tasks() {
    let sandbox = project("defaults");
    assert!(run(&sandbox, &format!("{SITE} --ansible-role")).0);
    let task = "- kubernetes.core.k8s:\\n    kind: ConfigMap\\n    name: x\\n";
    let (is_done, said) = run(&sandbox, &format!("printf -- '{task}' >> roles/site/tasks/main.yml && opctl check"));
    assert!(!is_done && said.contains("OP485") && said.contains("opctl check --fix"), "{said}");
    let (is_done, said) =
        run(&sandbox, "opctl check --fix && opctl check --deny-warnings && cat config/rbac/role.yaml");
    assert!(is_done && said.contains("- configmaps\n"), "{said}");

    // The content of a finalizer is included, and has to exist.
    let add = "sed -i 's/.role(\"site\")/.role(\"site\").finalizer(Finalizer::new(\"example.com\\/x\").role(\"bye\"))/' \
               src/controller/web/site.rs";
    let (is_done, said) =
        run(&sandbox, &format!("sed -i 's/::role/\\n.role/' src/controller/web/site.rs; {add}; opctl check"));
    assert!(!is_done && said.contains("`roles/bye` does not exist"), "{said}");
    let task = "- kubernetes.core.k8s:\\n    kind: Pod\\n    name: x\\n    state: absent\\n";
    run(&sandbox, &format!("mkdir -p roles/bye/tasks && printf -- '{task}' > roles/bye/tasks/main.yml"));
    let (_, said) = run(&sandbox, "opctl check --fix; cat src/controller/web/site/permissions.rs");
    assert!(said.contains("resources=pods,verbs=delete;get"), "{said}");

    let (is_done, said) = run(&sandbox, "rm -r roles/site && opctl check");
    assert!(!is_done && said.contains("`roles/site` does not exist"), "{said}");
}

#[test]
fn the_flags_of_operator_sdk_create_roles_and_playbooks() {
    let sandbox = Sandbox::new();
    let flags = "--plugins=ansible --domain example.com --group cache --version v1alpha1 --kind Memcached";
    let (is_done, said) =
        run(&sandbox, &format!("opctl init demo {flags} --generate-role --generate-playbook --license none"));
    assert!(is_done, "{said}");
    let playbook = fs::read_to_string(sandbox.folder.join("demo/playbooks/memcached.yml")).unwrap();
    assert!(playbook.contains("name: memcached\n"), "{playbook}");
    assert!(sandbox.folder.join("demo/roles/memcached/tasks/main.yml").is_file());
    let (is_done, said) =
        run(&sandbox, "cd demo && opctl create api --group cache --version v1 --kind Redis --generate-role=true");
    assert!(is_done && sandbox.folder.join("demo/roles/redis").is_dir(), "{said}");
}

#[test]
fn deletion_keeps_roles_and_removes_what_only_ansible_needs() {
    let mut sandbox = Sandbox::new();
    assert!(run(&sandbox, "opctl init demo --domain example.com --license none --yes").0);
    sandbox.folder.push("demo");
    run(&sandbox, "git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm a");
    for kind in ["Site", "Shop"] {
        let (is_done, said) =
            run(&sandbox, &format!("opctl create api --group web --version v1 --kind {kind} --ansible-role"));
        assert!(is_done, "{said}");
    }
    let delete = "opctl delete api --group web --version v1 --kind";
    let (is_done, said) = run(&sandbox, &format!("{{ {delete} Shop && opctl check --deny-warnings; }}"));
    assert!(
        is_done && said.contains("kept `roles/shop`") && sandbox.folder.join("requirements.txt").is_file(),
        "{said}"
    );
    let (is_done, said) = run(&sandbox, &format!("{delete} Site"));
    assert!(is_done, "{said}");
    let (_, said) = run(&sandbox, "git add -A && git status --porcelain");
    let others: Vec<&str> = said.lines().filter(|line| !line.starts_with("A  roles/")).collect();
    assert_eq!(others, [""; 0], "{said}");
}

#[test]
fn the_doctor_looks_for_python_and_ansible_runner() {
    let sandbox = project("defaults");
    assert!(run(&sandbox, &format!("{SITE} --ansible-role")).0);
    let fake = "mkdir -p .venv/bin && for program in ansible-runner ansible-playbook; do \
                printf '#!/bin/sh\\necho 2.3.6\\n' > .venv/bin/$program; chmod +x .venv/bin/$program; done";
    let (_, said) = run(&sandbox, "opctl doctor --offline");
    assert!(said.contains("ansible-runner"), "{said}");
    let (_, said) = run(&sandbox, &format!("{fake}; opctl doctor --offline"));
    assert!(said.contains("ansible-runner 2.3.6 is too old: 2.4 is needed") && said.contains("make .venv"), "{said}");
}
