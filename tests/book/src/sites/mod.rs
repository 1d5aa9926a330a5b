//! The controller of `docs/writing-a-controller.md`: web sites from ConfigMaps, with a name in a DNS that has an API of its own.

pub mod dns;

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::runtime::events::EventType;
use kube::{Api, CustomResource, ResourceExt};
use opctl_runtime::telemetry::metrics::prometheus_client::metrics::counter::Counter;
use opctl_runtime::{Children, Context, Controller, Error, Outcome, Result, ResultExt, Runnable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tracing::info;

use dns::Dns;

/// A web site.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[kube(group = "web.example.com", version = "v1", kind = "Site", namespaced, status = "SiteStatus")]
pub struct SiteSpec {
    /// The ConfigMap with the pages.
    pub pages: String,
    /// The name of the site in the DNS.
    pub host: String,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteStatus {
    pub observed_generation: Option<i64>,
    /// The address that the host leads to.
    pub address: Option<String>,
    #[serde(default)]
    pub conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

// +kubebuilder:rbac:groups=web.example.com,resources=sites,verbs=list;watch;patch
// +kubebuilder:rbac:groups=core,resources=services;configmaps,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
pub fn controller(dns: Dns) -> Runnable {
    let for_cleanup = dns.clone();
    Controller::<Site>::new(move |site, ctx| reconcile(site, ctx, dns.clone()))
        .owns::<Deployment>()
        .owns::<Service>()
        .watches_when(|site: &Site, pages: &ConfigMap| {
            site.namespace() == pages.namespace() && site.spec.pages == pages.name_any()
        })
        .finalizer("web.example.com/dns", move |site, _| cleanup(site, for_cleanup.clone()))
        .timeout(Duration::from_secs(60))
        .into()
}

// +kubebuilder:rbac:groups=web.example.com,resources=sites/status,verbs=patch
// +kubebuilder:rbac:groups=core,resources=configmaps,verbs=get
// +kubebuilder:rbac:groups=core,resources=services,verbs=create;patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=create;patch
async fn reconcile(site: Arc<Site>, ctx: Arc<Context>, dns: Dns) -> Result<Outcome> {
    if site.spec.host.parse::<IpAddr>().is_ok() {
        return Err(Error::new("InvalidHost", "`spec.host` is a name, not an address").permanent());
    }
    let namespace = site.namespace().unwrap_or_default();
    let pages = Api::<ConfigMap>::namespaced(ctx.client.clone(), &namespace);
    if pages.get_opt(&site.spec.pages).await?.is_none() {
        let message = format!("there is no ConfigMap `{}`", site.spec.pages);
        return Ok(Outcome::not_ready("PagesMissing", message));
    }

    let mut children = Children::of(&*site, &ctx);
    children.apply(deployment(&site)?).await?;
    let service = children.apply(service(&site)?).await?;

    let Some(address) = service.spec.and_then(|spec| spec.cluster_ip) else {
        return Ok(Outcome::not_ready("AddressMissing", "the Service has no address yet"));
    };
    if dns.set(&site.spec.host, &address).await.reason("DnsFailed")? {
        info!(host = site.spec.host, address, "record changed");
        let note = format!("`{}` leads to {address}", site.spec.host);
        ctx.event(&*site, EventType::Normal, "RecordChanged", note).await;
        records(&ctx).inc();
    }
    let status = json!({ "address": address });
    Ok(children.outcome().status(status).requeue_after(Duration::from_secs(600)))
}

/// The number of records that were changed, as a metric.
fn records(ctx: &Context) -> &'static Counter {
    static RECORDS: OnceLock<Counter> = OnceLock::new();
    RECORDS.get_or_init(|| ctx.metrics.register("dns_records_changed", "DNS records that were changed"))
}

/// Removes the record of a site that is being deleted.
async fn cleanup(site: Arc<Site>, dns: Dns) -> Result<()> {
    dns.remove(&site.spec.host).await.reason("DnsFailed")
}

fn deployment(site: &Site) -> Result<Deployment> {
    let labels = json!({ "app.kubernetes.io/name": "site", "app.kubernetes.io/instance": site.name_any() });
    Ok(serde_json::from_value(json!({
        "metadata": { "name": site.name_any() },
        "spec": {
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "containers": [{
                        "name": "nginx",
                        "image": "nginxinc/nginx-unprivileged:1.29-alpine",
                        "volumeMounts": [{ "name": "pages", "mountPath": "/usr/share/nginx/html" }],
                    }],
                    "volumes": [{ "name": "pages", "configMap": { "name": site.spec.pages } }],
                },
            },
        },
    }))?)
}

fn service(site: &Site) -> Result<Service> {
    Ok(serde_json::from_value(json!({
        "metadata": { "name": site.name_any() },
        "spec": {
            "selector": { "app.kubernetes.io/name": "site", "app.kubernetes.io/instance": site.name_any() },
            "ports": [{ "port": 80, "targetPort": 8080 }],
        },
    }))?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use opctl_runtime::testing::{self, object};

    use super::*;

    fn site() -> Arc<Site> {
        let spec = SiteSpec { pages: "pages".to_owned(), host: "shop.example.com".to_owned() };
        testing::stored(Site::new("shop", spec))
    }

    fn pages() -> Arc<ConfigMap> {
        let mut pages = ConfigMap::default();
        pages.metadata.name = Some("pages".to_owned());
        pages.data = Some(BTreeMap::from([("index.html".to_owned(), "Hello".to_owned())]));
        testing::stored(pages)
    }

    /// A Service that has its address already.
    fn addressed() -> Arc<Service> {
        let service = json!({ "metadata": { "name": "shop" }, "spec": { "clusterIP": "10.0.0.7" } });
        testing::stored(serde_json::from_value(service).unwrap())
    }

    #[tokio::test]
    async fn waits_for_the_pages() {
        let (ctx, calls) = testing::context_having([object(&*site())]);
        let outcome = reconcile(site(), ctx, Dns::default()).await.unwrap();
        assert_eq!(outcome.conditions()[0].reason, "PagesMissing");
        assert!(!calls.changed::<Deployment>());
    }

    #[tokio::test]
    async fn the_host_leads_to_the_service() {
        let dns = Dns::default();
        let (ctx, calls) = testing::context_having([object(&*site()), object(&*pages()), object(&*addressed())]);
        let outcome = reconcile(site(), ctx.clone(), dns.clone()).await.unwrap();
        assert_eq!(outcome.status_fields()["address"], "10.0.0.7");
        assert_eq!(dns.address("shop.example.com").as_deref(), Some("10.0.0.7"));
        let volume = &calls.applied::<Deployment>("shop")["spec"]["template"]["spec"]["volumes"][0];
        assert_eq!(volume["configMap"]["name"], "pages");
        assert_eq!(calls.events(), ["RecordChanged"]);

        // Nothing has changed, so there is no second event.
        calls.take();
        reconcile(site(), ctx, dns.clone()).await.unwrap();
        assert!(calls.events().is_empty());

        cleanup(site(), dns.clone()).await.unwrap();
        assert_eq!(dns.address("shop.example.com"), None);
    }

    #[tokio::test]
    async fn an_address_is_no_host() {
        let (ctx, _) = testing::context_having([object(&*pages())]);
        let mut site = Arc::unwrap_or_clone(site());
        site.spec.host = "10.0.0.7".to_owned();
        let error = reconcile(Arc::new(site), ctx, Dns::default()).await.unwrap_err();
        assert!(error.is_permanent());
    }
}
