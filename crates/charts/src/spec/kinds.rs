//! The resource names (plurals) of kinds, known without a cluster.

use std::collections::BTreeMap;

use opctl_model::names::default_plural;
use opctl_model::project::builtin;

/// Plurals by group and kind.
#[derive(Clone, Debug)]
pub struct Known(BTreeMap<(String, String), String>);

/// Kinds of Kubernetes and of widespread projects that charts often contain. Their plurals are regular.
const OFTEN: [(&str, &[&str]); 24] = [
    ("", &["Event"]),
    ("acid.zalan.do", &["Postgresql"]),
    ("acme.cert-manager.io", &["Challenge", "Order"]),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("argoproj.io", &["AppProject", "Application", "ApplicationSet", "Rollout", "Workflow", "WorkflowTemplate"]),
    ("autoscaling.k8s.io", &["VerticalPodAutoscaler"]),
    ("bitnami.com", &["SealedSecret"]),
    ("cert-manager.io", &["Certificate", "CertificateRequest", "ClusterIssuer", "Issuer"]),
    ("cilium.io", &["CiliumClusterwideNetworkPolicy", "CiliumNetworkPolicy"]),
    ("events.k8s.io", &["Event"]),
    ("extensions", &["DaemonSet", "Deployment", "Ingress", "NetworkPolicy", "PodSecurityPolicy", "ReplicaSet"]),
    ("external-secrets.io", &["ClusterSecretStore", "ExternalSecret", "SecretStore"]),
    (
        "gateway.networking.k8s.io",
        &[
            "BackendTLSPolicy",
            "GRPCRoute",
            "Gateway",
            "GatewayClass",
            "HTTPRoute",
            "ListenerSet",
            "ReferenceGrant",
            "TCPRoute",
            "TLSRoute",
            "UDPRoute",
        ],
    ),
    ("keda.sh", &["ClusterTriggerAuthentication", "ScaledJob", "ScaledObject", "TriggerAuthentication"]),
    (
        "monitoring.coreos.com",
        &[
            "Alertmanager",
            "AlertmanagerConfig",
            "PodMonitor",
            "Probe",
            "Prometheus",
            "PrometheusAgent",
            "PrometheusRule",
            "ScrapeConfig",
            "ServiceMonitor",
            "ThanosRuler",
        ],
    ),
    (
        "networking.istio.io",
        &["DestinationRule", "EnvoyFilter", "Gateway", "ServiceEntry", "Sidecar", "VirtualService"],
    ),
    ("policy", &["PodSecurityPolicy"]),
    ("projectcontour.io", &["HTTPProxy"]),
    ("route.openshift.io", &["Route"]),
    ("secrets-store.csi.x-k8s.io", &["SecretProviderClass"]),
    ("security.istio.io", &["AuthorizationPolicy", "PeerAuthentication", "RequestAuthentication"]),
    ("snapshot.storage.k8s.io", &["VolumeSnapshot", "VolumeSnapshotClass"]),
    ("traefik.io", &["IngressRoute", "Middleware", "TLSOption"]),
];

/// Kinds with an irregular plural.
const IRREGULAR: [(&str, &str, &str); 1] =
    [("security.openshift.io", "SecurityContextConstraints", "securitycontextconstraints")];

impl Known {
    /// The kinds of Kubernetes and of widespread projects, and these `(group, kind, plural)`.
    pub fn with(others: impl IntoIterator<Item = (String, String, String)>) -> Self {
        let key = |group: &str, kind: &str| (group.to_owned(), kind.to_owned());
        let own = builtin::all().map(|it| (key(it.api_group, it.kind), it.plural.to_owned()));
        let often = OFTEN.iter().flat_map(|(group, kinds)| kinds.iter().map(move |kind| (*group, *kind)));
        let often = often.map(|(group, kind)| (key(group, kind), default_plural(&kind.to_lowercase())));
        let irregular = IRREGULAR.iter().map(|(group, kind, plural)| (key(group, kind), (*plural).to_owned()));
        let others = others.into_iter().map(|(group, kind, plural)| ((group, kind), plural));
        Self(own.chain(often).chain(irregular).chain(others).collect())
    }

    pub fn add(&mut self, group: &str, kind: &str, plural: &str) {
        self.0.insert((group.to_owned(), kind.to_owned()), plural.to_owned());
    }

    pub fn plural(&self, group: &str, kind: &str) -> Option<&str> {
        self.0.get(&(group.to_owned(), kind.to_owned())).map(String::as_str)
    }

    /// The groups that have a kind of this name.
    pub fn groups(&self, kind: &str) -> impl Iterator<Item = &str> {
        self.0.keys().filter(move |(_, other)| other == kind).map(|(group, _)| group.as_str())
    }
}

/// A kind that a template names.
pub struct Written {
    /// `None` if the template computes it.
    pub group: Option<String>,
    pub kind: String,
}

/// The kinds in the text of a template, at the top level of an object. A kind may follow several `apiVersion` lines,
/// for clusters of different versions.
pub fn written(text: &str) -> Vec<Written> {
    let mut found = Vec::new();
    let (mut versions, mut kind, mut is_paired) = (Vec::new(), None, false);
    let mut pair = |version: &str, kind: &str| {
        let is_literal = |text: &str| !text.is_empty() && !text.contains("{{");
        if is_literal(kind) && !kind.ends_with("List") {
            found.push(Written { group: is_literal(version).then(|| group(version)), kind: kind.to_owned() });
        }
    };
    for line in text.lines() {
        let value = |key: &str| {
            line.strip_prefix(key).map(|it| it.split(" #").next().unwrap_or_default().trim().trim_matches('"'))
        };
        if line.starts_with("---") {
            (versions, kind, is_paired) = (Vec::new(), None, false);
        } else if let Some(version) = value("apiVersion:") {
            if is_paired {
                versions.clear();
            }
            match kind.take() {
                Some(kind) => pair(version, kind),
                None => versions.push(version),
            }
            is_paired = false;
        } else if let Some(name) = value("kind:") {
            versions.iter().for_each(|version| pair(version, name));
            is_paired = !versions.is_empty();
            kind = versions.is_empty().then_some(name);
        }
    }
    found
}

/// The group of an `apiVersion`; empty for the core group.
pub fn group(api_version: &str) -> String {
    api_version.split_once('/').map_or("", |(group, _)| group).to_owned()
}
