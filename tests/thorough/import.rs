//! `opctl import helm-operator` and `ansible-operator` with the projects in `tests/import`. The results are recorded
//! next to them. The former requires helm 4.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use snapbox::{Assert, Data};

use crate::helm::has_helm;
use crate::sandbox::Sandbox;

fn projects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import")
}

/// `true` on success, and the output. `$FROM` is a copy of the project.
fn run(sandbox: &Sandbox, line: &str) -> (bool, String) {
    let from = sandbox.root().join("from");
    let output = sandbox.command("sh").env("FROM", &from).args(["-c", &format!("{line} 2>&1")]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.success(), said.replace(&from.display().to_string(), "[FROM]"))
}

/// An empty folder next to a copy of the Helm operator.
fn sandbox() -> Sandbox {
    sandbox_beside("web-operator")
}

/// An empty folder next to a copy of a project.
fn sandbox_beside(project: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    let copy = format!("mkdir new && cp -r {}/{project} \"$FROM\"", projects().display());
    assert_eq!(run(&sandbox, &copy), (true, String::new()));
    sandbox.folder.push("new");
    sandbox
}

#[test]
fn a_helm_operator_is_imported_as_recorded() {
    if !has_helm("the import of a Helm operator") {
        return;
    }
    let sandbox = sandbox();
    let (is_done, said) = run(&sandbox, "opctl import helm-operator \"$FROM\" --quiet");
    assert!(is_done, "{said}");
    let mut text = format!("$ opctl import helm-operator\n{said}");
    for line in [
        "cat PROJECT && sed '/^.. Copyright/,/^.. limitations/d' src/api/pages/v1alpha1/page.rs src/controller/pages/index.rs && \
         cat src/controller/pages/index/permissions.rs",
        "sed -n '/^  names:/,/^  versions/p; /^          spec:/,/^          status:/p' config/crd/bases/pages.charts.example.com_indices.yaml",
        "cat config/samples/p*.yaml",
        "opctl import helm-operator \"$FROM\" --quiet",
        "opctl manifests --check",
        "opctl check",
        "rustfmt --edition 2024 --check src/lib.rs",
    ] {
        let (is_done, said) = run(&sandbox, line);
        let is_same = |line: &&str| !line.starts_with("// SHA-256");
        let said: String = said.lines().filter(is_same).map(|line| format!("{line}\n")).collect();
        text += &format!("\n$ {line}\n{said}{}", if is_done { "" } else { "? 1\n" });
    }
    let recorded = Data::read_from(&projects().join("web-operator.txt"), None).raw();
    let result = Assert::new().action_env("SNAPSHOTS").try_eq(None, Data::text(text), recorded);
    assert!(result.is_ok(), "{}", result.unwrap_err());
}

/// An edit of the project, and the expected messages.
const BAD: [(&str, &[&str]); 19] = [
    ("rm watches.yaml", &["cannot read `[FROM]/watches.yaml`"]),
    (": > watches.yaml", &["no watches found"]),
    ("echo 'kind: Page' > watches.yaml", &["expected a list of watches"]),
    ("echo '- [' > watches.yaml", &["[FROM]/watches.yaml", "this is not valid YAML"]),
    (
        "sed -i s/reconcilePeriod/reconcileperiod/ watches.yaml",
        &["a watch has no key `reconcileperiod`", "[FROM]/watches.yaml:20:3"],
    ),
    ("sed -i 's/1m30s/90/' watches.yaml", &["invalid duration", "watches.yaml:20:20"]),
    ("sed -i 's/\"1\"/[1]/' watches.yaml", &["the override of `labels.example\\.com/tier` must be a string"]),
    (
        "sed -i 's/from .*/\"{{ env `X` }}\"/' watches.yaml",
        &["the override of `text` is a template", "watches.yaml:13:11"],
    ),
    ("sed -i 's/DoesNotExist/Missing/' watches.yaml", &["invalid requirement of a label selector"]),
    ("sed -i 's/kind: Index/kind: Page/' watches.yaml", &["`Page` of `pages.charts.example.com` is watched twice"]),
    ("sed -i '/kind: Index/d' watches.yaml", &["this watch has no `kind`"]),
    ("sed -i 's/group: pages.charts/group: pages.other/' watches.yaml", &["the project has no CRD of `Page`"]),
    ("sed -i 's/scope: N.*/scope: Cluster/' config/crd/bases/*", &["`Page` is cluster-scoped"]),
    ("sed -i 's/name: v1alpha1/name: v1/' config/crd/bases/*", &["has no version `v1alpha1`"]),
    ("rm -r helm-charts/web", &["chart `[FROM]/helm-charts/web` not found", "watches.yaml:5:10"]),
    ("rm helm-charts/web/Chart.yaml", &["it has no Chart.yaml", "watches.yaml:5:10"]),
    ("echo 'a: {{ fail \"no\" }}' > helm-charts/web/templates/b.yaml", &["b.yaml:1:6): no", "watches.yaml:5:10"]),
    ("sed -i 's/projectName.*/projectName: Web_/' PROJECT", &["invalid project name `Web_`"]),
    ("echo ': [' > PROJECT", &["cannot read this file"]),
];

#[test]
fn what_cannot_be_imported_is_refused_and_nothing_is_written() {
    if !has_helm("the import of a bad Helm operator") {
        return;
    }
    for (edit, expected) in BAD {
        let sandbox = sandbox();
        assert_eq!(run(&sandbox, &format!("cd \"$FROM\" && {edit}")), (true, String::new()), "{edit}");
        let (is_done, said) = run(&sandbox, "opctl import helm-operator \"$FROM\"");
        assert!(!is_done && said.ends_with("nothing was written\n"), "{edit}\n{said}");
        for expected in expected {
            assert!(said.contains(expected), "{edit}: {expected}\n{said}");
        }
        assert_eq!(run(&sandbox, "ls -A").1, "", "{edit}");
    }
}

#[test]
fn what_has_no_counterpart_is_a_warning() {
    if !has_helm("the import of a Helm operator") {
        return;
    }
    let sandbox = sandbox();
    let edit = "cd \"$FROM\" && sed -i 's/watchDependentResources: true/watchDependentResources: false/; \
                s/dryRunOption: server/maxConcurrentReconciles: 4/' watches.yaml && \
                sed -i 's/hybrid//; s/helm.sdk.operatorframework.io.v1/hybrid.helm.sdk.operatorframework.io\\/v1-alpha/' PROJECT";
    assert_eq!(run(&sandbox, edit), (true, String::new()));
    let (is_done, said) = run(&sandbox, "opctl import helm-operator \"$FROM\"");
    assert!(is_done, "{said}");
    for expected in ["are always watched", "watches.yaml:10:3", "add `--concurrency`", "environment variables"] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    let controller = fs::read_to_string(sandbox.folder.join("src/controller/pages/index.rs")).unwrap();
    // helm-operator-plugins has another finalizer, and parses numbers.
    assert!(controller.contains(".finalizer(\"uninstall-helm-release\")") && controller.contains(".set(\"text\""));
}

#[test]
fn kinds_are_added_to_a_project_with_the_same_domain() {
    if !has_helm("the import of a Helm operator into a project") {
        return;
    }
    let sandbox = sandbox();
    let import = "opctl import helm-operator \"$FROM\"";
    let (_, said) = run(&sandbox, &format!("echo > x && {import}"));
    assert!(said.contains("neither a project of opctl nor empty"), "{said}");
    let (is_done, said) =
        run(&sandbox, &format!("opctl init other --domain example.com --license none --yes && cd other && {import}"));
    assert!(
        is_done && fs::exists(sandbox.folder.join("other/src/api/pages_charts/v1alpha1/index.rs")).unwrap(),
        "{said}"
    );
    let (is_done, said) =
        run(&sandbox, &format!("opctl init third --domain example.org --license none --yes && cd third && {import}"));
    assert!(!is_done && said.contains("does not end in the project's domain, `example.org`"), "{said}");
    // A group that is the domain itself: the project gets a shorter domain.
    let edit =
        "grep -rl pages.charts.example.com \"$FROM\" | xargs sed -i 's/pages.charts.example.com/charts.example.com/'";
    let (is_done, said) =
        run(&sandbox, &format!("{edit} && mkdir short && cd short && {import} && grep ^domain PROJECT"));
    assert!(is_done && said.ends_with("domain: example.com\n"), "{said}");
}

#[test]
fn an_ansible_operator_is_imported_as_recorded() {
    let sandbox = sandbox_beside("cache-operator");
    let (is_done, said) = run(&sandbox, "opctl import ansible-operator \"$FROM\"");
    assert!(is_done, "{said}");
    let mut text = format!("$ opctl import ansible-operator\n{}", said.split("\ncreate").next().unwrap());
    for line in [
        "cat PROJECT && sed '/^.. Copyright/,/^.. limitations/d' src/api/cache/v1alpha1/memcached.rs src/controller/cache/*.rs && \
         cat src/controller/cache/*/permissions.rs",
        "ls -A roles/* playbooks && cat config/samples/*.yaml",
        "opctl import ansible-operator \"$FROM\" --quiet",
        "opctl manifests --check",
        "opctl check --deny-warnings",
        "opctl update --check",
        "rustfmt --edition 2024 --check src/lib.rs",
    ] {
        let (is_done, said) = run(&sandbox, line);
        text += &format!("\n$ {line}\n{said}{}", if is_done { "" } else { "? 1\n" });
    }
    let recorded = Data::read_from(&projects().join("cache-operator.txt"), None).raw();
    let result = Assert::new().action_env("SNAPSHOTS").try_eq(None, Data::text(text), recorded);
    assert!(result.is_ok(), "{}", result.unwrap_err());
}

#[test]
fn an_ansible_operator_of_an_old_layout_keeps_its_crd_role_and_environment() {
    let sandbox = sandbox_beside("shop-operator");
    let (is_done, said) = run(&sandbox, "opctl import ansible-operator \"$FROM\"");
    assert!(is_done, "{said}");
    let mut text = format!("$ opctl import ansible-operator\n{}", said.split("\ncreate").next().unwrap());
    for line in [
        "grep -v '^#' PROJECT && sed '/^.. Copyright/,/^.. limitations/d' src/api/shops/v1/shop.rs src/controller/*/s*.rs",
        "cat src/controller/shops/shop/permissions.rs config/environment/manager.yaml config/samples/*.yaml",
        "cat config/crd/bases/*.yaml",
        "opctl manifests --check",
        "opctl check --deny-warnings",
        "opctl update --check",
        "rustfmt --edition 2024 --check src/lib.rs",
    ] {
        let (is_done, said) = run(&sandbox, line);
        text += &format!("\n$ {line}\n{said}{}", if is_done { "" } else { "? 1\n" });
    }
    let recorded = Data::read_from(&projects().join("shop-operator.txt"), None).raw();
    let result = Assert::new().action_env("SNAPSHOTS").try_eq(None, Data::text(text), recorded);
    assert!(result.is_ok(), "{}", result.unwrap_err());
}

/// The versions that no watch names have a type and a sample, too.
#[test]
fn all_versions_of_a_crd_are_imported() {
    let mut text = String::new();
    for (project, tool, crd, kind, version) in [
        (
            "cache-operator",
            "ansible",
            "cache.example.com_pools",
            "cache/v1beta1/pool",
            "--group cache --version v1alpha2 --kind Pool",
        ),
        (
            "web-operator",
            "helm",
            "pages.charts.example.com_pages",
            "pages/v1/page",
            "--group pages --version v1 --kind Page",
        ),
    ] {
        if tool == "helm" && !has_helm("the import of a Helm operator with several versions") {
            return;
        }
        let sandbox = sandbox_beside(project);
        let (_, plural) = crd.split_once('_').unwrap();
        let edit = format!("cp {}/versions/{plural}.yaml \"$FROM\"/config/crd/bases/{crd}.yaml", projects().display());
        assert_eq!(run(&sandbox, &edit), (true, String::new()));
        for line in [
            format!("opctl import {tool}-operator \"$FROM\" --quiet"),
            format!(
                "sed '/^.. Copyright/,/^.. limitations/d' src/api/{kind}.rs && ls config/samples && grep -A20 'kind: {}' PROJECT",
                if tool == "helm" { "Page" } else { "Pool" }
            ),
            format!("sed -n '/^  versions/,$p' config/crd/bases/{crd}.yaml | grep -v description"),
            "opctl manifests --check".into(),
            "opctl check".into(),
            "opctl update --check".into(),
            "rustfmt --edition 2024 --check src/lib.rs".into(),
            format!("opctl delete version {version} --quiet"),
            "opctl update --check".into(),
            format!("opctl delete version {version} --quiet"),
            format!(
                "opctl manifests --check && opctl update --check && opctl check && ls src/controller/*/{}",
                if tool == "helm" { "page" } else { "pool" }
            ),
        ] {
            let (is_done, said) = run(&sandbox, &line);
            text += &format!("\n$ {line}\n{said}{}", if is_done { "" } else { "? 1\n" });
        }
    }
    let recorded = Data::read_from(&projects().join("versions.txt"), None).raw();
    let result = Assert::new().action_env("SNAPSHOTS").try_eq(None, Data::text(text), recorded);
    assert!(result.is_ok(), "{}", result.unwrap_err());
}

#[test]
fn a_crd_whose_versions_cannot_be_imported_is_refused() {
    for (edit, expected) in [
        ("s/name: v1alpha1/name: v1alpha3/", "has no version `v1alpha1`"),
        ("/name: v1alpha1/,/storage/s/served: true/served: false/", "does not serve the version `v1alpha1`"),
        ("/name: v1beta1/,$s/served: true/served: false/", "stores objects in v1beta1, which it does not serve"),
        ("s/^  scope: Cluster/&\\n  conversion: {strategy: Webhook}/", "a webhook converts objects of `Pool`"),
    ] {
        let sandbox = sandbox_beside("cache-operator");
        let edit = format!(
            "sed '{edit}' {}/versions/pools.yaml > \"$FROM\"/config/crd/bases/cache.example.com_pools.yaml",
            projects().display()
        );
        assert_eq!(run(&sandbox, &edit), (true, String::new()));
        let (is_done, said) = run(&sandbox, "opctl import ansible-operator \"$FROM\"");
        assert!(!is_done && said.contains(expected) && said.contains("watches.yaml:"), "{edit}\n{said}");
        assert_eq!(run(&sandbox, "ls -A").1, "", "{edit}");
    }
}

#[test]
fn the_file_with_the_watches_is_chosen_where_there_are_several() {
    let sandbox = sandbox_beside("shop-operator");
    let edit = "cd \"$FROM\" && sed -i /WATCHES_FILE/d build/Dockerfile && cp watches-k8s.yaml watches-os.yaml";
    assert_eq!(run(&sandbox, edit), (true, String::new()));
    let (is_done, said) = run(&sandbox, "opctl import ansible-operator \"$FROM\"");
    assert!(!is_done && said.contains("choose `--watches watches-k8s.yaml` or `--watches watches-os.yaml`"), "{said}");
    let (is_done, said) = run(&sandbox, "opctl import ansible-operator \"$FROM\" --watches watches-os.yaml --quiet");
    assert!(is_done, "{said}");
}

/// An edit of the Ansible operator, and the expected messages.
const BAD_ANSIBLE: [(&str, &[&str]); 15] = [
    ("rm watches.yaml", &["cannot read `[FROM]/watches.yaml`", "--plugins=ansible"]),
    ("echo '- [' > watches.yaml", &["[FROM]/watches.yaml", "this is not valid YAML"]),
    ("sed -i s/reconcilePeriod/period/ watches.yaml", &["a watch has no key `period`", "watches.yaml:22:3"]),
    ("sed -i 's/1m30s/90/' watches.yaml", &["invalid duration"]),
    ("sed -i 's/manageStatus: no/manageStatus: 3/' watches.yaml", &["`manageStatus` is neither true nor false"]),
    ("sed -i 's/maxRunnerArtifacts: 5/maxRunnerArtifacts: many/' watches.yaml", &["must be a number of runs"]),
    ("sed -i 's/    role: cleanup/    roles: cleanup/' watches.yaml", &["a finalizer has no key `roles`"]),
    ("sed -i '/name: cache.example.com.finalizer/d' watches.yaml", &["this finalizer has no `name`"]),
    ("sed -i 's/    vars: {state: absent}//' watches.yaml", &["no `role`, no `playbook` and no `vars`"]),
    ("sed -i '/  playbook:/d' watches.yaml", &["neither a `role` nor a `playbook`"]),
    ("sed -i 's/kind: Pool/kind: Memcached/' watches.yaml", &["is watched twice"]),
    ("sed -i 's/group: apps/group: apps\\n      extra: 1/; s/kind: ReplicaSet//' watches.yaml", &["expected a kind"]),
    ("rm -r roles/cleanup", &["role `[FROM]/roles/cleanup` not found", "watches.yaml:19:11"]),
    ("rm playbooks/pool.yml", &["playbook `[FROM]/playbooks/pool.yml` not found"]),
    ("echo 'x: [' > roles/memcached/defaults/main.yml", &["roles/memcached/defaults/main.yml"]),
];

#[test]
fn an_ansible_operator_that_cannot_be_imported_is_refused_and_nothing_is_written() {
    for (edit, expected) in BAD_ANSIBLE {
        let sandbox = sandbox_beside("cache-operator");
        assert_eq!(run(&sandbox, &format!("cd \"$FROM\" && {edit}")), (true, String::new()), "{edit}");
        let (is_done, said) = run(&sandbox, "opctl import ansible-operator \"$FROM\"");
        assert!(!is_done && said.ends_with("nothing was written\n"), "{edit}\n{said}");
        for expected in expected {
            assert!(said.contains(expected), "{edit}: {expected}\n{said}");
        }
        assert_eq!(run(&sandbox, "ls -A").1, "", "{edit}");
    }
}
