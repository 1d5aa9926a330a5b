//! Issues certificates. The kinds are in one file each, what they share in `meta`; the style is that of a Go project
//! which was ported type by type.

#![allow(non_snake_case)]

mod certificate;
mod issuer;
mod meta;
mod request;

pub use self::certificate::*;
pub use self::issuer::{ClusterIssuer, Issuer};
pub use self::request::CertificateRequest;

pub fn crds() -> Vec<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition> {
    use kube::CustomResourceExt as _;
    vec![Certificate::crd(), Issuer::crd(), ClusterIssuer::crd(), CertificateRequest::crd()]
}
