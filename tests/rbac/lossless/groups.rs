// After groups are merged, two rules are about the same groups; controller-gen keeps the verbs of one of them.

// +kubebuilder:rbac:groups=a,resources=x,verbs=get
// +kubebuilder:rbac:groups=b,resources=x,verbs=get
// +kubebuilder:rbac:groups=a;b,resources=x,verbs=list
