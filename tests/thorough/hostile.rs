//! Malicious folders and archives, which try to read, fill or block the machine: each is rejected with its path and the
//! reason, and nothing is written.
#![cfg(unix)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use opctl_kustomize::yaml::{self, Dialect, Node};
use opctl_model::diagnostic::{Diagnostic, SourceFile};

use crate::cpu_time::cpu_time;
use crate::helm::has_helm;
use crate::sandbox::Sandbox;

/// Edits a copy of a folder in `tests`, `$FROM`, and runs a command in an empty folder next to it. The command must
/// fail with this message before a timeout, and write nothing.
fn refuses(folder: &str, edit: &str, command: &str, expected: &str) {
    let mut sandbox = Sandbox::new();
    let from = sandbox.root().join("from");
    let shell = |sandbox: &Sandbox, line: &str| {
        let output = sandbox.command("sh").env("FROM", &from).args(["-c", &format!("{line} 2>&1")]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).replace(&from.display().to_string(), "[FROM]"))
    };
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let copy = format!("mkdir new && cp -r {} \"$FROM\" && cd \"$FROM\" && {edit}", original.display());
    assert_eq!(shell(&sandbox, &copy), (Some(0), String::new()), "{edit}");
    sandbox.folder.push("new");
    let (code, said) = shell(&sandbox, &format!("timeout 300 opctl {command}"));
    assert!(code == Some(1) && said.contains(expected), "{edit}: {expected}\n{code:?} {said}");
    assert_eq!(shell(&sandbox, "ls -A").1, "", "{edit}");
}

#[test]
fn an_ansible_operator_is_read_inside_of_its_folder_only() {
    let playbook = |path: &str| format!("sed -i 's|role: memcached|playbook: {path}|' watches.yaml");
    for (edit, expected) in [
        ("ln -s /etc/passwd roles/memcached/a", "`[FROM]/roles/memcached/a`: it leads out of `[FROM]`"),
        ("ln -s /dev/zero roles/memcached/a", "`[FROM]/roles/memcached/a`: it leads out of `[FROM]`"),
        ("ln -s /etc roles/etc", "`[FROM]/roles/etc`: it leads out of `[FROM]`"),
        ("rm -r playbooks && ln -s /etc playbooks", "`[FROM]/playbooks`: it leads out of `[FROM]`"),
        ("ln -s .. roles/memcached/a", "`[FROM]/roles/memcached/a`: its links lead in a circle"),
        ("ln -s /etc/passwd config/samples/a.yaml", "`[FROM]/config/samples/a.yaml`: it leads out of `[FROM]`"),
        ("rm PROJECT && ln -s /etc/passwd PROJECT", "`[FROM]/PROJECT`: it leads out of `[FROM]`"),
        ("mv watches.yaml ../a && ln -s ../a watches.yaml", "`[FROM]/watches.yaml`: it leads out of `[FROM]`"),
        ("rm watches.yaml && mkfifo watches.yaml", "`[FROM]/watches.yaml`: it is not a regular file"),
        ("mkfifo roles/memcached/a", "`[FROM]/roles/memcached/a`: it is not a regular file"),
        ("mkfifo config/crd/bases/a.yaml", "`[FROM]/config/crd/bases/a.yaml`: it is not a regular file"),
        ("truncate -s 65M roles/memcached/a", "`[FROM]/roles/memcached/a`: it is larger than 64 MiB"),
        (
            "for n in $(seq 2001); do echo key$n: 1; done > roles/memcached/defaults/main.yml",
            "more than 2000 parameters",
        ),
        (&playbook("../a.yml"), "this `playbook` is outside of the folder of watches.yaml"),
        (&playbook("/etc/passwd"), "this `playbook` is outside of the folder of watches.yaml"),
        (
            "ln -s /etc/passwd a.yml && sed -i 's|role: memcached|playbook: a.yml|' watches.yaml",
            "`[FROM]/a.yml`: it leads out of",
        ),
        ("sed -i 's|role: memcached|role: ../a|' watches.yaml", "this `role` is outside of the folder of watches.yaml"),
    ] {
        refuses("import/cache-operator", edit, "import ansible-operator \"$FROM\"", expected);
    }
}

#[test]
fn a_chart_is_read_inside_of_its_folder_only() {
    if !has_helm("the import of a hostile chart") {
        return;
    }
    for (edit, expected) in [
        ("ln -s /etc/passwd helm-charts/web/templates/a", "templates/a`: it leads out of `[FROM]/helm-charts/web`"),
        ("for n in $(seq 2001); do echo key$n: 1; done > helm-charts/web/values.yaml", "more than 2000 keys"),
        ("mkfifo helm-charts/web/templates/a", "templates/a`: it is not a regular file"),
        ("rm helm-charts/web/Chart.yaml && mkfifo helm-charts/web/Chart.yaml", "it has no Chart.yaml"),
        ("truncate -s 65M helm-charts/web/a", "helm-charts/web/a`: it is larger than 64 MiB"),
        ("mv helm-charts/web .. && sed -i s,helm-charts/web,../web, watches.yaml", "is outside of `[FROM]`"),
        (
            "cd helm-charts && tar czf web.tgz --transform s,web/values.yaml,web/../../a, web && rm -r web && \
             sed -i s,helm-charts/web,helm-charts/web.tgz, ../watches.yaml",
            "`web/../../a`: the path leads out of the archive",
        ),
        ("mkfifo a && sed -i s,helm-charts/web,a, watches.yaml", "`[FROM]/a`: it is not a regular file"),
    ] {
        refuses("import/web-operator", edit, "import helm-operator \"$FROM\"", expected);
    }
}

#[test]
fn bundles_and_catalogs_are_read_inside_of_their_folders_only() {
    let link = "ln -s /etc/passwd manifests/a.yaml";
    let pipe = "mkfifo manifests/a.yaml";
    for (edit, command, expected) in [
        (link, "bundle validate \"$FROM\"", "cannot read the file: it leads out of `[FROM]`"),
        (pipe, "bundle validate \"$FROM\"", "cannot read the file: it is not a regular file"),
        (link, "bundle render \"$FROM\" -n a", "cannot read the file: it leads out of `[FROM]`"),
        (link, "catalog validate \"$FROM\"", "`[FROM]/manifests/a.yaml`: it leads out of `[FROM]`"),
        ("truncate -s 63M a b c", "catalog validate \"$FROM\"", "its files are together larger than 128 MiB"),
    ] {
        refuses("bundle/good", edit, command, expected);
    }
}

fn parse(text: String) -> Result<Vec<Node>, Box<Diagnostic>> {
    let start = cpu_time();
    let file: Arc<SourceFile> = SourceFile::new("a.yaml", text);
    let parsed = yaml::documents(&file, Dialect::Kubectl);
    let took = cpu_time() - start;
    assert!(took < Duration::from_secs(10), "{took:?}");
    parsed
}

#[test]
fn large_mappings_are_read_in_linear_time_or_refused() {
    let keys = |count, separator: &str| (0..count).map(|n| format!("key{n}: 1{separator}")).collect::<String>();
    let forms = |count| {
        let flow = keys(count, ", ");
        [keys(count, "\n"), format!("{{{flow}}}"), format!("a: &a {{{flow}}}\nb: {{<<: *a}}")]
    };
    for text in forms(10_000) {
        assert!(parse(text).is_ok());
    }
    for text in forms(10_001) {
        assert_eq!(parse(text).unwrap_err().message, "a mapping has at most 10000 keys");
    }
}

#[test]
fn anchors_within_each_other_are_counted() {
    let anchors: String = (0..100).map(|n| format!("&a{n} [")).collect();
    let error = parse(format!("{anchors}{}{}", "x,".repeat(5000), "]".repeat(100))).unwrap_err();
    assert_eq!(error.message, "this is more than Kubernetes reads");
}
