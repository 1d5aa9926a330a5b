//! Prints the CRDs of the compiled types.

mod globs;
mod names;

use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Local")]
pub struct LocalSpec {
    member: kinds::Kinds,
    outside: shared::Gate,
    outside_module: shared::ports::Port,
    level: shared::Level,
    around: kinds::again::gadget::paint::Color,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Git")]
pub struct GitSpec {
    widget: widget::Widget,
    #[serde(default)]
    sizes: Vec<widget::Size>,
    /// Said here.
    color: Option<widget::paint::Color>,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Vendored")]
pub struct VendoredSpec {
    quota: quota::Quota<String>,
    plain: Option<quota::Quota>,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Registry")]
pub struct RegistrySpec {
    rules: Option<Vec<gateway::httproutes::HttpRouteRules>>,
    gateway: gateway::apis::standard::gateways::GatewaySpec,
}

/// Kubernetes of two versions: one that opctl carries, one that it reads.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Kubernetes")]
pub struct KubernetesSpec {
    now: k8s_openapi::api::core::v1::Affinity,
    before: before::api::core::v1::PodSpec,
    condition: Option<before::apimachinery::pkg::apis::meta::v1::Condition>,
    port: before::apimachinery::pkg::util::intstr::IntOrString,
}

fn main() {
    let crds = [
        Local::crd(),
        Git::crd(),
        Vendored::crd(),
        Registry::crd(),
        Kubernetes::crd(),
        names::Names::crd(),
        globs::Globs::crd(),
    ];
    println!("{}", serde_json::to_string(&crds).unwrap());
}
