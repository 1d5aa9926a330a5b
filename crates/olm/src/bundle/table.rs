//! The rules of `opctl bundle validate`: their names, families and sources. `docs/olm-validate.md` lists them; a test
//! compares both.

use crate::bundle::diagnostics::{OP510, OP511, OP512, OP513, OP514, OP515};
use opctl_model::diagnostic::Code;
/// A rule of bundle validation, which findings refer to.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable identifier, at the end of every message.
    pub id: &'static str,
    pub family: Family,
    /// The existing implementation that opctl follows.
    pub source: Source,
    /// The condition that a valid bundle meets.
    pub summary: &'static str,
}

/// A group of rules. Each has a code of its own for `opctl explain`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Folders, files and annotations.
    Format,
    Csv,
    Manifests,
    /// Optional validators, selected by name or suite.
    Optional,
    /// Bundles that OLM v1 rejects.
    OlmV1,
    /// Rules that no validator of operator-framework has.
    Opctl,
}

impl Family {
    pub fn code(self) -> &'static Code {
        match self {
            Self::Format => OP510,
            Self::Csv => OP511,
            Self::Manifests => OP512,
            Self::Optional => OP513,
            Self::OlmV1 => OP514,
            Self::Opctl => OP515,
        }
    }
}

/// The origin of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// operator-registry: `pkg/lib/bundle/validate.go`
    Registry,
    /// operator-framework/api: `pkg/manifests/bundleloader.go`
    Loader,
    /// operator-framework/api: `pkg/validation/internal`
    Api,
    /// operator-sdk: `internal/registry/validate.go`
    Sdk,
    /// operator-controller: `internal/operator-controller/rukpak`
    Controller,
    /// operator-lifecycle-manager (OLM v0): `pkg/controller/install`
    Lifecycle,
    /// Kubernetes: validation in the API server
    Kubernetes,
    /// opctl alone
    Opctl,
}

impl Source {
    pub fn name(self) -> &'static str {
        match self {
            Self::Registry => "operator-registry",
            Self::Loader | Self::Api => "operator-framework/api",
            Self::Sdk => "operator-sdk",
            Self::Controller => "operator-controller",
            Self::Lifecycle => "operator-lifecycle-manager",
            Self::Kubernetes => "Kubernetes",
            Self::Opctl => "opctl",
        }
    }
}

const fn rule(id: &'static str, family: Family, source: Source, summary: &'static str) -> Rule {
    Rule { id, family, source, summary }
}

pub const RULES: &[Rule] = {
    use Family::{Csv, Format, Manifests, OlmV1, Opctl as Own, Optional};
    use Source::{Api, Controller, Kubernetes, Lifecycle, Loader, Opctl, Registry, Sdk};
    &[
        rule("bundle-folders", Format, Registry, "the bundle has the folders `manifests` and `metadata`"),
        rule("bundle-metadata", Format, Registry, "a file in `metadata` has `annotations`, which are texts"),
        rule("metadata-yaml", Format, Registry, "the files in `metadata` are YAML"),
        rule("manifests-folder", Format, Loader, "the manifests folder contains no folders and no hidden files"),
        rule("manifest-yaml", Format, Loader, "each manifest is YAML, and an object of Kubernetes"),
        rule("csv-missing", Format, Loader, "there is a ClusterServiceVersion"),
        rule("csv-several", Format, Loader, "there is only one ClusterServiceVersion"),
        rule(
            "annotation-missing",
            Format,
            Registry,
            "the annotations for media type, folders, package and channels are present",
        ),
        rule("annotation-mediatype", Format, Registry, "the media type is `registry+v1`"),
        rule("annotation-channels", Format, Registry, "the list of channels is not empty"),
        rule("annotation-default-channel", Format, Registry, "the default channel is not empty"),
        rule("dependency", Format, Registry, "each dependency has a known type and the fields of this type"),
        rule("csv-decode", Csv, Loader, "the fields of the ClusterServiceVersion have the right types"),
        rule("csv-name", Csv, Api, "`metadata.name` is a DNS subdomain of at most 63 characters"),
        rule("csv-replaces", Csv, Api, "`spec.replaces` is a DNS subdomain of at most 63 characters"),
        rule("csv-annotations", Csv, Api, "the ClusterServiceVersion has annotations"),
        rule("csv-examples", Csv, Api, "there are examples, in `alm-examples` or `olm.examples`, but not in both"),
        rule("csv-examples-json", Csv, Api, "the examples are a JSON array of objects"),
        rule("csv-examples-provided", Csv, Api, "each example is of an API that the bundle provides"),
        rule("csv-examples-complete", Csv, Api, "each provided API has an example"),
        rule("csv-owned-name", Csv, Api, "the names of owned CRDs are `<plural>.<group>`"),
        rule("csv-install-modes", Csv, Api, "`spec.installModes` has a supported mode"),
        rule("csv-install-mode-twice", Csv, Api, "each install mode is listed once"),
        rule(
            "csv-install-modes-conversion",
            Csv,
            Api,
            "with conversion webhooks, AllNamespaces is the only supported install mode",
        ),
        rule("csv-min-kube-version", Csv, Api, "`spec.minKubeVersion` is set, and is a version such as `1.30.0`"),
        rule("csv-required", Csv, Api, "the required fields are set"),
        rule("csv-annotation-case", Csv, Api, "OLM's annotations are spelled in the right case"),
        rule(
            "csv-olm-properties",
            Csv,
            Api,
            "properties are in `metadata/properties.yaml`, not in the annotation `olm.properties`",
        ),
        rule("csv-release-name", Csv, Api, "with `spec.release`, the name is `<package>-v<version>-<release>`"),
        rule("csv-related-images", Csv, Api, "each of `spec.relatedImages` is a reference of an image"),
        rule("crd-api-version", Manifests, Loader, "CRDs have `apiVersion: apiextensions.k8s.io/v1`"),
        rule("crd-decode", Manifests, Loader, "the fields of CRDs have the right types"),
        rule("crd-duplicate", Manifests, Api, "no two CRDs define the same version of a kind"),
        rule("crd-missing", Manifests, Api, "there is a CRD for each owned API"),
        rule("crd-not-owned", Manifests, Api, "the ClusterServiceVersion owns each CRD"),
        rule("crd-invalid", Manifests, Api, "an API server accepts the CRDs, apart from their schemas"),
        rule("object-kind", Manifests, Sdk, "OLM supports the kind of each manifest"),
        rule("object-namespace", Manifests, Sdk, "manifests have no `metadata.namespace`"),
        rule("object-decode", Manifests, Kubernetes, "the fields of manifests have the right types"),
        rule("object-metadata", Manifests, Sdk, "the metadata of manifests is valid"),
        rule("service-account", Manifests, Api, "no manifest is a ServiceAccount that OLM creates for a Deployment"),
        rule(
            "bundle-size",
            Manifests,
            Api,
            "the compressed manifests have less than 1 MiB, better less than 85 % of it",
        ),
        rule("hub-provider", Optional, Api, "`spec.provider.name` is set"),
        rule("hub-maintainers", Optional, Api, "each maintainer has a name and an e-mail address"),
        rule("hub-links", Optional, Api, "each link has a name and a URL"),
        rule("hub-version", Optional, Api, "`spec.version` is set"),
        rule(
            "hub-icon",
            Optional,
            Api,
            "there is one icon, with data and the media type of a GIF, JPEG, PNG or SVG image",
        ),
        rule("capabilities", Optional, Api, "the annotation `capabilities` is a level of the operator maturity model"),
        rule("categories", Optional, Api, "the annotation `categories` lists categories of OperatorHub.io"),
        rule("removed-api", Optional, Api, "no manifest is of an API that Kubernetes has removed"),
        rule("removed-api-option", Optional, Api, "the versions of Kubernetes to check are versions"),
        rule("practice-deployment", Optional, Api, "the ClusterServiceVersion has a Deployment"),
        rule("practice-requests", Optional, Api, "each container requests CPU and memory"),
        rule("practice-description", Optional, Api, "owned and required CRDs have descriptions"),
        rule("practice-channel", Optional, Api, "the names of channels begin with `candidate`, `fast` or `stable`"),
        rule("practice-crd-rights", Optional, Api, "the operator has no permission to create CRDs"),
        rule("practice-name", Optional, Api, "the name of the ClusterServiceVersion is `<package>.v<version>`"),
        rule("multiarch-affinity", Optional, Api, "the node affinity of Deployments lists the platforms of the labels"),
        rule(
            "multiarch-image",
            Optional,
            Api,
            "images are available for the platforms of the labels, which opctl does not check",
        ),
        rule("validator-deprecated", Optional, Sdk, "no deprecated validator is selected"),
        rule(
            "community-openshift",
            Optional,
            Api,
            "with APIs that Kubernetes 1.22 removed, the bundle is limited to OpenShift before 4.9",
        ),
        rule("object-disruption", Optional, Api, "a PodDisruptionBudget permits some disruption"),
        rule("object-priority", Optional, Api, "no PriorityClass is the global default"),
        rule(
            "object-rights",
            Optional,
            Api,
            "no role permits changes of PodDisruptionBudgets or of OpenShift's default SecurityContextConstraints",
        ),
        rule("v1-install-mode", OlmV1, Controller, "the install mode AllNamespaces is supported"),
        rule("v1-dependency", OlmV1, Controller, "the bundle has no dependencies and no required APIs"),
        rule("v1-api-service", OlmV1, Controller, "the bundle owns no APIServices"),
        rule("v1-deployment", OlmV1, Controller, "the names of Deployments are unique DNS subdomains"),
        rule("v1-crd", OlmV1, Controller, "the names of CRDs are unique"),
        rule("v1-package", OlmV1, Controller, "the name of the package is not empty"),
        rule("v1-webhook-deployment", OlmV1, Controller, "each webhook names a Deployment of the bundle"),
        rule("v1-webhook-name", OlmV1, Controller, "the names of webhooks are DNS subdomains, unique for each type"),
        rule(
            "v1-webhook-rules",
            OlmV1,
            Controller,
            "no webhook is for all groups, for OLM's objects or for webhook configurations",
        ),
        rule(
            "v1-conversion",
            OlmV1,
            Controller,
            "conversion webhooks are for owned CRDs, and each CRD has at most one",
        ),
        rule(
            "v1-webhook-port",
            OlmV1,
            Kubernetes,
            "each webhook has a `containerPort`, and each of these ports leads to one target port",
        ),
        rule("v1-certificates", OlmV1, Kubernetes, "no init container mounts a volume that OLM replaces"),
        rule("manifest-documents", Own, Opctl, "each file has one object: OLM v0 reads the first one only"),
        rule("annotation-folders", Own, Opctl, "the annotations name the folders `manifests/` and `metadata/`"),
        rule("annotation-package", Own, Opctl, "the name of the package is a DNS label, as catalogs require it"),
        rule("annotation-dockerfile", Own, Opctl, "the labels in `bundle.Dockerfile` equal the annotations"),
        rule("file-size", Own, Kubernetes, "each manifest is smaller than 1.5 MiB, the limit of etcd"),
        rule("crd-schema", Own, Kubernetes, "an API server accepts the schemas of the CRDs"),
        rule("example-invalid", Own, Kubernetes, "an API server accepts the examples"),
        rule("webhook-invalid", Own, Kubernetes, "an API server accepts the webhooks"),
        rule(
            "webhook-rules",
            Own,
            Lifecycle,
            "no webhook is for all groups, for `operators.coreos.com` or for webhook configurations",
        ),
        rule("webhook-port", Own, Opctl, "the target port of each webhook is a port of its Deployment"),
        rule("account-rights", Own, Opctl, "each Deployment's account has permissions: OLM creates no other accounts"),
        rule("binding", Own, Opctl, "role bindings refer to roles of the bundle, and to accounts without a namespace"),
        rule("icon-type", Own, Opctl, "the data of the icon is an image of its media type"),
        rule("image-pinned", Own, Opctl, "with `features…/disconnected: \"true\"`, all images are pinned by digest"),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_in_the_table_once() {
        let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), RULES.len());
    }
}
