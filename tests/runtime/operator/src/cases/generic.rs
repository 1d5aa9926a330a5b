//! One function for the controllers of several kinds.

use std::fmt::Debug;
use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Resource, core::NamespaceResourceScope};
use opctl_runtime::controller::Kind;
use opctl_runtime::{Children, Context, Controller, Outcome, Result, Runnable};

use crate::api::{Fleet, Memcached};

pub fn memcacheds() -> Runnable {
    controller::<Memcached>("generic-memcacheds").into()
}

pub fn fleet() -> Runnable {
    controller::<Fleet>("generic-fleet").into()
}

fn controller<K: Kind>(name: &'static str) -> Controller<K> {
    Controller::<K>::new(reconcile).named(name).owns::<ConfigMap>()
}

async fn reconcile<K: Kind>(object: Arc<K>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*object, &ctx);
    keep(&mut children, ConfigMap::default()).await?;
    children.prune::<ConfigMap>().await?;
    Ok(children.outcome())
}

async fn keep<C>(children: &mut Children<'_>, child: C) -> Result<()>
where
    C: Kind + Resource<DynamicType = (), Scope = NamespaceResourceScope> + Debug,
{
    children.apply(child).await.map(drop)
}
