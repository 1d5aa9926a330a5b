// The same with URLs.

// +kubebuilder:rbac:urls=/a,verbs=get
// +kubebuilder:rbac:urls=/b,verbs=get
// +kubebuilder:rbac:urls=/a;/b,verbs=post
