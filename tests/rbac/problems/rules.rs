// Rules that the API server refuses, or that never match a request.

// +kubebuilder:rbac:urls=/metrics,groups=apps,verbs=get
// +kubebuilder:rbac:urls=/metrics,verbs=get,namespace=zoo
// +kubebuilder:rbac:groups=apps,verbs=get
// +kubebuilder:rbac:resources=pods,verbs=get
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;lsit;Watch;read;post
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=frobulate
// +kubebuilder:rbac:urls=/metrics,verbs=list
// +kubebuilder:rbac:urls=metrics;/a*b,verbs=get
// +kubebuilder:rbac:groups=apps/v1,resources=deployments,verbs=get
// +kubebuilder:rbac:groups=Apps,resources=deployments,verbs=get
// +kubebuilder:rbac:groups=apps,resources=Deployment;NetworkPolicy/status,verbs=get
// +kubebuilder:rbac:groups=apps,resources=deployments/*;deploy*;a/b/c;/status,verbs=get
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=lock,verbs=get;create
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=lock,verbs=deletecollection
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=*,verbs=get
// +kubebuilder:rbac:groups="",resources=pods,verbs=get,namespace=Zoo
// +kubebuilder:rbac:groups="",resources=pods,verbs=get,roleName=a/b
// +kubebuilder:rbac:groups="",resources=pods,verbs=get,roleName=a*
// +kubebuilder:rbac:groups="",resources=pods,verbs=get,roleName=..
// +kubebuilder:rbac:groups=app;networking,resources=deployments,verbs=get
// +kubebuilder:rbac:groups=apps,resources=deployment/scale;pods;daemonsets,verbs=get

// And those that are right.

// +kubebuilder:rbac:groups=apps;batch,resources=deployments;jobs;jobs/status,verbs=get
// +kubebuilder:rbac:groups=extensions,resources=ingresses,verbs=get

// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=lock,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods/eviction,resourceNames=web,verbs=create
// +kubebuilder:rbac:groups=custom.metrics.k8s.io,resources=Queue_Length,verbs=get
// +kubebuilder:rbac:groups=certificates.k8s.io,resources=signers,resourceNames=example.com/*,verbs=sign;approve
// +kubebuilder:rbac:groups=*,resources=*/scale,verbs=*
// +kubebuilder:rbac:urls=/healthz/*;*,verbs=get;post
// +kubebuilder:rbac:groups="",resources=users,verbs=impersonate;impersonate:user-info
