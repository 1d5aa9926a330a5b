//! Children are applied, and deleted when they are no longer wanted.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use opctl_runtime::{Children, Context, Controller, Outcome, Result, Runnable, child_name};

use crate::api::{Fleet, Memcached, MemcachedStatus};

pub fn controller() -> Runnable {
    Controller::<Memcached>::new(reconcile).named("children").owns::<Deployment>().owns::<Service>().into()
}

async fn reconcile(object: Arc<Memcached>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*object, &ctx);
    let deployment = children.apply(deployment(&object)).await?;
    if object.spec.size > 1 {
        children.apply(Service::default()).await?;
    }
    children.prune::<Service>().await?;
    secret(&mut children).await?;
    fleet(&object, &ctx).await?;
    let status = deployment.status.unwrap_or_default();
    let replicas = status.replicas.unwrap_or_default();
    Ok(children.outcome().status(MemcachedStatus { replicas, conditions: Vec::new() }))
}

fn deployment(object: &Memcached) -> Deployment {
    let mut deployment = Deployment::default();
    deployment.metadata.name = Some(child_name(object, "cache"));
    deployment
}

async fn secret(children: &mut Children<'_>) -> Result<()> {
    let secret: Secret = children.apply(Secret::default()).await?;
    let config = ConfigMap { metadata: secret.metadata, ..ConfigMap::default() };
    children.apply_unless_taken(config).await.map(drop)
}

async fn fleet(object: &Memcached, ctx: &Context) -> Result<()> {
    let mut others = Children::of(object, ctx);
    for fleet in [Fleet::new("a", crate::api::FleetSpec { region: String::new() })] {
        others.apply(fleet).await?;
    }
    Ok(())
}
