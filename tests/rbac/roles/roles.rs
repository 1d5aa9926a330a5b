// Roles in namespaces and of other names.

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,roleName=reader
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=get,roleName=reader
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list,namespace=zoo
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list,namespace=zoo,roleName=reader
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list,namespace=park,roleName=reader
