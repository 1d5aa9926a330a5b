// Once `x` has both verbs in both groups it is like `y`.
// +kubebuilder:rbac:groups=a,resources=x,verbs=get
// +kubebuilder:rbac:groups=b,resources=x,verbs=get
// +kubebuilder:rbac:groups=a;b,resources=x,verbs=list
// +kubebuilder:rbac:groups=a;b,resources=y,verbs=get;list
