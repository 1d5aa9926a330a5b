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

//! Runs a server for each `MySrv`, behind a Service, and reports in the status whether it is available.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use kube::ResourceExt;
use opctl_runtime::{Children, Context, Controller, Outcome, Result, Runnable};
use serde_json::{Value, from_value, json};

use crate::api::myapp::v1alpha1::my_srv::MySrv;

/// Builds the controller; `controller::all` starts it.
// +kubebuilder:rbac:groups=myapp.idcos.com,resources=mysrvs,verbs=list;watch
// +kubebuilder:rbac:groups=myapp.idcos.com,resources=mysrvs/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;list;patch;watch
// +kubebuilder:rbac:groups=core,resources=services,verbs=create;list;patch;watch
pub fn controller() -> Runnable {
    Controller::<MySrv>::new(reconcile)
        .owns::<Deployment>()
        .owns::<Service>()
        .into()
}

/// Runs after every change of an object, its Deployment or its Service, after a failure, and once every `--requeue-interval`.
async fn reconcile(object: Arc<MySrv>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*object, &ctx);
    children
        .apply::<Deployment>(from_value(deployment(&object))?)
        .await?;
    children
        .apply::<Service>(from_value(service(&object))?)
        .await?;
    Ok(children.outcome())
}

/// One Pod, which passes the Pod Security Standard "restricted".
fn deployment(object: &MySrv) -> Value {
    let (labels, port) = (labels(object), object.spec.port);
    json!({
        "metadata": { "name": object.name_any(), "labels": labels },
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
        "metadata": { "name": object.name_any(), "labels": labels(object) },
        "spec": {
            "selector": labels(object),
            "ports": [{ "name": "http", "port": object.spec.port, "targetPort": "http" }],
        },
    })
}

fn labels(object: &MySrv) -> Value {
    json!({
        "app.kubernetes.io/name": "mysrv",
        "app.kubernetes.io/instance": object.name_any(),
        "app.kubernetes.io/managed-by": "mysrv",
    })
}

#[cfg(test)]
mod tests {
    use opctl_runtime::testing::{self, Calls};

    use super::*;
    use crate::api::myapp::v1alpha1::my_srv::MySrvSpec;

    #[tokio::test]
    async fn runs_a_server_of_that_name_on_that_port() {
        let (_, calls) = reconciled(1).await;
        let (deployment, service) = (
            calls.applied::<Deployment>("sample"),
            calls.applied::<Service>("sample"),
        );
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["args"], json!(["-listen=:8080", "-text=hello"]));
        assert_eq!(service["spec"]["ports"][0]["port"], 8080);
        assert_eq!(
            service["spec"]["selector"],
            deployment["spec"]["template"]["metadata"]["labels"]
        );
        for child in [deployment, service] {
            assert_eq!(child["metadata"]["ownerReferences"][0]["uid"], "1");
        }
    }

    #[tokio::test]
    async fn is_ready_when_the_server_is_available() {
        for (available, status, reason) in [(0, "False", "Progressing"), (1, "True", "Available")] {
            let (outcome, _) = reconciled(available).await;
            let condition = &outcome.conditions()[0];
            assert_eq!((&*condition.status, &*condition.reason), (status, reason));
        }
    }

    #[tokio::test]
    async fn fails_with_a_reason() {
        let (ctx, _calls) = testing::context_with(|_| (409, testing::status(409, "Conflict")));
        assert_eq!(
            reconcile(object(), ctx).await.unwrap_err().reason(),
            "RequestFailed"
        );
    }

    /// Reconciles once, while so many servers are available.
    async fn reconciled(available: i32) -> (Outcome, Calls) {
        let (ctx, calls) = testing::context_with(move |call| {
            let mut answer = call.body.clone();
            if call.is::<Deployment>() {
                answer["metadata"]["generation"] = json!(1);
                answer["status"] = json!({
                    "observedGeneration": 1,
                    "replicas": 1,
                    "updatedReplicas": 1,
                    "readyReplicas": available,
                    "availableReplicas": available,
                    "conditions": [{ "type": "Available", "status": if available == 1 { "True" } else { "False" } }],
                });
            }
            (200, answer)
        });
        (reconcile(object(), ctx).await.unwrap(), calls)
    }

    fn object() -> Arc<MySrv> {
        testing::stored(MySrv::new(
            "sample",
            MySrvSpec {
                port: 8080,
                name: "hello".to_owned(),
            },
        ))
    }
}
