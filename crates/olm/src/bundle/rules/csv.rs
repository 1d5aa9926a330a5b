//! The ClusterServiceVersion. Source: `csv.go`, `bundle.go`, `annotations.go` and `typecheck.go` of
//! operator-framework/api, and the types of `pkg/operators/v1alpha1`.

use std::collections::BTreeMap;

use super::super::findings::Findings;
use super::super::folder::Bundle;
use super::super::image;
use super::super::semver::{self, Version, is_identifier};
use super::{head, place, text};
use crate::fields::{Field, Type, undecodable};
use opctl_kustomize::yaml::{Node, Value};
use opctl_model::names::is_dns_subdomain;
use opctl_schema::apiserver::{deployment_spec, policy_rule};

pub fn check(bundle: &Bundle, findings: &mut Findings) {
    decode(bundle, findings);
    names(bundle, findings);
    required(bundle, findings);
    install_modes(bundle, findings);
    min_kube_version(bundle, findings);
    annotation_names(bundle, findings);
    related_images(bundle, findings);
}

/// The types of fields.
const TYPES: &[Field] = {
    use Type::{Bool, List, Map, Number, Text, TextOrNumber};
    &[
        ("apiVersion", Text),
        ("kind", Text),
        ("metadata", Map),
        ("metadata.name", Text),
        ("metadata.annotations", Map),
        ("metadata.annotations.*", Text),
        ("metadata.labels", Map),
        ("metadata.labels.*", Text),
        ("spec", Map),
        ("spec.install", Map),
        ("spec.install.strategy", Text),
        ("spec.install.spec", Map),
        ("spec.install.spec.deployments", List),
        ("spec.install.spec.deployments.*", Map),
        ("spec.install.spec.deployments.*.name", Text),
        ("spec.install.spec.deployments.*.label", Map),
        ("spec.install.spec.deployments.*.label.*", Text),
        ("spec.install.spec.deployments.*.spec", Map),
        ("spec.install.spec.permissions", List),
        ("spec.install.spec.permissions.*", Map),
        ("spec.install.spec.permissions.*.serviceAccountName", Text),
        ("spec.install.spec.permissions.*.rules", List),
        ("spec.install.spec.permissions.*.rules.*", Map),
        ("spec.install.spec.clusterPermissions", List),
        ("spec.install.spec.clusterPermissions.*", Map),
        ("spec.install.spec.clusterPermissions.*.serviceAccountName", Text),
        ("spec.install.spec.clusterPermissions.*.rules", List),
        ("spec.install.spec.clusterPermissions.*.rules.*", Map),
        ("spec.version", Text),
        ("spec.release", Text),
        ("spec.maturity", Text),
        ("spec.customresourcedefinitions", Map),
        ("spec.customresourcedefinitions.owned|required", List),
        ("spec.customresourcedefinitions.owned|required.*", Map),
        ("spec.customresourcedefinitions.owned|required.*.name|version|kind|displayName|description", Text),
        ("spec.customresourcedefinitions.owned|required.*.resources", List),
        ("spec.customresourcedefinitions.owned|required.*.resources.*", Map),
        ("spec.customresourcedefinitions.owned|required.*.resources.*.name|kind|version", Text),
        ("spec.customresourcedefinitions.owned|required.*.specDescriptors|statusDescriptors|actionDescriptors", List),
        ("spec.customresourcedefinitions.owned|required.*.specDescriptors|statusDescriptors|actionDescriptors.*", Map),
        (
            "spec.customresourcedefinitions.owned|required.*.specDescriptors|statusDescriptors|actionDescriptors.*.path|displayName|description",
            Text,
        ),
        (
            "spec.customresourcedefinitions.owned|required.*.specDescriptors|statusDescriptors|actionDescriptors.*.x-descriptors",
            List,
        ),
        ("spec.apiservicedefinitions", Map),
        ("spec.apiservicedefinitions.owned|required", List),
        ("spec.apiservicedefinitions.owned|required.*", Map),
        ("spec.webhookdefinitions", List),
        ("spec.webhookdefinitions.*", Map),
        ("spec.webhookdefinitions.*.generateName", Text),
        ("spec.webhookdefinitions.*.type", Text),
        ("spec.webhookdefinitions.*.deploymentName", Text),
        ("spec.webhookdefinitions.*.containerPort", Number),
        ("spec.webhookdefinitions.*.targetPort", TextOrNumber),
        ("spec.webhookdefinitions.*.rules", List),
        ("spec.webhookdefinitions.*.rules.*", Map),
        ("spec.webhookdefinitions.*.rules.*.apiGroups", List),
        ("spec.webhookdefinitions.*.rules.*.apiGroups.*", Text),
        ("spec.webhookdefinitions.*.rules.*.apiVersions", List),
        ("spec.webhookdefinitions.*.rules.*.apiVersions.*", Text),
        ("spec.webhookdefinitions.*.rules.*.operations", List),
        ("spec.webhookdefinitions.*.rules.*.operations.*", Text),
        ("spec.webhookdefinitions.*.rules.*.resources", List),
        ("spec.webhookdefinitions.*.rules.*.resources.*", Text),
        ("spec.webhookdefinitions.*.rules.*.scope", Text),
        ("spec.webhookdefinitions.*.objectSelector", Map),
        ("spec.webhookdefinitions.*.objectSelector.matchLabels", Map),
        ("spec.webhookdefinitions.*.objectSelector.matchLabels.*", Text),
        ("spec.webhookdefinitions.*.objectSelector.matchExpressions", List),
        ("spec.webhookdefinitions.*.reinvocationPolicy", Text),
        ("spec.webhookdefinitions.*.failurePolicy", Text),
        ("spec.webhookdefinitions.*.matchPolicy", Text),
        ("spec.webhookdefinitions.*.sideEffects", Text),
        ("spec.webhookdefinitions.*.timeoutSeconds", Number),
        ("spec.webhookdefinitions.*.admissionReviewVersions", List),
        ("spec.webhookdefinitions.*.admissionReviewVersions.*", Text),
        ("spec.webhookdefinitions.*.webhookPath", Text),
        ("spec.webhookdefinitions.*.conversionCRDs", List),
        ("spec.webhookdefinitions.*.conversionCRDs.*", Text),
        ("spec.nativeAPIs", List),
        ("spec.minKubeVersion", Text),
        ("spec.displayName", Text),
        ("spec.description", Text),
        ("spec.keywords", List),
        ("spec.keywords.*", Text),
        ("spec.maintainers", List),
        ("spec.maintainers.*", Map),
        ("spec.maintainers.*.name|email", Text),
        ("spec.provider", Map),
        ("spec.provider.name|url", Text),
        ("spec.links", List),
        ("spec.links.*", Map),
        ("spec.links.*.name|url", Text),
        ("spec.icon", List),
        ("spec.icon.*", Map),
        ("spec.icon.*.base64data|mediatype", Text),
        ("spec.installModes", List),
        ("spec.installModes.*", Map),
        ("spec.installModes.*.type", Text),
        ("spec.installModes.*.supported", Bool),
        ("spec.replaces", Text),
        ("spec.skips", List),
        ("spec.skips.*", Text),
        ("spec.labels", Map),
        ("spec.annotations", Map),
        ("spec.selector", Map),
        ("spec.selector.matchLabels", Map),
        ("spec.selector.matchLabels.*", Text),
        ("spec.selector.matchExpressions", List),
        ("spec.cleanup", Map),
        ("spec.cleanup.enabled", Bool),
        ("spec.relatedImages", List),
        ("spec.relatedImages.*", Map),
        ("spec.relatedImages.*.name|image", Text),
    ]
};

fn decode(bundle: &Bundle, findings: &mut Findings) {
    for (node, problem) in undecodable(&bundle.csv().node, TYPES) {
        findings.error("csv-decode", &head(node), problem);
    }
    let spec = bundle.spec();
    if let Some(version) = spec.get("version")
        && let Some(Err(problem)) = version.as_text().map(semver::parse_tolerant)
    {
        findings.error("csv-decode", &version.span, problem).help("write a version such as `1.2.3`");
    }
    if let Some(release) = spec.get("release")
        && let Some(text) = release.as_text()
        && let Err(problem) = check_release(text)
    {
        findings.error("csv-decode", &release.span, problem);
    }
    for deployment in bundle.deployments() {
        let Some(spec) = deployment.get("spec") else { continue };
        if let Err(problem) = deployment_spec(&spec.json()) {
            findings.error(
                "csv-decode",
                &place(deployment, &["spec"]),
                format!("this is not the spec of a Deployment: {problem}"),
            );
        }
    }
    for list in ["permissions", "clusterPermissions"] {
        for rule in spec.items_at(&["install", "spec", list]).iter().flat_map(|entry| entry.items_at(&["rules"])) {
            if let Err(problem) = policy_rule(&rule.json()) {
                findings.error("csv-decode", &head(rule), format!("this is not a rule of a role: {problem}"));
            }
        }
    }
}

/// Checks a release. Source: `pkg/lib/release`.
fn check_release(text: &str) -> Result<(), String> {
    let is_wrong = |part: &str| {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        !is_identifier(part) || is_number && part.len() > 1 && part.starts_with('0')
    };
    if text.len() > 20 {
        return Err(format!("the release `{text}` has more than 20 characters"));
    }
    match text.split('.').any(is_wrong) {
        true => Err(format!(
            "the release `{text}` is not made of letters, digits and `-`, with dots between, numbers without leading zeros"
        )),
        false => Ok(()),
    }
}

fn names(bundle: &Bundle, findings: &mut Findings) {
    let csv = &bundle.csv().node;
    let check = |name: &str| match name {
        "" => Err("it is empty".to_owned()),
        name if name.len() > 63 => Err(format!("`{name}` has {} characters, more than the 63 of a label", name.len())),
        name if !is_dns_subdomain(name) => {
            Err(format!("`{name}` is not a DNS subdomain: lowercase letters, digits, `-` and `.`"))
        }
        _ => Ok(()),
    };
    if let Err(problem) = check(bundle.csv().name()) {
        let span = place(csv, &["metadata", "name"]);
        findings.error("csv-name", &span, format!("`metadata.name` is not a name that OLM can use: {problem}"));
    }
    let replaces = text(bundle.spec(), "replaces");
    if !replaces.is_empty()
        && let Err(problem) = check(replaces)
    {
        let span = place(csv, &["spec", "replaces"]);
        findings.error(
            "csv-replaces",
            &span,
            format!("`spec.replaces` is not the name of a ClusterServiceVersion: {problem}"),
        );
    }
    let (version, release) = (text(bundle.spec(), "version"), text(bundle.spec(), "release"));
    if !release.is_empty() {
        let version = semver::parse_tolerant(version).unwrap_or(Version::new(0, 0, 0));
        let expected = format!("{}-v{version}-{release}", bundle.package());
        if bundle.csv().name() != expected {
            let message = format!("with the release `{release}`, the name must be `{expected}`");
            findings.error("csv-release-name", &place(csv, &["metadata", "name"]), message);
        }
    }
}

/// Reports empty fields without `omitempty` in the Go types, except those in lists.
fn required(bundle: &Bundle, findings: &mut Findings) {
    let csv = &bundle.csv().node;
    let is_empty = |node: Option<&Node>| {
        node.is_none_or(|node| match &node.value {
            Value::Null => true,
            Value::Text(text) => text.is_empty(),
            Value::Map(entries) => entries.is_empty(),
            _ => false,
        })
    };
    let paths = [
        "apiVersion",
        "spec",
        "spec.displayName",
        "spec.install",
        "spec.install.strategy",
        "spec.install.spec.deployments",
    ];
    for path in paths {
        let steps: Vec<&str> = path.split('.').collect();
        // Fields of a missing parent are not reported as well.
        let (_, parent) = steps.split_last().expect("a path has a step");
        if is_empty(csv.at(&steps)) && !is_empty(csv.at(parent)) {
            findings.error("csv-required", &place(csv, &steps), format!("`{path}` is missing or empty"));
        }
    }
    let version = bundle.csv().api_version();
    if !version.is_empty() && version != "operators.coreos.com/v1alpha1" {
        let message =
            format!("a ClusterServiceVersion has `apiVersion: operators.coreos.com/v1alpha1`, not `{version}`");
        findings.error("csv-required", &place(csv, &["apiVersion"]), message);
    }
}

fn install_modes(bundle: &Bundle, findings: &mut Findings) {
    let csv = &bundle.csv().node;
    let span = place(csv, &["spec", "installModes"]);
    let modes = bundle.spec().items_at(&["installModes"]);
    if modes.is_empty() {
        findings
            .error("csv-install-modes", &span, "`spec.installModes` is missing or empty")
            .help("`AllNamespaces` with `supported: true` is what OLM v1 installs");
        return;
    }
    let is_supported = |mode: &Node| mode.get("supported").is_some_and(Node::is_true);
    if !modes.iter().any(is_supported) {
        findings
            .error("csv-install-modes", &span, "no install mode is supported")
            .help("set `supported: true` for `AllNamespaces`");
    }
    let mut seen: BTreeMap<&str, ()> = BTreeMap::new();
    for mode in modes {
        let name = text(mode, "type");
        if seen.insert(name, ()).is_some() {
            findings.error(
                "csv-install-mode-twice",
                &place(mode, &["type"]),
                format!("the install mode `{name}` is listed twice"),
            );
        }
        if !["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"].contains(&name) {
            let help = "the modes are `OwnNamespace`, `SingleNamespace`, `MultiNamespace` and `AllNamespaces`";
            findings
                .warning("csv-install-modes", &place(mode, &["type"]), format!("unknown install mode `{name}`"))
                .help(help);
        }
    }
    let is_wrong = |mode: &Node| is_supported(mode) != (text(mode, "type") == "AllNamespaces");
    for webhook in bundle.webhooks() {
        if !webhook.items_at(&["conversionCRDs"]).is_empty()
            && let Some(mode) = modes.iter().find(|mode| is_wrong(mode))
        {
            let name = text(mode, "type");
            let what =
                if is_supported(mode) { format!("and `{name}` is supported") } else { format!("and `{name}` is not") };
            let message = format!("with a conversion webhook, only `AllNamespaces` can be supported, {what}");
            findings.error("csv-install-modes-conversion", &place(mode, &["supported"]), message);
            break;
        }
    }
}

fn min_kube_version(bundle: &Bundle, findings: &mut Findings) {
    let span = place(&bundle.csv().node, &["spec", "minKubeVersion"]);
    match text(bundle.spec(), "minKubeVersion") {
        version if version.trim().is_empty() => {
            findings
                .warning(
                    "csv-min-kube-version",
                    &span,
                    "`spec.minKubeVersion` is not set, so OLM installs the operator on any Kubernetes",
                )
                .help("set the oldest version that you test with, e.g. `minKubeVersion: 1.30.0`");
        }
        version => {
            if let Err(problem) = semver::parse(version) {
                findings.error("csv-min-kube-version", &span, problem).help("write all three numbers, e.g. `1.30.0`");
            }
        }
    }
}

/// Annotations that OLM looks up by these exact names.
const CASE: [&str; 5] =
    ["olm.operatorGroup", "olm.operatorNamespace", "olm.targetNamespaces", "olm.providedAPIs", "olm.skipRange"];

fn annotation_names(bundle: &Bundle, findings: &mut Findings) {
    let Some(annotations) = bundle.csv().node.at(&["metadata", "annotations"]) else { return };
    for entry in annotations.entries() {
        let key = &entry.key;
        if let Some(right) = CASE.iter().find(|right| right.eq_ignore_ascii_case(key) && *right != key) {
            findings.error(
                "csv-annotation-case",
                &entry.key_span,
                format!("the annotation `{key}` must be spelled `{right}`"),
            );
        }
        if key == "olm.properties" {
            findings
                .warning("csv-olm-properties", &entry.key_span, "the annotation `olm.properties` is deprecated")
                .help("move the properties to `metadata/properties.yaml`");
        }
    }
}

fn related_images(bundle: &Bundle, findings: &mut Findings) {
    for related in bundle.spec().items_at(&["relatedImages"]) {
        let image = text(related, "image");
        let span = place(related, &["image"]);
        if image.is_empty() {
            findings.error("csv-related-images", &span, "this related image has no `image`");
        } else if !image::is_reference(image) {
            let message = format!("`{image}` is not a reference of an image");
            findings.error("csv-related-images", &span, message).help("write `HOST/PATH:TAG` or `HOST/PATH@sha256:…`");
        }
    }
}
