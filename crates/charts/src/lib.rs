//! The custom resources of Helm charts and Ansible roles: the types of their values or parameters, and the RBAC
//! permissions that they need. [`operator_sdk`] reads operator-sdk projects of both kinds. [`operator_chart`] is the
//! other direction: it converts an operator's manifests, as rendered by kustomize, to a Helm chart.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod ansible;
pub mod chart;
pub mod operator_chart;
pub mod operator_sdk;
pub mod spec;
