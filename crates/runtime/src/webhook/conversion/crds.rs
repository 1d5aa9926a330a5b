//! CustomResourceDefinitions whose versions are converted here.

use futures::future::BoxFuture;
use k8s_openapi::ByteString;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, WebhookClientConfig, WebhookConversion,
};
use kube::Client;
use kube::api::{Api, Patch};
use serde_json::json;
use tracing::info;

use super::{Conversion, WEBHOOK};
use crate::manager::Error;
use crate::webhook::registration::{Local, Registration, Undo, params};

/// Those of [`super::all`].
pub struct Crds;

impl Registration for Crds {
    fn trust<'a>(
        &'a self,
        client: &'a Client,
        bundle: &'a ByteString,
    ) -> BoxFuture<'a, Result<(), kube::Error>> {
        Box::pin(async move {
            for Conversion { crd, .. } in super::all() {
                trust(client, crd, bundle).await?;
            }
            Ok(())
        })
    }

    fn register<'a>(
        &'a self,
        local: &'a Local,
        undos: &'a mut Vec<Undo>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            for Conversion { crd, .. } in super::all() {
                register(local, crd, undos).await?;
            }
            Ok(())
        })
    }
}

async fn trust(client: &Client, name: &str, bundle: &ByteString) -> Result<(), kube::Error> {
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let conversion = api.get(name).await?.spec.conversion;
    if caller(&conversion).is_some_and(|it| it.ca_bundle.as_ref() == Some(bundle)) {
        return Ok(());
    }
    let webhook = json!({ "clientConfig": { "caBundle": bundle } });
    let patch = json!({ "spec": { "conversion": { "webhook": webhook } } });
    api.patch(name, &params(), &Patch::Merge(patch)).await?;
    info!("the API server trusts this operator by `{name}`");
    Ok(())
}

async fn register(
    local: &Local,
    name: &'static str,
    undos: &mut Vec<Undo>,
) -> Result<(), kube::Error> {
    let api = Api::<CustomResourceDefinition>::all(local.client.clone());
    let before = api.get(name).await?.spec.conversion;
    // Left by a process that was killed: nobody answers there any more.
    let is_dead = caller(&before).is_some_and(|it| it.url.is_some());
    let before = before.filter(|_| !is_dead).unwrap_or_else(none);
    let cure = r#"--type=merge -p '{"spec":{"conversion":null}}'`, then `make install`"#;
    info!(
        "`{name}` has the API server convert by {} until this process ends; \
         if it is killed, `kubectl patch crd {name} {cure}",
        local.url
    );
    let request = Box::pin(replace(api.clone(), name, before));
    undos.push(Undo { name, request });
    replace(api, name, here(local)).await
}

fn caller(conversion: &Option<CustomResourceConversion>) -> Option<&WebhookClientConfig> {
    let webhook = conversion.as_ref()?.webhook.as_ref()?;
    webhook.client_config.as_ref()
}

fn here(local: &Local) -> CustomResourceConversion {
    let client_config = WebhookClientConfig {
        url: Some(local.url(WEBHOOK.path)),
        ca_bundle: Some(local.bundle.clone()),
        service: None,
    };
    CustomResourceConversion {
        strategy: "Webhook".to_owned(),
        webhook: Some(WebhookConversion {
            client_config: Some(client_config),
            conversion_review_versions: vec!["v1".to_owned()],
        }),
    }
}

/// What a CustomResourceDefinition has that says nothing.
fn none() -> CustomResourceConversion {
    CustomResourceConversion {
        strategy: "None".to_owned(),
        webhook: None,
    }
}

/// As a whole: a merge would leave the `service` beside the `url`.
async fn replace(
    api: Api<CustomResourceDefinition>,
    name: &'static str,
    conversion: CustomResourceConversion,
) -> Result<(), kube::Error> {
    let patch = json!([{ "op": "replace", "path": "/spec/conversion", "value": conversion }]);
    let patch = serde_json::from_value(patch).expect("a JSON patch");
    api.patch(name, &params(), &Patch::Json::<()>(patch))
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests;
