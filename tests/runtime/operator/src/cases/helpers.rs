//! Requests of a reconcile, by the helpers of the runtime and by its client.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Endpoints, Event, LimitRange, PersistentVolumeClaim};
use kube::Api;
use kube::api::ListParams;
use kube::runtime::events::EventType;
use opctl_runtime::{Context, Controller, Outcome, Result, Runnable, apply, apply_status};
use serde_json::json;

pub fn controller() -> Runnable {
    Controller::<PersistentVolumeClaim>::new(reconcile).into()
}

async fn reconcile(claim: Arc<PersistentVolumeClaim>, ctx: Arc<Context>) -> Result<Outcome> {
    let limits = Api::<LimitRange>::namespaced(ctx.client.clone(), "here");
    let limit = apply(&ctx.field_manager, &limits, "a", &json!({})).await?;
    apply_status("other", &ctx.client, &limit, &json!({})).await?;
    let events: Api<Event> = ctx.api();
    events.list(&ListParams::default()).await?;
    ctx.api::<Endpoints>().get("a").await?;
    ctx.event(&*claim, EventType::Normal, "Seen", "it is there").await;
    Ok(Outcome::unchanged())
}
