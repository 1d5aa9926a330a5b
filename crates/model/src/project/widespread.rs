//! The API groups of widespread projects. No operator in Rust serves them: a type for one of their kinds only reads
//! objects, and its CRD comes with the other project.

use super::builtin;

/// The project that defines a group, if it is Kubernetes or a widespread one.
pub fn project_of(group: &str) -> Option<&'static str> {
    if builtin::in_group(group).next().is_some() || KUBERNETES.contains(&group) {
        return Some("Kubernetes");
    }
    let is_in = |suffix: &str| group.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    let exact = GROUPS.iter().find(|(own, _)| *own == group);
    exact.or_else(|| DOMAINS.iter().find(|(domain, _)| is_in(domain))).map(|(_, name)| *name)
}

/// Groups of Kubernetes without kinds that a controller watches.
const KUBERNETES: &[&str] = &[
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "events.k8s.io",
    "extensions",
    "metrics.k8s.io",
];

/// Single groups. Other projects have groups below the same domain.
const GROUPS: &[(&str, &str)] = &[
    ("agents.x-k8s.io", "Agent Sandbox"),
    ("autoscaling.k8s.io", "the Vertical Pod Autoscaler"),
    ("cluster.x-k8s.io", "Cluster API"),
    ("externaldns.k8s.io", "ExternalDNS"),
    ("gateway.networking.k8s.io", "the Gateway API"),
    ("gateway.networking.x-k8s.io", "the Gateway API"),
    ("groupsnapshot.storage.k8s.io", "the CSI snapshotter"),
    ("inference.networking.k8s.io", "the Gateway API Inference Extension"),
    ("inference.networking.x-k8s.io", "the Gateway API Inference Extension"),
    ("jobset.x-k8s.io", "JobSet"),
    ("karpenter.k8s.aws", "Karpenter"),
    ("kueue.x-k8s.io", "Kueue"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    ("multicluster.x-k8s.io", "the Multi-Cluster Services API"),
    ("nfd.k8s-sigs.io", "Node Feature Discovery"),
    ("policy.networking.k8s.io", "the Network Policy API"),
    ("rabbitmq.com", "the RabbitMQ operator"),
    ("secrets-store.csi.x-k8s.io", "the Secrets Store CSI driver"),
    ("snapshot.storage.k8s.io", "the CSI snapshotter"),
    ("sparkoperator.k8s.io", "the Spark operator"),
    ("vpcresources.k8s.aws", "the Amazon VPC resource controller"),
];

/// Domains of a single project, with all groups below them.
const DOMAINS: &[(&str, &str)] = &[
    ("acid.zalan.do", "Zalando's postgres-operator"),
    ("argoproj.io", "Argo"),
    ("aws.upbound.io", "Crossplane"),
    ("bitnami.com", "Sealed Secrets"),
    ("camel.apache.org", "Camel K"),
    ("cattle.io", "Rancher"),
    ("cert-manager.io", "cert-manager"),
    ("cilium.io", "Cilium"),
    ("clickhouse.altinity.com", "the ClickHouse operator"),
    ("cnrm.cloud.google.com", "Config Connector"),
    ("configuration.konghq.com", "the Kong ingress controller"),
    ("crossplane.io", "Crossplane"),
    ("dapr.io", "Dapr"),
    ("external-secrets.io", "External Secrets"),
    ("fluxcd.io", "Flux"),
    ("gatekeeper.sh", "Gatekeeper"),
    ("getambassador.io", "Emissary-ingress"),
    ("istio.io", "Istio"),
    ("jaegertracing.io", "Jaeger"),
    ("k8s.cni.cncf.io", "the network plumbing working group"),
    ("k8s.elastic.co", "Elastic Cloud on Kubernetes"),
    ("k8s.keycloak.org", "the Keycloak operator"),
    ("k8s.nginx.org", "the NGINX ingress controller"),
    ("karpenter.sh", "Karpenter"),
    ("keda.sh", "KEDA"),
    ("knative.dev", "Knative"),
    ("kubeflow.org", "Kubeflow"),
    ("kubevirt.io", "KubeVirt"),
    ("kyverno.io", "Kyverno"),
    ("longhorn.io", "Longhorn"),
    ("metallb.io", "MetalLB"),
    ("monitoring.coreos.com", "the Prometheus operator"),
    ("mongodbcommunity.mongodb.com", "the MongoDB operator"),
    ("open-cluster-management.io", "Open Cluster Management"),
    ("openshift.io", "OpenShift"),
    ("opentelemetry.io", "the OpenTelemetry operator"),
    ("operators.coreos.com", "the Operator Lifecycle Manager"),
    ("postgres-operator.crunchydata.com", "Crunchy's postgres-operator"),
    ("postgresql.cnpg.io", "CloudNativePG"),
    ("projectcalico.org", "Calico"),
    ("projectcontour.io", "Contour"),
    ("ray.io", "KubeRay"),
    ("rook.io", "Rook"),
    ("secrets.hashicorp.com", "the Vault Secrets operator"),
    ("services.k8s.aws", "AWS Controllers for Kubernetes"),
    ("solo.io", "Gloo"),
    ("strimzi.io", "Strimzi"),
    ("tekton.dev", "Tekton"),
    ("traefik.containo.us", "Traefik"),
    ("traefik.io", "Traefik"),
    ("velero.io", "Velero"),
    ("volcano.sh", "Volcano"),
    ("wgpolicyk8s.io", "the policy working group"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_belongs_to_a_project_whole_or_by_its_domain() {
        for (group, project) in [
            ("cert-manager.io", Some("cert-manager")),
            ("acme.cert-manager.io", Some("cert-manager")),
            ("my-cert-manager.io", None),
            ("cluster.x-k8s.io", Some("Cluster API")),
            ("addons.cluster.x-k8s.io", None),
            ("networking.k8s.io", Some("Kubernetes")),
            ("core", Some("Kubernetes")),
            ("example.com", None),
        ] {
            assert_eq!(project_of(group), project, "{group}");
        }
    }
}
