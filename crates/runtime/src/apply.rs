//! Server-side apply.

use std::any::TypeId;
use std::fmt::Debug;

use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::{DynamicResourceScope, NamespaceResourceScope, Request, Status};
use kube::{Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Applies an object by server-side apply with force: fields that other managers have changed are set back.
///
/// List elements of other managers are kept. If they make the object invalid, a merge patch replaces its lists as a
/// whole: two ports of a Service, for example, are the same element if number and protocol are equal, and different
/// ones must not share a name.
///
/// # Errors
///
/// If the request fails.
pub async fn apply<K>(
    field_manager: &str,
    api: &Api<K>,
    name: &str,
    object: &(impl Debug + Serialize),
) -> Result<K, kube::Error>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let client = api.clone().into_client();
    let applied = apply_text(field_manager, &client, api.resource_url(), name, object).await?;
    serde_json::from_str(&applied).map_err(kube::Error::SerdeError)
}

/// Like [`apply`], for an object that may not decode into its type. `url` is the URL of its kind in its namespace.
/// Returns JSON.
pub(crate) async fn apply_text(
    field_manager: &str,
    client: &Client,
    url: &str,
    name: &str,
    object: &(impl Debug + Serialize),
) -> Result<String, kube::Error> {
    let params = PatchParams::apply(field_manager).force();
    match patch(client, url, name, None, &params, &Patch::Apply(object)).await {
        Err(kube::Error::Api(invalid)) if invalid.is_invalid() && !is_about_metadata(&invalid) => {
            let mut merge = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
            if let Some(merge) = merge.as_object_mut() {
                // A merge patch would drop finalizers and owner references that other managers have set.
                merge.remove("metadata");
            }
            let params = PatchParams { field_manager: Some(field_manager.to_owned()), ..PatchParams::default() };
            let merged = patch(client, url, name, None, &params, &Patch::Merge(merge)).await;
            // The first error explains more than that of the fallback.
            merged.map_err(|_| kube::Error::Api(invalid))
        }
        applied => applied,
    }
}

/// Patches an object, or a subresource of it, which may not decode into any type. Returns JSON.
pub(crate) async fn patch(
    client: &Client,
    url: &str,
    name: &str,
    subresource: Option<&str>,
    params: &PatchParams,
    patch: &Patch<impl Debug + Serialize>,
) -> Result<String, kube::Error> {
    let requests = Request::new(url);
    let request = match subresource {
        Some(subresource) => requests.patch_subresource(subresource, name, params, patch),
        None => requests.patch(name, params, patch),
    };
    client.request_text(request.map_err(kube::Error::BuildRequest)?).await
}

/// `true` for an error in the metadata, such as a second controller in `ownerReferences`: replacing lists cannot fix
/// it.
fn is_about_metadata(invalid: &Status) -> bool {
    let mut causes = invalid.details.iter().flat_map(|details| &details.causes);
    causes.any(|cause| cause.field.starts_with("metadata"))
}

/// Applies the status of an object by server-side apply: it replaces the fields that this field manager applied before,
/// and keeps those of other managers. Succeeds for an object that no longer exists.
///
/// A [`Controller`](crate::Controller) writes the status that its `reconcile` returns; it needs no call of this
/// function.
///
/// # Errors
///
/// If the request fails.
pub async fn apply_status<K>(
    field_manager: &str,
    client: &Client,
    object: &K,
    status: &impl Serialize,
) -> Result<(), kube::Error>
where
    K: Resource<DynamicType = ()>,
{
    let status = serde_json::to_value(status).map_err(kube::Error::SerdeError)?;
    let resource = ApiResource::erase::<K>(&());
    let namespace = object.namespace();
    write_status(field_manager, client, &resource, namespace.as_deref(), &object.name_any(), &status).await.map(drop)
}

/// Like [`apply_status`], for an object without a type. Returns the object after the write, or null if it no longer
/// exists.
pub(crate) async fn write_status(
    field_manager: &str,
    client: &Client,
    resource: &ApiResource,
    namespace: Option<&str>,
    name: &str,
    status: &Value,
) -> Result<Value, kube::Error> {
    let body = json!({ "apiVersion": resource.api_version, "kind": resource.kind, "status": status });
    let (url, params) = (DynamicObject::url_path(resource, namespace), PatchParams::apply(field_manager).force());
    match patch(client, &url, name, Some("status"), &params, &Patch::Apply(body)).await {
        Err(kube::Error::Api(gone)) if gone.is_not_found() => Ok(Value::Null),
        written => serde_json::from_str(&written?).map_err(kube::Error::SerdeError),
    }
}

/// The API of the objects in one namespace, or in the whole cluster for `None`.
pub(crate) fn api_for<K>(client: &Client, namespace: Option<&str>) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = DynamicResourceScope>,
{
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &()),
        None => Api::all_with(client.clone(), &()),
    }
}

/// `true` if `K` is namespaced.
pub(crate) fn is_namespaced<K: Resource<Scope: 'static>>() -> bool {
    TypeId::of::<K::Scope>() == TypeId::of::<NamespaceResourceScope>()
}
