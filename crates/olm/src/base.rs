//! The files in `config/manifests` of a new project: the base CSV, in which the user describes the operator, and the
//! kustomization.

use std::fmt::Write;

use serde_json::{Value, json};

use super::descriptors::words;
use opctl_model::yaml;

/// The metadata of an operator that a catalog shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    pub package: String,
    pub description: Option<String>,
    /// Name and email address.
    pub maintainers: Vec<(String, String)>,
    /// Name and URL; the URL may be empty.
    pub provider: Option<(String, String)>,
    pub keywords: Vec<String>,
    pub repository: Option<String>,
    pub homepage: Option<String>,
    /// SPDX expression.
    pub license: Option<String>,
    /// Headings in catalogs, e.g. those of OperatorHub.io.
    pub categories: Vec<String>,
    /// The organization that supports the operator.
    pub support: Option<String>,
    pub certified: Option<bool>,
    /// `alpha` by default.
    pub maturity: Option<String>,
    /// An item of `spec.icon`.
    pub icon: Option<Value>,
    /// The kinds that the operator manages.
    pub kinds: Vec<String>,
    /// The operator has permissions in namespaces instead of the cluster.
    pub namespaced: bool,
    /// The operator has a conversion webhook, which only supports the mode `AllNamespaces`.
    pub converts: bool,
}

/// `installModes`. An operator with permissions in namespaces supports all modes, because OLM grants the permissions in
/// the namespaces that it watches.
pub fn install_modes(namespaced: bool) -> Value {
    ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"]
        .map(|mode| json!({ "type": mode, "supported": namespaced || mode == "AllNamespaces" }))
        .as_slice()
        .into()
}

/// The text of `bases/PACKAGE.clusterserviceversion.yaml`.
pub fn scaffold(metadata: &Metadata, header: &str) -> String {
    let scalar = |text: &str| yaml::scalar(&text.into());
    let Metadata { package, description, maintainers, provider, keywords, repository, homepage, license, .. } =
        metadata;
    let title = words(package);
    let mut text = format!(
        "{header}# What catalogs and consoles show of the operator. It is yours: `opctl generate bundle` adds the Deployments, permissions,\n\
         # webhooks, kinds and examples, and keeps all that you write here.\n\
         apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata:\n  name: {package}.v0.0.0\n  \
         namespace: placeholder\n  annotations:\n    # Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights or Auto Pilot.\n    \
         capabilities: Basic Install\n"
    );
    let short = description.clone().unwrap_or_else(|| match &metadata.kinds[..] {
        [] => format!("{title} for Kubernetes."),
        [kind] => format!("Manages {kind} objects on Kubernetes."),
        [kinds @ .., last] => format!("Manages {} and {last} objects on Kubernetes.", kinds.join(", ")),
    });
    let short = short.split_whitespace().collect::<Vec<_>>().join(" ");
    text.push_str(&format!("    # One line, for lists.\n    description: {}\n", scalar(&short)));
    let categories = Some(metadata.categories.join(", ")).filter(|all| !all.is_empty());
    let certified = metadata.certified.map(|certified| certified.to_string());
    for (comment, key, value, example) in [
        ("Headings of OperatorHub.io, separated by commas.", "categories", &categories, "Database, Monitoring"),
        ("The organization that supports it.", "support", &metadata.support, "ORGANIZATION"),
        ("The source code.", "repository", repository, "https://github.com/ORGANIZATION/NAME"),
        ("Certified for OpenShift.", "certified", &certified, "\"false\""),
    ] {
        _ = match value {
            Some(value) => writeln!(text, "    # {comment}\n    {key}: {}", scalar(value)),
            None => writeln!(text, "    # {comment}\n    # {key}: {example}"),
        };
    }
    text.push_str(&format!("spec:\n  displayName: {}\n  # Markdown.\n  description: |\n    {short}\n", scalar(&title)));
    if let Some(license) = license {
        text.push_str(&format!("\n    License: {license}\n"));
    }
    let maturity = scalar(metadata.maturity.as_deref().unwrap_or("alpha"));
    _ = writeln!(
        text,
        "  # planning, pre-alpha, alpha, beta, stable, mature, inactive or deprecated.\n  maturity: {maturity}"
    );
    text.push_str("  # The oldest Kubernetes that the operator runs on.\n  minKubeVersion: 1.30.0\n");
    let own = vec![package.clone()];
    let keywords = if keywords.is_empty() { &own } else { keywords };
    text.push_str("  keywords:\n");
    keywords.iter().for_each(|keyword| text.push_str(&format!("    - {}\n", scalar(keyword))));
    let links: Vec<(&str, &String)> = [("Homepage", homepage), ("Source", repository)]
        .into_iter()
        .filter_map(|(name, url)| Some((name, url.as_ref()?)))
        .collect();
    if !links.is_empty() {
        text.push_str("  links:\n");
    }
    for (name, url) in links {
        text.push_str(&format!("    - name: {name}\n      url: {}\n", scalar(url)));
    }
    if maintainers.is_empty() {
        text.push_str("  # Catalogs require:\n  # maintainers:\n  #   - name: NAME\n  #     email: NAME@example.com\n");
    } else {
        text.push_str("  maintainers:\n");
    }
    for (name, email) in maintainers {
        text.push_str(&format!("    - name: {}\n      email: {}\n", scalar(name), scalar(email)));
    }
    match provider {
        None => text.push_str("  # provider:\n  #   name: ORGANIZATION\n"),
        Some((name, url)) => {
            text.push_str(&format!("  provider:\n    name: {}\n", scalar(name)));
            if !url.is_empty() {
                text.push_str(&format!("    url: {}\n", scalar(url)));
            }
        }
    }
    text.push_str("  # A PNG, JPEG, GIF or SVG:\n");
    match &metadata.icon {
        None => text.push_str("  # icon:\n  #   - base64data: …\n  #     mediatype: image/svg+xml\n"),
        Some(icon) => {
            text.push_str("  icon:\n");
            for (start, key) in [("  -", "base64data"), ("   ", "mediatype")] {
                _ = writeln!(text, "  {start} {key}: {}", yaml::scalar(&icon[key]));
            }
        }
    }
    text.push_str(
        "  \
         # The namespaces that the operator may watch. OLM v1 requires AllNamespaces.\n  installModes:\n",
    );
    let modes = install_modes(metadata.namespaced && !metadata.converts);
    for mode in modes.as_array().into_iter().flatten() {
        text.push_str(&format!(
            "    - type: {}\n      supported: {}\n",
            mode["type"].as_str().unwrap_or_default(),
            mode["supported"]
        ));
    }
    // opctl fills this in. Without it, kustomize's checks would not accept the file as a CSV.
    text.push_str("  install:\n    strategy: deployment\n    spec:\n      deployments: []\n");
    text
}

/// The text of `kustomization.yaml`.
pub fn kustomization(package: &str, has_samples: bool, header: &str) -> String {
    let samples = if has_samples { "  - ../samples\n" } else { "" };
    format!(
        "{header}# What a bundle for OLM is made of: `opctl generate bundle`. Patches for OLM alone go here.\n\
         apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  \
         - bases/{package}.clusterserviceversion.yaml\n  - ../default\n{samples}"
    )
}
