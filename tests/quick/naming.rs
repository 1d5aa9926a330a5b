//! Names that kinds of a group compete for, reported at the arguments that cause the conflict.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl_model::diagnostic::Severity;
use opctl_schema::apiserver::{self, Claim, NameConflict, Role};
use proptest::prelude::*;

use crate::crds::crd_of;
use crate::naming_cases::{CASES, Case};

#[test]
fn each_name_that_is_taken_is_reported_at_its_argument() {
    for case in CASES {
        let source = case.source("names.example.com");
        let crds = Case::crds(&source);
        let findings = apiserver::check_together(&crds);
        let found: Vec<String> = findings
            .iter()
            .map(|(index, finding)| {
                let kind = &crds[*index].spec.names.kind;
                let api = source.operator.apis.iter().find(|api| api.kind == *kind).unwrap();
                let span = source.locate(&[(api, &finding.location)]).remove(0);
                format!("{} {}", finding.code, &span.file.text[span.range.clone()])
            })
            .collect();
        assert_eq!(found, case.found, "{:?}: {findings:?}", case.kinds);
        let mut claims: Vec<Claim> = crds.iter().map(Claim::new).collect();
        assert_eq!(reasons(&crds, &apiserver::settle(&mut claims)), case.refused, "{:?}", case.kinds);
    }
}

/// The kinds that are not accepted, with the reason in the API server's condition.
fn reasons(crds: &[CustomResourceDefinition], conflicts: &[Vec<NameConflict>]) -> Vec<String> {
    let refused = crds.iter().zip(conflicts).filter_map(|(crd, conflicts)| Some((crd, conflicts.last()?)));
    let reason = |(crd, conflict): (&CustomResourceDefinition, &NameConflict)| {
        let role = match conflict.role {
            Role::ShortName(_) => "ShortNames",
            Role::Singular => "Singular",
            Role::Plural => "Plural",
            Role::Kind => "Kind",
            Role::ListKind => "ListKind",
        };
        format!("{} {role}Conflict", crd.spec.names.kind)
    };
    refused.map(reason).collect()
}

#[test]
fn names_in_different_groups_do_not_compete() {
    let price = |group: &str| {
        crd_of(&format!("#[kube(group = \"{group}\", version = \"v1\", kind = \"Price\")] struct S {{}}"), "")
    };
    assert_eq!(apiserver::check_together(&[price("a.example.com"), price("b.example.com")]), []);
}

#[test]
fn a_name_that_moves_between_kinds_is_accepted_and_a_swap_is_not() {
    let crd = |kind: &str, short: &str| {
        crd_of(
            &format!(
                "#[kube(group = \"a.example.com\", version = \"v1\", kind = \"{kind}\", shortname = \"{short}\")] struct S {{}}"
            ),
            "",
        )
    };
    let refused = |old: &[[&str; 2]], new: &[[&str; 2]]| -> Vec<(usize, String)> {
        let crds = |names: &[[&str; 2]]| names.iter().map(|[kind, short]| crd(kind, short)).collect::<Vec<_>>();
        apiserver::refused_names(&crds(old), &crds(new)).into_iter().map(|(index, it)| (index, it.name)).collect()
    };
    assert_eq!(refused(&[["A", "x"], ["B", "y"]], &[["A", "z"], ["B", "x"]]), []);
    let swapped = [(0, "y".to_owned()), (1, "x".to_owned())];
    assert_eq!(refused(&[["A", "x"], ["B", "y"]], &[["A", "y"], ["B", "x"]]), swapped);
    // The name of the kind itself is only accepted if the CRD is new, or had it before.
    assert_eq!(refused(&[["A", "x"]], &[["A", "a"]]), [(0, "a".to_owned())]);
    assert_eq!(refused(&[], &[["A", "a"]]), []);
    assert_eq!(refused(&[["A", "a"]], &[["A", "a"]]), []);
}

proptest! {
    /// `settle` follows the API server's steps, and is compared with a real one in `tests/cluster/naming.rs`.
    #[test]
    fn the_findings_are_errors_exactly_if_a_new_cluster_refuses_names(
        names in prop::collection::vec((0..4_usize, 0..6_usize, prop::collection::vec(0..6_usize, 0..3)), 1..5),
    ) {
        let words = ["a", "b", "c", "d", "e", "f"];
        let kinds = ["A", "B", "AList", "AListList"];
        let base = crd_of("struct S {}", "names.example.com");
        let crds: Vec<_> = names.iter().enumerate().map(|(index, (kind, singular, short))| {
            let mut crd = base.clone();
            crd.spec.names.plural = if index < 2 { words[index].into() } else { format!("{index}s") };
            crd.spec.names.kind = kinds[*kind].into();
            crd.spec.names.list_kind = None;
            crd.spec.names.singular = Some(words[*singular].into());
            crd.spec.names.short_names = Some(short.iter().map(|short| words[*short].to_owned()).collect());
            crd
        }).collect();
        let mut claims: Vec<Claim> = crds.iter().map(Claim::new).collect();
        let is_refused = apiserver::settle(&mut claims).iter().any(|conflicts| !conflicts.is_empty());
        let findings = apiserver::check_together(&crds);
        prop_assert_eq!(findings.iter().any(|(_, finding)| finding.severity == Severity::Error), is_refused);
    }
}
