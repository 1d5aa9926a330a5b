//! Tests that need the programs of KUBEBUILDER_ASSETS: the API server and related programs, kubectl, controller-gen.
//! Run them by name: `cargo test --test cluster [NAME]`. Missing programs are reported, or an error if
//! OPCTL_TESTS_MUST_RUN is set.

// Shared with other test binaries.
#[path = "../common/admitted.rs"]
mod admitted;
#[path = "../common/api.rs"]
mod api;
#[path = "../common/control_plane.rs"]
mod control_plane;
#[path = "../common/controller_gen.rs"]
mod controller_gen;
#[path = "../common/crds.rs"]
mod crds;
#[path = "../../crates/testenv/tests/common/mod.rs"]
mod environments;
#[path = "../common/extent.rs"]
mod extent;
#[path = "../common/formats.rs"]
mod formats;
#[path = "../common/golden.rs"]
mod golden;
#[path = "../common/helm.rs"]
mod helm;
#[path = "../common/kustomizations.rs"]
mod kustomizations;
#[path = "../common/naming.rs"]
mod naming_cases;
#[path = "../common/object.rs"]
mod object;
#[path = "../common/oracle.rs"]
mod oracle;
#[path = "../common/permissions.rs"]
mod permissions;
#[path = "../common/pod_template.rs"]
mod pod_template;
#[path = "../common/project_with_webhooks.rs"]
mod project_with_webhooks;
#[path = "../common/roles.rs"]
mod roles;
#[path = "../common/sandbox.rs"]
mod sandbox;
#[path = "../common/skipped.rs"]
mod skipped;
#[path = "../common/undecodable.rs"]
mod undecodable_cases;
#[path = "../common/webhook_markers.rs"]
mod webhook_markers;

mod apiserver;
mod cel;
mod chart_values;
mod compat;
mod config;
mod descriptions;
mod doctor;
mod guides;
mod markers;
mod migrate;
mod naming;
mod objects;
mod olm;
mod operator_chart;
mod rbac;
mod rbac_apiserver;
mod rbac_deployed;
mod role_fix;
mod run_bundle;
mod schemas;
mod status;
mod testenv;
mod undecodable;
mod verbs;
mod webhook;
mod webhook_project;
