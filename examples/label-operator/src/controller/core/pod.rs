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

//! Keeps a label with the name of the `Pod` on each that asks for it by an annotation.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, PartialObjectMeta, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use serde_json::json;

use crate::manager::{self, Context, FIELD_MANAGER, Failure, conditions};

/// Asks for the label when it is `true`.
const ANNOTATION: &str = "padok.fr/add-pod-name-label";
const LABEL: &str = "padok.fr/pod-name";
/// What fits into a label; the name of a Pod may have up to 253 characters.
const LONGEST: usize = 63;

/// How long it takes at most until a change has come by the watch.
const SOON: Duration = Duration::from_secs(1);

/// A Pod without spec and status: the API server does not even send them.
type PodMeta = PartialObjectMeta<Pod>;

/// What `controller::all` lists.
pub const CONTROLLER: manager::Runnable = manager::Runnable {
    name: "pods",
    runs: manager::Runs::PerNamespace,
    run: |ctx| Box::pin(run(ctx)),
};

// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch
async fn run(ctx: Context) -> Result<(), manager::Error> {
    let api = ctx.api::<PodMeta>();
    manager::check(&api).await?;
    let controller = manager::controller(api, watcher::Config::default());
    manager::drive(CONTROLLER.name, controller, reconcile, ctx).await
}

/// Runs after every change of a Pod, and after a failure.
async fn reconcile(pod: Arc<PodMeta>, ctx: Arc<Context>) -> Result<Action, Error> {
    if pod.meta().deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let wanted = wanted(&pod, &ctx).await;
    if pod.labels().get(LABEL) == wanted.as_ref() {
        return Ok(Action::await_change());
    }
    match set_label(&pod, wanted, &ctx).await {
        Ok(()) => Ok(Action::await_change()),
        // It was changed or deleted meanwhile. That is no failure: its next version decides.
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => {
            Ok(Action::requeue(SOON))
        }
        Err(error) => Err(error.into()),
    }
}

/// The value that the label should have. A name that does not fit is not cut: a label that holds another name than the Pod's
/// would select the wrong Pod. An event on the Pod says so.
async fn wanted(pod: &PodMeta, ctx: &Context) -> Option<String> {
    let name = pod.name_any();
    if pod.annotations().get(ANNOTATION).map(String::as_str) != Some("true") {
        return None;
    }
    if name.len() > LONGEST {
        let why = format!("no label `{LABEL}`: the name has more than {LONGEST} characters");
        ctx.tell(pod, &[], &conditions::not_ready("NameTooLong", why))
            .await;
        return None;
    }
    Some(name)
}

/// Sets the label, or removes it, if the Pod is still the one that was read: the version makes a conflict of anything else.
///
/// A merge patch, since a server-side apply to a Pod that is gone would try to create it.
// +kubebuilder:rbac:groups=core,resources=pods,verbs=patch
async fn set_label(pod: &PodMeta, value: Option<String>, ctx: &Context) -> Result<(), kube::Error> {
    let patch = json!({
        "metadata": {
            "resourceVersion": pod.resource_version(),
            "labels": { LABEL: value },
        },
    });
    let params = PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..Default::default()
    };
    let namespace = pod.namespace().expect("a Pod is namespaced");
    Api::<PodMeta>::namespaced(ctx.client.clone(), &namespace)
        .patch(&pod.name_any(), &params, &Patch::Merge(patch))
        .await?;
    Ok(())
}

/// Why a Pod could not be labelled.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("a request to the API server failed: {}", manager::brief(.0))]
    Request(#[from] kube::Error),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Request(_) => "RequestFailed",
        }
    }
}

#[cfg(test)]
mod tests;
