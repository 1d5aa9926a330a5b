// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! Gives the target of each `CronHPA` the size of the run that was due last.

mod schedule;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::events::EventType;
use opctl_runtime::{Context, Controller, Error, Outcome, Result, Runnable};
use serde_json::json;
use tracing::info;

use crate::api::autoscaling::v1alpha1::cron_hpa::{CronHPA, CronHPAStatus, Run};
use schedule::Runs;

/// The longest time to the next look at the clock, which may be set.
const LONGEST_PAUSE: Duration = Duration::from_secs(10 * 60);

/// Builds the controller; `controller::all` starts it.
// +kubebuilder:rbac:groups=autoscaling.example.com,resources=cronhpas,verbs=list;watch
// +kubebuilder:rbac:groups=autoscaling.example.com,resources=cronhpas/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
pub fn controller() -> Runnable {
    Controller::<CronHPA>::new(|object, ctx| reconcile(object, ctx, Timestamp::now))
        .watches_when::<Deployment>(is_target)
        .into()
}

fn is_target(object: &CronHPA, deployment: &Deployment) -> bool {
    object.namespace() == deployment.namespace()
        && object.spec.scale_target.name == deployment.name_any()
}

/// Runs when a job is due, after every change of an object or its target, and after a failure.
async fn reconcile(
    object: Arc<CronHPA>,
    ctx: Arc<Context>,
    clock: impl Fn() -> Timestamp,
) -> Result<Outcome> {
    if let Some(rival) = ctx.objects().iter().find(|other| is_rival(other, &object)) {
        let message = format!(
            "the older CronHPA `{}` scales the same target",
            rival.name_any()
        );
        return Err(Error::new("TargetTaken", message));
    }
    let Runs { last, next } = match schedule::runs(&object.spec, clock()) {
        Ok(runs) => runs,
        Err(invalid) => return Ok(Outcome::failed("InvalidSchedule", invalid.to_string())),
    };
    let outcome = match scale(&object, &last, &ctx).await {
        Ok(()) => Outcome::ready("OnSchedule", "the target has the size of the last run"),
        Err(kube::Error::Api(status)) if status.is_not_found() => Outcome::failed(
            "TargetNotFound",
            format!("there is no Deployment `{}`", object.spec.scale_target.name),
        ),
        Err(error) => return Err(error.into()),
    };
    // Not a moment later: without the jitter of `ctx.requeue()`.
    let pause = Duration::try_from(next.time.0.duration_since(clock())).unwrap_or_default();
    let status = CronHPAStatus {
        last_run: Some(last),
        next_run: Some(next),
        ..Default::default()
    };
    Ok(outcome
        .status(status)
        .requeue_after(pause.min(LONGEST_PAUSE)))
}

/// Whether it is older and has the same target: the two would scale it back and forth forever.
fn is_rival(other: &CronHPA, object: &CronHPA) -> bool {
    let age = |object: &CronHPA| (object.creation_timestamp(), object.name_any());
    let target = |object: &CronHPA| (object.namespace(), object.spec.scale_target.clone());
    target(other) == target(object) && age(other) < age(object)
}

/// Gives the target the size of a run, unless it has it.
// +kubebuilder:rbac:groups=apps,resources=deployments/scale,verbs=get;patch
async fn scale(object: &CronHPA, run: &Run, ctx: &Context) -> Result<(), kube::Error> {
    let namespace = object.namespace().expect("a CronHPA is namespaced");
    let deployments = Api::<Deployment>::namespaced(ctx.client.clone(), &namespace);
    let target = &object.spec.scale_target.name;
    let size = deployments
        .get_scale(target)
        .await?
        .spec
        .and_then(|spec| spec.replicas)
        .unwrap_or(0);
    if size == run.size {
        return Ok(());
    }
    let params = PatchParams {
        field_manager: Some(ctx.field_manager.to_string()),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(json!({ "spec": { "replicas": run.size } }));
    deployments.patch_scale(target, &params, &patch).await?;
    let what = format!(
        "`{target}` from {size} to {} replicas, for `{}`",
        run.size, run.job
    );
    info!("scaled {what}");
    ctx.event(object, EventType::Normal, "Scaled", what).await;
    Ok(())
}

#[cfg(test)]
mod tests;
