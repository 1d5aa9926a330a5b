//! Bundles (format `registry+v1`), catalogs and the scorecard of the Operator Lifecycle Manager (OLM).
//!
//! A bundle has a ClusterServiceVersion (CSV), which contains Deployments, permissions and webhooks, and files for the
//! other objects. [`generate`] splits the rendered manifests of an operator into these parts, and reports each object
//! and field that a bundle cannot contain. [`render`](render::render) is the inverse. [`validate`] checks a bundle in a
//! folder, by the rules in [`bundle::RULES`]. [`mod@catalog`] and [`mod@scorecard`] process bundles. The crate starts
//! no programs, and connects to no cluster or registry.
//!
//! ```
//! use opctl_olm::bundle::Options;
//!
//! let bundle = tempfile::tempdir()?;
//! std::fs::create_dir(bundle.path().join("manifests"))?;
//!
//! let findings = opctl_olm::validate(bundle.path(), &Options::default());
//! let rules: Vec<_> = findings.iter().map(|finding| finding.rule.id).collect();
//! assert_eq!(rules, ["bundle-folders", "bundle-metadata"]);
//! assert!(findings[0].diagnostic.message.starts_with("`.` has no folder `metadata`"));
//! # Ok::<(), std::io::Error>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod base;
pub mod bundle;
pub mod catalog;
mod csv;
mod deployments;
mod descriptors;
pub mod diagnostics;
mod draft;
mod fields;
mod files;
mod images;
pub mod install;
mod object;
mod rbac;
pub mod render;
pub mod scorecard;
mod webhooks;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

pub use self::base::{Metadata, kustomization, scaffold};
pub use self::descriptors::{DescriptorHint, KindHints};
use self::draft::Draft;
pub use self::draft::{Fate, Row};
pub use self::files::{Labels, dockerfile, document, documents, metadata, parse, scorecard};
pub use self::images::{Digests, images};
use self::object::Object;
pub use opctl_kustomize::yaml::Node;
pub use opctl_model::diagnostic::{Diagnostic, Severity, SourceFile, Span};
pub use opctl_model::project::Tree;

/// The input of a bundle.
#[derive(Debug)]
pub struct Input<'a> {
    pub package: &'a str,
    /// A semantic version.
    pub version: &'a str,
    /// The CSV that the user maintains: names, descriptions, icons, install modes.
    pub base: Node,
    /// The operator's manifests, rendered by kustomize. CSVs, scorecard configurations and samples in them are skipped.
    pub objects: Vec<Node>,
    /// Custom resources for the examples.
    pub samples: Vec<Node>,
    /// Display settings from the source, by kind, group and version.
    pub hints: BTreeMap<(String, String, String), KindHints>,
    pub options: Options,
}

/// Options of a bundle.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Service accounts that get permissions although no Deployment uses them.
    pub extra_accounts: BTreeSet<String>,
    pub replaces: Option<String>,
    pub skips: Vec<String>,
    pub skip_range: Option<String>,
    pub created_at: Option<String>,
    /// Pins every image to its digest.
    pub digests: Option<Digests>,
    /// The roles with permissions that the operator needs only to issue certificates. OLM issues those of webhooks.
    pub issuing: Vec<Issuing>,
    /// Required APIs of other operators, in the format of `customresourcedefinitions.required`.
    pub required: Vec<Value>,
}

/// The rules of a role, with and without the permissions to issue certificates.
#[derive(Clone, Debug, PartialEq)]
pub struct Issuing {
    pub with: Vec<Value>,
    pub without: Vec<Value>,
}

/// A generated bundle, and the fate of each object.
#[derive(Debug)]
pub struct Bundle {
    /// By file name in `manifests/`, with one object each.
    pub manifests: BTreeMap<String, Value>,
    /// The scorecard configuration, if the input has one.
    pub scorecard: Option<Value>,
    /// The destinations of each object, ordered by kind and name.
    pub rows: Vec<Row>,
    pub findings: Vec<Diagnostic>,
}

/// The directory in which OLM mounts the certificate of webhooks: `tls.crt` and `tls.key`.
pub const CERTIFICATES: &str = "/tmp/k8s-webhook-server/serving-certs";

/// Validates the bundle in a folder on disk. Only files in the folder are read.
pub fn validate(folder: impl Into<PathBuf>, options: &bundle::Options) -> Vec<bundle::Finding> {
    bundle::validate(bundle::Folder { tree: &Tree::of_others(folder), shown: "" }, options)
}

/// Generates a bundle. It must not be used if the findings contain an error.
pub fn generate(input: Input) -> Bundle {
    let Input { package, version, base, objects, samples, hints, options } = input;
    let mut objects: Vec<Object> = objects.into_iter().map(Object::new).collect();
    // The result does not depend on the order of files and lists in `config`.
    objects.sort_by(|a, b| a.key().cmp(&b.key()));
    let mut draft = Draft::new(&objects);
    let deployments = deployments::find(&mut draft);
    let webhooks = webhooks::find(&mut draft, &deployments);
    let mut specs = deployments::specs(&mut draft, &deployments, &webhooks);
    let is_replaced = !webhooks.definitions.is_empty() && !deployments::issue_certificates(&specs);
    let issuing = if is_replaced { &options.issuing[..] } else { &[] };
    let (permissions, cluster_permissions) = rbac::split(&mut draft, &deployments, &options.extra_accounts, issuing);
    let related = images::related(&mut draft, &deployments, &mut specs, options.digests.as_ref());
    files::others(&mut draft, &deployments);
    let parts =
        csv::Parts { deployments: specs, permissions, cluster_permissions, webhooks: webhooks.definitions, related };
    let csv = csv::assemble(&mut draft, package, version, &base, parts, &samples, &hints, &options);
    draft.files.insert(format!("{}.clusterserviceversion.yaml", package.to_lowercase()), csv);
    let scorecard = objects.iter().find(|object| object.is("scorecard.operatorframework.io", "Configuration"));
    let scorecard = scorecard.map(|object| object.value.clone());
    let (manifests, rows, findings) = draft.finish();
    Bundle { manifests, scorecard, rows, findings }
}
