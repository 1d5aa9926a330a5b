//! The data that the other crates of opctl share, above all the model of an operator ([`Operator`]): custom resources, permissions,
//! webhooks and requests, as found in its source.
//!
//! - [`names`], [`versions`]: names, parsed once at the edge; the releases of kube, k8s-openapi and schemars, and their differences
//! - [`diagnostic`]: problems in the user's files, collected and rendered in one place, for people and programs
//! - [`project`]: PROJECT, the file tree with planned files laid over it, cargo workspaces. The only module that reads the disk.
//! - [`reads`]: the values that serde reads into a type
//! - [`yaml`], [`lexer`], [`threads`]: tools for all crates
//!
//! The model is plain data, without types of syn, Tera or YAML. Nothing here knows how it was found, or what is made of it.

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
use crate::versions::Kube;

/// `1 marker`, `2 markers`
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
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

/// Everything that manifests are made from.
#[derive(Debug, Default)]
pub struct Operator {
    /// All kinds, in order of group, kind and version: also those in `underivable` and `externals`.
    pub declared: Vec<Declared>,
    /// In order of group, kind and version.
    pub apis: Vec<Api>,
    /// What stands in the source, and has no place in `apis` because only a compiler knows its schema.
    pub underivable: Vec<Underivable>,
    /// In source order.
    pub rbac: Vec<RbacRule>,
    /// In source order.
    pub webhooks: Vec<Webhook>,
    pub webhook_configurations: Vec<WebhookConfiguration>,
    pub conversions: Vec<Conversion>,
    /// Who signs what the webhooks' server shows; `None`: the operator tells the API server itself, when it runs.
    pub authority: Option<Authority>,
    /// In source order.
    pub allows: Vec<Allow>,
    /// In source order.
    pub ownerships: Vec<Ownership>,
    /// Kinds of other projects: the code may use them, and their CRDs are not generated. By group and kind.
    pub externals: Vec<External>,
    /// In source order.
    pub displayed: Vec<Displayed>,
    /// What the code asks of the API server, in source order; only where it was looked for.
    pub requests: Vec<Request>,
    /// The code may make other requests, which opctl cannot determine.
    pub makes_more_requests: bool,
}

impl Operator {
    /// Moves what the markers of another file specify behind the markers of this one.
    pub fn append(&mut self, markers: &mut Self) {
        // Each field is here, so that a new list cannot be forgotten.
        let Self {
            rbac,
            webhooks,
            webhook_configurations,
            conversions,
            allows,
            ownerships,
            displayed,
            // No list of markers.
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

/// One version of a custom resource, as the arguments of its `#[kube(…)]` name it. They are the same in all releases of kube, and need no
/// schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub scope: Scope,
    pub has_status: bool,
    /// It is a kind of another project.
    pub is_external: bool,
    /// The type that kube's derive makes, from the root of its crate: `crd::Memcached`.
    pub path: String,
    /// The name of the library crate that it is in; `None` in a binary.
    pub library: Option<String>,
    /// The folder of its package, from the root of the tree.
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
    /// Group and kind; `None` where a macro makes them, or they cannot be read.
    pub kind: Option<(String, String)>,
    /// The name of its type; `None` where a macro makes it.
    pub span: Option<Span>,
    /// The errors that stopped it; several kinds may share one.
    pub reasons: Vec<Diagnostic>,
}

/// One version of a custom resource: a type with `#[derive(CustomResource)]`.
#[derive(Clone, Debug)]
pub struct Api {
    /// Whose derive makes the type.
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
    /// `Some(None)`: deprecated without a warning of its own.
    pub deprecated: Option<Option<String>>,
    pub status_subresource: bool,
    /// As it stands in the CRD: `specReplicasPath`, `statusReplicasPath`, `labelSelectorPath`.
    pub scale: Option<serde_json::Value>,
    /// `additionalPrinterColumns` as they stand in the CRD.
    pub columns: Vec<serde_json::Value>,
    /// JSON paths.
    pub selectable_fields: Vec<String>,
    pub annotations: BTreeMap<String, String>,
    pub labels: BTreeMap<String, String>,
    /// The root type's schema as schemars gives it before any transform; `None` with `schema = "disabled"`.
    pub schema: Option<serde_json::Value>,
    /// All enums of the source that are part of some custom resource, inner ones first: to tell which it is that no CRD
    /// can say.
    pub enums: Arc<Vec<Enumeration>>,
    /// The type's name, where it is declared.
    pub span: Span,
}

/// An enum of the source.
#[derive(Clone, Debug)]
pub struct Enumeration {
    pub name: String,
    pub span: Span,
    /// `#[serde(tag = "…")]`
    pub tag: Option<String>,
    /// Before any transform, and without what describes it.
    pub schema: serde_json::Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Namespaced,
    Cluster,
}

/// One `// +kubebuilder:rbac:…` marker, as written; lists are in source order, `core` is not yet `""`.
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
    /// It stands in `opctl-runtime` or in a generated file, and is not the user's to change.
    pub is_of_runtime: bool,
    pub span: Span,
}

/// One `// +kubebuilder:webhook:…` marker: as it stands in `webhooks` of its configuration, its patch applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub admission: Admission,
    pub definition: Stated,
}

/// What an admission webhook may do.
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

/// One `// +opctl:conversion:…` marker: as it stands in `spec.conversion` of the kind's CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    pub group: String,
    pub kind: String,
    pub definition: Stated,
}

/// One `// +opctl:ca:…` marker: where the API server finds the certificate that signs those of webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority {
    pub from: AuthorityFrom,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorityFrom {
    /// cert-manager copies it from the Certificate of this namespace and name.
    Certificate(String, String),
    /// cert-manager copies it from the Secret of this namespace and name.
    Secret(String, String),
    /// It is in a file of the package.
    File {
        /// From the package's folder.
        path: String,
        pem: String,
    },
}

/// A part of a manifest, and where in the source its fields are set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    pub value: serde_json::Value,
    /// By path: `rules[0].operations[1]`. A field without a place of its own is reported at the field around it.
    pub places: BTreeMap<String, Span>,
    /// The whole.
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
    /// What begins in here is silenced: the marker's line, the markers that follow, and the item or statement below; the
    /// line's own statement where the marker follows one.
    pub covers: Span,
}

/// One `// +opctl:external` or `// +opctl:owned` marker: whether the CRD of a kind belongs to another project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ownership {
    pub is_external: bool,
    /// The marker itself.
    pub span: Span,
    /// The marker's line, and the item below.
    pub covers: Span,
}

/// A kind of another project, for which the source has a type.
#[derive(Clone, Debug)]
pub struct External {
    pub group: String,
    pub kind: String,
    /// Those that could be derived.
    pub versions: Vec<Api>,
    /// The evidence; `None` if a marker or PROJECT says so.
    pub warning: Option<Diagnostic>,
}

/// One `// +operator-sdk:csv:customresourcedefinitions:…` marker: how consoles show a kind or a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Displayed {
    /// `spec` or `status` for a field; `None`: a kind.
    pub part: Option<String>,
    pub display_name: Option<String>,
    pub order: Option<i64>,
    pub x_descriptors: Vec<String>,
    /// Kind, version and name, which may be empty.
    pub resources: Vec<[String; 3]>,
    /// The name of the type or field below the marker.
    pub target: Option<Span>,
    /// The marker itself.
    pub span: Span,
}

/// A location in a custom resource's definition, as the API server sees it, that has a counterpart in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrdLocation {
    /// The kind as a whole.
    Kind,
    /// An argument of `#[kube(…)]`: its name, and which of several.
    Argument(&'static str, usize),
    /// From the root of the version's schema.
    Schema(Vec<Step>),
}

/// From a schema to one inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Property(String),
    Items,
    /// `additionalProperties`
    Values,
}

/// What the code asks of the API server, as authorisation sees it: one verb on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub verb: &'static str,
    /// `""` is the core group.
    pub group: String,
    /// The plural, with its subresource: `deployments`, `deployments/status`.
    pub resource: String,
    pub reach: Reach,
    /// Where it is asked, in the function that says which kind it is about.
    pub span: Span,
    /// Who asks, e.g. `Controller::owns`.
    pub by: String,
    /// Where the call itself is, if a generic function at another place makes it.
    pub within: Option<Span>,
    /// Asked only in some clusters or cases, e.g. by an admission plugin: granted or not, both are right.
    pub optional: bool,
}

/// Where the objects of a request are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The whole cluster, or a kind that is in no namespace.
    Cluster,
    /// The namespace of that name.
    Namespace(String),
    /// One namespace that is known only at run time.
    SomeNamespace,
    /// Either, known only at run time.
    Unknown,
}

/// A metric that the project registers, beside those of `opctl-runtime`.
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
