//! What a Kubernetes API server rejects of CRDs, objects and webhooks ([`apiserver`]), and which objects, writers and readers a change of
//! a CRD breaks ([`compat`]).
//!
//! Values go in, findings come out. Nothing here reads files, or knows where a CRD comes from.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod apiserver;
pub mod compat;
