//! An operator that installs a Helm chart for each `Site`, and one for each `Shop`, whose controller manages other
//! children too.
//!
//! Run it with your own permissions against the cluster of your kubeconfig; it needs helm 4:
//!
//! ```sh
//! cargo run --example charts -- crds | kubectl apply --server-side -f -
//! cargo run --example charts -- --helm-charts examples/charts/helm-charts
//! ```
//!
//! `rbac.yaml` grants the permissions that it needs as a Pod.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{CustomResource, CustomResourceExt, KubeSchema};
use opctl_runtime::helm::{ChartController, OnFailure, Release, ReleaseStatus, ValuesFrom};
use opctl_runtime::{Children, Context, Controller, Manager, Operator, Outcome, Result, Runnable, child_name, crds};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A separate package uses `operator!()`: the name and version of the package.
const OPERATOR: Operator = Operator { name: "charts", version: "1.0.0" };

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    if std::env::args().nth(1).as_deref() == Some("crds") {
        crds::print(&definitions())?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(Manager::new(OPERATOR).run(vec![sites(), shops()]).await)
}

/// The values of the chart; others have the defaults of the chart.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[kube(group = "web.example.com", version = "v1", kind = "Site", namespaced, status = "ReleaseStatus")]
#[serde(rename_all = "camelCase")]
pub struct SiteSpec {
    /// The number of servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// The text on the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Scales with the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<bool>,
    /// Does not render, for tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<bool>,
    /// Renders a manifest that the API server rejects, for tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid: Option<bool>,
    /// Makes the hook slow, for tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<bool>,
}

/// A site that sells something.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[kube(group = "web.example.com", version = "v1", kind = "Shop", namespaced, status = "ReleaseStatus")]
pub struct ShopSpec {
    /// The goods for sale. Without any, the chart renders a manifest that the API server rejects, for tests.
    pub goods: Vec<String>,
}

fn definitions() -> Vec<CustomResourceDefinition> {
    vec![Site::crd(), Shop::crd()]
}

/// The chart contains everything; a ConfigMap with the name of the site can add values.
fn sites() -> Runnable {
    ChartController::<Site>::new("site")
        .values_from(|site: &Site| {
            let name = site.metadata.name.clone().unwrap_or_default();
            vec![ValuesFrom::config_map(format!("{name}-values")).optional()]
        })
        .release(|release| release.timeout(Duration::from_secs(60)).attempts(3))
        .into()
}

/// A ConfigMap contains the goods, and a release of the chart is the site.
fn shops() -> Runnable {
    Controller::<Shop>::new(reconcile)
        .owns::<ConfigMap>()
        .releases()
        .finalizer("web.example.com/site", async |shop: Arc<Shop>, ctx: Arc<Context>| {
            site(&shop).uninstall(&*shop, &ctx).await
        })
        .into()
}

fn site(shop: &Shop) -> Release {
    let is_invalid = shop.spec.goods.is_empty();
    Release::new("site")
        .on_failure(OnFailure::RollBack)
        .values(json!({ "text": shop.spec.goods.join(", "), "invalid": is_invalid }))
}

async fn reconcile(shop: Arc<Shop>, ctx: Arc<Context>) -> Result<Outcome> {
    let mut children = Children::of(&*shop, &ctx);
    let mut goods = ConfigMap::default();
    goods.metadata.name = Some(child_name(&*shop, "goods"));
    goods.data = Some([("goods".to_owned(), shop.spec.goods.join("\n"))].into());
    children.apply(goods).await?;
    let released = site(&shop).apply(&*shop, &ctx).await?;
    Ok(released.outcome())
}
