//! Registration of the operator's webhooks: the cluster objects with their addresses and CAs.

use std::fs;
use std::io;

use futures::future::BoxFuture;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};
use tracing::{info, warn};

#[cfg(feature = "conversion")]
use super::conversion::crds;
use super::{Serves, Webhook};
use crate::manager::Error;
use crate::{apply, brief};

pub enum Registration {
    Admission(Configuration),
    /// The name of a CustomResourceDefinition.
    #[cfg(feature = "conversion")]
    Conversion(String),
}

impl Registration {
    /// The registrations that the webhooks need.
    pub fn all(webhooks: &[Webhook], operator: &str) -> Vec<Self> {
        let mut all = Vec::new();
        if webhooks.iter().any(|it| matches!(it.serves, Serves::Mutating(_))) {
            let resource = ApiResource::erase::<MutatingWebhookConfiguration>(&());
            all.push(Self::Admission(Configuration::new(operator, "mutating", resource)));
        }
        if webhooks.iter().any(|it| matches!(it.serves, Serves::Validating(_))) {
            let resource = ApiResource::erase::<ValidatingWebhookConfiguration>(&());
            all.push(Self::Admission(Configuration::new(operator, "validating", resource)));
        }
        #[cfg(feature = "conversion")]
        all.extend(webhooks.iter().filter_map(|webhook| match &webhook.serves {
            Serves::Conversion(versions) => Some(Self::Conversion(versions.crd.clone())),
            _ => None,
        }));
        all
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Admission(configuration) => &configuration.name,
            #[cfg(feature = "conversion")]
            Self::Conversion(crd) => crd,
        }
    }

    /// Makes the API server trust these CAs where it calls this operator.
    pub async fn trust(&self, client: &Client, field_manager: &str, bundle: &ByteString) -> Result<(), kube::Error> {
        let written = match self {
            Self::Admission(configuration) => configuration.trust(client, field_manager, bundle).await?,
            #[cfg(feature = "conversion")]
            Self::Conversion(crd) => crds::trust(client, field_manager, crd, bundle).await?,
        };
        if written {
            info!("registered the CA of webhooks in `{}`", self.name());
        }
        Ok(())
    }

    /// Makes the API server call this process. The undo is added first, since a request may succeed although it seems
    /// to fail.
    pub async fn register(&self, local: &Local, undos: &mut Vec<Undo>) -> Result<(), Error> {
        match self {
            Self::Admission(configuration) => configuration.register(local, undos).await,
            #[cfg(feature = "conversion")]
            Self::Conversion(crd) => Ok(crds::register(local, crd, undos).await?),
        }
    }
}

/// A process outside of the cluster, with the permissions of the user who started it.
pub struct Local {
    pub client: Client,
    pub field_manager: &'static str,
    pub url: String,
    pub bundle: ByteString,
    /// The served paths.
    pub paths: Vec<&'static str>,
}

impl Local {
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url.trim_end_matches('/'))
    }
}

/// Restores an object of the cluster.
pub struct Undo {
    pub name: String,
    pub request: BoxFuture<'static, Result<(), kube::Error>>,
}

impl Undo {
    pub async fn run(self) {
        match self.request.await {
            Ok(()) => {}
            Err(kube::Error::Api(gone)) if gone.is_not_found() => {}
            Err(error) => {
                let (name, why) = (self.name, brief(&error));
                warn!("the API server still calls this process because of `{name}`: {why}");
            }
        }
    }
}

/// A MutatingWebhookConfiguration or ValidatingWebhookConfiguration.
pub struct Configuration {
    /// The name in the cluster, as kustomize prefixes the one in the manifests.
    pub name: String,
    /// The name of the additional configuration while a process outside of the cluster serves.
    pub local: String,
    pub resource: ApiResource,
}

/// The output of `opctl manifests`, relative to the project folder.
const MANIFESTS: &str = "config/webhook/manifests.yaml";

impl Configuration {
    fn new(operator: &str, kind: &str, resource: ApiResource) -> Self {
        Self {
            name: format!("{operator}-{kind}-webhook-configuration"),
            local: format!("{operator}-local-{kind}-webhook-configuration"),
            resource,
        }
    }

    /// Sets the CA bundle of all webhooks. Returns `true` if one was changed.
    // +opctl:allow:OP401 granted by the markers of `Defaulting` and `Validating`
    async fn trust(&self, client: &Client, field_manager: &str, bundle: &ByteString) -> Result<bool, kube::Error> {
        let api = Api::all_with(client.clone(), &self.resource);
        let Some(patch) = trusting(&api.get(&self.name).await?, bundle) else {
            return Ok(false);
        };
        api.patch(&self.name, &params(field_manager), &Patch::Strategic(patch)).await?;
        Ok(true)
    }

    // +opctl:allow:OP401 outside of the cluster, with the permissions of whoever started the process
    async fn register(&self, local: &Local, undos: &mut Vec<Undo>) -> Result<(), Error> {
        let (name, resource) = (&self.local, &self.resource);
        let Some(configuration) = localized(local, &resource.kind, name)? else {
            return Ok(());
        };
        info!(
            "`{name}` has the API server call {} until this process ends; if it is killed, run `kubectl delete {} {name}`",
            local.url, resource.plural
        );
        let api = Api::<DynamicObject>::all_with(local.client.clone(), resource);
        let undo = (api.clone(), name.clone());
        let request = async move { undo.0.delete(&undo.1, &DeleteParams::default()).await.map(drop) };
        undos.push(Undo { name: name.clone(), request: Box::pin(request) });
        apply(local.field_manager, &api, name, &configuration).await?;
        Ok(())
    }
}

/// Parameters of a patch other than server-side apply.
pub fn params(field_manager: &str) -> PatchParams {
    PatchParams { field_manager: Some(field_manager.to_owned()), ..PatchParams::default() }
}

/// The patch that sets the bundle; `None` if all webhooks have it. The API server merges the list by name.
fn trusting(configuration: &DynamicObject, bundle: &ByteString) -> Option<Value> {
    let webhooks = configuration.data["webhooks"].as_array()?;
    let bundle = json!(bundle);
    let trusted = |webhook: &Value| webhook["clientConfig"]["caBundle"] == bundle;
    if webhooks.iter().all(trusted) {
        return None;
    }
    let webhooks =
        webhooks.iter().map(|webhook| json!({ "name": webhook["name"], "clientConfig": { "caBundle": bundle } }));
    Some(json!({ "webhooks": Vec::from_iter(webhooks) }))
}

/// The configuration of this kind in the manifests, if there is one, with the addresses of this process.
fn localized(local: &Local, kind: &str, name: &str) -> Result<Option<Value>, io::Error> {
    let read = || -> Result<_, String> {
        let manifests = match fs::read_to_string(MANIFESTS) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            manifests => manifests.map_err(|error| error.to_string())?,
        };
        let objects: Vec<Value> = serde_saphyr::from_multiple(&manifests).map_err(|error| error.to_string())?;
        for object in objects {
            if object["kind"] == kind {
                return localize(object, local, name).map(Some);
            }
        }
        Ok(None)
    };
    read().map_err(|why| io::Error::other(format!("{MANIFESTS}: {why}")))
}

/// Replaces the Services in a configuration by this process.
fn localize(mut configuration: Value, local: &Local, name: &str) -> Result<Value, String> {
    configuration["metadata"] = json!({ "name": name });
    for webhook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
        let path = webhook["clientConfig"]["service"]["path"].as_str().unwrap_or_default();
        if !local.paths.contains(&path) {
            let name = &webhook["name"];
            return Err(format!("{name} has the path `{path}`, which no webhook of `webhook::all` serves"));
        }
        webhook["clientConfig"] = json!({ "url": local.url(path), "caBundle": local.bundle });
    }
    Ok(configuration)
}

#[cfg(test)]
mod tests;
