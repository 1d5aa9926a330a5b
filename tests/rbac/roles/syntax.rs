// Every way to write a value.

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch
//+kubebuilder:rbac:groups=batch,resources=jobs;cronjobs,verbs=get
// +kubebuilder:rbac:groups={apps,"batch"},resources={deployments/status, `jobs/status`},verbs={get}
// +kubebuilder:rbac:verbs="*",resources="*/scale",groups="*"
// +kubebuilder:rbac:groups="";core,resources=secrets,resourceNames="my-\"secret\"";`raw\name`;system:auth:x;1.0;yes,verbs=get;
// +kubebuilder:rbac:urls=/metrics;/healthz/*,verbs=get
// +kubebuilder:rbac:urls=*,verbs=head
// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list,namespace="park"
