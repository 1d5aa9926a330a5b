// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=*
// +kubebuilder:rbac:groups=*,resources=*,verbs=get;escalate
// +kubebuilder:rbac:groups=batch,resources=*/status,verbs=patch;delete
async fn run(ctx: Context) {
    // ? list,patch apps/deployments some
    deployments.apply();
    // ? patch batch/jobs/status some
    jobs.patch_status();
}
