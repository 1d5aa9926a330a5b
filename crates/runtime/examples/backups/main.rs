//! An operator with webhooks: a `Backup` gets defaults, is validated, and is converted between two versions; Pods get a
//! label.
//!
//! Run it with your own permissions against the cluster of your kubeconfig, which must be able to reach this machine:
//!
//! ```sh
//! cd examples/backups
//! cargo run --example backups -- crds | kubectl apply --server-side -f -
//! cargo run --example backups -- --webhook-url=https://127.0.0.1:9443
//! ```
//!
//! While it runs, the API server calls it as `config/webhook/manifests.yaml` specifies.

mod conversion;
mod defaulting;
mod pod;
mod v1;
mod v1alpha1;
mod validation;

use std::io;
use std::process::ExitCode;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, ServiceReference, WebhookClientConfig, WebhookConversion,
};
use kube::CustomResourceExt;
use opctl_runtime::webhook::{self, Conversion, Spoke, Webhook};
use opctl_runtime::{Manager, Operator, crds};

/// A separate package uses `operator!()`: the name and version of the package.
const OPERATOR: Operator = Operator { name: "backups", version: "1.0.0" };

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    if std::env::args().nth(1).as_deref() == Some("crds") {
        crds::print(&definitions())?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(Manager::new(OPERATOR).run(vec![webhook::server(webhooks())]).await)
}

pub fn webhooks() -> Vec<Webhook> {
    let conversion = Conversion::<v1::Backup>::new(vec![Spoke::of::<v1alpha1::Backup>()]);
    vec![conversion.into(), defaulting::webhook(), pod::webhook(), validation::webhook()]
}

/// The CustomResourceDefinition with both versions. In a cluster, the API server reaches the conversion webhook through
/// a Service.
pub fn definitions() -> Vec<CustomResourceDefinition> {
    let mut definitions = crds::merge(vec![v1::Backup::crd(), v1alpha1::Backup::crd()]);
    let service = ServiceReference {
        name: "webhook-service".to_owned(),
        namespace: "backups-system".to_owned(),
        path: Some("/convert".to_owned()),
        port: None,
    };
    definitions[0].spec.conversion = Some(CustomResourceConversion {
        strategy: "Webhook".to_owned(),
        webhook: Some(WebhookConversion {
            client_config: Some(WebhookClientConfig { service: Some(service), ..Default::default() }),
            conversion_review_versions: vec!["v1".to_owned()],
        }),
    });
    definitions
}
