// The arguments of a marker, each mistake on a line of its own.

// +kubebuilder:rbac:groups=apps,resources=deployments
// +kubebuilder:rbac:groups=apps,resource=deployments,verbs=get
// +kubebuilder:rbac:group=apps,resources=deployments,verb=get
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,when=ready
// +kubebuilder:rbac:groups=apps,groups=batch,resources=jobs,verbs=get
// +kubebuilder:rbac:groups=,resources=pods,verbs=get
// +kubebuilder:rbac:groups=apps,resources="",verbs=get
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get, list
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get list
// +kubebuilder:rbac:groups='',resources=pods,verbs=get
// +kubebuilder:rbac:groups="",resources=pods,verbs="get
// +kubebuilder:rbac:groups="",resources={pods,services,verbs=get
// +kubebuilder:rbac:groups="",resources=pods,verbs=get,
// +kubebuilder:rbac:groups="",resources=pods,verbs="\w"
// +kubebuilder:rbac:namespace=a;b,groups="",resources=pods,verbs=get
// +kubebuilder:rbac
// +kubebuilder:rbac:
// +kubebuilder:rbac=groups
