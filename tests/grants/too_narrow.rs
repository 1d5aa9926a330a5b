// +kubebuilder:rbac:groups=core,resources=pods,verbs=list,namespace=zoo
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get;list;patch,resourceNames=a;b
async fn run(ctx: Context) {
    // ? list core/pods cluster
    Api::<Pod>::all(client).list(&params);
    // ? list core/pods unknown
    ctx.api::<Pod>().list(&params);
    // ? list core/pods some
    Api::<Pod>::namespaced(client, namespace).list(&params);
    // ? list core/secrets some
    secrets.list(&params);
    // ? get,patch core/secrets some
    secrets.entry(name);
}
