//! Kubernetes' own types need no attention: clients in Go refuse the same values. But kube makes what is not required
//! nullable, and another schema takes other values.
use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, MicroTime, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "kubernetes.example.com", version = "v1", kind = "K")]
pub struct Spec {
    a: Option<IntOrString>,
    b: Option<Quantity>,
    c: Option<PodTemplateSpec>,
    d: Option<Vec<Condition>>,
    e: Option<Vec<IntOrString>>,
    #[serde(default = "a_quarter")]
    f: IntOrString,
    #[serde(default)]
    g: Quantity,
    h: Option<Time>,
    i: Option<Vec<MicroTime>>,
    #[schemars(with = "Option<String>")]
    j: Option<Time>,
}

fn a_quarter() -> IntOrString {
    IntOrString::String("25%".into())
}
