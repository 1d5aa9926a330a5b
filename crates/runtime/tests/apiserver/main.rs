//! The runtime on a real API server.
//!
//! The tests need `KUBEBUILDER_ASSETS`, and say that they were skipped without it; with `OPCTL_TESTS_MUST_RUN` set, that is a failure.
//! They share one API server, and each has namespaces of its own.

mod children;
mod cluster;
mod kinds;
mod lifecycle;
mod overload;
mod proxy;
mod undecodable;
