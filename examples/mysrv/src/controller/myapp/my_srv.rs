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

//! Runs a server for each `MySrv`, behind a Service, and says in its status whether it answers.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::Api;
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};

use crate::api::myapp::v1alpha1::my_srv::{MySrv, MySrvStatus};
use crate::manager::{self, Context, FIELD_MANAGER, Failure, conditions};

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// What `controller::all` lists.
pub const CONTROLLER: manager::Runnable = manager::Runnable {
    name: "mysrvs.myapp.idcos.com",
    runs: manager::Runs::PerNamespace,
    run: |ctx| Box::pin(run(ctx)),
};

// +kubebuilder:rbac:groups=myapp.idcos.com,resources=mysrvs,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
// +kubebuilder:rbac:groups=core,resources=services,verbs=list;watch
async fn run(ctx: Context) -> Result<(), manager::Error> {
    let (api, deployments, services) = (ctx.api(), ctx.api::<Deployment>(), ctx.api::<Service>());
    manager::check(&api).await?;
    manager::check(&deployments).await?;
    manager::check(&services).await?;
    let ours = watcher::Config::default().labels(&format!("{MANAGED_BY}={FIELD_MANAGER}"));
    let controller = manager::controller(api, watcher::Config::default())
        .owns(deployments, ours.clone())
        .owns(services, ours);
    manager::drive(CONTROLLER.name, controller, reconcile, ctx).await
}

/// Runs after every change of an object, its Deployment or its Service, after a failure, and once every `--requeue-interval`.
async fn reconcile(object: Arc<MySrv>, ctx: Arc<Context>) -> Result<Action, Error> {
    if object.meta().deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let outcome = converge(&object, &ctx).await;
    let ready = match &outcome {
        Ok(ready) => ready.clone(),
        Err(error) => conditions::not_ready(error.reason(), error.to_string()),
    };
    let written = apply_status(&object, ready, &ctx).await;
    // What went wrong first is what matters.
    outcome?;
    written?;
    Ok(ctx.requeue())
}

/// Applies the Deployment and the Service, and returns the condition `Ready`.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
// +kubebuilder:rbac:groups=core,resources=services,verbs=create;patch
async fn converge(object: &MySrv, ctx: &Context) -> Result<Condition, Error> {
    let (name, namespace) = (object.name_any(), object.namespace());
    let namespace = namespace.expect("a MySrv is namespaced");
    let deployments = Api::<Deployment>::namespaced(ctx.client.clone(), &namespace);
    let services = Api::<Service>::namespaced(ctx.client.clone(), &namespace);
    let deployment =
        manager::apply(FIELD_MANAGER, &deployments, &name, &deployment(object)).await?;
    manager::apply(FIELD_MANAGER, &services, &name, &service(object)).await?;

    let status = deployment.status.unwrap_or_default();
    // Until then the status is about an older spec.
    let seen = status.observed_generation == deployment.metadata.generation;
    Ok(
        if seen && status.updated_replicas == Some(1) && status.available_replicas == Some(1) {
            conditions::ready(
                "Available",
                format!("it answers on port {}", object.spec.port),
            )
        } else {
            conditions::not_ready("Progressing", "its Pod is not available yet")
        },
    )
}

/// One Pod, which passes the Pod Security Standard "restricted".
fn deployment(object: &MySrv) -> Value {
    let (labels, port) = (labels(object), object.spec.port);
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(object),
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "automountServiceAccountToken": false,
                    "securityContext": {
                        "runAsNonRoot": true,
                        "runAsUser": 65532,
                        "seccompProfile": { "type": "RuntimeDefault" },
                    },
                    "containers": [{
                        "name": "server",
                        "image": "hashicorp/http-echo:1.0",
                        "args": [format!("-listen=:{port}"), format!("-text={}", object.spec.name)],
                        "ports": [{ "name": "http", "containerPort": port }],
                        "securityContext": {
                            "allowPrivilegeEscalation": false,
                            "readOnlyRootFilesystem": true,
                            "capabilities": { "drop": ["ALL"] },
                        },
                    }],
                },
            },
        },
    })
}

fn service(object: &MySrv) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(object),
        "spec": {
            "selector": labels(object),
            "ports": [{ "name": "http", "port": object.spec.port, "targetPort": "http" }],
        },
    })
}

/// Deployment and Service have the name of the object, and are deleted with it.
fn metadata(object: &MySrv) -> Value {
    json!({
        "name": object.name_any(),
        "labels": labels(object),
        "ownerReferences": [object.controller_owner_ref(&())],
    })
}

fn labels(object: &MySrv) -> Value {
    json!({
        "app.kubernetes.io/name": "mysrv",
        "app.kubernetes.io/instance": object.name_any(),
        MANAGED_BY: FIELD_MANAGER,
    })
}

/// Writes the status, unless it is there already.
// +kubebuilder:rbac:groups=myapp.idcos.com,resources=mysrvs/status,verbs=patch
async fn apply_status(object: &MySrv, ready: Condition, ctx: &Context) -> Result<(), Error> {
    let before = object.status.clone().unwrap_or_default();
    let generation = object.meta().generation;
    let ready = conditions::next(&before.conditions, ready, generation);
    let status = MySrvStatus {
        observed_generation: generation,
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
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Request(_) => "RequestFailed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock;

    #[tokio::test]
    async fn runs_a_server_of_that_name_on_that_port() {
        let calls = calls(1, json!({})).await;
        let [deployment, service, ..] = &calls[..] else {
            panic!("two children: {calls:?}")
        };
        assert!(deployment.path.ends_with("/deployments/sample"));
        let container = &deployment.body["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["args"], json!(["-listen=:8080", "-text=hello"]));
        assert!(service.path.ends_with("/services/sample"));
        assert_eq!(service.body["spec"]["ports"][0]["port"], 8080);
        for child in [deployment, service] {
            assert_eq!(child.body["metadata"]["ownerReferences"][0]["uid"], "1");
        }
    }

    #[tokio::test]
    async fn is_ready_when_the_server_is_available() {
        for (available, status, reason) in [(0, "False", "Progressing"), (1, "True", "Available")] {
            let calls = calls(available, json!({})).await;
            assert!(calls[2].path.ends_with("/mysrvs/sample/status"));
            let condition = &calls[2].body["status"]["conditions"][0];
            assert_eq!(
                (&condition["status"], &condition["reason"]),
                (&json!(status), &json!(reason))
            );
        }
    }

    #[tokio::test]
    async fn writes_no_status_the_second_time() {
        let first = calls(1, json!({})).await;
        let second = calls(1, first[2].body["status"].clone()).await;
        assert_eq!(second, first[..2]);
    }

    #[tokio::test]
    async fn fails_with_a_reason() {
        let (ctx, _calls) = mock::context(|_| (409, mock::status(409, "Conflict")));
        let error = reconcile(object(json!({})), ctx).await.unwrap_err();
        assert_eq!(error.reason(), "RequestFailed");
    }

    #[tokio::test]
    async fn leaves_alone_what_is_being_deleted() {
        let (ctx, calls) = mock::context(|_| (500, Value::Null));
        let mut object = Arc::unwrap_or_clone(object(json!({})));
        object.metadata.deletion_timestamp = object.metadata.creation_timestamp.clone();
        reconcile(Arc::new(object), ctx).await.unwrap();
        assert_eq!(calls.take(), []);
    }

    /// Reconciles once, while so many servers are available, and returns the requests that this made.
    async fn calls(available: i32, status: Value) -> Vec<mock::Call> {
        let (ctx, calls) = mock::context(move |call| {
            let mut answer = call.body.clone();
            if call.path.ends_with("/deployments/sample") {
                answer["status"] = json!({ "updatedReplicas": 1, "availableReplicas": available });
            }
            (200, answer)
        });
        reconcile(object(status), ctx).await.unwrap();
        calls.take()
    }

    /// An object as the API server sends it, with this status.
    fn object(status: Value) -> Arc<MySrv> {
        let object = json!({
            "apiVersion": "myapp.idcos.com/v1alpha1",
            "kind": "MySrv",
            "metadata": {
                "name": "sample",
                "namespace": "default",
                "uid": "1",
                "generation": 2,
                "creationTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": { "port": 8080, "name": "hello" },
            "status": status,
        });
        Arc::new(serde_json::from_value(object).unwrap())
    }
}
