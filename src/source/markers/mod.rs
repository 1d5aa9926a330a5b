//! The comments of one Rust file → the RBAC rules that its markers ask for.
//!
//! A marker is a `// +kubebuilder:…` line anywhere in a file: above an item, in a function, on its own. The syntax is
//! controller-gen's; the strictness is not: what looks like a marker must be one, or it is an error with its place, for
//! a marker that is silently ignored is a permission that is missing at run time. Comments with other prefixes
//! (`+k8s:…`, `+optional`) are somebody else's.

mod arguments;
mod comments;
mod kubernetes;
mod rbac;

use std::ops::Range;
use std::sync::Arc;

use self::comments::{Comment, CommentKind};
use crate::diagnostic::{Diagnostic, SourceFile, Span};
use crate::model::RbacRule;
use crate::names::nearest;

/// Reads every marker of a file, in source order. The file need not parse as Rust. A marker with an error gives no rule.
pub fn read(file: &Arc<SourceFile>) -> (Vec<RbacRule>, Vec<Diagnostic>) {
    let mut rules = Vec::new();
    let mut diagnostics = Vec::new();
    for comment in comments::comments(&file.text) {
        match recognise(file, &comment) {
            Recognised::Nothing => {}
            Recognised::Rbac(marker) => rules.extend(rbac::read(file, marker, &mut diagnostics)),
            Recognised::Problem(problem) => diagnostics.push(*problem),
        }
    }
    (rules, diagnostics)
}

enum Recognised {
    /// Prose, or somebody else's marker.
    Nothing,
    Rbac(Marker),
    Problem(Box<Diagnostic>),
}

impl From<Diagnostic> for Recognised {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Problem(Box::new(diagnostic))
    }
}

/// A marker of a known name; bytes of the file.
struct Marker {
    /// From `+` to the end.
    range: Range<usize>,
    /// What follows the name and its `:`.
    arguments: Range<usize>,
}

const PREFIX: &str = "kubebuilder";
const OWN_PREFIX: &str = "opctl";
const RBAC: &str = "rbac";

/// Known to controller-gen, and not yet generated here.
const PLANNED: [&str; 2] = ["webhook", "webhookconfiguration"];

/// Looks at the prefix: `+kubebuilder:`.
fn recognise(file: &Arc<SourceFile>, comment: &Comment) -> Recognised {
    let text = &file.text[comment.range.clone()];
    let Some(after_plus) = text.strip_prefix('+') else { return without_plus(file, comment) };
    let marker = after_plus.trim_start();
    let (prefix, rest) = split_word(marker);
    let known = prefix == PREFIX || prefix == OWN_PREFIX;
    let joined = marker.len() == after_plus.len();
    if let Some(name) = rest.strip_prefix(':')
        && known
        && joined
    {
        return named(file, comment, prefix, name);
    }
    // `+ kubebuilder:…` and `+kubebuilder rbac:…` are slips, `+ kubebuilder is …` is prose.
    let slip = rest.starts_with(':') || (known && joined);
    match nearest(prefix, [PREFIX, OWN_PREFIX]) {
        Some(meant) if slip => {
            let range = comment.range.start..comment.range.end - rest.len();
            let span = Span { file: file.clone(), range };
            Diagnostic::error("OP101", format!("`{}` is almost a marker", &file.text[span.range.clone()]))
                .at(span, "no marker starts like this, so it would be ignored")
                .help(format!("write `+{meant}:`"))
                .into()
        }
        _ => Recognised::Nothing,
    }
}

/// Looks at the name: what follows `+kubebuilder:`, to the end of the comment.
fn named(file: &Arc<SourceFile>, comment: &Comment, prefix: &str, rest: &str) -> Recognised {
    let name_start = comment.range.end - rest.len();
    let (first, after_first) = split_word(rest);
    let marker = |length: usize| {
        let range = comment.range.start..name_start + length;
        (format!("`{}`", &file.text[range.clone()]), Span { file: file.clone(), range })
    };

    if prefix == OWN_PREFIX {
        let (name, span) = marker(first.len());
        return Diagnostic::error("OP101", format!("unknown marker {name}"))
            .at(span, "")
            .help(format!("the marker for permissions is `+{PREFIX}:{RBAC}:groups=…,resources=…,verbs=…`"))
            .into();
    }
    let name = rest[..rest.find('=').unwrap_or(rest.len())].trim_end();
    if let Some((go, rust)) = go_only(name) {
        let (name, span) = marker(go.len());
        return Diagnostic::error("OP103", format!("{name} is for Go types"))
            .at(span, "has no effect in Rust")
            .help(rust)
            .into();
    }
    if first != RBAC && !PLANNED.contains(&first) {
        let trimmed = name.trim_start();
        let (word, _) = split_word(trimmed);
        let (shown, span) = marker(name.len() - trimmed.len() + word.len());
        let names = [RBAC].into_iter().chain(PLANNED).chain(GO_ONLY.iter().map(|(name, _)| *name));
        let help = match nearest(word, names.clone()).or_else(|| nearest(trimmed, names)) {
            Some(meant) => format!("did you mean `+{PREFIX}:{meant}`?"),
            None => format!("the marker that opctl reads is `+{PREFIX}:{RBAC}`"),
        };
        return Diagnostic::error("OP101", format!("unknown marker {shown}")).at(span, "").help(help).into();
    }
    if comment.kind != CommentKind::Plain {
        if after_first.starts_with(char::is_whitespace) {
            return Recognised::Nothing; // Prose about the marker.
        }
        let kind = if comment.kind == CommentKind::Doc { "doc" } else { "block" };
        let (_, span) = marker(rest.len());
        return Diagnostic::error("OP102", format!("a marker in a {kind} comment"))
            .at(span, format!("{kind} comments are not read"))
            .help("start the line with `//`")
            .into();
    }
    if first != RBAC {
        let (name, span) = marker(first.len());
        return Diagnostic::warning("OP104", format!("nothing is generated from {name} yet"))
            .at(span, "")
            .help("until then, write the webhook's manifests by hand")
            .into();
    }
    let arguments = match after_first.trim_start() {
        "" => "",
        after => match after.strip_prefix(':') {
            Some(arguments) => arguments,
            None => {
                let (name, span) = marker(RBAC.len());
                return Diagnostic::error("OP101", format!("expected `:` after {name}"))
                    .at(span, "")
                    .help(format!("write `+{PREFIX}:{RBAC}:groups=…,resources=…,verbs=…`"))
                    .into();
            }
        },
    };
    let arguments = comment.range.end - arguments.len()..comment.range.end;
    Recognised::Rbac(Marker { range: comment.range.clone(), arguments })
}

/// `// kubebuilder:rbac:…`
fn without_plus(file: &Arc<SourceFile>, comment: &Comment) -> Recognised {
    let text = &file.text[comment.range.clone()];
    let Some(name) = text.strip_prefix(PREFIX).and_then(|rest| rest.strip_prefix(':')) else {
        return Recognised::Nothing;
    };
    let (first, _) = split_word(name);
    if comment.kind != CommentKind::Plain || (first != RBAC && !PLANNED.contains(&first)) {
        return Recognised::Nothing;
    }
    let range = comment.range.start..comment.range.start + PREFIX.len();
    Diagnostic::error("OP101", format!("`{PREFIX}:{first}` without `+` is no marker"))
        .at(Span { file: file.clone(), range }, "so it would be ignored")
        .help(format!("write `+{PREFIX}:{first}`"))
        .into()
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(text.len()))
}

/// The Go marker that `name` is, and what to write in Rust instead.
fn go_only(name: &str) -> Option<(&'static str, &'static str)> {
    let is = |go: &str| name.strip_prefix(go).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'));
    GO_ONLY.iter().find(|(go, _)| is(go)).copied()
}

/// Markers that controller-gen reads on Go types, a longer name before its own start, each with what to write in Rust.
/// Source: controller-tools, `controller-gen crd object applyconfiguration -ww`.
const GO_ONLY: &[(&str, &str)] = &[
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
