// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups=apps;batch;extensions,resources=deployments;jobs;cronjobs,verbs=list;delete
// +kubebuilder:rbac:groups=core,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=core,resources={pods,"configmaps"},verbs={"list"}
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// +kubebuilder:rbac:groups=policy,resources=podsecuritypolicies,verbs=use
// +kubebuilder:rbac:groups=apps,resources=daemonsets,\
//   verbs=get;\
//   list
// +kubebuilder:rbac:urls=/metrics,verbs=get
async fn run(ctx: Context) {
    // ? list,patch apps/deployments some
    deployments.apply();
    // ? list batch/jobs some
    jobs.list();
    // ? delete apps/deployments some
    deployments.delete();
    // ? get apps/daemonsets some
    // ? list core/pods some
    pods.list();
}
