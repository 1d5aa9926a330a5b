//! The data that the other crates of opctl share, above all the model of an operator ([`Operator`]): custom resources,
//! permissions, webhooks and requests, as found in its source.
//!
//! - [`names`], [`versions`]: names, parsed once at the edge; the releases of kube, k8s-openapi and schemars
//! - [`diagnostic`]: problems in the user's files, collected and rendered in one place, for people and programs
//! - [`project`]: PROJECT, cargo workspaces, the file tree overlaid with planned files. The only module that reads the
//!   disk.
//! - [`reads`]: the values that serde accepts for a type
//! - [`yaml`], [`lexer`], [`threads`]: tools for all crates
//!
//! The model is plain data, without types of syn, Tera or YAML. It does not depend on its sources and uses.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod diagnostic;
pub mod diagnostics;
pub mod lexer;
pub mod names;
pub mod project;
pub mod reads;
pub mod selector;
pub mod threads;
pub mod versions;
pub mod yaml;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Span};
use crate::reads::Reads;
use crate::versions::Kube;

/// A number with its noun: `1 marker`, `2 markers`.
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// The lines of a table. Each column is as wide as its widest cell, with `gap` before the next one.
pub fn aligned(rows: &[Vec<String>], gap: &str) -> Vec<String> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join(gap).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A schema without descriptions and titles, at any depth.
pub fn without_texts(schema: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match schema {
        Value::Object(map) => {
            let is_text = |key: &str, value: &Value| matches!(key, "description" | "title") && value.is_string();
            let kept = map.iter().filter(|(key, value)| !is_text(key, value));
            kept.map(|(key, value)| (key.clone(), without_texts(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_texts).collect(),
        other => other.clone(),
    }
}

/// The input of all manifests.
#[derive(Debug, Default)]
pub struct Operator {
    /// All kinds, ordered by group, kind and version; includes those in `underivable` and `externals`.
    pub declared: Vec<Declared>,
    /// Ordered by group, kind and version.
    pub apis: Vec<Api>,
    /// Declared in the source, but not in `apis` because only a compiler can determine the schema.
    pub underivable: Vec<Underivable>,
    /// In source order.
    pub rbac: Vec<RbacRule>,
    /// In source order.
    pub webhooks: Vec<Webhook>,
    pub webhook_configurations: Vec<WebhookConfiguration>,
    pub conversions: Vec<Conversion>,
    /// The CA of the webhook server's certificate. `None`: the running operator registers its CA with the API server.
    pub authority: Option<Authority>,
    /// In source order.
    pub allows: Vec<Allow>,
    /// In source order.
    pub ownerships: Vec<Ownership>,
    /// Kinds of other projects: the code may use them, and their CRDs are not generated. Ordered by group and kind.
    pub externals: Vec<External>,
    /// In source order.
    pub displayed: Vec<Displayed>,
    /// The requests that the code makes to the API server, in source order. Empty if they were not analyzed.
    pub requests: Vec<Request>,
    /// The code may make other requests, which opctl cannot determine.
    pub makes_more_requests: bool,
}

impl Operator {
    /// Appends the markers of another file.
    pub fn append(&mut self, markers: &mut Self) {
        // Lists every field, so that the compiler reports a new list that is forgotten here.
        let Self {
            rbac,
            webhooks,
            webhook_configurations,
            conversions,
            allows,
            ownerships,
            displayed,
            // Not lists of markers.
            declared: _,
            apis: _,
            underivable: _,
            authority: _,
            externals: _,
            requests: _,
            makes_more_requests: _,
        } = self;
        rbac.append(&mut markers.rbac);
        webhooks.append(&mut markers.webhooks);
        webhook_configurations.append(&mut markers.webhook_configurations);
        conversions.append(&mut markers.conversions);
        allows.append(&mut markers.allows);
        ownerships.append(&mut markers.ownerships);
        displayed.append(&mut markers.displayed);
    }
}

/// One version of a custom resource, as far as the arguments of its `#[kube(…)]` define it. They are the same in all
/// releases of kube, and need no schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub scope: Scope,
    pub has_status: bool,
    /// The kind belongs to another project.
    pub is_external: bool,
    /// The type that kube's derive generates, from the root of its crate: `crd::Memcached`.
    pub path: String,
    /// The name of its library crate; `None` in a binary.
    pub library: Option<String>,
    /// The folder of its package, relative to the root of the tree.
    pub folder: String,
    /// The name of the type with the attribute.
    pub span: Span,
}

impl Declared {
    /// The name of its CRD.
    pub fn crd(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

/// One version of a custom resource that cannot be derived from source.
#[derive(Clone, Debug)]
pub struct Underivable {
    /// Group and kind; `None` if a macro generates them, or they cannot be read.
    pub kind: Option<(String, String)>,
    /// The name of its type; `None` if a macro generates it.
    pub span: Option<Span>,
    /// The errors that prevent the derivation. Several kinds may share one.
    pub reasons: Vec<Diagnostic>,
}

/// One version of a custom resource: a type with `#[derive(CustomResource)]`.
#[derive(Clone, Debug)]
pub struct Api {
    /// The release of kube whose derive expands the type.
    pub kube: Kube,
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub scope: Scope,
    pub served: bool,
    pub storage: bool,
    /// `Some(None)`: deprecated, with the default warning.
    pub deprecated: Option<Option<String>>,
    pub status_subresource: bool,
    /// In the format of the CRD: `specReplicasPath`, `statusReplicasPath`, `labelSelectorPath`.
    pub scale: Option<serde_json::Value>,
    /// `additionalPrinterColumns` in the format of the CRD.
    pub columns: Vec<serde_json::Value>,
    /// JSON paths.
    pub selectable_fields: Vec<String>,
    pub annotations: BTreeMap<String, String>,
    pub labels: BTreeMap<String, String>,
    /// The schema of the root type as schemars generates it, before any transform; `None` with `schema = "disabled"`.
    pub schema: Option<serde_json::Value>,
    /// All enums of the source that are part of some custom resource, inner ones first. They identify the enum behind a
    /// schema that no CRD can express.
    pub enums: Arc<Vec<Enumeration>>,
    /// The values that serde reads into the objects, without their metadata; [`Reads::Unknown`] unless they were asked for.
    pub reads: Reads,
    /// The name in the type's declaration.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Enumeration {
    pub name: String,
    pub span: Span,
    /// `#[serde(tag = "…")]`
    pub tag: Option<String>,
    /// The schema before any transform, without descriptions.
    pub schema: serde_json::Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Namespaced,
    Cluster,
}

/// One `// +kubebuilder:rbac:…` marker, as written. Lists are in source order; `core` is not yet replaced by `""`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RbacRule {
    /// A Role in this namespace instead of the default role.
    pub namespace: Option<String>,
    pub role_name: Option<String>,
    pub groups: Vec<String>,
    pub resources: Vec<String>,
    pub resource_names: Vec<String>,
    pub verbs: Vec<String>,
    pub urls: Vec<String>,
    /// From `opctl-runtime` or a generated file, so users cannot change it.
    pub is_of_runtime: bool,
    /// Needed only to issue certificates of webhooks, and to have the API server trust them.
    pub is_for_certificates: bool,
    pub span: Span,
}

/// One `// +kubebuilder:webhook:…` marker in the format of `webhooks` in its configuration, with its patch applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub admission: Admission,
    pub definition: Stated,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Admission {
    Mutating,
    Validating,
}

/// One `// +kubebuilder:webhookconfiguration:…` marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookConfiguration {
    pub admission: Admission,
    pub name: Option<String>,
    pub span: Span,
}

/// One `// +opctl:conversion:…` marker in the format of `spec.conversion` in the CRD of the kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    pub group: String,
    pub kind: String,
    pub definition: Stated,
}

/// One `// +opctl:ca:…` marker: the source of the CA certificate with which the API server verifies webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    pub from: AuthorityFrom,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorityFrom {
    /// cert-manager injects it from the Certificate with this namespace and name.
    Certificate(String, String),
    /// cert-manager injects it from the Secret with this namespace and name.
    Secret(String, String),
    /// It is in a file of the package.
    File {
        /// Relative to the folder of the package.
        path: String,
        pem: String,
    },
}

/// A part of a manifest, with the positions in the source that set its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    pub value: serde_json::Value,
    /// By path: `rules[0].operations[1]`. A field that is not listed has the position of the nearest field around it.
    pub places: BTreeMap<String, Span>,
    /// The position of the whole value.
    pub span: Span,
}

impl Stated {
    pub fn span_of(&self, path: &str) -> &Span {
        let mut path = path;
        loop {
            if let Some(span) = self.places.get(path) {
                return span;
            }
            let Some(end) = path.rfind(['.', '[']) else { return &self.span };
            path = &path[..end];
        }
    }

    /// Attaches each diagnostic to the span that sets the field at its path.
    pub fn attach_spans(&self, diagnostics: Vec<(String, Diagnostic)>) -> Vec<Diagnostic> {
        diagnostics.into_iter().map(|(path, diagnostic)| diagnostic.at(self.span_of(&path).clone(), "")).collect()
    }
}

/// One `// +opctl:allow:CODE reason` marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    pub code: String,
    pub reason: String,
    /// The marker itself.
    pub span: Span,
    /// The diagnostics that start in this range are allowed: the line of the marker, the markers after it, and the item
    /// or statement below. A marker at the end of a statement covers that statement.
    pub covers: Span,
}

/// One `// +opctl:external` or `// +opctl:owned` marker: the CRD of a kind belongs to another or to this project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ownership {
    pub is_external: bool,
    /// The marker itself.
    pub span: Span,
    /// The line of the marker, and the item below.
    pub covers: Span,
}

/// A kind of another project, for which the source has a type.
#[derive(Clone, Debug)]
pub struct External {
    pub group: String,
    pub kind: String,
    /// The versions whose schema could be derived.
    pub versions: Vec<Api>,
    /// The warning with the evidence; `None` if a marker or PROJECT declares the kind external.
    pub warning: Option<Diagnostic>,
}

/// One `// +operator-sdk:csv:customresourcedefinitions:…` marker: the display of a kind or a field in consoles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Displayed {
    /// `spec` or `status` for a field; `None` for a kind.
    pub part: Option<String>,
    pub display_name: Option<String>,
    pub order: Option<i64>,
    pub x_descriptors: Vec<String>,
    /// Kind, version and name; each may be empty.
    pub resources: Vec<[String; 3]>,
    /// The name of the type or field below the marker.
    pub target: Option<Span>,
    /// The marker itself.
    pub span: Span,
}

/// A location in the definition of a custom resource that has a counterpart in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrdLocation {
    /// The whole kind.
    Kind,
    /// An argument of `#[kube(…)]`: its name, and its index if it is repeated.
    Argument(&'static str, usize),
    /// A path from the root of the version's schema.
    Schema(Vec<Step>),
}

/// A step from a schema to a nested one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Property(String),
    Items,
    /// `additionalProperties`
    Values,
}

/// A request of the code as authorization sees it: one verb on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub verb: &'static str,
    /// `""` for the core group.
    pub group: String,
    /// The plural, with its subresource: `deployments`, `deployments/status`.
    pub resource: String,
    pub reach: Reach,
    /// The request in the source, in the function that determines the kind.
    pub span: Span,
    /// The API that makes the request, e.g. `Controller::owns`.
    pub by: String,
    /// The call itself, if it is in a generic function elsewhere.
    pub within: Option<Span>,
    /// Needed only in some clusters or cases, e.g. by an admission plugin: neither missing nor unused permissions are
    /// reported.
    pub optional: bool,
}

/// The scope of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The whole cluster, or a cluster-scoped kind.
    Cluster,
    /// The namespace of this name.
    Namespace(String),
    /// One namespace, known only at run time.
    SomeNamespace,
    /// Cluster or namespace, known only at run time.
    Unknown,
}

/// A metric that the project registers, in addition to those of `opctl-runtime`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    pub name: String,
    pub help: String,
    pub form: MetricForm,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricForm {
    Counter,
    Gauge,
    Histogram,
}
