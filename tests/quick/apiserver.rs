//! Diagnostics about CRDs: for each rule of the API server, a kind that violates it and a similar one that does not.

use std::collections::BTreeSet;
use std::fmt::Write;

use opctl_model::diagnostic::render;
use opctl_schema::apiserver;
use opctl_source::emit;

use crate::crds::{cases, codes, read, with_header};

#[test]
fn each_rule_is_told_by_its_code_and_its_neighbour_is_not() {
    let mut wrong = String::new();
    for case in cases() {
        let findings = apiserver::check(&case.crd);
        let expected: BTreeSet<&str> = case.code.into_iter().collect();
        if codes(&findings) != expected {
            writeln!(wrong, "{}\n  expected {expected:?}, found {findings:?}", case.text).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Sources with a finding at each location after `/*^*/`.
const PLACES: &[&str] = &[
    "struct S { /*^*/x: u8 }",
    "#[serde(rename_all = \"camelCase\")] struct S { /*^*/one_two: Option<Box<u8>>, #[serde(rename = \"b\")] /*^*/a: u8, c: i32 }",
    "struct S { x: T } #[derive(JsonSchema)] struct T { /*^*/y: Vec<u8>, /*^*/z: BTreeMap<String, Option<u8>>, /*^*/w: [u8; 2] }",
    "struct S { x: Vec<T>, y: BTreeMap<String, Vec<U>> } #[derive(JsonSchema)] struct T { /*^*/y: u8 } #[derive(JsonSchema)] struct U { /*^*/y: u8 }",
    "struct S { #[serde(flatten)] x: T, #[serde(flatten)] u: U } #[derive(JsonSchema)] struct T { y: i32 } #[derive(JsonSchema)] struct U { /*^*/z: u8 }",
    "struct S { x: G<T> } #[derive(JsonSchema)] struct G<A> { inner: A } #[derive(JsonSchema)] struct T { /*^*/y: u8 }",
    "struct S { x: N, /*^*/y: M } #[derive(JsonSchema)] struct N(T); #[derive(JsonSchema)] struct T { /*^*/y: u8 } #[derive(JsonSchema)] struct M(u8);",
    "struct S { x: A } type A = Option<T>; #[derive(JsonSchema)] struct T { /*^*/y: u8 }",
    "struct S { #[schemars(with = \"T\")] x: String } #[derive(JsonSchema)] struct T { /*^*/y: u8 }",
    "struct S { x: T } #[derive(JsonSchema)] #[serde(from = \"U\")] struct T; #[derive(JsonSchema)] struct U { /*^*/y: u8 }",
    "struct S { x: E } #[derive(JsonSchema)] enum E { A { /*^*/y: u8 }, B(T), /*^*/C(u8) } #[derive(JsonSchema)] struct T { /*^*/z: u8 }",
    "struct S { x: E } #[derive(JsonSchema)] #[serde(tag = \"t\")] enum E { B(T) } #[derive(JsonSchema)] struct T { /*^*/z: u8 }",
    "struct S { x: E } #[derive(JsonSchema)] #[serde(untagged)] enum E { A { /*^*/y: u8 }, B(T) } #[derive(JsonSchema)] struct T { /*^*/z: u8 }",
    "struct S { x: E } #[derive(JsonSchema)] #[serde(tag = \"t\", content = \"c\")] enum E { A { /*^*/y: u8 } }",
    "mod inner { #[derive(schemars::JsonSchema)] pub struct T { pub /*^*/y: u8 } } use inner::T as U; struct Other { y: u8 } #[derive(CustomResource, KubeSchema)] #[kube(group = \"GROUP\", version = \"v1\", kind = \"K\")] struct S { x: U }",
    "#[kube(status = T)] struct S {} #[derive(JsonSchema)] struct T { x: Option<U> } #[derive(JsonSchema)] struct U { /*^*/y: u8 }",
    "#[kube(no_spec)] struct S { spec: T } #[derive(JsonSchema)] struct T { /*^*/y: u8 }",
    "#[kube(/*^*/shortname = \"A\", category = \"a\", /*^*/category = \"B\")] struct S {}",
    "#[kube(label(\"z\", \"z\"), /*^*/label(\"b\", \"-\"), label(\"a\", \"a\"))] struct S {}",
    "#[kube(group = \"GROUP\", version = \"v1\", kind = \"K\", /*^*/singular = \"ķ\", /*^*/plural = \"ķs\")] struct S {}",
    "#[kube(group = \"GROUP\", version = \"v1\", /*^*/kind = \"Ķ\")] struct S {}",
    "#[kube(schema = \"derived\")] struct S { time: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time, #[schemars(extend(\"format\" = \"x\"))] /*^*/other: String }",
];

#[test]
fn findings_stand_at_their_fields() {
    let mut wrong = String::new();
    for text in PLACES {
        let text = with_header(text, "places.example.com");
        let source = read(&text);
        let api = &source.operator.apis[0];
        let crds =
            emit::crds(&source.operator.apis).unwrap_or_else(|problems| panic!("{text}\n{}", render(&problems, false)));
        let findings = apiserver::check(&crds[0]);
        let found: BTreeSet<usize> =
            findings.iter().map(|finding| source.locate(&[(api, &finding.location)])[0].range.start).collect();
        let expected: BTreeSet<usize> = text.match_indices("/*^*/").map(|(at, mark)| at + mark.len()).collect();
        if found != expected {
            writeln!(wrong, "{text}\n  expected {expected:?}, found {found:?} {findings:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
