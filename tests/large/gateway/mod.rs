//! Routes into the cluster. Enums are documented, as users read them with `kubectl explain`.

pub mod common;
pub mod gateway;
pub mod route;

use kube::CustomResourceExt as _;
type Crd = k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

pub fn crds() -> Vec<Crd> {
    let mut all = Vec::from([gateway::Gateway::crd(), gateway::GatewayClass::crd()]);
    all.extend(route::all());
    all
}
