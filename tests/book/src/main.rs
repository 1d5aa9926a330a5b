use std::process::ExitCode;

use opctl_runtime::{Manager, operator};

// +opctl:allow:OP417 the runtime needs it for the Lease
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create,namespace=shared,roleName=leader-election-role
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,resourceNames=shop,verbs=get;update,namespace=shared,\
//     roleName=leader-election-role
#[tokio::main]
async fn main() -> ExitCode {
    Manager::new(operator!()).run(Vec::new()).await
}
