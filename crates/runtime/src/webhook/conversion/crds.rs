//! Registration of the conversion webhook in CustomResourceDefinitions.

use k8s_openapi::ByteString;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, WebhookClientConfig, WebhookConversion,
};
use kube::Client;
use kube::api::{Api, Patch};
use serde_json::json;
use tracing::info;

use super::PATH;
use crate::webhook::registration::{Local, Undo, params};

/// Sets the CA bundle of a CustomResourceDefinition. Returns `true` if it was changed.
// +opctl:allow:OP401 granted by the marker beside `Conversion`
pub async fn trust(client: &Client, field_manager: &str, name: &str, bundle: &ByteString) -> Result<bool, kube::Error> {
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let conversion = api.get(name).await?.spec.conversion;
    if caller(&conversion).is_some_and(|it| it.ca_bundle.as_ref() == Some(bundle)) {
        return Ok(false);
    }
    let webhook = json!({ "clientConfig": { "caBundle": bundle } });
    let patch = json!({ "spec": { "conversion": { "webhook": webhook } } });
    api.patch(name, &params(field_manager), &Patch::Merge(patch)).await?;
    Ok(true)
}

// +opctl:allow:OP401 outside of the cluster, with the permissions of whoever started the process
pub async fn register(local: &Local, name: &str, undos: &mut Vec<Undo>) -> Result<(), kube::Error> {
    let api = Api::<CustomResourceDefinition>::all(local.client.clone());
    let before = api.get(name).await?.spec.conversion;
    // A killed process has left its URL, at which nothing listens any more.
    let is_dead = caller(&before).is_some_and(|it| it.url.is_some());
    let before = before.filter(|_| !is_dead).unwrap_or_else(none);
    let patch = r#"--type=merge -p '{"spec":{"conversion":null}}'`, then `make install`"#;
    info!(
        "`{name}` has the API server call {} for conversions until this process ends; \
         if it is killed, run `kubectl patch crd {name} {patch}",
        local.url
    );
    let request = Box::pin(replace(api.clone(), local.field_manager, name.to_owned(), before));
    undos.push(Undo { name: name.to_owned(), request });
    replace(api, local.field_manager, name.to_owned(), here(local)).await
}

fn caller(conversion: &Option<CustomResourceConversion>) -> Option<&WebhookClientConfig> {
    let webhook = conversion.as_ref()?.webhook.as_ref()?;
    webhook.client_config.as_ref()
}

fn here(local: &Local) -> CustomResourceConversion {
    let client_config =
        WebhookClientConfig { url: Some(local.url(PATH)), ca_bundle: Some(local.bundle.clone()), service: None };
    CustomResourceConversion {
        strategy: "Webhook".to_owned(),
        webhook: Some(WebhookConversion {
            client_config: Some(client_config),
            conversion_review_versions: vec!["v1".to_owned()],
        }),
    }
}

/// The default conversion of a CustomResourceDefinition.
fn none() -> CustomResourceConversion {
    CustomResourceConversion { strategy: "None".to_owned(), webhook: None }
}

/// Replaces the conversion as a whole: a merge would keep the `service` beside the `url`.
async fn replace(
    api: Api<CustomResourceDefinition>,
    field_manager: &'static str,
    name: String,
    conversion: CustomResourceConversion,
) -> Result<(), kube::Error> {
    let patch = json!([{ "op": "replace", "path": "/spec/conversion", "value": conversion }]);
    let patch = serde_json::from_value(patch).expect("a JSON patch");
    api.patch(&name, &params(field_manager), &Patch::Json::<()>(patch)).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
