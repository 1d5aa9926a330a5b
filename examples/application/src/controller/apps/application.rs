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

//! Keeps the Deployment, the Service and the Ingress of each `Application`, and reports their progress in the status.

mod children;

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::Ingress;
use opctl_runtime::{Children, Context, Controller, Outcome, Result, Runnable};

use crate::api::apps::v1alpha1::application::{Application, ApplicationStatus};

/// Builds the controller; `controller::all` starts it.
// +kubebuilder:rbac:groups=apps.example.com,resources=applications,verbs=list;watch
// +kubebuilder:rbac:groups=apps.example.com,resources=applications/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;get;list;patch;watch
// +kubebuilder:rbac:groups=core,resources=services,verbs=create;delete;get;list;patch;watch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=create;delete;get;list;patch;watch
pub fn controller() -> Runnable {
    let controller = Controller::<Application>::new(reconcile).owns::<Deployment>();
    controller.owns::<Service>().owns::<Ingress>().into()
}

/// Runs after every change of an object or its children, after a failure, and once every `--requeue-interval`.
async fn reconcile(object: Arc<Application>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*object, &ctx);
    let deployment = children::deployment(&object, &object.spec.deployment);
    let deployment = children.apply_unless_taken(deployment).await?;
    if let Some(part) = &object.spec.service {
        let service = children::service(&object, part);
        children.apply_unless_taken(service).await?;
    }
    children.prune::<Service>().await?;
    if let Some(part) = &object.spec.ingress {
        let ingress = children::ingress(&object, part);
        children.apply_unless_taken(ingress).await?;
    }
    children.prune::<Ingress>().await?;
    Ok(children.outcome().status(ApplicationStatus {
        available_replicas: deployment
            .status
            .and_then(|it| it.available_replicas)
            .unwrap_or_default(),
        address: children::address(&object),
        ..Default::default()
    }))
}

#[cfg(test)]
mod tests;
