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

//! Gives the target of each `CronHPA` the size that its schedules say: when they say so, and again when someone changes it.
//!
//! The size follows from the spec and the time alone, see [`schedule`]. The status tells it and decides nothing: of the runs
//! that were missed while the operator was down, the last one counts.

mod schedule;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use serde_json::json;
use tracing::info;

use crate::api::autoscaling::v1alpha1::cron_hpa::{CronHPA, CronHPAStatus, Run};
use crate::manager::{self, Context, FIELD_MANAGER, Failure, conditions};
use schedule::Runs;

/// What `controller::all` lists.
pub const CONTROLLER: manager::Runnable = manager::Runnable {
    name: "cronhpas.autoscaling.example.com",
    runs: manager::Runs::PerNamespace,
    run: |ctx| Box::pin(run(ctx)),
};

/// No pause is longer: the machine may sleep meanwhile, or its clock be set.
const LONGEST_PAUSE: Duration = Duration::from_secs(10 * 60);

// +kubebuilder:rbac:groups=autoscaling.example.com,resources=cronhpas,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
async fn run(ctx: Context) -> Result<(), manager::Error> {
    let (api, deployments) = (ctx.api(), ctx.api::<Deployment>());
    manager::check(&api).await?;
    manager::check(&deployments).await?;
    let controller = manager::controller(api, watcher::Config::default());
    let (objects, others) = (controller.store(), controller.store());
    let targets = move |deployment| scaling(&objects, &deployment);
    let controller = controller.watches(deployments, watcher::Config::default(), targets);
    let reconcile = move |object: Arc<CronHPA>, ctx| {
        let rival = rival(&others, &object);
        reconcile(object, rival, Timestamp::now, ctx)
    };
    manager::drive(CONTROLLER.name, controller, reconcile, ctx).await
}

/// The objects that scale this Deployment.
fn scaling(objects: &Store<CronHPA>, deployment: &Deployment) -> Vec<ObjectRef<CronHPA>> {
    let (namespace, name) = (deployment.namespace(), deployment.name_any());
    let all = objects.state();
    all.iter()
        .filter(|object| object.namespace() == namespace && object.spec.scale_target.name == name)
        .map(|object| ObjectRef::from_obj(&**object))
        .collect()
}

/// An older object with the same target: the two would scale it back and forth for ever.
fn rival(objects: &Store<CronHPA>, object: &CronHPA) -> Option<String> {
    let age = |object: &CronHPA| (object.creation_timestamp(), object.name_any());
    let rival = objects.find(|other| {
        other.namespace() == object.namespace()
            && other.spec.scale_target == object.spec.scale_target
            && age(other) < age(object)
    });
    rival.map(|rival| rival.name_any())
}

/// Runs when a job is due, after every change of an object or its target, and after a failure.
async fn reconcile(
    object: Arc<CronHPA>,
    rival: Option<String>,
    clock: impl Fn() -> Timestamp,
    ctx: Arc<Context>,
) -> Result<Action, Error> {
    if object.meta().deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let runs = match rival {
        Some(rival) => Err(Error::Rival(rival)),
        None => schedule::runs(&object.spec, clock()).map_err(Error::Schedule),
    };
    let scaled = match &runs {
        Ok(runs) => scale(&object, &runs.last, &ctx).await,
        Err(_) => Ok(()),
    };
    let ready = match runs.as_ref().err().or(scaled.as_ref().err()) {
        Some(error) => conditions::not_ready(error.reason(), error.to_string()),
        None => conditions::ready("OnSchedule", "the target has the size of the last run"),
    };
    let written = apply_status(&object, ready, runs.as_ref().ok(), &ctx).await;
    // What went wrong first is what matters.
    let next = runs?.next.time.0;
    scaled?;
    written?;
    // Not a moment later: without the jitter of `ctx.requeue()`.
    let pause = Duration::try_from(next.duration_since(clock())).unwrap_or_default();
    Ok(Action::requeue(pause.min(LONGEST_PAUSE)))
}

/// Gives the target the size of a run, unless it has it.
// +kubebuilder:rbac:groups=apps,resources=deployments/scale,verbs=get;patch
async fn scale(object: &CronHPA, run: &Run, ctx: &Context) -> Result<(), Error> {
    let namespace = object.namespace().expect("a CronHPA is namespaced");
    let deployments = Api::<Deployment>::namespaced(ctx.client.clone(), &namespace);
    let target = &object.spec.scale_target.name;
    let scale = match deployments.get_scale(target).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => {
            return Err(Error::NoTarget(target.clone()));
        }
        scale => scale?,
    };
    let size = scale.spec.and_then(|spec| spec.replicas).unwrap_or(0);
    if size == run.size {
        return Ok(());
    }
    let params = PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(json!({ "spec": { "replicas": run.size } }));
    deployments.patch_scale(target, &params, &patch).await?;
    let what = format!(
        "`{target}` from {size} to {} replicas, for `{}`",
        run.size, run.job
    );
    info!("scaled {what}");
    // An event each time: with nothing before, it is a change.
    ctx.tell(object, &[], &conditions::ready("Scaled", what))
        .await;
    Ok(())
}

/// Writes the status, unless it is there already.
// +kubebuilder:rbac:groups=autoscaling.example.com,resources=cronhpas/status,verbs=patch
async fn apply_status(
    object: &CronHPA,
    ready: Condition,
    runs: Option<&Runs>,
    ctx: &Context,
) -> Result<(), Error> {
    let before = object.status.clone().unwrap_or_default();
    let generation = object.meta().generation;
    let ready = conditions::next(&before.conditions, ready, generation);
    let status = CronHPAStatus {
        observed_generation: generation,
        last_run: runs.map(|runs| runs.last.clone()),
        next_run: runs.map(|runs| runs.next.clone()),
        conditions: vec![ready.clone()],
    };
    if status != before {
        manager::apply_status(&ctx.client, object, &status).await?;
        ctx.tell(object, &before.conditions, &ready).await;
    }
    Ok(())
}

/// Why an object could not be reconciled.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("a request to the API server failed: {}", manager::brief(.0))]
    Request(#[from] kube::Error),
    #[error("there is no Deployment `{0}`")]
    NoTarget(String),
    #[error("the older CronHPA `{0}` scales the same target")]
    Rival(String),
    #[error(transparent)]
    Schedule(schedule::Invalid),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Request(_) => "RequestFailed",
            Self::NoTarget(_) => "TargetNotFound",
            Self::Rival(_) => "TargetTaken",
            Self::Schedule(_) => "InvalidSchedule",
        }
    }
}

#[cfg(test)]
mod tests;
