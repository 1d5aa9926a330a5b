// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! `Nginx` in `web.example.com/v1`: the values of the chart in `helm-charts/nginx`.
//!
//! They were typed by the chart's own `values.yaml` and `values.schema.json`; the file is yours to correct. What is not set here is
//! the chart's default. Run `opctl manifests` after a change: the CRD in `config/crd` is generated from this file.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use opctl_runtime::helm::ReleaseStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The values of a release.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "web.example.com",
    version = "v1",
    kind = "Nginx",
    namespaced,
    status = "ReleaseStatus",
    doc = "Nginx, a release of the chart `nginx`.",
    validation = ("self.metadata.name.size() <= 53", "the release gets the name, so it has at most 53 characters"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(
        name = "Revision",
        type_ = "integer",
        json_path = ".status.release.revision"
    ),
    printcolumn(
        name = "Chart",
        type_ = "string",
        json_path = ".status.release.chartVersion"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct NginxSpec {
    /// This will set the replicaset count more information can be found here:
    /// https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/ Chart default: `1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_count: Option<IntOrString>,
    /// This sets the container image more information can be found here:
    /// https://kubernetes.io/docs/concepts/containers/images/
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<NginxImage>,
    /// This is for the secrets for pulling an image from a private repository more information
    /// can be found here:
    /// https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_pull_secrets: Option<Vec<AnyValue>>,
    /// This is to override the chart name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_override: Option<IntOrString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fullname_override: Option<IntOrString>,
    /// This section builds out the service account more information can be found here:
    /// https://kubernetes.io/docs/concepts/security/service-accounts/
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_account: Option<NginxServiceAccount>,
    /// This is for setting Kubernetes Annotations to a Pod. For more information checkout:
    /// https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_annotations: Option<BTreeMap<String, AnyValue>>,
    /// This is for setting Kubernetes Labels to a Pod. For more information checkout:
    /// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_labels: Option<BTreeMap<String, AnyValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_security_context: Option<BTreeMap<String, AnyValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_context: Option<BTreeMap<String, AnyValue>>,
    /// This is for setting up a service more information can be found here:
    /// https://kubernetes.io/docs/concepts/services-networking/service/
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<NginxService>,
    /// This block is for setting up the ingress for more information can be found here:
    /// https://kubernetes.io/docs/concepts/services-networking/ingress/
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress: Option<NginxIngress>,
    /// Expose the service via gateway-api HTTPRoute Requires Gateway API resources and suitable
    /// controller installed within the cluster (see: https://gateway-api.sigs.k8s.io/guides/)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_route: Option<NginxHttpRoute>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<BTreeMap<String, AnyValue>>,
    /// This is to setup the liveness and readiness probes more information can be found here:
    /// https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
    /// Chart default: `{"httpGet":{"path":"/","port":"http"}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub liveness_probe: Option<BTreeMap<String, AnyValue>>,
    /// Chart default: `{"httpGet":{"path":"/","port":"http"}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readiness_probe: Option<BTreeMap<String, AnyValue>>,
    /// This section is for setting up autoscaling more information can be found here:
    /// https://kubernetes.io/docs/concepts/workloads/autoscaling/
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<NginxAutoscaling>,
    /// Additional volumes on the output Deployment definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volumes: Option<Vec<AnyValue>>,
    /// Additional volumeMounts on the output Deployment definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_mounts: Option<Vec<AnyValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<BTreeMap<String, AnyValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerations: Option<Vec<AnyValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<BTreeMap<String, AnyValue>>,
}

/// `image` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NginxImage {
    /// Chart default: `"nginx"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<IntOrString>,
    /// This sets the pull policy for images. Chart default: `"IfNotPresent"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_policy: Option<IntOrString>,
    /// Overrides the image tag whose default is the chart appVersion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<IntOrString>,
}

/// `serviceAccount` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NginxServiceAccount {
    /// Specifies whether a service account should be created. Chart default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<bool>,
    /// Automatically mount a ServiceAccount's API credentials? Chart default: `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automount: Option<bool>,
    /// Annotations to add to the service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, AnyValue>>,
    /// The name of the service account to use. If not set and create is true, a name is generated
    /// using the fullname template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<IntOrString>,
}

/// `service` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NginxService {
    /// This sets the service type more information can be found here:
    /// https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types
    /// Chart default: `"ClusterIP"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<IntOrString>,
    /// This sets the ports more information can be found here:
    /// https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports Chart
    /// default: `80`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<IntOrString>,
}

/// `ingress` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NginxIngress {
    /// Chart default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_name: Option<IntOrString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, AnyValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<AnyValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Vec<AnyValue>>,
}

/// `httpRoute` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NginxHttpRoute {
    /// HTTPRoute enabled. Chart default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// HTTPRoute annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, AnyValue>>,
    /// Which Gateways this Route is attached to. Chart default:
    /// `[{"name":"gateway","sectionName":"http"}]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_refs: Option<Vec<AnyValue>>,
    /// Hostnames matching HTTP header. Chart default: `["chart-example.local"]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostnames: Option<Vec<IntOrString>>,
    /// List of rules and filters applied. Chart default:
    /// `[{"matches":[{"path":{"type":"PathPrefix","value":"/headers"}}]}]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<AnyValue>>,
}

/// `autoscaling` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NginxAutoscaling {
    /// Chart default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Chart default: `1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_replicas: Option<IntOrString>,
    /// Chart default: `100`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_replicas: Option<IntOrString>,
    /// Chart default: `80`.
    #[serde(
        rename = "targetCPUUtilizationPercentage",
        skip_serializing_if = "Option::is_none"
    )]
    pub target_cpu_utilization_percentage: Option<IntOrString>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_memory_utilization_percentage: Option<AnyValue>,
}

// An integer or a string: the chart accepts both.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("nullable" = true, "x-kubernetes-int-or-string" = true))]
pub struct IntOrString(pub Value);

// Any value: the chart does not specify its type.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("nullable" = true, "x-kubernetes-preserve-unknown-fields" = true))]
pub struct AnyValue(pub Value);
