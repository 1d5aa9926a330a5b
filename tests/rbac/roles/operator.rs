//! Markers of an operator.

use kube::runtime::controller::Action;

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=get;patch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
async fn reconcile() -> Action {
    // +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
    let name = "// +kubebuilder:rbac:groups=none,resources=none,verbs=*";
    apply(name, r#"" // +kubebuilder:rbac:groups=none,resources=none,verbs=* "#).await;
    match 'x' {
        '"' => {} // +kubebuilder:rbac:groups=core;events.k8s.io,resources=events,verbs=create;patch
        _ => Action::await_change(),
    }
}
