//! Lines that look like markers. Only in comments: "// +kubebuilder:nothing" is a string below.

// + kubebuilder:rbac:groups=apps,resources=deployments,verbs=get
// +kubebuidler:rbac:groups=apps,resources=deployments,verbs=get
// +Kubebuilder:rbac:groups=apps,resources=deployments,verbs=get
// +kubebuilder rbac:groups=apps,resources=deployments,verbs=get
// +kubebuilder:rbca:groups=apps,resources=deployments,verbs=get
// +kubebuilder:RBAC:groups=apps,resources=deployments,verbs=get
// +kubebuilder: rbac:groups=apps,resources=deployments,verbs=get
// +kubebuilder:frobnicate=yes
// +opctl:rbac:groups=apps,resources=deployments,verbs=get
// kubebuilder:rbac:groups=apps,resources=deployments,verbs=get
/// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get
/* +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get */
// +kubebuilder:webhook:path=/validate,mutating=false,failurePolicy=fail,groups=apps,resources=deployments,sideEffects=None,verbs=create,versions=v1,name=a.example.com,admissionReviewVersions=v1
// +kubebuilder:webhookconfiguration:mutating=true,name=x

fn prose<'a>() -> &'a str {
    // + kubebuilder is a tool, and `+kubebuilder:rbac` a marker; kubebuilder:validation belongs to Go.
    // // +kubebuilder:rbac:commented=out
    // +k8s:deepcopy-gen=package
    // +optional
    // +operator-sdk:csv:customresourcedefinitions:displayName="x"
    // 1 + opctl
    "// +kubebuilder:nothing"
}
