use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use futures::{FutureExt, stream};
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::reflector::{self, ObjectRef, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;
use crate::conditions::READY;
use crate::controller::outcome::Writer;
use crate::testing::{Call, Calls, context_with, status};

/// A ConfigMap whose `size` is a small number.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Narrow {
    metadata: ObjectMeta,
    size: Option<u32>,
}

impl Resource for Narrow {
    type DynamicType = ();
    type Scope = kube::core::NamespaceResourceScope;

    fn kind((): &()) -> std::borrow::Cow<'_, str> {
        "Narrow".into()
    }

    fn group((): &()) -> std::borrow::Cow<'_, str> {
        "example.com".into()
    }

    fn version((): &()) -> std::borrow::Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> std::borrow::Cow<'_, str> {
        "narrows".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

const BAD: u64 = 5_000_000_000;

/// An object of this name, size and generation.
fn object(name: &str, size: u64, generation: i64) -> Value {
    let metadata = json!({ "name": name, "namespace": "default", "uid": name, "generation": generation });
    json!({ "metadata": metadata, "size": size })
}

fn received(object: Value) -> Received<Narrow> {
    serde_json::from_value(object).unwrap()
}

fn undecodable<F>(answer: F) -> (UndecodableObjects, Calls, Arc<Context>)
where
    F: Fn(&Call) -> (u16, Value) + Send + 'static,
{
    let (ctx, calls) = context_with(answer);
    let writer = Writer::new(READY, true);
    (UndecodableObjects::new::<Narrow>("test", (*ctx).clone(), Some(writer), Some("example.com/a")), calls, ctx)
}

/// The objects in a store after these events, and the events that a controller gets.
async fn after(undecodable: &UndecodableObjects, events: Vec<Event<Received<Narrow>>>) -> (Vec<String>, Vec<String>) {
    let (store, writer) = reflector::store::<Narrow>();
    let last = {
        let store = store.clone();
        move |object: &ObjectMeta| {
            let id = ObjectRef::new(object.name.as_deref()?).within(object.namespace.as_deref()?);
            store.get(&id).map(Arc::unwrap_or_clone)
        }
    };
    let events = stream::iter(events.into_iter().map(Ok));
    let touched = fitting(events, undecodable.clone(), last).reflect(writer).touched_objects();
    let touched = touched.map(|object| object.unwrap().metadata.name.unwrap()).collect().await;
    (names(&store), touched)
}

fn names(store: &Store<Narrow>) -> Vec<String> {
    let mut names: Vec<String> = store.state().iter().filter_map(|it| it.metadata.name.clone()).collect();
    names.sort();
    names
}

/// Runs the reports for an hour.
async fn report(undecodable: &UndecodableObjects) {
    let _ = timeout(Duration::from_secs(3600), undecodable.clone().report()).await;
}

/// Method and last part of the path of each request.
fn shown(calls: Vec<Call>) -> Vec<String> {
    calls.iter().map(|call| format!("{} {}", call.method, call.path.rsplit('/').next().unwrap())).collect()
}

#[tokio::test]
async fn a_store_has_what_fits() {
    let (undecodable, _, ctx) = undecodable(|call| (200, call.body.clone()));
    let list = || {
        let apply = |name, size| Event::InitApply(received(object(name, size, 1)));
        vec![Event::Init, apply("a", 1), apply("bad", BAD), apply("b", 2), Event::InitDone]
    };
    let (stored, touched) = after(&undecodable, list()).await;
    assert_eq!((stored, touched), (vec!["a".to_owned(), "b".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
    assert!(
        ctx.metrics
            .text()
            .contains(r#"controller_undecodable_objects{controller="test",kind="Narrow",namespace=""} 1"#)
    );

    let mut events = list();
    events.push(Event::Apply(received(object("a", BAD, 2))));
    assert_eq!(after(&undecodable, events.clone()).await.0, ["b"], "one that fits no more is not kept as it was");
    events.push(Event::Apply(received(object("bad", 7, 2))));
    assert_eq!(after(&undecodable, events.clone()).await.0, ["b", "bad"]);
    events.push(Event::Apply(received(object("bad", BAD, 3))));
    events.push(Event::Delete(received(object("bad", BAD, 3))));
    events.push(Event::Delete(received(object("a", BAD, 3))));
    assert_eq!(after(&undecodable, events).await.0, ["b"]);
    assert!(
        ctx.metrics
            .text()
            .contains(r#"controller_undecodable_objects{controller="test",kind="Narrow",namespace=""} 0"#)
    );
}

#[tokio::test]
async fn one_that_a_list_no_longer_has_is_forgotten() {
    let (undecodable, _, ctx) = undecodable(|call| (200, call.body.clone()));
    after(&undecodable, vec![Event::Init, Event::InitApply(received(object("bad", BAD, 1))), Event::InitDone]).await;
    after(&undecodable, vec![Event::Init, Event::InitDone]).await;
    assert!(ctx.metrics.text().contains(r#"namespace=""} 0"#));
    assert!(ctx.metrics.text().contains(r#"controller_decode_failures_total{controller="test",kind="Narrow"} 1"#));
}

#[tokio::test(start_paused = true)]
async fn each_is_reported_once_in_a_condition_and_an_event() {
    let (undecodable, calls, _) = undecodable(|call| (200, call.body.clone()));
    let Received::Undecodable(bad) = received(object("bad", BAD, 4)) else { panic!() };
    undecodable.insert((*bad).clone());
    report(&undecodable).await;
    // Writing the status changes the object.
    undecodable.insert((*bad).clone());
    undecodable.list_begins();
    undecodable.insert((*bad).clone());
    undecodable.list_ends();
    report(&undecodable).await;
    let made = calls.take();
    let [patch, event] = made.as_slice() else { panic!("{made:?}") };
    let note = "cannot be decoded: size: invalid value: integer `5000000000`, expected u32";
    assert!(patch.query.contains("fieldManager=test-operator%2Ffailure"), "{}", patch.query);
    assert_eq!(patch.path, "/apis/example.com/v1/namespaces/default/narrows/bad/status");
    assert_eq!(patch.body["status"]["observedGeneration"], 4);
    let condition = &patch.body["status"]["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&json!("Ready"), &json!("False")));
    assert_eq!((&condition["reason"], &condition["message"]), (&json!("Undecodable"), &json!(note)));
    assert_eq!((&event.body["type"], &event.body["reason"]), (&json!("Warning"), &json!("Undecodable")));
    assert_eq!((&event.body["note"], &event.body["regarding"]["name"]), (&json!(note), &json!("bad")));

    let Received::Undecodable(edited) = received(object("bad", BAD, 5)) else { panic!() };
    undecodable.insert(*edited);
    report(&undecodable).await;
    assert_eq!(calls.take().len(), 2, "the spec has changed");
}

#[tokio::test(start_paused = true)]
async fn what_was_reported_before_a_restart_is_not_reported_again() {
    let (undecodable, calls, _) = undecodable(|call| (200, call.body.clone()));
    let mut bad = object("bad", BAD, 4);
    let message = "cannot be decoded: size: invalid value: integer `5000000000`, expected u32";
    bad["status"]["conditions"] =
        json!([{ "type": "Ready", "status": "False", "reason": "Undecodable", "message": message }]);
    let Received::Undecodable(object) = received(bad) else { panic!() };
    undecodable.insert(*object);
    report(&undecodable).await;
    assert!(calls.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_report_is_tried_again_while_the_api_server_fails() {
    let refusals = Arc::new(AtomicU16::new(3));
    let left = refusals.clone();
    let (undecodable, calls, _) =
        undecodable(move |call| match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1)) {
            Ok(_) => (500, status(500, "InternalError")),
            Err(_) => (200, call.body.clone()),
        });
    let Received::Undecodable(object) = received(object("bad", BAD, 1)) else { panic!() };
    undecodable.insert((*object).clone());
    report(&undecodable).await;
    // Each try writes with `observedGeneration`, then without.
    assert_eq!(shown(calls.take()), ["PATCH status", "PATCH status", "PATCH status", "PATCH status", "POST events"]);
    refusals.store(u16::MAX, Ordering::SeqCst);
    undecodable.forget(&object.metadata);
    undecodable.insert(*object);
    report(&undecodable).await;
    let tries = calls.take().len();
    assert!((5..=10).contains(&tries), "{tries} requests in an hour");
}

#[tokio::test(start_paused = true)]
async fn the_event_is_all_where_the_status_cannot_be_written() {
    for (code, reason) in [(403, "Forbidden"), (422, "Invalid"), (404, "NotFound")] {
        let (undecodable, calls, _) = undecodable(move |call| match call.path.ends_with("/status") {
            true => (code, status(code, reason)),
            false => (200, call.body.clone()),
        });
        let Received::Undecodable(object) = received(object("bad", BAD, 1)) else { panic!() };
        undecodable.insert(*object);
        report(&undecodable).await;
        assert_eq!(shown(calls.take()).last().unwrap(), "POST events", "{reason}");
    }
    let (ctx, calls) = context_with(|call| (200, call.body.clone()));
    let undecodable = UndecodableObjects::new::<Secret>("test", (*ctx).clone(), None, None);
    let Received::Undecodable(object) = received(object("bad", BAD, 1)) else { panic!() };
    undecodable.insert(*object);
    report(&undecodable).await;
    assert_eq!(shown(calls.take()), ["POST events"], "an object of others");
}

#[tokio::test(start_paused = true)]
async fn one_that_waits_for_its_cleanup_is_reported_as_such() {
    let (undecodable, calls, _) = undecodable(|call| (200, call.body.clone()));
    let mut bad = object("bad", BAD, 4);
    bad["metadata"]["finalizers"] = json!(["example.com/other", "example.com/a"]);
    let Received::Undecodable(held) = received(bad.clone()) else { panic!() };
    bad["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let Received::Undecodable(leaving) = received(bad) else { panic!() };
    undecodable.insert(*held);
    report(&undecodable).await;
    undecodable.insert(*leaving);
    report(&undecodable).await;
    let notes: Vec<Value> =
        calls.take().into_iter().map(|call| call.body["note"].clone()).filter(|it| !it.is_null()).collect();
    let [held, leaving] = notes.as_slice() else { panic!("{notes:?}") };
    assert!(!held.to_string().contains("finalizer"), "{held}");
    assert!(leaving.to_string().contains("removes the finalizer example.com/a"), "{leaving}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_fails_goes_on_after_a_pause() {
    let (ctx, calls) = context_with(|_| (503, status(503, "ServiceUnavailable")));
    let api: Api<Received<Narrow>> = Api::all_with(ctx.client.clone(), &());
    let mut events = Box::pin(watch("test", &ctx, api, watcher::Config::default()).filter(|event| {
        let is_begin = matches!(event, Ok(Event::Init));
        ready(!is_begin)
    }));
    assert!(timeout(Duration::from_secs(60), events.next()).await.is_err(), "errors are not passed on");
    let lists = calls.take().len();
    assert!((15..=21).contains(&lists), "{lists} requests in a minute");
    assert!(ctx.metrics.text().contains(r#"controller_watch_restarts_total{controller="test",kind="Narrow"}"#));
    assert!(events.next().now_or_never().is_none());
}
