//! Markers that controller-gen reads on Go types, and their equivalents in Rust.

/// A marker that has no effect in Rust.
#[derive(Debug)]
pub struct GoMarker {
    /// Without `+`. Longer names that continue with `:` match as well.
    pub name: &'static str,
    pub form: GoForm,
    /// The equivalent in Rust.
    pub rust: &'static str,
}

/// The criterion that distinguishes a marker from prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoForm {
    /// By its prefix: `+kubebuilder:…`, `+k8s:…`.
    Prefixed,
    /// Any text that follows the `:` of the prefix.
    Any,
    /// `+name` alone.
    Alone,
    /// `+name=value`
    WithValue,
}

/// The marker whose name the text after `+` begins with.
pub fn find(text: &str) -> Option<&'static GoMarker> {
    let is = |go: &&GoMarker| {
        let Some(rest) = text.strip_prefix(go.name) else { return false };
        match go.form {
            GoForm::Prefixed => !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-')),
            GoForm::Any => rest.starts_with(':'),
            GoForm::Alone => rest.trim_start().is_empty() || rest.starts_with('='),
            GoForm::WithValue => rest.starts_with('=') || rest.starts_with(":="),
        }
    };
    GO_MARKERS.iter().find(is)
}

const fn go(name: &'static str, rust: &'static str) -> GoMarker {
    GoMarker { name, form: GoForm::Prefixed, rust }
}

const fn alone(name: &'static str, rust: &'static str) -> GoMarker {
    GoMarker { name, form: GoForm::Alone, rust }
}

const fn with_value(name: &'static str, rust: &'static str) -> GoMarker {
    GoMarker { name, form: GoForm::WithValue, rust }
}

/// A longer name precedes its own prefix. Source: controller-tools,
/// `controller-gen crd object applyconfiguration -ww`.
pub const GO_MARKERS: &[GoMarker] = &[
    go(
        "kubebuilder:validation:items",
        "put the rule on a type of its own for the items, or use `#[schemars(inner(…))]`",
    ),
    go("kubebuilder:validation:Minimum", "use `#[schemars(range(min = …))]` on the field"),
    go("kubebuilder:validation:Maximum", "use `#[schemars(range(max = …))]` on the field"),
    go(
        "kubebuilder:validation:ExclusiveMinimum",
        "use `#[schemars(range(min = …))]` with the next number on the field",
    ),
    go(
        "kubebuilder:validation:ExclusiveMaximum",
        "use `#[schemars(range(max = …))]` with the next number on the field",
    ),
    go("kubebuilder:validation:MultipleOf", "use `#[schemars(extend(\"multipleOf\" = …))]` on the field"),
    go("kubebuilder:validation:MinLength", "use `#[schemars(length(min = …))]` on the field"),
    go("kubebuilder:validation:MaxLength", "use `#[schemars(length(max = …))]` on the field"),
    go("kubebuilder:validation:MinItems", "use `#[schemars(length(min = …))]` on the field"),
    go("kubebuilder:validation:MaxItems", "use `#[schemars(length(max = …))]` on the field"),
    go("kubebuilder:validation:UniqueItems", "use `#[x_kube(merge_strategy = ListMerge::Set)]` on the field"),
    go("kubebuilder:validation:MinProperties", "use `#[schemars(extend(\"minProperties\" = …))]` on the field"),
    go("kubebuilder:validation:MaxProperties", "use `#[schemars(extend(\"maxProperties\" = …))]` on the field"),
    go("kubebuilder:validation:Pattern", "use `#[schemars(regex(pattern = r\"…\"))]` on the field"),
    go("kubebuilder:validation:Enum", "use a Rust `enum` as the type of the field"),
    go("kubebuilder:validation:Format", "use `#[schemars(extend(\"format\" = \"…\"))]` on the field"),
    go(
        "kubebuilder:validation:Type",
        "use a Rust type of that shape, or `#[schemars(schema_with = \"…\")]` on the field",
    ),
    go("kubebuilder:validation:Required", "a field is required unless it is an `Option` or has `#[serde(default)]`"),
    go("kubebuilder:validation:Optional", "make the field an `Option`, or give it `#[serde(default)]`"),
    go(
        "kubebuilder:validation:XValidation",
        "use `#[x_kube(validation = …)]` on a field or a type with `#[derive(KubeSchema)]`",
    ),
    go(
        "kubebuilder:validation:XIntOrString",
        "use `k8s_openapi::apimachinery::pkg::util::intstr::IntOrString` as the type",
    ),
    go("kubebuilder:validation:EmbeddedResource", "use `#[schemars(schema_with = \"…\")]` on the field"),
    go("kubebuilder:validation:XEmbeddedResource", "use `#[schemars(schema_with = \"…\")]` on the field"),
    go(
        "kubebuilder:validation:XPreserveUnknownFields",
        "use `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`",
    ),
    go("kubebuilder:validation:Schemaless", "use `#[schemars(schema_with = \"…\")]` on the field"),
    go(
        "kubebuilder:validation:AtMostOneOf",
        "use `#[x_kube(validation = …)]` on the type with `#[derive(KubeSchema)]`",
    ),
    go("kubebuilder:validation:ExactlyOneOf", "use a Rust `enum`, or `#[x_kube(validation = …)]` on the type"),
    go(
        "kubebuilder:validation:AtLeastOneOf",
        "use `#[x_kube(validation = …)]` on the type with `#[derive(KubeSchema)]`",
    ),
    go(
        "kubebuilder:validation",
        "use `#[schemars(…)]` on the field, or `#[x_kube(validation = …)]` with `#[derive(KubeSchema)]`",
    ),
    go("kubebuilder:pruning", "use `#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]`"),
    go("kubebuilder:default", "use `#[serde(default = \"…\")]` on the field"),
    go("kubebuilder:example", "use `#[schemars(example = …)]` on the field"),
    go("kubebuilder:title", "use `#[schemars(title = \"…\")]` on the field"),
    go("kubebuilder:externalDocs", "use `#[schemars(extend(\"externalDocs\" = …))]` on the field"),
    go("kubebuilder:optional", "make the field an `Option`, or give it `#[serde(default)]`"),
    go("kubebuilder:required", "a field is required unless it is an `Option` or has `#[serde(default)]`"),
    go("kubebuilder:nullable", "make the field an `Option`"),
    go(
        "kubebuilder:printcolumn",
        "use `#[kube(printcolumn(name = \"…\", type_ = \"…\", json_path = \"…\"))]` on the spec",
    ),
    go(
        "kubebuilder:subresource:scale",
        "use `#[kube(scale(spec_replicas_path = \"…\", status_replicas_path = \"…\"))]` on the spec",
    ),
    go("kubebuilder:subresource", "use `#[kube(status = \"…\")]` on the spec"),
    go(
        "kubebuilder:resource",
        "use `#[kube(plural = \"…\", shortname = \"…\", category = \"…\", namespaced)]` on the spec",
    ),
    go("kubebuilder:storageversion", "use `#[kube(storage = true)]` on the spec"),
    go("kubebuilder:unservedversion", "use `#[kube(served = false)]` on the spec"),
    go("kubebuilder:deprecatedversion", "use `#[kube(deprecated = \"…\")]` on the spec"),
    go("kubebuilder:skipversion", "remove `#[derive(CustomResource)]`"),
    go("kubebuilder:skip", "remove `#[derive(CustomResource)]`"),
    go("kubebuilder:selectablefield", "use `#[kube(selectable = \"…\")]` on the spec"),
    go("kubebuilder:metadata", "use `#[kube(annotation(\"…\", \"…\"), label(\"…\", \"…\"))]` on the spec"),
    go("kubebuilder:object", "remove the line: Rust types derive `Clone`"),
    go("kubebuilder:ac", "remove the line: server-side apply takes the type itself, or `serde_json::json!`"),
    go("kubebuilder:scaffold", "remove the line: opctl needs no mark to insert at"),
    // Declarative validation of Kubernetes' own types, of which controller-gen knows a part.
    go("k8s:enum", "use a Rust `enum` as the type of the field"),
    go("k8s:immutable", "use `#[x_kube(validation = (\"self == oldSelf\", \"…\"))]` with `#[derive(KubeSchema)]`"),
    go("k8s:listType", "use `#[x_kube(merge_strategy = ListMerge::…)]` on the field"),
    go("k8s:listMapKey", "use `#[x_kube(merge_strategy = ListMerge::Map(…))]` on the field"),
    go("k8s:minimum", "use `#[schemars(range(min = …))]` on the field"),
    go("k8s:maximum", "use `#[schemars(range(max = …))]` on the field"),
    go("k8s:minLength", "use `#[schemars(length(min = …))]` on the field"),
    go("k8s:maxLength", "use `#[schemars(length(max = …))]` on the field"),
    go("k8s:minItems", "use `#[schemars(length(min = …))]` on the field"),
    go("k8s:maxItems", "use `#[schemars(length(max = …))]` on the field"),
    go("k8s:format", "use `#[schemars(extend(\"format\" = \"…\"))]` on the field"),
    go("k8s:optional", "make the field an `Option`, or give it `#[serde(default)]`"),
    go("k8s:required", "a field is required unless it is an `Option` or has `#[serde(default)]`"),
    go("k8s:deepcopy-gen", "remove the line: Rust types derive `Clone`"),
    GoMarker {
        name: "k8s",
        form: GoForm::Any,
        rust: "remove the line, or use `#[schemars(…)]` and `#[x_kube(…)]` on the field",
    },
    alone("optional", "make the field an `Option`, or give it `#[serde(default)]`"),
    alone("required", "a field is required unless it is an `Option` or has `#[serde(default)]`"),
    alone("nullable", "make the field an `Option`"),
    with_value("default", "use `#[serde(default = \"…\")]` on the field"),
    with_value("listType", "use `#[x_kube(merge_strategy = ListMerge::…)]` on the field"),
    with_value("listMapKey", "use `#[x_kube(merge_strategy = ListMerge::Map(…))]` on the field"),
    with_value("mapType", "use `#[x_kube(merge_strategy = MapMerge::…)]` on the field"),
    with_value("structType", "use `#[x_kube(merge_strategy = MapMerge::…)]` on the field"),
    with_value("groupName", "use `#[kube(group = \"…\")]` on the spec"),
    with_value("versionName", "use `#[kube(version = \"…\")]` on the spec"),
];
