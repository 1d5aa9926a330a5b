//! The objects of a release in the cluster: compares them with the manifest, sets their owner, waits for them, and
//! deletes them.

use futures::{StreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{ApiResource, DeleteParams, DynamicObject, GetParams, Patch, PatchParams, Request};
use kube::{Resource, ResourceExt};
use serde_json::{Value, json};

use super::fields::migrate;
use super::manifest::{Object, RELEASE_NAME, RELEASE_NAMESPACE};
use super::release::{Drift, Id, Settings};
use crate::apply::patch;
use crate::controller::{Readiness, readiness};
use crate::digest::digest;
use crate::{Context, Error, Result, brief, names};

/// The field manager of helm, which is used to take fields back.
pub(super) const HELM: &str = "helm";
/// The maximum number of concurrent requests for one release.
const REQUESTS: usize = 4;
/// The maximum number of attempts to read and apply an object if it changes in between.
const TRIES: u32 = 5;

/// The object that owns a release.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    reference: OwnerReference,
    namespace: Option<String>,
    /// A digest of its kind, namespace and name. A recreated object is the same owner.
    pub key: String,
    /// For messages: `Nginx web/sample`.
    pub shown: String,
}

impl Owner {
    pub fn of<K: Resource<DynamicType = ()>>(object: &K) -> Result<Self> {
        let missing =
            || Error::new("NotStored", "the owner of a release is an object of the cluster: this one has no uid");
        let namespace = object.namespace();
        let (kind, name) = (K::kind(&()), object.name_any());
        let path = namespace.iter().chain([&name]).cloned().collect::<Vec<_>>().join("/");
        Ok(Self {
            // `controller` is not set, since it may refer to another controller.
            reference: object.owner_ref(&()).ok_or_else(missing)?,
            key: digest([&*K::group(&()), &kind, &path]),
            shown: format!("{kind} {path}"),
            namespace,
        })
    }
}

/// The result of applying the objects of a release.
#[derive(Debug, Default)]
pub(super) struct Synced {
    pub readiness: Vec<(String, Readiness)>,
    /// The objects that differed from the manifest, with the fields.
    pub drifted: Vec<String>,
    pub resources: Vec<(ApiResource, Option<String>)>,
}

/// The API endpoint of an object.
struct Location {
    resource: ApiResource,
    namespace: Option<String>,
    url: String,
}

impl Location {
    async fn of(object: &Object, id: &Id, ctx: &Context) -> Result<Self> {
        let (resource, is_namespaced) = ctx.kinds.get(&ctx.client, &object.gvk).await?;
        let namespace = is_namespaced.then(|| object.namespace.clone().unwrap_or_else(|| id.namespace.clone()));
        Ok(Self { url: DynamicObject::url_path(&resource, namespace.as_deref()), resource, namespace })
    }

    async fn get(&self, name: &str, ctx: &Context) -> Result<Option<Value>> {
        let request = Request::new(&self.url).get(name, &GetParams::default()).map_err(kube::Error::BuildRequest)?;
        match ctx.client.request_text(request).await {
            Err(kube::Error::Api(gone)) if gone.is_not_found() => Ok(None),
            text => Ok(Some(serde_json::from_str(&text?)?)),
        }
    }
}

/// Applies the objects of a release with the same server-side apply as helm, and sets their owner. If they match the
/// manifest, nothing changes.
pub(super) async fn sync(
    objects: &[Object],
    id: &Id,
    owner: &Owner,
    settings: &Settings,
    ctx: &Context,
) -> Result<Synced> {
    let scaled = scaled(objects);
    let one = |object: &Object| {
        let (object, scaled) = (object.clone(), &scaled);
        async move { sync_one(&object, id, owner, settings, scaled, ctx).await.map_err(|error| about(&object, &error)) }
    };
    let mut all: Vec<Result<_>> = stream::iter(objects.iter().map(one)).buffered(REQUESTS).collect().await;
    // The first error is returned after all objects have been applied.
    if let Some(at) = all.iter().position(Result::is_err) {
        return Err(all.swap_remove(at).expect_err("it was one a moment ago"));
    }
    let mut synced = Synced::default();
    for (readiness, drift, location) in all.into_iter().flatten() {
        synced.readiness.push(readiness);
        synced.drifted.extend(drift);
        synced.resources.push(location);
    }
    Ok(synced)
}

type One = ((String, Readiness), Option<String>, (ApiResource, Option<String>));

async fn sync_one(
    object: &Object,
    id: &Id,
    owner: &Owner,
    settings: &Settings,
    scaled: &[Object],
    ctx: &Context,
) -> Result<One> {
    let location = Location::of(object, id, ctx).await?;
    let (before, after) = compared(object, &location, settings, scaled, ctx).await?;
    let drift = match settings.drift {
        Drift::Ignore => None,
        Drift::Report | Drift::Correct => drift(before.as_ref(), after.as_ref()),
    };
    let drift = drift.map(|at| format!("{}: {at}", object.shown()));
    let is_owned = |live: &Value| {
        let mut owners = live["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        owners.any(|other| other["uid"] == owner.reference.uid.as_str())
    };
    let readiness = match after {
        Some(live) => {
            let may_own = owner.namespace.is_none() || owner.namespace == location.namespace;
            if may_own && !object.is_kept && settings.drift != Drift::Report && !is_owned(&live) {
                own(object, &live, owner, &location, ctx).await?;
            }
            readiness(&live)
        }
        None => Readiness::InProgress("it does not exist".to_owned()),
    };
    Ok(((object.shown(), readiness), drift, (location.resource, location.namespace)))
}

/// An object before and after its apply, which may be a dry run.
async fn compared(
    object: &Object,
    location: &Location,
    settings: &Settings,
    scaled: &[Object],
    ctx: &Context,
) -> Result<(Option<Value>, Option<Value>)> {
    let mut tries = 0;
    loop {
        tries += 1;
        let before = location.get(&object.name, ctx).await?;
        if let Some(before) = &before {
            migrate(before, &location.url, &object.name, ctx).await?;
        }
        if settings.drift == Drift::Ignore || settings.drift == Drift::Report && before.is_none() {
            return Ok((before.clone(), before));
        }
        let mut body = object.json.clone();
        if let Some(before) = &before {
            keep(&mut body, before, &settings.ignored(object, scaled));
        }
        let mut params = PatchParams::apply(HELM).force();
        params.dry_run = settings.drift == Drift::Report;
        match patch(&ctx.client, &location.url, &object.name, None, &params, &Patch::Apply(body)).await {
            // A field that must be kept has changed since the object was read.
            Err(kube::Error::Api(changed)) if changed.code == 409 && tries < TRIES => {}
            text => return Ok((before, Some(serde_json::from_str(&text?)?))),
        }
    }
}

/// Sets the owner, so that Kubernetes deletes remaining objects with it, such as one that helm no longer tracks. A
/// separate field manager is used, which helm does not change.
async fn own(object: &Object, live: &Value, owner: &Owner, location: &Location, ctx: &Context) -> Result<()> {
    let body = json!({
        "apiVersion": location.resource.api_version,
        "kind": location.resource.kind,
        // The uid prevents a deleted object from being created again.
        "metadata": { "name": object.name, "uid": live["metadata"]["uid"], "ownerReferences": [owner.reference] },
    });
    let params = PatchParams::apply(&names::field_manager(&ctx.field_manager, "owner")).force();
    match patch(&ctx.client, &location.url, &object.name, None, &params, &Patch::Apply(body)).await {
        Err(kube::Error::Api(changed)) if changed.code == 409 => Ok(()),
        owned => Ok(owned.map(drop)?),
    }
}

/// Keeps the live values of these fields. If they have changed since they were read, the apply is a conflict.
fn keep(body: &mut Value, before: &Value, places: &[&str]) {
    for place in places {
        if let (Some(field), Some(live)) = (body.pointer_mut(place), before.pointer(place)) {
            *field = live.clone();
            body["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
        }
    }
}

/// The scale targets of the HorizontalPodAutoscalers among these objects.
fn scaled(objects: &[Object]) -> Vec<Object> {
    let scalers = objects.iter().filter(|it| it.gvk.kind == "HorizontalPodAutoscaler");
    let targets: Vec<_> = scalers.map(|it| (&it.json["spec"]["scaleTargetRef"], &it.namespace)).collect();
    let is_target = |object: &&Object| {
        let is_it =
            |target: &Value| target["kind"] == object.gvk.kind.as_str() && target["name"] == object.name.as_str();
        targets.iter().any(|(target, namespace)| is_it(target) && **namespace == object.namespace)
    };
    objects.iter().filter(is_target).cloned().collect()
}

/// The fields in which an object differed from its current state; `None` if it did not.
fn drift(before: Option<&Value>, after: Option<&Value>) -> Option<String> {
    const SHOWN: usize = 5;
    let uid = |object: &Value| object["metadata"]["uid"].clone();
    // An object that was deleted after it was read did not exist when it was applied.
    let before = before.filter(|before| after.is_none_or(|after| uid(before) == uid(after)));
    let Some(before) = before else { return Some("it did not exist".to_owned()) };
    let after = after?;
    let mut places = Vec::new();
    differences(before, after, "", &mut places);
    let more = places.len().saturating_sub(SHOWN);
    places.truncate(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!places.is_empty()).then(|| places.join(", ") + &more)
}

fn differences(before: &Value, after: &Value, at: &str, places: &mut Vec<String>) {
    if ["/status", "/metadata/managedFields", "/metadata/resourceVersion", "/metadata/generation"].contains(&at) {
        return;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
            for name in names {
                let [before, after] = [before, after].map(|it| it.get(name).unwrap_or(&Value::Null));
                differences(before, after, &format!("{at}/{name}"), places);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                differences(before, after, &format!("{at}/{index}"), places);
            }
        }
        _ if before == after => {}
        _ => places.push(at.to_owned()),
    }
}

/// Restores the annotations that mark objects as managed by helm. Without them, helm would not delete the objects.
pub(super) async fn restore(objects: &[Object], id: &Id, owner: &Owner, ctx: &Context) -> Result<()> {
    for object in objects {
        let location = Location::of(object, id, ctx).await?;
        let Some(live) = location.get(&object.name, ctx).await? else { continue };
        if belongs(&live, id, owner) && !is_annotated(&live, id) {
            let metadata = json!({ "labels": object.json["metadata"]["labels"], "annotations": object.json["metadata"]["annotations"] });
            let body = Patch::Merge(json!({ "metadata": metadata }));
            patch(&ctx.client, &location.url, &object.name, None, &PatchParams::default(), &body).await?;
        }
    }
    Ok(())
}

/// Deletes remaining objects, and returns those that still exist, with reasons.
pub(super) async fn remove(objects: &[Object], id: &Id, owner: &Owner, ctx: &Context) -> Result<Vec<String>> {
    let mut left = Vec::new();
    for object in objects.iter().filter(|object| !object.is_kept) {
        let location = match Location::of(object, id, ctx).await {
            // If the CRD does not exist, neither does the object.
            Err(error) if is_unknown(&error) => continue,
            location => location?,
        };
        let Some(live) = location.get(&object.name, ctx).await? else { continue };
        if !belongs(&live, id, owner) {
            continue;
        }
        if live["metadata"]["deletionTimestamp"].is_null() {
            let params = DeleteParams::background();
            let request =
                Request::new(&location.url).delete(&object.name, &params).map_err(kube::Error::BuildRequest)?;
            match ctx.client.request_text(request).await {
                Err(kube::Error::Api(gone)) if gone.is_not_found() => continue,
                deleted => drop(deleted?),
            }
        }
        let finalizers: Vec<_> =
            live["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        left.push(match finalizers.as_slice() {
            [] => object.shown(),
            finalizers => format!("{} (finalizers: {})", object.shown(), finalizers.join(", ")),
        });
    }
    Ok(left)
}

fn is_unknown(error: &Error) -> bool {
    match error.request() {
        Some(kube::Error::Api(status)) => status.code == 404,
        Some(kube::Error::Discovery(_)) => true,
        _ => false,
    }
}

/// `true` if an object belongs to this release, by helm's annotations or by its owner.
fn belongs(live: &Value, id: &Id, owner: &Owner) -> bool {
    let mut owners = live["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    is_annotated(live, id) || owners.any(|other| other["uid"] == owner.reference.uid.as_str())
}

fn is_annotated(live: &Value, id: &Id) -> bool {
    let annotations = &live["metadata"]["annotations"];
    annotations[RELEASE_NAME] == id.name.as_str() && annotations[RELEASE_NAMESPACE] == id.namespace.as_str()
}

fn about(object: &Object, error: &Error) -> Error {
    let why = error.request().map_or_else(|| error.to_string(), brief);
    Error::new("DriftNotCorrected", format!("{}: {why}", object.shown()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_deleted_and_created_meanwhile_did_not_exist() {
        let service = |uid: &str, ip: &str| json!({ "metadata": { "uid": uid }, "spec": { "clusterIP": ip } });
        let before = service("1", "10.0.0.1");
        let of = |after: &Value| drift(Some(&before), Some(after));
        assert_eq!(of(&before), None);
        assert_eq!(of(&service("1", "10.0.0.2")).as_deref(), Some("/spec/clusterIP"));
        assert_eq!(of(&service("2", "10.0.0.2")).as_deref(), Some("it did not exist"));
        assert_eq!(drift(None, Some(&before)).as_deref(), Some("it did not exist"));
        assert_eq!(drift(Some(&before), None), None);
    }
}
