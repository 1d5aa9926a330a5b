//! The objects of a cluster that send the API server here, and say by which CA it knows that it is there.

use std::fs;
use std::io;

use futures::future::BoxFuture;
use k8s_openapi::ByteString;
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::{info, warn};

use crate::manager::{Error, FIELD_MANAGER, apply, brief};
use crate::webhook;

pub trait Registration: Send + Sync {
    /// Has the API server trust these CAs where it is sent here.
    fn trust<'a>(
        &'a self,
        client: &'a Client,
        bundle: &'a ByteString,
    ) -> BoxFuture<'a, Result<(), kube::Error>>;

    /// Sends the API server to this process. What undoes it is added first, for it may be done though it seems to fail.
    fn register<'a>(
        &'a self,
        local: &'a Local,
        undos: &'a mut Vec<Undo>,
    ) -> BoxFuture<'a, Result<(), Error>>;
}

/// A process outside of the cluster, with the rights of who started it.
pub struct Local {
    pub client: Client,
    pub url: String,
    pub bundle: ByteString,
}

impl Local {
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url.trim_end_matches('/'))
    }
}

/// Leaves an object of the cluster as it was.
pub struct Undo {
    pub name: &'static str,
    pub request: BoxFuture<'static, Result<(), kube::Error>>,
}

impl Undo {
    pub async fn run(self) {
        match self.request.await {
            Ok(()) => {}
            Err(kube::Error::Api(gone)) if gone.is_not_found() => {}
            Err(error) => {
                let (name, why) = (self.name, brief(&error));
                warn!("`{name}` still sends the API server here: {why}");
            }
        }
    }
}

/// All webhooks of a kind, under the name that kustomize makes of the project's and that in the manifests.
pub struct Configuration {
    pub name: &'static str,
    /// While a process outside of the cluster serves.
    pub local: &'static str,
    pub resource: fn(&()) -> ApiResource,
}

/// What `opctl manifests` writes, from the folder of the project.
const MANIFESTS: &str = "config/webhook/manifests.yaml";

impl Registration for Configuration {
    // +opctl:allow:OP401 of each configuration above, under its name
    fn trust<'a>(
        &'a self,
        client: &'a Client,
        bundle: &'a ByteString,
    ) -> BoxFuture<'a, Result<(), kube::Error>> {
        Box::pin(async move {
            let api = Api::all_with(client.clone(), &(self.resource)(&()));
            let Some(patch) = trusting(&api.get(self.name).await?, bundle) else {
                return Ok(());
            };
            let patch = Patch::Strategic(patch);
            api.patch(self.name, &params(), &patch).await?;
            info!("the API server trusts this operator by `{}`", self.name);
            Ok(())
        })
    }

    // +opctl:allow:OP401 with the rights of who started the process, and outside of the cluster
    fn register<'a>(
        &'a self,
        local: &'a Local,
        undos: &'a mut Vec<Undo>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let (name, resource) = (self.local, (self.resource)(&()));
            let Some(configuration) = localized(local, &resource.kind, name)? else {
                return Ok(());
            };
            info!(
                "`{name}` sends the API server to {} until this process ends; if it is killed, `kubectl delete {} {name}`",
                local.url, resource.plural
            );
            let api = Api::<DynamicObject>::all_with(local.client.clone(), &resource);
            let undo = api.clone();
            let undo = async move { undo.delete(name, &DeleteParams::default()).await.map(drop) };
            undos.push(Undo {
                name,
                request: Box::pin(undo),
            });
            apply(FIELD_MANAGER, &api, name, &configuration).await?;
            Ok(())
        })
    }
}

/// Of a patch that is no apply.
pub fn params() -> PatchParams {
    let field_manager = Some(FIELD_MANAGER.to_owned());
    PatchParams {
        field_manager,
        ..PatchParams::default()
    }
}

/// None where all webhooks have this bundle. The list is merged by name.
fn trusting(configuration: &DynamicObject, bundle: &ByteString) -> Option<Value> {
    let webhooks = configuration.data["webhooks"].as_array()?;
    let bundle = json!(bundle);
    let trusted = |webhook: &Value| webhook["clientConfig"]["caBundle"] == bundle;
    if webhooks.iter().all(trusted) {
        return None;
    }
    let webhooks = webhooks
        .iter()
        .map(|webhook| json!({ "name": webhook["name"], "clientConfig": { "caBundle": bundle } }));
    Some(json!({ "webhooks": Vec::from_iter(webhooks) }))
}

/// What the manifests say of this kind, if anything, as it is to be while this process serves.
fn localized(local: &Local, kind: &str, name: &str) -> Result<Option<Value>, io::Error> {
    let paths: Vec<_> = webhook::all().iter().map(|it| it.path).collect();
    let read = || -> Result<_, String> {
        let manifests = match fs::read_to_string(MANIFESTS) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            manifests => manifests.map_err(|error| error.to_string())?,
        };
        for document in yaml_serde::Deserializer::from_str(&manifests) {
            let object = Value::deserialize(document).map_err(|error| error.to_string())?;
            if object["kind"] == kind {
                return localize(object, local, name, &paths).map(Some);
            }
        }
        Ok(None)
    };
    read().map_err(|why| io::Error::other(format!("{MANIFESTS}: {why}")))
}

/// Each webhook at this process instead of behind a Service.
fn localize(
    mut configuration: Value,
    local: &Local,
    name: &str,
    paths: &[&str],
) -> Result<Value, String> {
    configuration["metadata"] = json!({ "name": name });
    for webhook in configuration["webhooks"]
        .as_array_mut()
        .into_iter()
        .flatten()
    {
        let path = webhook["clientConfig"]["service"]["path"]
            .as_str()
            .unwrap_or_default();
        if !paths.contains(&path) {
            let name = &webhook["name"];
            return Err(format!(
                "{name} has the path `{path}`, which none of `webhook::all` serves"
            ));
        }
        let config = json!({ "url": local.url(path), "caBundle": local.bundle });
        webhook["clientConfig"] = config;
    }
    Ok(configuration)
}

#[cfg(test)]
mod tests;
