use std::fs;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::*;

fn crd(kind: &str, size: i64) -> CustomResourceDefinition {
    let plural = format!("{}s", kind.to_lowercase());
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "maximum": size}}}}});
    let value = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": KIND, "metadata": {"name": format!("{plural}.a.b")},
        "spec": {"group": "a.b", "scope": "Namespaced", "names": {"kind": kind, "plural": plural, "categories": []},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}
    });
    serde_json::from_value(value).unwrap()
}

/// The CRD of [`crd`] as another tool writes it: in another order, with defaults.
fn rewritten_crd(kind: &str, size: i64, metadata: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    format!(
        "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nmetadata:\n  name: {plural}.a.b\n{metadata}spec:\n  \
         group: a.b\n  names: {{kind: {kind}, listKind: {kind}List, plural: {plural}, singular: {}}}\n  scope: Namespaced\n  versions:\n    \
         - name: v1\n      storage: true\n      served: true\n      schema:\n        openAPIV3Schema:\n          type: object\n          \
         properties:\n            spec:\n              type: object\n              properties:\n                size: {{maximum: {size}, type: integer}}\n",
        kind.to_lowercase()
    )
}

/// The files after an update, and the diagnostics as `CODE LINE MESSAGE`.
fn updated(
    files: &[(&str, &str)],
    paths: &[&str],
    crds: &[CustomResourceDefinition],
) -> (Vec<(String, String)>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let tree = Tree::at(folder.path());
    let paths: Vec<CrdPath> = paths.iter().map(|path| CrdPath::parse(path).unwrap()).collect();
    let mut plan = Plan::default();
    let diagnostics = update(&mut plan, &tree, &paths, crds, |_, _| false).unwrap();
    let steps =
        opctl_edit::plan::resolve(&plan, &Default::default(), |path| tree.read(path), |path| tree.read_bytes(path))
            .unwrap();
    let changed = steps.into_iter().filter(|step| !step.is_unchanged());
    let changed = changed.map(|step| {
        assert!(!step.is_conflict(), "{step:?}");
        (step.path, step.after.unwrap().into_text().unwrap())
    });
    let shown = |it: &Diagnostic| {
        let line = it.span.as_ref().map_or(0, |(span, _)| span.line_column().0);
        format!("{} {line} {}", it.code.name, it.message)
    };
    (changed.collect(), diagnostics.iter().map(shown).collect())
}

fn written(crd: &CustomResourceDefinition) -> String {
    opctl_model::yaml::document(&serde_json::to_value(crd).unwrap())
}

#[test]
fn equal_crds_stay_and_different_ones_are_replaced() {
    let [a, b] = [rewritten_crd("Ant", 1, ""), rewritten_crd("Bee", 1, "")];
    let all = format!("# Ours\n{a}---\n# Of bees\n{b}");
    let (changed, reported) = updated(&[("crd.yaml", &all)], &["crd.yaml"], &[crd("Ant", 1), crd("Bee", 1)]);
    assert_eq!((changed, reported), (vec![], vec![]));
    let (changed, _) = updated(&[("crd.yaml", &all)], &["crd.yaml"], &[crd("Ant", 1), crd("Bee", 2)]);
    let new = format!("# Ours\n{a}---\n# Of bees\n{}", written(&crd("Bee", 2)));
    assert_eq!(changed, [("crd.yaml".to_owned(), new)]);
}

#[test]
fn what_the_source_does_not_set_is_kept() {
    let metadata = "  labels: {app: x}\n  annotations:\n    helm.sh/resource-policy: keep\n";
    let conversion = "  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: s, namespace: n}}, conversionReviewVersions: [v1]}}\n";
    let old = rewritten_crd("Ant", 1, metadata).replace("  scope:", &format!("{conversion}  scope:"));
    let mut source = crd("Ant", 1);
    let (changed, _) = updated(&[("crd.yaml", &old)], &["crd.yaml"], &[source.clone()]);
    assert_eq!(changed, []);
    source.metadata.labels = Some([("team".to_owned(), "y".to_owned())].into());
    let (changed, _) = updated(&[("crd.yaml", &old)], &["crd.yaml"], &[source]);
    let new: Value = opctl_model::yaml::read(&changed[0].1).unwrap();
    assert_eq!(new["metadata"]["labels"], json!({"app": "x", "team": "y"}));
    assert_eq!(new["metadata"]["annotations"], json!({"helm.sh/resource-policy": "keep"}));
    assert_eq!(new["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"], "s");
}

#[test]
fn new_kinds_go_where_the_others_are() {
    let ant = rewritten_crd("Ant", 1, "");
    let both = [crd("Ant", 1), crd("Bee", 1)];
    let bee = written(&both[1]);
    let (changed, _) = updated(&[("crds/ant-crd.yaml", &ant)], &["crds"], &both);
    assert_eq!(changed, [("crds/bee-crd.yaml".to_owned(), bee.clone())]);
    let (changed, _) = updated(&[("crds/all.yaml", &ant)], &["crds/all.yaml"], &both);
    assert_eq!(changed, [("crds/all.yaml".to_owned(), format!("{ant}---\n{bee}"))]);
    let (changed, _) = updated(&[], &["crds/new.json", "deploy"], &both[1..]);
    assert_eq!(changed[0].0, "crds/new.json");
    assert_eq!(serde_json::from_str::<Value>(&changed[0].1).unwrap()["kind"], KIND);
    assert_eq!(changed[1], ("deploy/a.b_bees.yaml".to_owned(), bee.clone()));
    let chart = [
        ("c/Chart.yaml", "name: c\n"),
        ("c/templates/crds/ants.yaml", &*format!("{{{{- if .Values.crds }}}}\n{ant}{{{{- end }}}}\n")),
    ];
    let (changed, _) = updated(&chart, &["c/templates/crds"], &both);
    assert_eq!(
        changed,
        [("c/templates/crds/bees.yaml".to_owned(), format!("{{{{- if .Values.crds }}}}\n{bee}{{{{- end }}}}\n"))]
    );
}

#[test]
fn what_depends_on_a_chart_is_compared_and_not_replaced() {
    let labels = "  labels:\n    {{- include \"labels\" . | nindent 4 }}\n";
    let text = rewritten_crd("Ant", 1, labels);
    let chart = |text: &str| {
        updated(&[("c/Chart.yaml", "name: c\n"), ("c/templates/ant.yaml", text)], &["c/templates"], &[crd("Ant", 2)])
    };
    let current = rewritten_crd("Ant", 2, labels);
    assert_eq!(chart(&current), (vec![], vec![]));
    let (changed, reported) = chart(&text);
    assert_eq!(changed, []);
    assert_eq!(
        reported,
        [
            "OP615 6 `Ant`: the CRD differs from the source, and opctl does not replace it, because it depends on values of the chart"
        ]
    );
    let (_, reported) =
        chart(&current.replace("  scope: Namespaced\n", "  scope: Namespaced\n  {{ include \"more\" . }}\n"));
    assert_eq!(
        reported,
        ["OP615 11 `Ant`: a template prints a part of the CRD, so opctl cannot compare it with the source"]
    );
    let (_, reported) = chart(&current.replace("kind: Ant,", "kind: {{ .Values.kind }},"));
    assert!(reported[0].starts_with("OP615 6 `Ant`: the CRD differs"), "{reported:?}");
    // helm prints files outside of `templates` unchanged.
    let (_, reported) =
        updated(&[("c/Chart.yaml", "name: c\n"), ("c/crds/ant.yaml", &text)], &["c/crds"], &[crd("Ant", 2)]);
    assert!(reported[0].starts_with("OP615 6 cannot read the CRDs in `c/crds/ant.yaml`"), "{reported:?}");
}

#[test]
fn crds_that_no_kind_declares_are_reported_and_stay() {
    let both = format!(
        "{}---\n{}---\n{}",
        rewritten_crd("Ant", 1, ""),
        rewritten_crd("Bee", 1, ""),
        rewritten_crd("Cow", 1, "").replace("a.b", "c.d")
    );
    let (changed, reported) = updated(&[("crd.yaml", &both)], &["crd.yaml"], &[crd("Ant", 1)]);
    assert_eq!(changed, []);
    assert_eq!(reported, ["OP614 25 the source has no kind `Bee` in the group `a.b`"]);
}

#[test]
fn items_of_lists_are_compared_and_not_replaced() {
    let list = |size| {
        json!({"apiVersion": "v1", "kind": "List", "items": [serde_json::to_value(crd("Ant", size)).unwrap()]})
            .to_string()
    };
    assert_eq!(updated(&[("crd.json", &list(1))], &["crd.json"], &[crd("Ant", 1)]), (vec![], vec![]));
    let (changed, reported) = updated(&[("crd.json", &list(1))], &["crd.json"], &[crd("Ant", 2)]);
    assert_eq!(changed, []);
    assert_eq!(
        reported,
        ["OP615 1 `Ant`: the CRD differs from the source, and opctl does not change the items of a list"]
    );
}

#[test]
fn paths_stay_in_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("a/b");
    fs::create_dir_all(&project).unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    let refused = |path: &str| refuse_outside(&Tree::at(&project), &[CrdPath::parse(path).unwrap()]).is_err();
    assert!(!refused("../../charts"));
    assert!(refused("../../../charts"));
}

#[test]
fn files_that_are_links_to_others_are_changed_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("chart")).unwrap();
    fs::create_dir_all(root.join("crds")).unwrap();
    fs::write(root.join("crds/ant.yaml"), rewritten_crd("Ant", 1, "")).unwrap();
    std::os::unix::fs::symlink("../crds/ant.yaml", root.join("chart/ant.yaml")).unwrap();
    let paths = ["crds", "chart"].map(|path| CrdPath::parse(path).unwrap());
    let mut plan = Plan::default();
    update(&mut plan, &Tree::at(root), &paths, &[crd("Ant", 2)], |_, _| false).unwrap();
    assert_eq!(plan.changes.keys().collect::<Vec<_>>(), ["crds/ant.yaml"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_different_crds_change(
        kept in btree_map(select(vec!["Ant", "Bee", "Cow"]), (1i64..3, select(vec!["", "# a\n", "\n# b\n\n"]), select(vec!["", "# c\n", "\n"])), 1..4),
        others in vec(select(vec!["kind: Other # d\nmetadata: {}\n", "# Nothing\n", "a: |\n  # e\n  ---\n"]), 0..2),
        sources in btree_map(select(vec!["Ant", "Bee", "Cow"]), 1i64..3, 0..4),
        is_template in any::<bool>(),
    ) {
        let [open, close] = if is_template { ["{{- if .Values.crds }}\n", "{{- end }}\n"] } else { [""; 2] };
        let file = |crd: &dyn Fn(&str, i64) -> String| {
            let crds = kept.iter().map(|(kind, (size, before, after))| format!("{open}{before}{}{after}{close}", crd(kind, *size)));
            crds.chain(others.iter().map(ToString::to_string)).collect::<Vec<_>>().join("---\n")
        };
        let text = file(&|kind, size| rewritten_crd(kind, size, ""));
        let expected = file(&|kind, size| match sources.get(kind) {
            Some(other) if *other != size => written(&crd(kind, *other)),
            _ => rewritten_crd(kind, size, ""),
        });
        let crds: Vec<_> = sources.iter().filter(|(kind, _)| kept.contains_key(*kind)).map(|(kind, size)| crd(kind, *size)).collect();
        let (changed, _) = updated(&[("c/Chart.yaml", ""), ("c/templates/crd.yaml", &text)], &["c/templates/crd.yaml"], &crds);
        let result = changed.into_iter().next().map_or(text, |(_, text)| text);
        prop_assert_eq!(&result, &expected);
        for (document, node) in File::parse(&Tree::empty(), "crd.yaml", result.replace("{{- if .Values.crds }}", "").replace("{{- end }}", "")).unwrap().documents {
            let Some(size) = node.text_at(&["spec", "names", "kind"]).and_then(|kind| sources.get(kind)) else { continue };
            let kind = node.text_at(&["spec", "names", "kind"]).unwrap();
            prop_assert!(drift::is_same(&serde_json::to_value(crd(kind, *size).spec).unwrap(), &document.value["spec"]));
        }
    }
}
