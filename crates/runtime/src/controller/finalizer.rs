//! Finalizers: cleanup before an object is deleted.

use std::time::Duration;

use kube::Resource;
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use kube::core::Status;
use kube::runtime::controller::Action;
use serde_json::{Value, json};

use crate::{Context, Error, apply};

/// The next step for an object, depending on its finalizers and its deletion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// Reconcile: the object has the finalizer, or needs none.
    Reconcile,
    /// Add the finalizer, before the first reconcile.
    Add,
    /// The object is being deleted: clean up, then remove the finalizer.
    CleanUp,
    /// The object is being deleted and does not have this controller's finalizer: do nothing.
    Leave,
}

impl Step {
    /// The step for an object; `finalizer` is the one of the controller, if any.
    pub fn of(object: &impl ResourceExt, finalizer: Option<&str>) -> Self {
        let is_held = || object.finalizers().iter().any(|other| Some(other.as_str()) == finalizer);
        match (object.meta().deletion_timestamp.is_some(), finalizer) {
            (true, Some(_)) if is_held() => Self::CleanUp,
            (true, _) => Self::Leave,
            (false, Some(_)) if !is_held() => Self::Add,
            (false, _) => Self::Reconcile,
        }
    }
}

/// Adds the finalizer to an object. The change triggers the reconcile.
pub(super) async fn add<K>(object: &K, name: &str, ctx: &Context) -> Result<Action, Error>
where
    K: Resource<DynamicType = ()>,
{
    let finalizers = "/metadata/finalizers";
    let patch = match object.finalizers() {
        [] => json!([
            { "op": "test", "path": finalizers, "value": null },
            { "op": "add", "path": finalizers, "value": [name] },
        ]),
        others => json!([
            { "op": "test", "path": finalizers, "value": others },
            { "op": "add", "path": "/metadata/finalizers/-", "value": name },
        ]),
    };
    match patch_json(object, patch, ctx).await {
        // The object no longer exists, or is being deleted, which forbids new finalizers.
        Err(kube::Error::Api(status)) if status.is_not_found() || is_about_finalizers(&status) => {
            Ok(Action::await_change())
        }
        Err(kube::Error::Api(status)) if is_outdated(&status) => Ok(retry()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(Action::await_change()),
    }
}

/// Removes the finalizer from an object, which may delete it.
pub(super) async fn remove<K>(object: &K, name: &str, ctx: &Context) -> Result<Action, Error>
where
    K: Resource<DynamicType = ()>,
{
    let Some(at) = object.finalizers().iter().position(|other| other == name) else {
        return Ok(Action::await_change());
    };
    let path = format!("/metadata/finalizers/{at}");
    let patch = json!([
        { "op": "test", "path": path, "value": name },
        { "op": "remove", "path": path },
    ]);
    match patch_json(object, patch, ctx).await {
        Err(kube::Error::Api(gone)) if gone.is_not_found() => Ok(Action::await_change()),
        Err(kube::Error::Api(status)) if is_outdated(&status) => Ok(retry()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(Action::await_change()),
    }
}

/// Retries by time: an event with the newer version may come later than that, or was lost.
fn retry() -> Action {
    Action::requeue(Duration::from_secs(1))
}

async fn patch_json<K>(object: &K, patch: Value, ctx: &Context) -> Result<(), kube::Error>
where
    K: Resource<DynamicType = ()>,
{
    let patch = serde_json::from_value(patch).map_err(kube::Error::SerdeError)?;
    let params = PatchParams { field_manager: Some(ctx.field_manager.to_string()), ..PatchParams::default() };
    let url = K::url_path(&(), object.meta().namespace.as_deref());
    apply::patch(&ctx.client, &url, &object.name_any(), None, &params, &Patch::Json::<()>(patch)).await.map(drop)
}

/// `true` if a `test` of the JSON patch failed since the object has changed. Unlike errors of validation, this one
/// names no object.
fn is_outdated(error: &Status) -> bool {
    error.is_invalid() && error.details.as_ref().is_none_or(|it| it.name.is_empty())
}

fn is_about_finalizers(error: &Status) -> bool {
    let mut causes = error.details.iter().flat_map(|details| &details.causes);
    error.is_invalid() && causes.any(|cause| cause.field == "metadata.finalizers")
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::testing::{context, context_with, status};

    fn held(finalizers: &[&str]) -> ConfigMap {
        let metadata = json!({ "name": "sample", "namespace": "default", "finalizers": finalizers });
        serde_json::from_value(json!({ "metadata": metadata })).unwrap()
    }

    /// A response of the API server that rejects a field of an object, or a patch as a whole for `None`.
    fn invalid(field: Option<&str>) -> Value {
        let mut refused = status(422, "Invalid");
        if let Some(field) = field {
            refused["details"] =
                json!({ "name": "sample", "causes": [{ "field": field, "reason": "FieldValueForbidden" }] });
        }
        refused
    }

    #[tokio::test]
    async fn the_finalizer_is_added_and_removed_beside_others() {
        let (ctx, calls) = context();
        add(&held(&[]), "example.com/a", &ctx).await.unwrap();
        add(&held(&["example.com/b"]), "example.com/a", &ctx).await.unwrap();
        remove(&held(&["example.com/b", "example.com/a"]), "example.com/a", &ctx).await.unwrap();
        let bodies: Vec<Value> = calls.take().into_iter().map(|call| call.body).collect();
        let at = "/metadata/finalizers";
        let expected = [
            json!([{ "op": "test", "path": at, "value": null }, { "op": "add", "path": at, "value": ["example.com/a"] }]),
            json!([{ "op": "test", "path": at, "value": ["example.com/b"] },
                { "op": "add", "path": format!("{at}/-"), "value": "example.com/a" }]),
            json!([{ "op": "test", "path": format!("{at}/1"), "value": "example.com/a" },
                { "op": "remove", "path": format!("{at}/1") }]),
        ];
        assert_eq!(bodies, expected);
        assert_eq!(remove(&held(&[]), "example.com/a", &ctx).await.unwrap(), Action::await_change());
        assert!(calls.is_empty());
    }

    #[tokio::test]
    async fn an_object_that_is_gone_or_has_changed_is_no_error() {
        let (done, again) = (Action::await_change(), Action::requeue(Duration::from_secs(1)));
        for (code, answer, added, removed) in [
            (404, status(404, "NotFound"), Some(&done), Some(&done)),
            (422, invalid(None), Some(&again), Some(&again)),
            (422, invalid(Some("metadata.finalizers")), Some(&done), None),
            (422, invalid(Some("spec")), None, None),
            (403, status(403, "Forbidden"), None, None),
        ] {
            let shown = answer.to_string();
            let (ctx, _) = context_with(move |_| (code, answer.clone()));
            let add = add(&held(&[]), "example.com/a", &ctx).await;
            assert_eq!(add.ok().as_ref(), added, "{shown}");
            let remove = remove(&held(&["example.com/a"]), "example.com/a", &ctx).await;
            assert_eq!(remove.ok().as_ref(), removed, "{shown}");
        }
    }

    #[test]
    fn an_object_is_held_then_reconciled_then_cleaned_up_then_left_alone() {
        let mut object = ConfigMap::default();
        let step = |object: &ConfigMap| Step::of(object, Some("example.com/a"));
        assert_eq!((step(&object), Step::of(&object, None)), (Step::Add, Step::Reconcile));
        object.finalizers_mut().extend(["example.com/b".to_owned(), "example.com/a".to_owned()]);
        assert_eq!(step(&object), Step::Reconcile);
        object.meta_mut().deletion_timestamp = serde_json::from_value("2026-01-01T00:00:00Z".into()).unwrap();
        assert_eq!((step(&object), Step::of(&object, None)), (Step::CleanUp, Step::Leave));
        object.finalizers_mut().pop();
        assert_eq!(step(&object), Step::Leave);
    }
}
