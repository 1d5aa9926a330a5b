//! Helm charts and Ansible roles, and the kinds that they become: the types of their values or parameters, and the permissions that
//! they need. [`operator_sdk`] reads projects of operator-sdk that are made of them. [`operator_chart`] is the other direction: what kustomize
//! renders of an operator becomes a Helm chart.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod ansible;
pub mod chart;
pub mod operator_chart;
pub mod operator_sdk;
pub mod spec;
