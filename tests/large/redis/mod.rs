//! Caches. Everything has a default, and each is a constant.

mod defaults;
mod spec;
mod status;

pub use spec::*;
pub use status::RedisStatus;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    vec![<Redis as kube::CustomResourceExt>::crd(), <RedisUser as kube::CustomResourceExt>::crd()]
}
