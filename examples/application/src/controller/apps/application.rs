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

//! Keeps the Deployment, the Service and the Ingress of each `Application`, and says in its status how far they are.

mod children;

use std::fmt::Debug;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::NamespaceResourceScope;
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::apps::v1alpha1::application::{Application, ApplicationSpec, ApplicationStatus};
use crate::manager::{self, Context, FIELD_MANAGER, Failure, conditions};

/// What `controller::all` lists.
pub const CONTROLLER: manager::Runnable = manager::Runnable {
    name: "applications.apps.example.com",
    runs: manager::Runs::PerNamespace,
    run: |ctx| Box::pin(run(ctx)),
};

// +kubebuilder:rbac:groups=apps.example.com,resources=applications,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
// +kubebuilder:rbac:groups=core,resources=services,verbs=list;watch
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=list;watch
async fn run(ctx: Context) -> Result<(), manager::Error> {
    let (api, deployments) = (ctx.api(), ctx.api::<Deployment>());
    let (services, ingresses) = (ctx.api::<Service>(), ctx.api::<Ingress>());
    manager::check(&api).await?;
    manager::check(&deployments).await?;
    manager::check(&services).await?;
    manager::check(&ingresses).await?;
    let ours = watcher::Config::default().labels(&children::all());
    let controller = manager::controller(api, watcher::Config::default())
        .owns(deployments, ours.clone())
        .owns(services, ours.clone())
        .owns(ingresses, ours);
    manager::drive(CONTROLLER.name, controller, reconcile, ctx).await
}

/// Runs after every change of an object or of what belongs to it, after a failure, and once every `--requeue-interval`.
async fn reconcile(object: Arc<Application>, ctx: Arc<Context>) -> Result<Action, Error> {
    if object.meta().deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let outcome = converge(&object, &ctx).await;
    let status = match &outcome {
        Ok(status) => status.clone(),
        // What else was seen last is kept: nothing newer is known.
        Err(error) => ApplicationStatus {
            conditions: vec![conditions::not_ready(error.reason(), error.to_string())],
            ..object.status.clone().unwrap_or_default()
        },
    };
    let written = apply_status(&object, status, &ctx).await;
    // What went wrong first is what matters.
    outcome?;
    written?;
    Ok(ctx.requeue())
}

/// Applies the parts that the spec has, deletes those that it has no longer, and returns what the status is to say.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;get;patch;update
// +kubebuilder:rbac:groups=core,resources=services,verbs=create;delete;get;patch;update
// +kubebuilder:rbac:groups=networking.k8s.io,resources=ingresses,verbs=create;delete;get;patch;update
async fn converge(object: &Application, ctx: &Context) -> Result<ApplicationStatus, Error> {
    let ApplicationSpec {
        deployment,
        service,
        ingress,
    } = &object.spec;
    let size = deployment.replicas;
    let deployment = apply(object, children::deployment(object, deployment), ctx).await?;
    match service {
        Some(service) => drop(apply(object, children::service(object, service), ctx).await?),
        None => remove::<Service>(object, ctx).await?,
    }
    match ingress {
        Some(ingress) => drop(apply(object, children::ingress(object, ingress), ctx).await?),
        None => remove::<Ingress>(object, ctx).await?,
    }
    let status = deployment.status.clone().unwrap_or_default();
    Ok(ApplicationStatus {
        available_replicas: status.available_replicas.unwrap_or_default(),
        address: children::address(object),
        conditions: vec![ready(&deployment, size)],
        ..Default::default()
    })
}

/// Makes a child what it should be, unless it is somebody else's and only has the same name.
async fn apply<K>(object: &Application, mut child: K, ctx: &Context) -> Result<K, Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned + Serialize,
{
    let (api, name) = (siblings::<K>(object, ctx), object.name_any());
    let there = api.get_metadata_opt(&name).await?;
    if there.as_ref().is_some_and(|there| !belongs(there, object)) {
        let kind = K::kind(&()).into_owned();
        return Err(Error::NameTaken { kind, name });
    }
    // By force: what others changed in these fields is changed back.
    let params = PatchParams::apply(FIELD_MANAGER).force();
    match (
        api.patch(&name, &params, &Patch::Apply(&child)).await,
        there,
    ) {
        // What others added to a list stays when it is applied. Where that makes the object invalid, as a second port called
        // `http` does, the whole object is replaced.
        (Err(kube::Error::Api(status)), Some(there)) if status.is_invalid() => {
            child.meta_mut().resource_version = there.resource_version();
            let params = PostParams {
                field_manager: Some(FIELD_MANAGER.to_owned()),
                ..Default::default()
            };
            Ok(api.replace(&name, &params, &child).await?)
        }
        (applied, _) => Ok(applied?),
    }
}

/// Deletes a child that the spec no longer has.
async fn remove<K>(object: &Application, ctx: &Context) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: Clone + Debug + DeserializeOwned,
{
    let (api, name) = (siblings::<K>(object, ctx), object.name_any());
    let there = api.get_metadata_opt(&name).await?;
    if let Some(child) = there.filter(|there| belongs(there, object)) {
        // This one, not one that has taken its place meanwhile.
        let this = Preconditions {
            uid: child.uid(),
            ..Default::default()
        };
        let params = DeleteParams::background().preconditions(this);
        api.delete(&name, &params).await?;
    }
    Ok(())
}

/// The objects of a kind in the namespace of the object.
fn siblings<K>(object: &Application, ctx: &Context) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let namespace = object.namespace().expect("an Application is namespaced");
    Api::namespaced(ctx.client.clone(), &namespace)
}

/// By its owner; or by its labels, where it lost that: after `kubectl delete --cascade=orphan`, a new object adopts it.
fn belongs(child: &impl Resource, object: &Application) -> bool {
    let mut owners = child.owner_references().iter();
    let mut labels = children::labels(object).into_iter();
    owners.any(|owner| Some(&owner.uid) == object.meta().uid.as_ref())
        || labels.all(|(key, value)| child.labels().get(&key) == Some(&value))
}

/// As `kubectl rollout status` judges it.
fn ready(deployment: &Deployment, size: i32) -> Condition {
    let status = deployment.status.clone().unwrap_or_default();
    let [total, updated, available] = [
        status.replicas,
        status.updated_replicas,
        status.available_replicas,
    ]
    .map(Option::unwrap_or_default);
    // Until then the numbers are about an older spec.
    let seen = status.observed_generation == deployment.metadata.generation;
    if seen && [total, updated, available] == [size; 3] {
        conditions::ready(
            "Available",
            format!("{size} of {size} replicas are available"),
        )
    } else {
        let progress =
            format!("{updated} of {size} replicas are up to date, {available} available");
        conditions::not_ready("Progressing", progress)
    }
}

/// Writes the status, unless it is there already.
// +kubebuilder:rbac:groups=apps.example.com,resources=applications/status,verbs=patch
async fn apply_status(
    object: &Application,
    status: ApplicationStatus,
    ctx: &Context,
) -> Result<(), Error> {
    let before = object.status.clone().unwrap_or_default();
    let generation = object.meta().generation;
    let next = |now| conditions::next(&before.conditions, now, generation);
    let status = ApplicationStatus {
        observed_generation: generation,
        conditions: status.conditions.into_iter().map(next).collect(),
        ..status
    };
    if status != before {
        manager::apply_status(&ctx.client, object, &status).await?;
        for condition in &status.conditions {
            ctx.tell(object, &before.conditions, condition).await;
        }
    }
    Ok(())
}

/// Why an object could not be reconciled.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("the {kind} `{name}` is not of this Application: delete it, or choose another name")]
    NameTaken { kind: String, name: String },
    #[error("a request to the API server failed: {}", manager::brief(.0))]
    Request(#[from] kube::Error),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::NameTaken { .. } => "NameTaken",
            Self::Request(_) => "RequestFailed",
        }
    }
}

#[cfg(test)]
mod tests;
