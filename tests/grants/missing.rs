/// Watches what belongs to it.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;watch
async fn run(ctx: Context) -> Result<(), Error> {
    // ? list,watch cache.example.com/memcacheds unknown
    Controller::new(api, watcher::Config::default())
        // ? list,watch apps/deployments unknown
        .owns(deployments, ours.clone())
        // ? watch,list core/pods unknown
        .watches(pods, ours, deployment::owner);
}

/// Applies the Deployment.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=patch
async fn converge(object: &Memcached) -> Result<(), Error> {
    // ? create,patch apps/deployments some
    deployments.patch(name, &params, &desired).await?;
    // ? delete apps/deployments some
    deployments.delete(name, &params).await?;
    // ? patch cache.example.com/memcacheds/status some
    api.patch_status(name, &params, &status).await?;
    // ? update cache.example.com/memcacheds/finalizers some optional
    api.refer(object).await?;
}
