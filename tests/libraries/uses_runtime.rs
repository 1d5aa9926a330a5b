use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::ResourceExt;
use kube::runtime::controller::Action;
use opctl_runtime::{Children, Context, Controller, Manager, Result, operator, testing};

async fn reconcile(namespace: Arc<Namespace>, ctx: Arc<Context>) -> Result<Action> {
    let mut map = ConfigMap::default();
    map.metadata.name = Some("labels".to_owned());
    map.metadata.namespace = Some(namespace.name_any());
    Children::of(&*namespace, &ctx).apply(map).await?;
    Ok(ctx.requeue())
}

pub fn run() {
    let _manager = Manager::new(operator!());
    let _controller = Controller::<Namespace>::new(reconcile).owns::<ConfigMap>();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (ctx, calls) = testing::context();
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some("zoo".to_owned());
        reconcile(testing::stored(namespace), ctx).await.unwrap();
        let owner = &calls.applied::<ConfigMap>("labels")["metadata"]["ownerReferences"][0];
        println!("the owner of labels is {}", owner["name"]);
    });
}
