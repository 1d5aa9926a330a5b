//! The behavior of the mock API server that operators rely on.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::ObjectMeta;
use kube::runtime::events::EventType;
use opctl_runtime::testing::{self, object};
use serde_json::json;

fn config(namespace: &str, name: &str) -> ConfigMap {
    let metadata =
        ObjectMeta { name: Some(name.to_owned()), namespace: Some(namespace.to_owned()), ..ObjectMeta::default() };
    ConfigMap { metadata, ..ConfigMap::default() }
}

fn code(error: kube::Error) -> u16 {
    match error {
        kube::Error::Api(status) => status.code,
        error => panic!("{error}"),
    }
}

#[tokio::test]
async fn objects_are_read_and_listed_by_namespace() {
    let (ctx, _) = testing::context_having([object(&config("a", "x")), object(&config("b", "y"))]);
    let all = Api::<ConfigMap>::all(ctx.client.clone()).list(&ListParams::default()).await.unwrap();
    assert_eq!(all.items.len(), 2);
    let a = Api::<ConfigMap>::namespaced(ctx.client.clone(), "a");
    assert_eq!(a.list(&ListParams::default()).await.unwrap().items.len(), 1);
    assert!(a.get("x").await.unwrap().metadata.uid.is_some());
    assert_eq!(code(a.get("y").await.unwrap_err()), 404);
    let secrets = Api::<Secret>::all(ctx.client.clone()).list(&ListParams::default()).await.unwrap();
    assert!(secrets.items.is_empty());
}

#[tokio::test]
async fn what_is_applied_is_stored_with_uid_version_and_generation() {
    let (ctx, calls) = testing::context();
    let deployments = Api::<Deployment>::namespaced(ctx.client.clone(), "a");
    let params = PatchParams::apply("test").force();
    let apply = async |replicas: i32| {
        let body = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "x" }, "spec": { "replicas": replicas } });
        deployments.patch_metadata("x", &params, &Patch::Apply(body)).await.unwrap().metadata
    };
    let (first, same, other) = (apply(1).await, apply(1).await, apply(2).await);
    assert_eq!((first.generation, first.resource_version.is_some()), (Some(1), true));
    assert_eq!(same, first, "an apply without a change writes nothing");
    assert_eq!((other.generation, &other.uid), (Some(2), &first.uid));
    assert_ne!(other.resource_version, first.resource_version);
    assert_eq!(calls.applied::<Deployment>("x")["spec"]["replicas"], 2, "the last one");
    assert_eq!(calls.of::<Deployment>().len(), 3);
}

#[tokio::test]
async fn a_status_is_kept_apart_from_the_object() {
    let (ctx, calls) = testing::context_having([object(&config("a", "x"))]);
    let api = Api::<ConfigMap>::namespaced(ctx.client.clone(), "a");
    let status = json!({ "apiVersion": "v1", "kind": "ConfigMap", "data": { "a": "b" }, "status": { "ready": true } });
    let params = PatchParams::apply("test");
    api.patch_status("x", &params, &Patch::Apply(&status)).await.unwrap();
    assert!(api.get("x").await.unwrap().data.is_none());
    assert_eq!(calls.status::<ConfigMap>("x"), json!({ "ready": true }));
    // An object that the server does not have: tests need not store the object that they reconcile.
    api.patch_status("y", &params, &Patch::Apply(&status)).await.unwrap();
    assert_eq!(code(api.get("y").await.unwrap_err()), 404);
}

#[tokio::test]
async fn objects_are_created_once_and_replaced_only_as_they_were_seen() {
    let (ctx, calls) = testing::context();
    let api = Api::<ConfigMap>::namespaced(ctx.client.clone(), "a");
    let created = api.create(&PostParams::default(), &config("a", "x")).await.unwrap();
    assert_eq!(code(api.create(&PostParams::default(), &config("a", "x")).await.unwrap_err()), 409);
    let mut changed = created.clone();
    changed.data = Some([("a".to_owned(), "b".to_owned())].into());
    api.replace("x", &PostParams::default(), &changed).await.unwrap();
    assert_eq!(code(api.replace("x", &PostParams::default(), &changed).await.unwrap_err()), 409);
    let params = PatchParams::default();
    let merged = api.patch("x", &params, &Patch::Merge(json!({ "data": { "a": null, "c": "d" } }))).await.unwrap();
    assert_eq!(merged.data.unwrap(), [("c".to_owned(), "d".to_owned())].into());
    assert_eq!(code(api.patch("y", &params, &Patch::Merge(json!({}))).await.unwrap_err()), 404);
    assert_eq!(calls.created::<ConfigMap>("x")["metadata"]["name"], "x");
    assert!(calls.changed::<ConfigMap>() && !calls.changed::<Secret>());
    let mut generated = config("a", "x");
    (generated.metadata.name, generated.metadata.generate_name) = (None, Some("x-".to_owned()));
    let name = api.create(&PostParams::default(), &generated).await.unwrap().metadata.name.unwrap();
    assert!(name.len() > 2 && name.starts_with("x-"), "{name}");
}

#[tokio::test]
async fn deleting_waits_for_finalizers() {
    let mut held = config("a", "held");
    held.metadata.finalizers = Some(vec!["example.com/a".to_owned()]);
    let (ctx, calls) = testing::context_having([object(&held), object(&config("a", "free"))]);
    let api = Api::<ConfigMap>::namespaced(ctx.client.clone(), "a");
    for name in ["held", "free"] {
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }
    assert_eq!(code(api.get("free").await.unwrap_err()), 404);
    assert!(api.get("held").await.unwrap().metadata.deletion_timestamp.is_some());
    let release = json!([
        { "op": "test", "path": "/metadata/finalizers/0", "value": "example.com/a" },
        { "op": "remove", "path": "/metadata/finalizers/0" },
    ]);
    let release = Patch::<()>::Json(serde_json::from_value(release).unwrap());
    api.patch("held", &PatchParams::default(), &release).await.unwrap();
    assert_eq!(code(api.get("held").await.unwrap_err()), 404);
    assert_eq!(code(api.patch("held", &PatchParams::default(), &release).await.unwrap_err()), 404);
    assert!(calls.deleted::<ConfigMap>("held") && !calls.deleted::<ConfigMap>("other"));
    assert_eq!(calls.patch::<ConfigMap>("held").content_type, "application/json-patch+json");
}

#[tokio::test]
async fn events_are_accepted_and_found() {
    let (ctx, calls) = testing::context();
    let metadata = ObjectMeta { name: Some("a".to_owned()), ..ObjectMeta::default() };
    let namespace = testing::stored(Namespace { metadata, ..Namespace::default() });
    ctx.event(&*namespace, EventType::Normal, "Created", "it is there").await;
    assert_eq!(calls.events(), ["Created"]);
}

#[tokio::test]
#[should_panic = "no Deployment `x` was applied; requests:\nGET /api/v1/namespaces/a/configmaps/x null"]
async fn a_missing_call_shows_those_that_were_made() {
    let (ctx, calls) = testing::context();
    let _ = Api::<ConfigMap>::namespaced(ctx.client.clone(), "a").get("x").await;
    calls.applied::<Deployment>("x");
}
