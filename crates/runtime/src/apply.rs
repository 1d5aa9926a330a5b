//! Server-side apply.

use std::any::TypeId;
use std::fmt::Debug;

use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::{DynamicResourceScope, NamespaceResourceScope, Request, Status};
use kube::{Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Applies an object by server-side apply, with force: what others changed in these fields is changed back.
///
/// Elements that others added to a list stay. Where that makes the object invalid, its lists are replaced as a whole: two ports of
/// a Service are the same element if number and protocol are equal, and different ones must not share a name.
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

/// The same for an object that may not fit its type; its JSON. `url` is that of its kind, in its namespace.
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
                // Its lists are of others, too.
                merge.remove("metadata");
            }
            let params = PatchParams { field_manager: Some(field_manager.to_owned()), ..PatchParams::default() };
            let merged = patch(client, url, name, None, &params, &Patch::Merge(merge)).await;
            // The first answer says more than that of the attempt to repair it.
            merged.map_err(|_| kube::Error::Api(invalid))
        }
        applied => applied,
    }
}

/// Patches an object, or a subresource of it, which may not fit any type; the JSON of the answer.
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

/// Such as an owner that cannot be added, since the object is another controller's.
fn is_about_metadata(invalid: &Status) -> bool {
    let mut causes = invalid.details.iter().flat_map(|details| &details.causes);
    causes.any(|cause| cause.field.starts_with("metadata"))
}

/// Applies the status of an object by server-side apply: it replaces what this field manager wrote before, and leaves what others
/// wrote. An object that is gone needs none.
///
/// A [`Controller`](crate::Controller) writes the status that its `reconcile` returns by itself.
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

/// The same for an object that may not fit its type. Returns the object after the write as JSON, and null for one that is gone.
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

/// The objects of a namespace, or all.
pub(crate) fn api_for<K>(client: &Client, namespace: Option<&str>) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = DynamicResourceScope>,
{
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &()),
        None => Api::all_with(client.clone(), &()),
    }
}

/// Whether objects of a kind are in namespaces.
pub(crate) fn is_namespaced<K: Resource<Scope: 'static>>() -> bool {
    TypeId::of::<K::Scope>() == TypeId::of::<NamespaceResourceScope>()
}
