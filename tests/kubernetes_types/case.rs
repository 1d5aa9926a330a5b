//! A kind whose CRD is another one for each version of Kubernetes.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::core::v1::*;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use kube::core::ObjectMeta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Case", status = "Status")]
#[serde(rename_all = "camelCase")]
pub struct Spec {
    /// Its properties grow with each version.
    template: PodTemplateSpec,
    affinity: Option<Affinity>,
    metadata: ObjectMeta,
    #[serde(default)]
    port: IntOrString,
    #[serde(default)]
    limits: BTreeMap<String, Quantity>,
    #[serde(default)]
    selector: Box<LabelSelectorOfClaim>,
    /// Not a type with a schema, but one with a default.
    #[serde(default)]
    #[schemars(with = "String")]
    secret: k8s_openapi::ByteString,
    /// Its default has two fields until 1.36.
    #[serde(default)]
    condition: apps::DeploymentCondition,
    #[serde(default)]
    deployment: Deployed,
}

type LabelSelectorOfClaim = k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct Deployed {
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    whole: apps::Deployment,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Status {
    #[serde(default)]
    conditions: Vec<apps::DeploymentCondition>,
}
