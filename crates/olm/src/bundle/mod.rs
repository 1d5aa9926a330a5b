//! Bundles of the Operator Lifecycle Manager (`registry+v1`): a folder goes in, findings with positions come out.
//!
//! Independent of projects: any folder will do. Each rule has a name, which [`table`] lists with its source.

pub mod diagnostics;
mod findings;
mod folder;
pub mod image;
mod rules;
pub mod semver;
pub mod table;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use findings::{Finding, Findings};
pub use folder::{Bundle, Folder, Manifest, load};
pub use rules::examples::{examples, problem as examples_problem};
pub use rules::hub::CATEGORIES;
pub use table::{RULES, Rule};

use opctl_model::diagnostic::SourceFile;

/// `true` for data of a media type.
type IsOfType = fn(&[u8]) -> bool;

/// The media types of images that consoles show as an icon, each with a check of the data.
pub(crate) const IMAGE_TYPES: [(&str, IsOfType); 4] = [
    ("image/png", |data| data.starts_with(b"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", |data| data.starts_with(b"\xff\xd8\xff")),
    ("image/gif", |data| data.starts_with(b"GIF8")),
    ("image/svg+xml", |data| String::from_utf8_lossy(&data[..data.len().min(4096)]).contains("<svg")),
];

/// The media type of an image that consoles show as an icon.
pub fn image_type(data: &[u8]) -> Option<&'static str> {
    IMAGE_TYPES.into_iter().find(|(_, is_it)| is_it(data)).map(|(name, _)| name)
}

/// Optional rules, by operator-sdk's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validator {
    OperatorHubV2,
    Capabilities,
    Categories,
    OperatorHub,
    Community,
    DeprecatedApis,
    GoodPractices,
    Multiarch,
    Objects,
    OlmV1,
}

impl Validator {
    pub const ALL: [Self; 10] = [
        Self::OperatorHubV2,
        Self::Capabilities,
        Self::Categories,
        Self::OperatorHub,
        Self::Community,
        Self::DeprecatedApis,
        Self::GoodPractices,
        Self::Multiarch,
        Self::Objects,
        Self::OlmV1,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::OperatorHubV2 => "operatorhubv2",
            Self::Capabilities => "capabilities",
            Self::Categories => "categories",
            Self::OperatorHub => "operatorhub",
            Self::Community => "community",
            Self::DeprecatedApis => "alpha-deprecated-apis",
            Self::GoodPractices => "good-practices",
            Self::Multiarch => "multiarch",
            Self::Objects => "objects",
            Self::OlmV1 => "olmv1",
        }
    }

    /// The name of the suite that selects the validator: `suite=…`.
    pub fn suite(self) -> Option<&'static str> {
        let is_in_it = matches!(
            self,
            Self::OperatorHubV2 | Self::Capabilities | Self::Categories | Self::DeprecatedApis | Self::GoodPractices
        );
        is_in_it.then_some("operatorframework")
    }

    pub fn summary(self) -> &'static str {
        match self {
            Self::OperatorHubV2 => "metadata for OperatorHub.io, and APIs that Kubernetes has removed",
            Self::Capabilities => "the level of the operator maturity model",
            Self::Categories => "the categories of OperatorHub.io",
            Self::OperatorHub => "deprecated: operatorhubv2, capabilities and categories",
            Self::Community => "deprecated: limits of bundles with removed APIs to older releases of OpenShift",
            Self::DeprecatedApis => "APIs that Kubernetes has removed; option k8s-version",
            Self::GoodPractices => "resource requests, descriptions, names of channels, permissions",
            Self::Multiarch => "node affinity for the platforms of the labels",
            Self::Objects => "PodDisruptionBudgets, PriorityClasses and roles that may impair a cluster",
            Self::OlmV1 => "what OLM v1 refuses to install",
        }
    }
}

/// Options of optional rules.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub validators: BTreeSet<Validator>,
    /// The version of Kubernetes that the bundle supports.
    pub kubernetes: Option<String>,
    /// Replacement for the categories of OperatorHub.io.
    pub categories: Option<Vec<String>>,
    /// The Dockerfile whose labels are checked.
    pub dockerfile: Option<Arc<SourceFile>>,
}

/// All findings of a bundle, sorted by file and position.
pub fn validate(folder: Folder, options: &Options) -> Vec<Finding> {
    let mut findings = Findings::default();
    if let Some(bundle) = load(folder, &mut findings) {
        check(&bundle, options, &mut findings);
    }
    findings.sorted()
}

/// Reports parts of a bundle that OLM v1 refuses to render, and OLM v0 fails to install.
pub fn check_installable(bundle: &Bundle, findings: &mut Findings) {
    rules::olmv1::installable(bundle, findings);
}

/// Like [`validate`], for a bundle that is already loaded.
pub fn check(bundle: &Bundle, options: &Options, findings: &mut Findings) {
    rules::format::check(bundle, findings);
    rules::csv::check(bundle, findings);
    rules::examples::check(bundle, findings);
    rules::crds::check(bundle, findings);
    rules::manifests::check(bundle, findings);
    rules::extra::check(bundle, findings);
    let selected = |validators: &[Validator]| validators.iter().any(|it| options.validators.contains(it));
    use Validator::{Capabilities, Categories, Community, DeprecatedApis, GoodPractices, Multiarch, Objects, OlmV1};
    use Validator::{OperatorHub, OperatorHubV2};
    if selected(&[OperatorHub, OperatorHubV2]) {
        rules::hub::check(bundle, findings);
    }
    if selected(&[OperatorHub, Capabilities]) {
        rules::hub::capabilities(bundle, findings);
    }
    if selected(&[OperatorHub, Categories]) {
        rules::hub::categories(bundle, options.categories.as_deref(), findings);
    }
    if selected(&[OperatorHub, OperatorHubV2, DeprecatedApis]) {
        rules::removed::check(bundle, options.kubernetes.as_deref(), findings);
    }
    if selected(&[GoodPractices]) {
        rules::practices::check(bundle, findings);
    }
    if selected(&[Multiarch]) {
        rules::multiarch::check(bundle, findings);
    }
    if selected(&[Objects]) {
        rules::objects::check(bundle, findings);
    }
    if selected(&[Community]) {
        rules::community::check(bundle, options.dockerfile.as_ref(), findings);
    }
    for (validator, instead) in
        [(OperatorHub, "operatorhubv2, capabilities and categories"), (Community, "alpha-deprecated-apis")]
    {
        if selected(&[validator]) {
            let message = format!("the validator `{}` is deprecated", validator.name());
            findings.warning_without_place("validator-deprecated", message).help(format!("use {instead}"));
        }
    }
    if selected(&[OlmV1]) {
        rules::olmv1::check(bundle, findings);
    }
}
