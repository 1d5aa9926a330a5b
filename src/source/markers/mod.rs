//! The comments of one Rust file → the RBAC rules that its markers ask for.
//!
//! A marker is a `// +kubebuilder:…` line anywhere in a file: above an item, in a function, on its own. The syntax is
//! controller-gen's; the strictness is not: what looks like a marker must be one, or it is an error with its place, for
//! a marker that is silently ignored is a permission that is missing at run time. Comments with other prefixes
//! (`+k8s:…`, `+optional`) are somebody else's.

mod arguments;
mod comments;
mod nearest;
mod rbac;

use std::ops::Range;
use std::sync::Arc;

use self::comments::{Comment, CommentKind};
use self::nearest::nearest;
use crate::diagnostic::{Diagnostic, SourceFile, Span};
use crate::model::RbacRule;

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
    /// The arguments' place, and the whole marker's.
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

fn recognise(file: &Arc<SourceFile>, comment: &Comment) -> Recognised {
    let text = &file.text[comment.range.clone()];
    let at = |range: Range<usize>| Span { file: file.clone(), range };
    let Some(after_plus) = text.strip_prefix('+') else { return without_plus(file, comment) };
    let marker = after_plus.trim_start();
    let (prefix, after_prefix) = split_word(marker);
    let known = prefix == PREFIX || prefix == OWN_PREFIX;
    let colon = after_prefix.starts_with(':');
    let plus = comment.range.start;
    let prefix_range = plus..comment.range.end - after_prefix.len();

    if !known || !colon || marker.len() != after_plus.len() {
        let meant = nearest(prefix, [PREFIX, OWN_PREFIX]);
        // `// + kubebuilder is …` is prose; `//+kubebuilder rbac:…` and `// + kubebuilder:…` are slips.
        let slip = if colon { meant.is_some() } else { known && marker.len() == after_plus.len() };
        return match meant {
            Some(meant) if slip => Diagnostic::error("OP101", format!("`+{prefix}` is almost a marker"))
                .at(at(prefix_range), "no marker starts like this, so it would be ignored")
                .help(format!("write `+{meant}:`"))
                .into(),
            _ => Recognised::Nothing,
        };
    }

    let rest = &after_prefix[1..];
    let name = &rest[..rest.find('=').unwrap_or(rest.len())];
    let (first, after_first) = split_word(name);
    let name_start = comment.range.end - rest.len();
    // What is said of a name that is not known: `rbac`, or `validation:Minimum`.
    let name_range = plus..name_start + name.trim_end().len();

    if prefix == OWN_PREFIX {
        return Diagnostic::error("OP101", format!("unknown marker `+{OWN_PREFIX}:{}`", name.trim_end()))
            .at(at(name_range), "")
            .help(format!("the marker for permissions is `+{PREFIX}:{RBAC}:groups=…,resources=…,verbs=…`"))
            .into();
    }
    if let Some(rust) = rust_form(name.trim_end()) {
        return Diagnostic::error("OP103", format!("`+{PREFIX}:{}` is for Go types", name.trim_end()))
            .at(at(name_range), "has no effect in Rust")
            .help(rust)
            .into();
    }
    if first != RBAC && !PLANNED.contains(&first) {
        let problem = Diagnostic::error("OP101", format!("unknown marker `+{PREFIX}:{}`", name.trim_end()));
        let names = [RBAC].into_iter().chain(PLANNED).chain(GO_ONLY.iter().map(|(name, _)| *name));
        return match nearest(first, names.clone()).or_else(|| nearest(name.trim_end(), names)) {
            Some(meant) => problem.at(at(name_range), "").help(format!("did you mean `+{PREFIX}:{meant}`?")),
            None => problem.at(at(name_range), "").help(format!("`+{PREFIX}:{RBAC}` is the marker that opctl reads")),
        }
        .into();
    }
    if comment.kind != CommentKind::Plain {
        let kind = if comment.kind == CommentKind::Doc { "doc" } else { "block" };
        return Diagnostic::error("OP102", format!("a marker in a {kind} comment"))
            .at(at(comment.range.clone()), format!("{kind} comments are not read"))
            .help("start the line with `//`")
            .into();
    }
    if first != RBAC {
        return Diagnostic::warning("OP104", format!("nothing is generated from `+{PREFIX}:{first}` yet"))
            .at(at(name_range), "")
            .into();
    }
    let arguments = match after_first.trim_start().strip_prefix(':') {
        Some(rest_of_name) => name_start + (name.len() - rest_of_name.len())..comment.range.end,
        None if rest.trim_end() == RBAC => comment.range.end..comment.range.end,
        None => {
            return Diagnostic::error("OP101", format!("expected `:` after `+{PREFIX}:{RBAC}`"))
                .at(at(plus..name_start + RBAC.len()), "")
                .help(format!("write `+{PREFIX}:{RBAC}:groups=…,resources=…,verbs=…`"))
                .into();
        }
    };
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

/// What to write in Rust instead of a marker that controller-gen reads on Go types.
fn rust_form(name: &str) -> Option<&'static str> {
    let (_, form) = GO_ONLY
        .iter()
        .find(|(go, _)| name.strip_prefix(go).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')))?;
    Some(form)
}

/// The longer name first where one is the start of the other. Source: controller-tools, `controller-gen -ww`.
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
    ("object", "nothing to do: Rust types derive `Clone`"),
    ("ac", "nothing to do: use `serde_json::json!` or the type itself for server-side apply"),
    ("scaffold", "nothing to do: opctl finds the place in the Rust source; remove the line"),
];

