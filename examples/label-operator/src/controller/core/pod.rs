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

//! Labels each `Pod` that requests it by an annotation with its name.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, PartialObjectMeta, Patch, PatchParams};
use kube::runtime::controller::Action;
use kube::runtime::events::EventType;
use opctl_runtime::{Context, Controller, Result, Runnable};
use serde_json::json;

/// Requests the label when it is `true`.
const ANNOTATION: &str = "padok.fr/add-pod-name-label";
const LABEL: &str = "padok.fr/pod-name";
/// The longest value of a label; the name of a Pod may have up to 253 characters.
const LONGEST: usize = 63;

/// The time after which a change has surely arrived by the watch.
const SOON: Duration = Duration::from_secs(1);

/// A Pod without spec and status: the API server does not even send them.
type PodMeta = PartialObjectMeta<Pod>;

/// Builds the controller; `controller::all` starts it.
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;patch;watch
pub fn controller() -> Runnable {
    Controller::<PodMeta>::new(reconcile).into()
}

/// Runs after every change of a Pod, and after a failure.
async fn reconcile(pod: Arc<PodMeta>, ctx: Arc<Context>) -> Result<Action> {
    let label = label(&pod, &ctx).await;
    if pod.labels().get(LABEL) == label.as_ref() {
        return Ok(Action::await_change());
    }
    // If the Pod is not the one that was read, its version causes a conflict. A merge patch, since a server-side apply to a Pod
    // that is gone would try to create it.
    let metadata = json!({ "resourceVersion": pod.resource_version(), "labels": { LABEL: label } });
    let params = PatchParams {
        field_manager: Some(ctx.field_manager.to_string()),
        ..Default::default()
    };
    let pods = Api::<PodMeta>::namespaced(
        ctx.client.clone(),
        &pod.namespace().expect("a Pod is namespaced"),
    );
    match pods
        .patch(
            &pod.name_any(),
            &params,
            &Patch::Merge(json!({ "metadata": metadata })),
        )
        .await
    {
        Ok(_) => Ok(Action::await_change()),
        // It was changed or deleted meanwhile, which is no failure: the next version decides.
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => {
            Ok(Action::requeue(SOON))
        }
        Err(error) => Err(error.into()),
    }
}

/// The value that the label should have. A name that does not fit is not cut: a label with another name than the Pod's would
/// select the wrong Pod. An event on the Pod reports it.
async fn label(pod: &PodMeta, ctx: &Context) -> Option<String> {
    let name = pod.name_any();
    if pod.annotations().get(ANNOTATION).map(String::as_str) != Some("true") {
        return None;
    }
    if name.len() > LONGEST {
        let why = format!("no label `{LABEL}`: the name has more than {LONGEST} characters");
        ctx.event(pod, EventType::Warning, "NameTooLong", why).await;
        return None;
    }
    Some(name)
}

#[cfg(test)]
mod tests;
