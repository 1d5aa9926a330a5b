//! kube's runtime.

use std::sync::Arc;

use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret, Service};
use kube::api::{DeleteParams, DynamicObject, PartialObjectMeta};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder};
use kube::runtime::reflector::{self, ObjectRef};
use kube::runtime::{Controller, WatchStreamExt, finalizer, metadata_watcher, wait, watcher};
use kube::{Api, Client, Resource, ResourceExt};

#[derive(Debug, thiserror::Error)]
#[error("it went wrong")]
pub struct Failed;

async fn reconcile<K>(_: Arc<K>, _: Arc<()>) -> Result<Action, Failed> {
    Ok(Action::await_change())
}

fn error_policy<K>(_: Arc<K>, _: &Failed, _: Arc<()>) -> Action {
    Action::await_change()
}

/// list deployments.apps in default
/// watch deployments.apps in default
pub async fn watches_for_itself(client: Client) -> anyhow::Result<()> {
    let events = watcher(Api::<Deployment>::namespaced(client, "default"), watcher::Config::default());
    events.applied_objects().default_backoff().for_each(|_| async {}).await;
    Ok(())
}

/// list deployments.apps in default
/// watch deployments.apps in default
pub async fn watches_metadata(client: Client) -> anyhow::Result<()> {
    let events = metadata_watcher(Api::<Deployment>::namespaced(client, "default"), watcher::Config::default());
    events.touched_objects().for_each(|_| async {}).await;
    Ok(())
}

/// list deployments.apps in default
/// watch deployments.apps in default
pub async fn watches_partial_objects(client: Client) -> anyhow::Result<()> {
    let deployments = Api::<PartialObjectMeta<Deployment>>::namespaced(client, "default");
    watcher(deployments, watcher::Config::default()).for_each(|_| async {}).await;
    Ok(())
}

/// list nodes
/// watch nodes
pub async fn watches_an_object(client: Client) -> anyhow::Result<()> {
    watcher::watch_object(Api::<Node>::all(client), "a").for_each(|_| async {}).await;
    Ok(())
}

/// list nodes
/// watch nodes
pub async fn reflects(client: Client) -> anyhow::Result<()> {
    let (nodes, writer) = reflector::store::<Node>();
    let events = watcher(Api::all(client), watcher::Config::default());
    let events = reflector::reflector(writer, events).touched_objects();
    tokio::spawn(async move { nodes.wait_until_ready().await.map(|()| nodes.state()) });
    events.for_each(|_| async {}).await;
    Ok(())
}

/// list deployments.apps
/// watch deployments.apps
pub async fn controls(client: Client) -> anyhow::Result<()> {
    let deployments = Api::<Deployment>::all(client);
    Controller::new(deployments, watcher::Config::default())
        .run(reconcile, error_policy, Arc::new(()))
        .for_each(|_| async {})
        .await;
    Ok(())
}

/// list certificates.cert-manager.io
/// watch certificates.cert-manager.io
pub async fn controls_what_is_named_by_text(client: Client) -> anyhow::Result<()> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("cert-manager.io", "v1", "Certificate"));
    let certificates = Api::<DynamicObject>::all_with(client, &resource);
    Controller::new_with(certificates, watcher::Config::default(), resource)
        .run(reconcile, error_policy, Arc::new(()))
        .for_each(|_| async {})
        .await;
    Ok(())
}

/// list configmaps
/// list deployments.apps
/// list secrets in kube-system
/// list services
/// list widgets.example.com
/// watch configmaps
/// watch deployments.apps
/// watch secrets in kube-system
/// watch services
/// watch widgets.example.com
pub async fn controls_with_others(client: Client) -> anyhow::Result<()> {
    let widget = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    let config = watcher::Config::default;
    Controller::new(Api::<Deployment>::all(client.clone()), config())
        .owns(Api::<ConfigMap>::all(client.clone()), config())
        .owns_with(Api::<DynamicObject>::all_with(client.clone(), &widget), widget, config())
        .watches(Api::<Secret>::namespaced(client.clone(), "kube-system"), config(), |secret| {
            Some(ObjectRef::<Deployment>::new(&secret.name_any()).within("default"))
        })
        .watches_with(Api::<Service>::all(client), (), config(), |_| None::<ObjectRef<Deployment>>)
        .run(reconcile, error_policy, Arc::new(()))
        .for_each(|_| async {})
        .await;
    Ok(())
}

/// list configmaps
/// list deployments.apps
/// list secrets
/// watch configmaps
/// watch deployments.apps
/// watch secrets
pub async fn controls_streams(client: Client) -> anyhow::Result<()> {
    let config = watcher::Config::default;
    let (store, writer) = reflector::store();
    let deployments = watcher(Api::<Deployment>::all(client.clone()), config()).reflect(writer).applied_objects();
    let configs = watcher(Api::<ConfigMap>::all(client.clone()), config()).touched_objects();
    let secrets = watcher(Api::<Secret>::all(client), config()).touched_objects();
    Controller::for_stream(deployments, store)
        .owns_stream(configs)
        .watches_stream(secrets, |_| None::<ObjectRef<Deployment>>)
        .run(reconcile, error_policy, Arc::new(()))
        .for_each(|_| async {})
        .await;
    Ok(())
}

/// patch configmaps in default
pub async fn finalizes(client: Client) -> anyhow::Result<()> {
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    let mut config = ConfigMap::default();
    config.meta_mut().name = Some("a".into());
    let finalized = finalizer(&configs, "example.com/finalizer", Arc::new(config), |event| async {
        match event {
            finalizer::Event::Apply(config) => reconcile(config, Arc::new(())).await,
            finalizer::Event::Cleanup(config) => reconcile(config, Arc::new(())).await,
        }
    });
    finalized.await?;
    Ok(())
}

/// patch configmaps in default
pub async fn finalizes_by_variants_in_scope(client: Client) -> anyhow::Result<()> {
    use finalizer::Event::*;
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    let mut config = ConfigMap::default();
    config.meta_mut().name = Some("a".into());
    let finalized = finalizer(&configs, "example.com/finalizer", Arc::new(config), |event| async {
        let (Apply(config) | Cleanup(config)) = event;
        reconcile(config, Arc::new(())).await
    });
    finalized.await?;
    Ok(())
}

/// list configmaps in default
/// watch configmaps in default
pub async fn awaits_a_condition(client: Client) -> anyhow::Result<()> {
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    wait::await_condition(configs, "a", |config: Option<&ConfigMap>| config.is_none()).await?;
    Ok(())
}

/// delete configmaps in default
/// list configmaps in default
/// + watch configmaps in default
pub async fn deletes_and_waits(client: Client) -> anyhow::Result<()> {
    let configs = Api::<ConfigMap>::namespaced(client, "default");
    wait::delete::delete_and_finalize(configs, "deleted", &DeleteParams::default()).await?;
    Ok(())
}

/// create events.events.k8s.io in default
/// patch events.events.k8s.io in default
pub async fn publishes_events(client: Client) -> anyhow::Result<()> {
    let recorder = Recorder::new(client, "test".into());
    let event = Event { type_: EventType::Normal, reason: "a".into(), note: None, action: "a".into(), secondary: None };
    let mut config = ConfigMap::default();
    config.meta_mut().namespace = Some("default".into());
    let reference = config.object_ref(&());
    recorder.publish(&event, &reference).await?;
    recorder.publish(&event, &reference).await?;
    Ok(())
}

/// get configmaps in default
/// ? update deployments.apps/finalizers
pub async fn refers_to_an_owner(client: Client) -> anyhow::Result<()> {
    let mut config = Api::<ConfigMap>::namespaced(client, "default").get("a").await?;
    let owner = Deployment::default();
    config.meta_mut().owner_references = owner.controller_owner_ref(&()).map(|reference| vec![reference]);
    config.owner_references_mut().extend(owner.owner_ref(&()));
    Ok(())
}
