//! `opctl create api --helm-chart` with the charts in `tests/charts`. The results are recorded next to them. Requires
//! helm 4.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use snapbox::{Assert, Data};

use crate::helm::has_helm;
use crate::sandbox::Sandbox;

fn charts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/charts")
}

/// Runs a line in a shell, in an empty project. Returns `true` on success, and the output.
fn run(sandbox: &Sandbox, line: &str) -> (bool, String) {
    let output = sandbox.command("sh").args(["-c", &format!("{line} 2>&1")]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let root = sandbox.root().display().to_string();
    (output.status.success(), said.replace(&root, "[ROOT]").replace(&charts().display().to_string(), "[CHARTS]"))
}

fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    assert!(run(&sandbox, "opctl init demo --domain example.com --license none --yes").0);
    sandbox.folder.push("demo");
    sandbox
}

#[test]
fn charts_become_kinds_as_recorded() {
    if !has_helm("a chart") {
        return;
    }
    let mut failures = Vec::new();
    for chart in ["plain", "subchart", "hooks", "roles", "schema", "hpa", "scalars", "files"] {
        let sandbox = project();
        let (_, said) = run(
            &sandbox,
            &format!("opctl create api --group web --version v1 --kind Site --helm-chart \"$CHARTS/{chart}\""),
        );
        let mut text = format!("{said}\n");
        for path in
            ["src/api/web/v1/site.rs", "src/controller/web/site/permissions.rs", "config/samples/web_v1_site.yaml"]
        {
            let file = fs::read_to_string(sandbox.folder.join(path)).unwrap_or_default();
            text += &format!("==> {path} <==\n{file}\n");
        }
        text = text
            .lines()
            .map(|line| if line.starts_with("// SHA-256") { "// SHA-256" } else { line })
            .fold(String::new(), |text, line| text + line + "\n");
        for line in [
            "opctl manifests --check",
            "opctl check",
            "rustfmt --edition 2024 --check src/api/web/v1/site.rs src/controller/web/site.rs",
        ] {
            let (is_done, said) = run(&sandbox, line);
            text += &format!("$ {line}\n{said}{}", if is_done { "" } else { "? 1\n" });
        }
        let recorded = charts().join(format!("{chart}.txt"));
        let result = Assert::new().action_env("SNAPSHOTS").try_eq(
            None,
            Data::text(text),
            Data::read_from(&recorded, None).raw(),
        );
        failures.extend(result.err().map(|error| error.to_string()));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

/// An edit of the chart `plain`, and the expected message.
const BAD: [(&str, &str); 8] = [
    ("rm Chart.yaml", "is not a chart: it has no Chart.yaml"),
    ("echo '{{ .Values.a.b.c }}' > templates/b.yaml", "plain/templates/b.yaml:1:10"),
    (
        "echo 'a: {{ fail \"no password\" }}' > templates/b.yaml",
        "execution error at (plain/templates/b.yaml:1:6): no password",
    ),
    ("echo 'a: {{ .Values.x' > templates/b.yaml", "parse error at (plain/templates/b.yaml:2)"),
    ("echo 'kubeVersion: \">=1.99\"' >> Chart.yaml", "chart requires kubeVersion: >=1.99"),
    ("echo 'type: library' >> Chart.yaml", "the chart `plain` is a library"),
    ("printf 'a: [' > values.yaml", "values.yaml"),
    (
        "printf 'apiVersion: example.com/v1\\nkind: Thing\\nmetadata:\\n  name: x\\n' > templates/b.yaml",
        "`--helm-kind Thing.example.com=things`",
    ),
];

#[test]
fn bad_charts_are_refused_and_nothing_is_written() {
    if !has_helm("a bad chart") {
        return;
    }
    let sandbox = project();
    run(&sandbox, "git init -q && git add -A");
    for (edit, expected) in BAD {
        let (_, said) =
            run(&sandbox, &format!("rm -rf ../plain && cp -r \"$CHARTS/plain\" .. && cd ../plain && {edit}"));
        assert_eq!(said, "", "{edit}");
        let (is_done, said) =
            run(&sandbox, "opctl create api --group web --version v1 --kind Site --helm-chart ../plain");
        assert!(!is_done && said.contains(expected) && said.ends_with("nothing was written\n"), "{edit}\n{said}");
        assert_eq!(run(&sandbox, "git status --porcelain | grep -v ^A").1, "", "{edit}");
    }
    // The same command succeeds after the cause was removed.
    let (is_done, said) = run(
        &sandbox,
        "opctl create api --helm-chart \"$CHARTS/plain\" && opctl create api --helm-chart \"$CHARTS/plain\"",
    );
    assert!(is_done && said.contains("src/api/charts/v1alpha1/plain.rs"), "{said}");
}

/// opctl copies the files that helm reads: without those in `.helmignore`, and including binary ones.
#[test]
fn files_that_are_not_text_are_copied_and_compared() {
    if !has_helm("a chart with files that are not text") {
        return;
    }
    let sandbox = project();
    let create = "opctl create api --group web --version v1 --kind Site --helm-chart ../files";
    run(&sandbox, "cp -r \"$CHARTS/files\" .. && mkdir ../files/img && printf '\\377' > ../files/img/logo.png");
    let (is_done, said) = run(&sandbox, create);
    assert!(is_done && !said.contains("logo.png"), "{said}");
    let file = "helm-charts/files/files/data.bz2";
    assert!(run(&sandbox, &format!("cmp ../files/files/data.bz2 {file} && opctl check && {create} --check")).0);
    let (is_done, said) = run(&sandbox, &format!("printf '\\376' >> {file}; opctl check"));
    assert!(!is_done && said.contains("OP480"), "{said}");
    let (is_done, said) = run(&sandbox, create);
    assert!(is_done && said.contains(&format!("kept `{file}`, which was edited")), "{said}");
    let (is_done, said) = run(&sandbox, &format!("{create} --overwrite {file} --diff"));
    assert!(is_done && said.contains(&format!("Binary files a/{file} and b/{file} differ\n")), "{said}");
    let (is_done, said) =
        run(&sandbox, &format!("{create} --overwrite {file} && cmp ../files/files/data.bz2 {file} && opctl check"));
    assert!(is_done, "{said}");
}

/// The project of operator-sdk's tutorial.
#[test]
fn in_a_project_for_charts_every_kind_has_one() {
    if !has_helm("a project for charts") {
        return;
    }
    let mut sandbox = Sandbox::new();
    assert!(run(&sandbox, "opctl init nginx-operator --plugins=helm --domain example.com --yes").0);
    sandbox.folder.push("nginx-operator");
    let (is_done, said) = run(&sandbox, "opctl create api --group demo --version v1alpha1 --kind Nginx");
    assert!(is_done && said.contains("create  helm-charts/nginx/Chart.yaml"), "{said}");
    assert!(sandbox.folder.join("config/samples/demo_v1alpha1_nginx.yaml").is_file());
    let (is_done, said) =
        run(&sandbox, "opctl create api --group demo --version v1 --kind Shop --resource --controller && opctl check");
    assert!(is_done && !said.contains("helm-charts/shop"), "{said}");
}

#[test]
fn a_chart_that_changes_gets_its_permissions() {
    if !has_helm("a chart that changes") {
        return;
    }
    let sandbox = project();
    run(&sandbox, "opctl create api --helm-chart \"$CHARTS/hpa\"");
    let (is_done, said) =
        run(&sandbox, "cp \"$CHARTS/hooks/templates/job.yaml\" helm-charts/hpa/templates && opctl check");
    assert!(!is_done && said.contains("OP480"), "{said}");
    let (is_done, said) =
        run(&sandbox, "opctl check --fix && opctl check && grep -A1 job.yaml src/controller/charts/hpa/permissions.rs");
    assert!(is_done && said.contains("resources=jobs"), "{said}");
    assert!(fs::read_to_string(sandbox.folder.join("config/rbac/role.yaml")).unwrap().contains("- jobs"));
    let (is_done, said) = run(
        &sandbox,
        "echo '#' >> helm-charts/hpa/values.yaml && PATH=\"$(dirname \"$(command -v opctl)\"):/usr/bin:/bin\" opctl check",
    );
    assert!(is_done && said.contains("OP481"), "{said}");
}

#[test]
fn deletion_keeps_charts_and_removes_what_only_helm_needs() {
    if !has_helm("the deletion of a chart's kind") {
        return;
    }
    let sandbox = project();
    run(&sandbox, "git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm a");
    for (kind, chart) in [("Site", "plain"), ("Shop", "hpa")] {
        let line = format!("opctl create api --group web --version v1 --kind {kind} --helm-chart \"$CHARTS/{chart}\"");
        let (is_done, said) = run(&sandbox, &line);
        assert!(is_done, "{said}");
    }
    let delete = "opctl delete api --group web --version v1 --kind";
    let (is_done, said) = run(&sandbox, &format!("{{ {delete} Shop && opctl check --deny-warnings; }}"));
    let has_manager_patch = sandbox.folder.join("config/helm/manager.yaml").is_file();
    assert!(is_done && said.contains("kept `helm-charts/hpa`") && has_manager_patch, "{said}");
    // A CRD that is missing is generated, so its removal by hand loses nothing.
    let (is_done, said) = run(&sandbox, &format!("rm config/crd/bases/*_sites.yaml && {delete} Site"));
    assert!(is_done, "{said}");
    let (_, said) = run(&sandbox, "git add -A && git status --porcelain");
    let others: Vec<&str> = said.lines().filter(|line| !line.starts_with("A  helm-charts/")).collect();
    assert_eq!(others, [""; 0], "{said}");
}
