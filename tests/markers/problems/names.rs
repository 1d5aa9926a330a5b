// Names, and what is near them.

// +kubebuilder.rbac:groups=apps,resources=deployments,verbs=get
// +kubebuilder=rbac
// +kubebuilder
// +kubebuilder/rbac:groups=apps
// +kube-builder:rbac:groups=apps
// +kubebuilder::rbac:groups=apps
// +kubebuilder:rbac=groups=apps,resources=deployments,verbs=get
// +kubebuilder:rbac groups=apps,resources=deployments,verbs=get
// +kubebuilder:rbac;groups=apps
// +kubebuilder:rbacs:groups=apps
// +kubebuilder:webhooks:mutating=true
// +kubebuilder:webhook-configuration:mutating=true
// +kubebuilder:webhookConfiguration:mutating=true
// +kubebuilder:allow:OP401 because
// +opctl:alow:OP401 because
// +opctl:webhook:mutating=true
// +opctl
// + opctl:allow:OP401 because
// +opclt:allow:OP401 because
// opctl:allow:OP401 because
// kubebuilder:webhook:mutating=true
//+kubebuilder:rbca:groups=apps
//// +kubebuilder:rbac:groups=apps
fn f() {} // +kubebuilder:rbac
/** +opctl:allow:OP401 because */
//! +kubebuilder:webhook:mutating=true
