//! Reconciles `Website` objects.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::ResourceExt;
use opctl_runtime::{Children, Context, Controller, Outcome, Result, Runnable};
use serde_json::{Value, json};

use crate::api::web::v1::website::Website;

/// Builds the controller; `controller::all` starts it.
// +kubebuilder:rbac:groups=web.example.com,resources=websites,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
// +kubebuilder:rbac:groups=core,resources=configmaps;services,verbs=list;watch
pub fn controller() -> Runnable {
    Controller::<Website>::new(reconcile)
        .owns::<ConfigMap>()
        .owns::<Deployment>()
        .owns::<Service>()
        .into()
}

/// Applies a ConfigMap with the pages, a Deployment that serves them, and a Service.
// +kubebuilder:rbac:groups=web.example.com,resources=websites/status,verbs=patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
// +kubebuilder:rbac:groups=core,resources=configmaps;services,verbs=create;patch
async fn reconcile(website: Arc<Website>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*website, &ctx);
    children.apply(pages(&website)?).await?;
    children.apply(deployment(&website)?).await?;
    children.apply(service(&website)?).await?;

    let namespace = website.namespace().unwrap_or_default();
    let url = format!("http://{}.{namespace}.svc", website.name_any());
    Ok(children.outcome().status(json!({ "url": url })))
}

fn labels(website: &Website) -> Value {
    json!({
        "app.kubernetes.io/name": "website",
        "app.kubernetes.io/instance": website.name_any(),
    })
}

fn pages(website: &Website) -> Result<ConfigMap> {
    Ok(serde_json::from_value(json!({
        "metadata": { "name": website.name_any() },
        "data": website.spec.pages,
    }))?)
}

fn deployment(website: &Website) -> Result<Deployment> {
    Ok(serde_json::from_value(json!({
        "metadata": { "name": website.name_any() },
        "spec": {
            "replicas": website.spec.replicas,
            "selector": { "matchLabels": labels(website) },
            "template": {
                "metadata": { "labels": labels(website) },
                "spec": {
                    "containers": [{
                        "name": "nginx",
                        "image": "nginxinc/nginx-unprivileged:1.29-alpine",
                        "ports": [{ "name": "http", "containerPort": 8080 }],
                        "volumeMounts": [{ "name": "pages", "mountPath": "/usr/share/nginx/html" }],
                    }],
                    "volumes": [{ "name": "pages", "configMap": { "name": website.name_any() } }],
                },
            },
        },
    }))?)
}

fn service(website: &Website) -> Result<Service> {
    Ok(serde_json::from_value(json!({
        "metadata": { "name": website.name_any() },
        "spec": {
            "selector": labels(website),
            "ports": [{ "name": "http", "port": 80, "targetPort": "http" }],
        },
    }))?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use opctl_runtime::testing::{self, Calls};

    use super::*;
    use crate::api::web::v1::website::WebsiteSpec;

    #[tokio::test]
    async fn serves_the_page() {
        let (_, calls) = reconciled(0).await;
        let pages = calls.applied::<ConfigMap>("sample");
        assert_eq!(pages["data"]["index.html"], "<h1>Hello</h1>");
        let deployment = calls.applied::<Deployment>("sample");
        assert_eq!(deployment["spec"]["replicas"], 2);
    }

    #[tokio::test]
    async fn is_ready_when_all_servers_are() {
        let (outcome, _) = reconciled(2).await;
        assert_eq!(outcome.conditions()[0].status, "True");
        assert_eq!(
            outcome.status_fields()["url"],
            "http://sample.default.svc"
        );
    }

    #[tokio::test]
    async fn is_not_ready_before_that() {
        let (outcome, _) = reconciled(1).await;
        assert_eq!(outcome.conditions()[0].status, "False");
        assert_eq!(outcome.conditions()[0].reason, "Progressing");
    }

    /// Reconciles once, while this many of two servers are ready.
    async fn reconciled(ready: i32) -> (Outcome, Calls) {
        let (ctx, calls) = testing::context_with(move |call| {
            let mut answer = call.body.clone();
            if call.is::<Deployment>() {
                answer["status"] = json!({
                    "replicas": 2,
                    "updatedReplicas": 2,
                    "readyReplicas": ready,
                    "availableReplicas": ready,
                });
            }
            (200, answer)
        });
        (reconcile(object(spec()), ctx).await.unwrap(), calls)
    }

    fn object(spec: WebsiteSpec) -> Arc<Website> {
        let object = Website::new("sample", spec);
        testing::stored(object)
    }

    /// Returns a valid spec. Set new required fields here.
    fn spec() -> WebsiteSpec {
        WebsiteSpec {
            pages: BTreeMap::from([("index.html".to_owned(), "<h1>Hello</h1>".to_owned())]),
            replicas: 2,
        }
    }
}
