// An operator must have the permissions that it grants.
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles,verbs=create
async fn run(ctx: Context) {
    // ? create rbac.authorization.k8s.io/roles some
    roles.create(&role);
}
