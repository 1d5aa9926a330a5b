//! The markers that controller-gen reads on Go types, and what to write in Rust instead.

/// The Go marker that `name` is, and what to write in Rust instead.
pub fn go_only(name: &str) -> Option<(&'static str, &'static str)> {
    let is = |go: &str| name.strip_prefix(go).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
    GO_ONLY.iter().find(|(go, _)| is(go)).copied()
}

/// Markers that controller-gen reads on Go types, a longer name before its own start, each with what to write in Rust.
/// Source: controller-tools, `controller-gen crd object applyconfiguration -ww`.
pub const GO_ONLY: &[(&str, &str)] = &[
    ("validation:items", "put the rule on a type of its own for the items, or use `#[schemars(inner(…))]`"),
    ("validation:Minimum", "use `#[schemars(range(min = …))]` on the field"),
    ("validation:Maximum", "use `#[schemars(range(max = …))]` on the field"),
    ("validation:ExclusiveMinimum", "use `#[schemars(range(min = …))]` with the next number on the field"),
    ("validation:ExclusiveMaximum", "use `#[schemars(range(max = …))]` with the next number on the field"),
    ("validation:MultipleOf", "use `#[schemars(extend(\"multipleOf\" = …))]` on the field"),
    ("validation:MinLength", "use `#[schemars(length(min = …))]` on the field"),
    ("validation:MaxLength", "use `#[schemars(length(max = …))]` on the field"),
    ("validation:MinItems", "use `#[schemars(length(min = …))]` on the field"),
    ("validation:MaxItems", "use `#[schemars(length(max = …))]` on the field"),
    ("validation:UniqueItems", "use `#[x_kube(merge_strategy = ListMerge::Set)]` on the field"),
    ("validation:MinProperties", "use `#[schemars(extend(\"minProperties\" = …))]` on the field"),
    ("validation:MaxProperties", "use `#[schemars(extend(\"maxProperties\" = …))]` on the field"),
    ("validation:Pattern", "use `#[schemars(regex(pattern = r\"…\"))]` on the field"),
    ("validation:Enum", "use a Rust `enum` as the type of the field"),
    ("validation:Format", "use `#[schemars(extend(\"format\" = \"…\"))]` on the field"),
    ("validation:Type", "use a Rust type of that shape, or `#[schemars(schema_with = \"…\")]` on the field"),
    ("validation:Required", "a field is required unless it is an `Option` or has `#[serde(default)]`"),
    ("validation:Optional", "make the field an `Option`, or give it `#[serde(default)]`"),
    ("validation:XValidation", "use `#[x_kube(validation = …)]` on a field or a type with `#[derive(KubeSchema)]`"),
    ("validation:XIntOrString", "use `k8s_openapi::apimachinery::pkg::util::intstr::IntOrString` as the type"),
    ("validation:EmbeddedResource", "use `#[schemars(schema_with = \"…\")]` on the field"),
    ("validation:XEmbeddedResource", "use `#[schemars(schema_with = \"…\")]` on the field"),
    ("validation:XPreserveUnknownFields", "use `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`"),
    ("validation:Schemaless", "use `#[schemars(schema_with = \"…\")]` on the field"),
    ("validation:AtMostOneOf", "use `#[x_kube(validation = …)]` on the type with `#[derive(KubeSchema)]`"),
    ("validation:ExactlyOneOf", "use a Rust `enum`, or `#[x_kube(validation = …)]` on the type"),
    ("validation:AtLeastOneOf", "use `#[x_kube(validation = …)]` on the type with `#[derive(KubeSchema)]`"),
    ("validation", "use `#[schemars(…)]` on the field, or `#[x_kube(validation = …)]` with `#[derive(KubeSchema)]`"),
    ("pruning", "use `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`"),
    ("default", "use `#[serde(default = \"…\")]` on the field"),
    ("example", "use `#[schemars(example = …)]` on the field"),
    ("title", "use `#[schemars(title = \"…\")]` on the field"),
    ("externalDocs", "use `#[schemars(extend(\"externalDocs\" = …))]` on the field"),
    ("optional", "make the field an `Option`, or give it `#[serde(default)]`"),
    ("required", "a field is required unless it is an `Option` or has `#[serde(default)]`"),
    ("nullable", "make the field an `Option`"),
    ("printcolumn", "use `#[kube(printcolumn(name = \"…\", type_ = \"…\", json_path = \"…\"))]` on the spec"),
    ("subresource:scale", "use `#[kube(scale(spec_replicas_path = \"…\", status_replicas_path = \"…\"))]` on the spec"),
    ("subresource", "use `#[kube(status = \"…\")]` on the spec"),
    ("resource", "use `#[kube(plural = \"…\", shortname = \"…\", category = \"…\", namespaced)]` on the spec"),
    ("storageversion", "use `#[kube(storage = true)]` on the spec"),
    ("unservedversion", "use `#[kube(served = false)]` on the spec"),
    ("deprecatedversion", "use `#[kube(deprecated = \"…\")]` on the spec"),
    ("skipversion", "leave `#[derive(CustomResource)]` away"),
    ("skip", "leave `#[derive(CustomResource)]` away"),
    ("selectablefield", "use `#[kube(selectable = \"…\")]` on the spec"),
    ("metadata", "use `#[kube(annotation(\"…\", \"…\"), label(\"…\", \"…\"))]` on the spec"),
    ("object", "remove the line: Rust types derive `Clone`"),
    ("ac", "remove the line: server-side apply takes the type itself, or `serde_json::json!`"),
    ("scaffold", "remove the line: opctl needs no mark to insert at"),
];
