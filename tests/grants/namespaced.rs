// +kubebuilder:rbac:groups=core,resources=pods;nodes,verbs=list
async fn run(ctx: Context) {
    // ? list core/pods cluster
    Api::<Pod>::all(client).list(&params);
    // ? list,watch core/nodes cluster
    Api::<Node>::all(client).list(&params);
    // ? list core/pods zoo-system
    Api::<Pod>::namespaced(client, "zoo-system").list(&params);
    // ? list core/pods park
    Api::<Pod>::namespaced(client, "park").list(&params);
    // ? list core/pods unknown
    Api::<Pod>::default_namespaced(client).list(&params);
}
