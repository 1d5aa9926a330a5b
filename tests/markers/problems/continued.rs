// Markers over several lines.

// +kubebuilder:rbac:groups=apps, \
//   resources=deployments, \
//   verbs=get;lsit

// +kubebuilder:rbac:groups=apps,resource\
// =deployments,verbs=get

// +kubebuilder:rbac:groups=apps,resources="dep\
// loy*",verbs=get

// +kubebuilder:rbac:groups=apps,\

// +kubebuilder:rbac:groups=apps,\
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get

// +kubebuilder:rbac:groups=apps,\
/// resources=deployments,verbs=get

// +kubebuilder:rbac:groups=apps,\
//
// resources=deployments,verbs=get

// +kubebuilder:rbac:groups=apps,\
fn f() {} // resources=deployments,verbs=get

fn g() {} // +kubebuilder:rbac:groups=apps,resources=Deployment,\
          // verbs=get

// +kubebuilder:rbac:groups=apps,\
