//! Results pass through `reason`, `?` and other errors.

use std::sync::Arc;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::Api;
use opctl_runtime::{Context, Controller, Error, Outcome, ResultExt, Runnable};

pub fn controller() -> Runnable {
    Controller::<ServiceAccount>::new(reconcile).into()
}

async fn reconcile(_: Arc<ServiceAccount>, ctx: Arc<Context>) -> opctl_runtime::Result<Outcome> {
    let api = Api::default_namespaced(ctx.client.clone());
    let config: ConfigMap = api.get("a").await.reason("NoConfig")?;
    let names = other(&ctx).await.map_err(|error| Error::new("NoNames", error.to_string()))?;
    Ok(Outcome::ready("Found", format!("{names:?} {:?}", config.data)))
}

async fn other(ctx: &Context) -> anyhow::Result<Vec<String>> {
    let api = Api::<ConfigMap>::namespaced(ctx.client.clone(), "here");
    let configs = api.list(&Default::default()).await.context("no configs")?;
    Ok(configs.into_iter().filter_map(|config| config.metadata.name).collect())
}
