//! CRDs of kinds that each violate a rule of the API server, and of similar kinds that do not.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use opctl_model::diagnostic::{Diagnostic, render};
use opctl_model::project::Tree;
use opctl_schema::apiserver::Finding;
use opctl_source::emit;
use opctl_source::{self as source, Source};
use serde_json::{Value, json};

pub const MANIFEST: &str = r#"[package]
name = "cases"
version = "0.0.0"
edition = "2024"

[dependencies]
arrayvec = "0.7"
bytes = "1"
chrono = "0.4"
either = "1"
indexmap = "2"
jiff = "0.2"
k8s-openapi = { version = "*", features = ["latest", "schemars"] }
kube = { version = "*", features = ["derive"] }
schemars = "*"
semver = "1"
serde = "1"
serde_json = "1"
smallvec = "1"
smol_str = "0.3"
url = "2"
uuid = "1"

[features]
default = ["on"]
on = []
"#;

const PRELUDE: &str = "use std::collections::BTreeMap;\nuse std::collections::BTreeSet;\nuse kube::{CustomResource, KubeSchema, ListMerge, MapMerge};\n\
    use schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n";
const KUBE: &str = "#[kube(group = \"GROUP\", version = \"v1\", kind = \"K\")]\n";
const DERIVE: &str = "#[derive(CustomResource, KubeSchema, Serialize, Deserialize)]\n";

/// A code, source that violates its rule, and similar source that does not. `GROUP` is a group of the case. Without a
/// kind, a case is preceded by `#[kube(group = "GROUP", version = "v1", kind = "K")]`.
const CASES: &[(&str, &str, &str)] = &[
    ("OP301", r#"#[kube(shortname = "Bad_Name")] struct S {}"#, r#"#[kube(shortname = "good-name")] struct S {}"#),
    ("OP301", r#"#[kube(category = "1st")] struct S {}"#, r#"#[kube(category = "first")] struct S {}"#),
    ("OP301", r#"#[kube(plural = "Ks")] struct S {}"#, r#"#[kube(plural = "ks-of-it")] struct S {}"#),
    ("OP301", r#"#[kube(singular = "k.k")] struct S {}"#, r#"#[kube(singular = "kk")] struct S {}"#),
    (
        "OP301",
        r#"#[kube(group = "GROUP", version = "1", kind = "K")] struct S {}"#,
        r#"#[kube(group = "GROUP", version = "v1", kind = "K")] struct S {}"#,
    ),
    (
        "OP301",
        r#"#[kube(group = "GROUP", version = "v1", kind = "Kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk")] struct S {}"#,
        r#"#[kube(group = "GROUP", version = "v1", kind = "Kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk")] struct S {}"#,
    ),
    (
        "OP302",
        r#"#[kube(group = "example", version = "v1", kind = "K")] struct S {}"#,
        r#"#[kube(group = "GROUP.example", version = "v1", kind = "K")] struct S {}"#,
    ),
    (
        "OP302",
        r#"#[kube(group = "Example.com", version = "v1", kind = "K")] struct S {}"#,
        r#"#[kube(group = "3xample.GROUP", version = "v1", kind = "K")] struct S {}"#,
    ),
    (
        "OP303",
        r#"#[kube(group = "cases.x-k8s.io.k8s.io", version = "v1", kind = "K")] struct S {}"#,
        r#"#[kube(group = "right.k8s.io", version = "v1", kind = "K", annotation("api-approved.kubernetes.io", "unapproved, a trial"))] struct S {}"#,
    ),
    (
        "OP303",
        r#"#[kube(group = "wrong.kubernetes.io", version = "v1", kind = "K", annotation("api-approved.kubernetes.io", "yes"))] struct S {}"#,
        r#"#[kube(group = "right.kubernetes.io", version = "v1", kind = "K", annotation("api-approved.kubernetes.io", "https://github.com/x/1"))] struct S {}"#,
    ),
    ("OP305", r#"#[kube(deprecated = "")] struct S {}"#, r#"#[kube(deprecated = "use v2, é")] struct S {}"#),
    ("OP305", r#"#[kube(deprecated = "a\nb")] struct S {}"#, "#[kube(deprecated)] struct S {}"),
    ("OP306", r#"#[kube(schema = "disabled")] struct S {}"#, r#"#[kube(schema = "derived")] struct S {}"#),
    ("OP307", r#"#[kube(label("a b", "c"))] struct S {}"#, r#"#[kube(label("example.com/A_b", ""))] struct S {}"#),
    ("OP307", r#"#[kube(label("a", "-c"))] struct S {}"#, r#"#[kube(label("a", "c-.c"))] struct S {}"#),
    (
        "OP307",
        r#"#[kube(annotation("a/b/c", "c"))] struct S {}"#,
        r#"#[kube(annotation("Example.com/b", "c\nd"))] struct S {}"#,
    ),
    (
        "OP308",
        r#"#[kube(printcolumn(name = "X", type_ = "int", json_path = ".spec.x"))] struct S { x: i32 }"#,
        r#"#[kube(printcolumn(name = "X", type_ = "integer", json_path = ".spec.x"))] struct S { x: i32 }"#,
    ),
    (
        "OP308",
        r#"#[kube(printcolumn(name = "X", type_ = "integer", json_path = "spec.x"))] struct S { x: i32 }"#,
        r#"#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))] struct S { x: i32 }"#,
    ),
    (
        "OP308",
        r#"#[kube(printcolumn(name = "X", type_ = "integer", format = "uint8", json_path = ".spec.x"))] struct S { x: i32 }"#,
        r#"#[kube(printcolumn(name = "X", type_ = "integer", format = "int32", json_path = ".spec.x"))] struct S { x: i32 }"#,
    ),
    (
        "OP308",
        r#"#[kube(printcolumn(name = "", type_ = "integer", json_path = ".spec.x"))] struct S { x: i32 }"#,
        r#"#[kube(printcolumn(name = " ", type_ = "integer", json_path = ".spec.x"))] struct S { x: i32 }"#,
    ),
    (
        "OP309",
        r#"#[kube(status = T, scale(spec_replicas_path = ".metadata.x", status_replicas_path = ".status.x"))] struct S { x: i32 } #[derive(JsonSchema)] struct T { x: i32 }"#,
        r#"#[kube(status = T, scale(spec_replicas_path = ".spec.x", status_replicas_path = ".status.x"))] struct S { x: i32 } #[derive(JsonSchema)] struct T { x: i32 }"#,
    ),
    (
        "OP309",
        r#"#[kube(status = T, scale(spec_replicas_path = ".spec.x", status_replicas_path = "status.x"))] struct S { x: i32 } #[derive(JsonSchema)] struct T { x: i32 }"#,
        r#"#[kube(status = T, scale(spec_replicas_path = ".spec.x", status_replicas_path = ".status.x", label_selector_path = ".spec.l"))] struct S { x: i32, l: String } #[derive(JsonSchema)] struct T { x: i32 }"#,
    ),
    (
        "OP309",
        r#"#[kube(status = T, scale(spec_replicas_path = ".spec.x", status_replicas_path = ".status.x", label_selector_path = ".l"))] struct S { x: i32 } #[derive(JsonSchema)] struct T { x: i32 }"#,
        r#"#[kube(status = T, scale(spec_replicas_path = ".spec.x", status_replicas_path = ".status.x", label_selector_path = ""))] struct S { x: i32 } #[derive(JsonSchema)] struct T { x: i32 }"#,
    ),
    (
        "OP310",
        r#"#[kube(selectable = ".spec.y")] struct S { x: i32 }"#,
        r#"#[kube(selectable = ".spec.x")] struct S { x: i32 }"#,
    ),
    (
        "OP310",
        r#"#[kube(selectable = "spec.x")] struct S { x: i32 }"#,
        r#"#[kube(selectable = ".spec.x")] struct S { x: Option<bool> }"#,
    ),
    (
        "OP310",
        r#"#[kube(selectable = ".spec.x")] struct S { x: f64 }"#,
        r#"#[kube(selectable = ".spec.x.y")] struct S { x: BTreeMap<String, String> }"#,
    ),
    (
        "OP310",
        r#"#[kube(selectable = ".spec.x[0]")] struct S { x: Vec<String> }"#,
        r#"#[kube(selectable = ".spec.x")] struct S { x: E } #[derive(JsonSchema)] enum E { A }"#,
    ),
    ("OP310", r#"#[kube(selectable = ".metadata.name")] struct S {}"#, "struct S {}"),
    (
        "OP310",
        r#"#[kube(selectable = ".spec.x", selectable = ".spec.x")] struct S { x: String }"#,
        r#"#[kube(selectable = ".spec.x", selectable = ".spec.y")] struct S { x: String, y: String }"#,
    ),
    (
        "OP310",
        r#"#[kube(selectable = ".spec.x.a", selectable = ".spec.x.b", selectable = ".spec.x.c", selectable = ".spec.x.d", selectable = ".spec.x.e", selectable = ".spec.x.f", selectable = ".spec.x.g", selectable = ".spec.x.h", selectable = ".spec.x.i")] struct S { x: BTreeMap<String, String> }"#,
        r#"#[kube(selectable = ".spec.x.a", selectable = ".spec.x.b", selectable = ".spec.x.c", selectable = ".spec.x.d", selectable = ".spec.x.e", selectable = ".spec.x.f", selectable = ".spec.x.g", selectable = ".spec.x.h")] struct S { x: BTreeMap<String, String> }"#,
    ),
    (
        "OP311",
        r#"#[kube(printcolumn(name = "X", type_ = "integer", json_path = ".spec.xs"))] struct S { x: i32 }"#,
        r#"#[kube(printcolumn(name = "X", type_ = "integer", json_path = ".spec.x[?(@.y=='z')].w"))] struct S { x: Vec<BTreeMap<String, String>> }"#,
    ),
    (
        "OP311",
        r#"#[kube(printcolumn(name = "X", type_ = "string", json_path = ".status.x"))] struct S { x: i32 }"#,
        r#"#[kube(status = T, printcolumn(name = "X", type_ = "string", json_path = ".status.c[0].t"))] struct S {} #[derive(JsonSchema)] struct T { c: Vec<U> } #[derive(JsonSchema)] struct U { t: String }"#,
    ),
    (
        "OP311",
        r#"#[kube(status = T, scale(spec_replicas_path = ".spec.y", status_replicas_path = ".status.x"))] struct S { x: i32 } #[derive(JsonSchema)] struct T { x: i32 }"#,
        r#"#[kube(status = T, scale(spec_replicas_path = ".spec.y.z", status_replicas_path = ".status.x"))] struct S { y: BTreeMap<String, i32> } #[derive(JsonSchema)] struct T { x: i32 }"#,
    ),
    (
        "OP352",
        r#"struct S { #[schemars(extend("x-kubernetes-validations" = [{"rule": "self.y != ''"}, {"rule": "self.y != ''"}]))] x: T } #[derive(JsonSchema)] struct T { y: String }"#,
        r#"#[x_kube(validation = "self.x.y != ''")] struct S { x: T } #[derive(KubeSchema)] #[x_kube(validation = "self.y != ''")] struct T { y: String }"#,
    ),
    (
        "OP353",
        r#"struct S { x: E } #[derive(JsonSchema)] enum E { #[serde(rename = "a")] A, #[serde(rename = "a")] B }"#,
        r#"struct S { x: Option<E> } #[derive(JsonSchema)] enum E { #[serde(rename = "a")] A, B }"#,
    ),
    (
        "OP313",
        "struct S { x: serde_json::Value }",
        r#"struct S { #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))] x: serde_json::Value }"#,
    ),
    ("OP313", "struct S { x: Vec<serde_json::Value> }", "struct S { x: Vec<String> }"),
    (
        "OP313",
        r#"struct S { #[schemars(with = "serde_json::Value", extend("anyOf" = [{"type": "integer"}, {"type": "string"}]))] x: String }"#,
        r#"struct S { #[schemars(with = "serde_json::Value", extend("anyOf" = [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string" = true))] x: String }"#,
    ),
    (
        "OP314",
        r#"struct S { #[schemars(extend("type" = "array"))] x: serde_json::Value }"#,
        r#"struct S { #[schemars(extend("type" = "array", "items" = {"type": "string"}))] x: serde_json::Value }"#,
    ),
    (
        "OP314",
        r#"struct S { #[schemars(extend("type" = "array", "items" = [{"type": "string"}]))] x: serde_json::Value }"#,
        "struct S { x: [String; 2] }",
    ),
    ("OP315", r#"struct S { #[schemars(extend("$ref" = "a"))] x: String }"#, "struct S { x: String }"),
    (
        "OP315",
        r#"struct S { #[schemars(extend("id" = "a"))] x: String }"#,
        r#"struct S { #[schemars(extend("id" = ""))] x: String }"#,
    ),
    (
        "OP315",
        r#"struct S { #[schemars(extend("definitions" = {"a": {"type": "string"}}))] x: String }"#,
        "struct S { x: String }",
    ),
    (
        "OP315",
        r#"struct S { #[schemars(extend("dependencies" = {"a": ["b"]}))] x: BTreeMap<String, String> }"#,
        "struct S { x: BTreeMap<String, String> }",
    ),
    (
        "OP315",
        r#"struct S { #[schemars(extend("patternProperties" = {"a": {"type": "string"}}))] x: BTreeMap<String, String> }"#,
        "struct S { x: BTreeMap<String, Vec<String>> }",
    ),
    (
        "OP315",
        r#"struct S { #[schemars(extend("additionalItems" = true))] x: Vec<String> }"#,
        "struct S { x: Vec<String> }",
    ),
    ("OP313", "struct S { x: () }", "struct S { x: Unit } #[derive(JsonSchema)] struct Unit {}"),
    ("OP315", r#"struct S { #[schemars(extend("type" = "text"))] x: String }"#, "struct S { x: String }"),
    (
        "OP315",
        r#"struct S { #[schemars(extend("x-kubernetes-preserve-unknown-fields" = false))] x: T } #[derive(JsonSchema)] struct T {}"#,
        r#"struct S { #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))] x: T } #[derive(JsonSchema)] struct T {}"#,
    ),
    (
        "OP316",
        r#"struct S { x: T } #[derive(JsonSchema)] #[schemars(extend("additionalProperties" = {"type": "string"}))] struct T { y: String }"#,
        r#"struct S { x: T } #[derive(JsonSchema)] #[schemars(extend("additionalProperties" = true))] struct T { y: String }"#,
    ),
    (
        "OP319",
        r#"#[kube(no_spec)] struct S { #[serde(flatten)] x: BTreeMap<String, String> }"#,
        "struct S { x: BTreeMap<String, String> }",
    ),
    (
        "OP319",
        r#"#[kube(attr = "cfg_attr(all(), schemars(extend(\"nullable\" = true)))")] struct S {}"#,
        r#"#[kube(attr = "cfg_attr(all(), schemars(extend(\"nullable\" = false)))")] struct S {}"#,
    ),
    (
        "OP319",
        r#"#[kube(attr = "cfg_attr(all(), schemars(extend(\"type\" = \"string\")))")] struct S {}"#,
        r#"#[kube(attr = "cfg_attr(all(), schemars(extend(\"type\" = \"object\")))")] struct S {}"#,
    ),
    (
        "OP319",
        r#"#[kube(status = T, attr = "cfg_attr(all(), schemars(extend(\"minProperties\" = 1)))")] struct S {} #[derive(JsonSchema)] struct T {}"#,
        r#"#[kube(attr = "cfg_attr(all(), schemars(extend(\"minProperties\" = 1)))")] struct S {}"#,
    ),
    (
        "OP319",
        r#"#[kube(status = T, attr = "cfg_attr(all(), schemars(extend(\"anyOf\" = [{\"required\": [\"spec\"]}])))")] struct S {} #[derive(JsonSchema)] struct T {}"#,
        r#"#[kube(status = T, attr = "cfg_attr(all(), schemars(extend(\"required\" = [\"spec\"])))")] struct S {} #[derive(JsonSchema)] struct T {}"#,
    ),
    (
        "OP320",
        r#"#[kube(no_spec)] struct S { #[serde(rename = "metadata")] x: BTreeMap<String, String> }"#,
        "struct S { metadata: BTreeMap<String, String> }",
    ),
    (
        "OP320",
        r#"#[kube(no_spec)] struct S { #[serde(rename = "kind")] x: i32 }"#,
        r#"#[kube(no_spec)] struct S { #[serde(rename = "kind")] x: String }"#,
    ),
    (
        "OP320",
        r#"struct S { #[schemars(extend("x-kubernetes-embedded-resource" = true))] x: T } #[derive(JsonSchema)] struct T { kind: bool }"#,
        r#"struct S { #[schemars(extend("x-kubernetes-embedded-resource" = true))] x: T } #[derive(JsonSchema)] struct T { kind: String, metadata: BTreeMap<String, String> }"#,
    ),
    (
        "OP321",
        r#"struct S { #[schemars(extend("x-kubernetes-embedded-resource" = true))] x: String }"#,
        r#"struct S { #[schemars(extend("x-kubernetes-embedded-resource" = true, "x-kubernetes-preserve-unknown-fields" = true))] x: T } #[derive(JsonSchema)] struct T {}"#,
    ),
    (
        "OP321",
        r#"struct S { #[schemars(extend("x-kubernetes-embedded-resource" = true))] x: T } #[derive(JsonSchema)] struct T {}"#,
        r#"struct S { #[schemars(extend("x-kubernetes-embedded-resource" = true))] x: T } #[derive(JsonSchema)] struct T { y: String }"#,
    ),
    (
        "OP321",
        r#"struct S { #[schemars(with = "serde_json::Value", extend("x-kubernetes-int-or-string" = true, "x-kubernetes-preserve-unknown-fields" = true))] x: String }"#,
        r#"struct S { #[schemars(with = "serde_json::Value", extend("x-kubernetes-int-or-string" = true))] x: String }"#,
    ),
    (
        "OP322",
        r#"struct S { #[schemars(regex(pattern = "^(?!a)"))] x: String }"#,
        r#"struct S { #[schemars(regex(pattern = "^(?i)[a-z&&b[]{2,}{$"))] x: String }"#,
    ),
    (
        "OP322",
        r#"struct S { #[schemars(regex(pattern = "a{2,1}"))] x: String }"#,
        r#"struct S { #[schemars(regex(pattern = "^\\Qa.b\\E\\pL+{,2}$"))] x: String }"#,
    ),
    (
        "OP322",
        r#"struct S { #[schemars(regex(pattern = "a{1001}"))] x: String }"#,
        r#"struct S { #[schemars(regex(pattern = "a{1000}"))] x: String }"#,
    ),
    (
        "OP322",
        r#"struct S { #[schemars(regex(pattern = "(a)\\1"))] x: String }"#,
        r#"struct S { #[schemars(regex(pattern = "^[^]a-]+[[:^digit:]]?$"))] x: String }"#,
    ),
    (
        "OP323",
        r#"struct S { #[schemars(extend("x-kubernetes-list-type" = "set"))] x: String }"#,
        r#"struct S { #[schemars(extend("x-kubernetes-list-type" = "set"))] x: Vec<String> }"#,
    ),
    (
        "OP323",
        r#"struct S { #[schemars(extend("x-kubernetes-list-type" = "bag"))] x: Vec<String> }"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Atomic)] x: Vec<String> }"#,
    ),
    (
        "OP323",
        r#"struct S { #[schemars(extend("x-kubernetes-list-map-keys" = ["y"]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: String }"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["y".into()]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: String }"#,
    ),
    (
        "OP323",
        r#"struct S { #[schemars(extend("x-kubernetes-list-map-keys" = ["y"], "x-kubernetes-list-type" = "set"))] x: Vec<String> }"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Set)] x: Vec<i64> }"#,
    ),
    (
        "OP323",
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["z".into()]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: String }"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["y".into(), "z".into()]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: String, z: i32 }"#,
    ),
    (
        "OP323",
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["y".into(), "y".into()]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: String }"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["y".into()]))] x: Vec<T> } #[derive(JsonSchema)] struct T { #[serde(default = "d")] y: String } fn d() -> String { "d".into() }"#,
    ),
    (
        "OP323",
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["y".into()]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: Option<String> }"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["y".into()]))] x: Option<Vec<T>> } #[derive(JsonSchema)] struct T { y: bool }"#,
    ),
    (
        "OP323",
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["y".into()]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: Vec<String> }"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["y".into()]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: E } #[derive(JsonSchema)] enum E { A }"#,
    ),
    (
        "OP323",
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Map(vec!["y".into()]))] x: Vec<String> }"#,
        "struct S { x: Vec<String> }",
    ),
    (
        "OP323",
        r#"struct S { #[schemars(extend("x-kubernetes-list-type" = "map"))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: String }"#,
        r#"struct S { #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["y"]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: String }"#,
    ),
    (
        "OP323",
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Set)] x: Vec<T> } #[derive(JsonSchema)] struct T { y: String }"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Set)] x: Vec<T> } #[derive(JsonSchema)] #[schemars(extend("x-kubernetes-map-type" = "atomic"))] struct T { y: String }"#,
    ),
    (
        "OP323",
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Set)] x: Vec<Option<String>> }"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Atomic)] x: Vec<Option<String>> }"#,
    ),
    (
        "OP323",
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Set)] x: Vec<T> } #[derive(JsonSchema)] #[schemars(extend("x-kubernetes-list-type" = "set"))] struct T(Vec<String>);"#,
        r#"struct S { #[x_kube(merge_strategy = ListMerge::Set)] x: Vec<Vec<String>> }"#,
    ),
    (
        "OP324",
        r#"struct S { #[schemars(extend("x-kubernetes-map-type" = "atomic"))] x: String }"#,
        r#"struct S { #[x_kube(merge_strategy = MapMerge::Atomic)] x: BTreeMap<String, String> }"#,
    ),
    (
        "OP324",
        r#"struct S { #[schemars(extend("x-kubernetes-map-type" = "bag"))] x: BTreeMap<String, String> }"#,
        r#"struct S { #[x_kube(merge_strategy = MapMerge::Granular)] x: BTreeMap<String, String> }"#,
    ),
    (
        "OP326",
        r#"struct S { #[x_kube(validation = "self != 'abc'")] #[schemars(length(max = 9), extend("default" = "abc"))] x: String }"#,
        r#"struct S { #[x_kube(validation = "self != 'abc'")] #[schemars(length(max = 9), extend("default" = "abd"))] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[x_kube(validation = "self > oldSelf")] #[schemars(extend("default" = 1))] x: i32 }"#,
        r#"struct S { #[x_kube(validation = "self >= oldSelf")] #[schemars(extend("default" = 1))] x: i32 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[x_kube(validation = "1 / self == 1")] #[schemars(extend("default" = 0))] x: i32 }"#,
        r#"struct S { #[x_kube(validation = "1 / self == 1")] #[schemars(extend("default" = 1))] x: i32 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("default" = {"y": 1}))] x: T } #[derive(JsonSchema)] struct T { #[schemars(extend("x-kubernetes-validations" = [{"rule": "self > 1"}]))] y: i32 }"#,
        r#"struct S { #[schemars(extend("default" = {"y": 2}))] x: T } #[derive(JsonSchema)] struct T { #[schemars(extend("x-kubernetes-validations" = [{"rule": "self > 1"}]))] y: i32 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("default" = 1))] x: String }"#,
        r#"struct S { #[schemars(extend("default" = "1"))] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(range(min = 1))] #[serde(default)] x: i32 }"#,
        r#"struct S { #[schemars(range(min = 0, max = 2))] #[serde(default)] x: i32 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("default" = 1.5))] x: i32 }"#,
        r#"struct S { #[schemars(extend("default" = 1.0))] x: i32 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("default" = 3000000000_i64))] x: i32 }"#,
        r#"struct S { #[schemars(extend("default" = 3000000000_i64))] x: i64 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(range(max = 3000000000_i64))] #[serde(default)] x: i32 }"#,
        r#"struct S { #[schemars(range(max = 3000000000_i64))] x: i32 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("minimum" = 0.5, "default" = 1))] x: i32 }"#,
        r#"struct S { #[schemars(extend("minimum" = 0.5, "default" = 1))] x: f64 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("multipleOf" = 4, "default" = 6))] x: i32 }"#,
        r#"struct S { #[schemars(extend("multipleOf" = 3, "default" = 6))] x: i32 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("minimum" = 1, "exclusiveMinimum" = true, "default" = 1))] x: i32 }"#,
        r#"struct S { #[schemars(extend("minimum" = 1, "exclusiveMinimum" = true, "default" = 2))] x: i32 }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(regex(pattern = "^a$"))] #[serde(default)] x: String }"#,
        r#"struct S { #[schemars(regex(pattern = "^a*$"))] #[serde(default)] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(length(min = 1))] #[serde(default)] x: String }"#,
        r#"struct S { #[schemars(length(max = 1), extend("default" = "é"))] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(length(min = 1))] #[serde(default)] x: Vec<String> }"#,
        r#"struct S { #[schemars(length(min = 0))] #[serde(default)] x: Vec<String> }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("default" = "B"))] x: E } #[derive(JsonSchema)] enum E { A }"#,
        r#"struct S { #[schemars(extend("default" = "A"))] x: E } #[derive(JsonSchema)] enum E { A }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("default" = {}))] x: T } #[derive(JsonSchema)] struct T { y: String }"#,
        r#"struct S { #[schemars(extend("default" = {"y": ""}))] x: T } #[derive(JsonSchema)] struct T { y: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("default" = {"y": null}))] x: T } #[derive(JsonSchema)] struct T { y: String }"#,
        r#"struct S { #[schemars(extend("default" = {"y": null}))] x: T } #[derive(JsonSchema)] struct T { y: Option<String> }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("default" = {"a": 1}))] x: BTreeMap<String, String> }"#,
        r#"struct S { #[schemars(extend("default" = {"a": "1"}))] x: BTreeMap<String, String> }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("format" = "ipv4", "default" = "1.2.3"))] x: String }"#,
        r#"struct S { #[schemars(extend("format" = "ipv4", "default" = "1.2.3.4"))] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("format" = "ipv6", "default" = "1.2.3.4"))] x: String }"#,
        r#"struct S { #[schemars(extend("format" = "ipv6", "default" = "::1"))] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("format" = "cidr", "default" = "1.2.3.4"))] x: String }"#,
        r#"struct S { #[schemars(extend("format" = "cidr", "default" = "1.2.3.4/8"))] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("format" = "uuid", "default" = "x"))] x: String }"#,
        r#"struct S { #[schemars(extend("format" = "uuid", "default" = "00000000-0000-0000-0000-000000000000"))] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("format" = "date", "default" = "2020-13-01"))] x: String }"#,
        r#"struct S { #[schemars(extend("format" = "date", "default" = "2020-12-01"))] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("format" = "date-time", "default" = "now"))] x: String }"#,
        r#"struct S { #[schemars(extend("format" = "date-time", "default" = "2020-12-01T00:00:00Z"))] x: String }"#,
    ),
    (
        "OP326",
        r#"struct S { #[schemars(extend("format" = "duration", "default" = "soon"))] x: String }"#,
        r#"struct S { #[schemars(extend("format" = "duration", "default" = "1h30m"))] x: String }"#,
    ),
    (
        "OP327",
        r#"struct S { #[schemars(extend("default" = {"y": "", "z": 1}))] x: T } #[derive(JsonSchema)] struct T { y: String }"#,
        r#"struct S { #[schemars(extend("default" = {"y": "", "z": 1}))] x: T } #[derive(JsonSchema)] #[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))] struct T { y: String }"#,
    ),
    (
        "OP327",
        r#"struct S { #[schemars(extend("default" = [{"y": ""}, {"z": 1}]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: Option<String> }"#,
        r#"struct S { #[schemars(extend("default" = [{"y": ""}, {}]))] x: Vec<T> } #[derive(JsonSchema)] struct T { y: Option<String> }"#,
    ),
    (
        "OP328",
        r#"#[kube(no_spec)] struct S { #[serde(rename = "kind", default)] x: String }"#,
        "#[kube(no_spec)] struct S { #[serde(default)] sort: String }",
    ),
    (
        "OP328",
        r#"struct S { #[schemars(extend("x-kubernetes-embedded-resource" = true))] x: T } #[derive(JsonSchema)] struct T { metadata: BTreeMap<String, U> } #[derive(JsonSchema)] struct U { #[serde(default)] y: String }"#,
        r#"struct S { #[schemars(extend("x-kubernetes-embedded-resource" = true))] x: T } #[derive(JsonSchema)] struct T { z: BTreeMap<String, U> } #[derive(JsonSchema)] struct U { #[serde(default)] y: String }"#,
    ),
    ("OP329", "struct S { x: u8 }", r#"struct S { #[schemars(extend("format" = "int32"))] x: u8 }"#),
    ("OP329", "struct S { x: u16 }", r#"struct S { #[schemars(extend("format" = "int32"))] x: Option<u16> }"#),
    (
        "OP329",
        "struct S { x: Vec<u32> }",
        r#"struct S { #[schemars(range(max = 4294967295_u32), extend("format" = "int64"))] x: u32 }"#,
    ),
    ("OP329", "struct S { x: u64 }", r#"struct S { #[schemars(extend("format" = "int64"))] x: u64 }"#),
    ("OP329", "struct S { x: usize }", "struct S { x: i32, y: i64 }"),
    ("OP329", "struct S { x: i8 }", r#"struct S { #[schemars(extend("format" = "int32"))] x: i8 }"#),
    (
        "OP329",
        "struct S { x: std::net::IpAddr }",
        r#"struct S { x: std::net::Ipv4Addr, y: std::net::Ipv6Addr, #[schemars(extend("format" = null))] z: std::net::IpAddr }"#,
    ),
    (
        "OP329",
        r#"struct S { #[schemars(extend("format" = "regex"))] x: String }"#,
        r#"struct S { #[schemars(extend("format" = "k8s-short-name"))] x: String }"#,
    ),
    ("OP329", r#"struct S { #[schemars(extend("format" = "int32"))] x: String }"#, "struct S { x: f32, y: f64 }"),
];

/// The same for schemas that kube cannot express in Rust.
const SCHEMAS: &[(&str, &str, &str)] = &[
    (
        "OP315",
        r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": true}"#,
        r#"{"type": "array", "items": {"type": "string"}, "uniqueItems": false}"#,
    ),
    ("OP315", r#"{"type": "null"}"#, r#"{"type": "string", "nullable": true}"#),
    (
        "OP317",
        r#"{"type": "string", "anyOf": [{"description": "a"}]}"#,
        r#"{"type": "string", "anyOf": [{"pattern": "a"}]}"#,
    ),
    (
        "OP317",
        r#"{"type": "string", "allOf": [{"default": "a"}]}"#,
        r#"{"type": "string", "allOf": [{"minLength": 1}]}"#,
    ),
    ("OP317", r#"{"type": "string", "not": {"type": "string"}}"#, r#"{"type": "string", "not": {"enum": ["a"]}}"#),
    (
        "OP317",
        r#"{"type": "string", "oneOf": [{"nullable": true}]}"#,
        r#"{"type": "string", "oneOf": [{"nullable": false}]}"#,
    ),
    (
        "OP317",
        r#"{"type": "object", "allOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]}"#,
        r#"{"type": "object", "allOf": [{"required": []}]}"#,
    ),
    (
        "OP317",
        r#"{"type": "object", "allOf": [{"additionalProperties": true}]}"#,
        r#"{"type": "object", "allOf": [{"additionalProperties": false}]}"#,
    ),
    (
        "OP317",
        r#"{"type": "object", "properties": {"metadata": {"type": "object"}}, "anyOf": [{"properties": {"metadata": {}}}]}"#,
        r#"{"type": "object", "properties": {"metadata": {"type": "object"}}, "anyOf": [{"required": ["metadata"]}]}"#,
    ),
    (
        "OP317",
        r#"{"x-kubernetes-int-or-string": true, "anyOf": [{"type": "string"}, {"type": "integer"}]}"#,
        r#"{"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]}"#,
    ),
    (
        "OP317",
        r#"{"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": [{"type": "integer"}]}]}"#,
        r#"{"x-kubernetes-int-or-string": true, "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"pattern": "a"}]}"#,
    ),
    (
        "OP318",
        r#"{"type": "object", "properties": {"y": {"type": "string"}}, "anyOf": [{"properties": {"z": {}}}]}"#,
        r#"{"type": "object", "properties": {"y": {"type": "string"}}, "anyOf": [{"properties": {"y": {"minLength": 1}}}]}"#,
    ),
    (
        "OP318",
        r#"{"type": "string", "not": {"items": {}}}"#,
        r#"{"type": "array", "items": {"type": "string"}, "not": {"items": {"minLength": 1}}}"#,
    ),
    (
        "OP318",
        r#"{"type": "object", "additionalProperties": {"type": "string"}, "anyOf": [{"properties": {"y": {}}}]}"#,
        r#"{"type": "object", "additionalProperties": {"type": "string"}, "anyOf": [{"required": ["y"]}]}"#,
    ),
    (
        "OP322",
        r#"{"type": "string", "anyOf": [{"not": {"pattern": "("}}]}"#,
        r#"{"type": "string", "anyOf": [{"not": {"pattern": "\\("}}]}"#,
    ),
    (
        "OP326",
        r#"{"type": "string", "anyOf": [{"minLength": 2}, {"enum": ["a"]}], "default": "b"}"#,
        r#"{"type": "string", "anyOf": [{"minLength": 2}, {"enum": ["a"]}], "default": "a"}"#,
    ),
    (
        "OP326",
        r#"{"type": "string", "oneOf": [{"minLength": 1}, {"enum": ["a"]}], "default": "a"}"#,
        r#"{"type": "string", "oneOf": [{"minLength": 1}, {"enum": ["a"]}], "default": "b"}"#,
    ),
    (
        "OP326",
        r#"{"type": "string", "not": {"enum": ["a"]}, "default": "a"}"#,
        r#"{"type": "string", "not": {"enum": ["a"]}, "default": "b"}"#,
    ),
    (
        "OP326",
        r#"{"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"y": {"type": "string"}}, "default": {"y": "a"}}"#,
        r#"{"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"y": {"type": "string"}}, "default": {"apiVersion": "v1", "kind": "A", "metadata": {}, "y": "a"}}"#,
    ),
    (
        "OP326",
        r#"{"type": "string", "nullable": true, "enum": ["a", null], "default": "b"}"#,
        r#"{"type": "string", "nullable": true, "enum": ["a", null], "default": "a"}"#,
    ),
    (
        "OP326",
        r#"{"type": "object", "properties": {"y": {"type": "string", "nullable": true, "enum": ["a", null]}}, "default": {"y": null}}"#,
        r#"{"type": "object", "properties": {"y": {"type": "string", "nullable": true, "enum": ["a", null]}}, "default": {"y": "a"}}"#,
    ),
    (
        "OP327",
        r#"{"type": "object", "additionalProperties": true, "default": {"y": {"z": 1}}}"#,
        r#"{"type": "object", "additionalProperties": true, "default": {"y": 1}}"#,
    ),
    (
        "OP352",
        r#"{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''", "message": "a"}, {"rule": "self != ''", "message": "b"}]}"#,
        r#"{"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}, {"rule": "self != \"\""}]}"#,
    ),
    ("OP353", r#"{"type": "string", "enum": ["a", "b", "a"]}"#, r#"{"type": "string", "enum": ["a", "b", "A"]}"#),
    ("OP353", r#"{"type": "number", "enum": [1, 1.0]}"#, r#"{"type": "number", "enum": [1, 1.5]}"#),
    (
        "OP353",
        r#"{"type": "string", "nullable": true, "enum": ["a", null, null]}"#,
        r#"{"type": "string", "nullable": true, "enum": ["a", null]}"#,
    ),
    (
        "OP353",
        r#"{"type": "string", "anyOf": [{"enum": ["a", "a"]}]}"#,
        r#"{"type": "string", "anyOf": [{"enum": ["a"]}, {"enum": ["a"]}]}"#,
    ),
    (
        "OP329",
        r#"{"type": "integer", "anyOf": [{"format": "int32"}]}"#,
        r#"{"type": "string", "anyOf": [{"format": "ipv4"}]}"#,
    ),
];

type Change = fn(&mut Value);

/// Violations that no Rust source can express, as changes of the CRD.
const CHANGED: &[(&str, Change, Change)] = &[
    (
        "OP304",
        |crd| {
            let mut second = crd["spec"]["versions"][0].clone();
            second["name"] = "v2".into();
            second["schema"]["openAPIV3Schema"]["description"] = "Another".into();
            crd["spec"]["versions"].as_array_mut().unwrap().push(second);
        },
        |crd| {
            let mut second = crd["spec"]["versions"][0].clone();
            second["name"] = "v2".into();
            second["storage"] = false.into();
            second["schema"]["openAPIV3Schema"]["description"] = "Another".into();
            crd["spec"]["versions"].as_array_mut().unwrap().push(second);
        },
    ),
    ("OP304", |crd| crd["spec"]["versions"][0]["storage"] = false.into(), |_| {}),
    (
        "OP318",
        |crd| schema(crd)["anyOf"] = json!([{"properties": {"z": {}}}]),
        |crd| schema(crd)["anyOf"] = json!([{"properties": {"spec": {"properties": {"x": {"minLength": 1}}}}}]),
    ),
    ("OP305", |crd| crd["spec"]["versions"][0]["deprecationWarning"] = "a".into(), |_| {}),
    (
        "OP305",
        |crd| {
            crd["spec"]["versions"][0]["deprecated"] = true.into();
            crd["spec"]["versions"][0]["deprecationWarning"] = "a".repeat(257).into();
        },
        |crd| {
            crd["spec"]["versions"][0]["deprecated"] = true.into();
            crd["spec"]["versions"][0]["deprecationWarning"] = "a".repeat(256).into();
        },
    ),
];

pub fn schema(crd: &mut Value) -> &mut Value {
    &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

/// A CRD, and the code of the rule that it violates.
pub struct Case {
    pub crd: CustomResourceDefinition,
    pub code: Option<&'static str>,
    pub text: String,
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (index, (code, wrong, right)) in CASES.iter().enumerate() {
        for (side, text, code) in [("wrong", wrong, Some(*code)), ("right", right, None)] {
            let crd = crd_of(text, &format!("{side}{index}.example.com"));
            cases.push(Case { crd, code, text: (*text).into() });
        }
    }
    for (index, (code, wrong, right)) in SCHEMAS.iter().enumerate() {
        for (side, schema, code) in [("wrong", wrong, Some(*code)), ("right", right, None)] {
            let mut crd = json!(crd_of("struct S { x: String }", &format!("schema-{side}{index}.example.com")));
            let schema: Value = serde_json::from_str(schema).unwrap();
            let text = schema.to_string();
            self::schema(&mut crd)["properties"]["spec"]["properties"]["x"] = schema;
            cases.push(Case { crd: serde_json::from_value(crd).unwrap(), code, text });
        }
    }
    for (index, (code, wrong, right)) in CHANGED.iter().enumerate() {
        for (side, change, code) in [("wrong", wrong, Some(*code)), ("right", right, None)] {
            let crd = crd_of("struct S { x: String }", &format!("changed-{side}{index}.example.com"));
            let mut crd = json!(crd);
            change(&mut crd);
            let text = crd.to_string();
            cases.push(Case { crd: serde_json::from_value(crd).unwrap(), code, text });
        }
    }
    cases.extend(ways_out());
    cases
}

/// The solutions in the reference of diagnostics, which must be valid.
fn ways_out() -> Vec<Case> {
    let text = include_str!("../../docs/reference/diagnostics.md");
    let (_, section) = text.split_once("\n## What the API server refuses").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let cases = blocks.enumerate().map(|(index, text)| {
        let mut crd = crd_of(text, &format!("way-out{index}.example.com"));
        // Several use the same kind.
        crd.spec.names.plural = format!("ks{index}");
        crd.metadata.name = Some(format!("ks{index}.{}", crd.spec.group));
        Case { crd, code: None, text: text.into() }
    });
    cases.collect()
}

pub fn crd_of(text: &str, group: &str) -> CustomResourceDefinition {
    let source = read(&with_header(text, group));
    let crds = emit::crds(&source.operator.apis);
    let crds = crds.unwrap_or_else(|problems| panic!("{text}\n{}", render(&problems, false)));
    crds.into_iter().next().unwrap_or_else(|| panic!("{text}\nno kind"))
}

pub fn with_header(text: &str, group: &str) -> String {
    let derive = if text.contains("CustomResource") { "" } else { DERIVE };
    let kube = if text.contains("kind = \"") { "" } else { KUBE };
    format!("{PRELUDE}{derive}{kube}{text}").replace("GROUP", group)
}

pub fn read(text: &str) -> Source {
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", MANIFEST);
    tree.lay_over("src/lib.rs", text);
    let source = source::read(&tree, "");
    assert!(!source.diagnostics.iter().any(Diagnostic::is_error), "{text}\n{}", render(&source.diagnostics, false));
    source
}

pub fn codes(findings: &[Finding]) -> BTreeSet<&str> {
    findings.iter().map(|finding| finding.code.name).collect()
}
