use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::{Api, CustomResource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::testing::{self, Call, Calls, context, context_having, context_with, status};

#[derive(CustomResource, Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Web", namespaced, status = "WebStatus")]
struct WebSpec {}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct WebStatus {
    observed_generation: Option<i64>,
    #[serde(default)]
    replicas: i32,
    address: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Condition>,
}

/// A kind whose status has neither conditions nor `observedGeneration`, but a required field.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Bare", status = "BareStatus")]
struct BareSpec {}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
struct BareStatus {
    replicas: i32,
}

/// A kind with its own type of conditions.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Own", status = "OwnStatus")]
struct OwnSpec {}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
struct OwnStatus {
    phase: String,
    conditions: Vec<OwnCondition>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct OwnCondition {
    #[serde(rename = "type")]
    type_: String,
    status: String,
}

const MAIN: fn() -> Writer = || Writer::new(READY, true);

/// An object of generation 2 with this status.
fn web(status: Value) -> Web {
    let version = status.to_string();
    let metadata = json!({
        "name": "sample", "namespace": "default", "uid": "u", "generation": 2, "resourceVersion": version,
    });
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Web", "metadata": metadata, "spec": {}, "status": status,
    });
    serde_json::from_value(object).unwrap()
}

async fn settle(writer: &Writer, object: &Web, result: Result<Outcome, Error>) -> Vec<Call> {
    let (ctx, calls) = context();
    let failed = result.is_err();
    let settled = writer.settle(object, result, &ctx).await;
    assert_eq!(settled.is_err(), failed);
    calls.take()
}

/// The status that the calls applied, as the object contains it afterwards.
fn applied(calls: &[Call]) -> Value {
    let call = calls.iter().find(|call| call.path.ends_with("/status")).expect("a status was applied");
    assert_eq!(call.content_type, "application/apply-patch+yaml");
    call.body["status"].clone()
}

fn events(calls: &[Call]) -> Vec<(String, String)> {
    let events = calls.iter().filter(|call| call.path.ends_with("/events"));
    events.map(|call| (text(&call.body, "type").to_owned(), text(&call.body, "reason").to_owned())).collect()
}

fn done() -> Outcome {
    Outcome::ready("Available", "3 of 3").status(WebStatus { replicas: 3, ..WebStatus::default() })
}

#[tokio::test]
async fn the_status_is_written_once() {
    let writer = MAIN();
    let calls = settle(&writer, &web(Value::Null), Ok(done())).await;
    assert_eq!(calls[0].path, "/apis/example.com/v1/namespaces/default/webs/sample/status");
    assert!(calls[0].query.contains("fieldManager=test-operator") && calls[0].query.contains("force=true"));
    let status = applied(&calls);
    assert_eq!((&status["replicas"], &status["observedGeneration"]), (&json!(3), &json!(2)));
    assert_eq!(status.get("address"), None, "what is none is not applied");
    let condition = &status["conditions"][0];
    assert_eq!((&condition["type"], &condition["status"]), (&json!("Ready"), &json!("True")));
    assert_eq!((&condition["reason"], &condition["observedGeneration"]), (&json!("Available"), &json!(2)));
    for writer in [writer, MAIN()] {
        assert_eq!(settle(&writer, &web(status.clone()), Ok(done())).await, [], "after a restart, too");
    }
}

#[tokio::test]
async fn objects_are_counted_by_their_last_condition() {
    let writer = MAIN();
    let object = web(Value::Null);
    let counts = |writer: &Writer| writer.count([&object].into_iter()).into_values().collect::<Vec<_>>();
    assert_eq!(writer.count::<Web>([].into_iter()).into_keys().collect::<Vec<_>>(), ["False", "True", "Unknown"]);
    assert_eq!(counts(&writer), [0, 0, 1]);
    settle(&writer, &object, Ok(done())).await;
    assert_eq!(counts(&writer), [0, 1, 0]);
    settle(&writer, &object, Err(Error::new("Broken", "why"))).await;
    assert_eq!(counts(&writer), [1, 0, 0]);
    settle(&writer, &object, Ok(Outcome::unchanged())).await;
    assert_eq!(counts(&writer), [1, 0, 0]);
}

#[tokio::test]
async fn the_transition_time_changes_with_the_status_only() {
    let old = json!({ "type": "Ready", "status": "False", "reason": "Progressing", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z" });
    let before = web(json!({ "conditions": [old] }));
    let same = applied(&settle(&MAIN(), &before, Ok(Outcome::not_ready("Progressing", "2 of 3"))).await);
    assert_eq!(same["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
    assert_eq!(same["conditions"][0]["message"], "2 of 3");
    let other = applied(&settle(&MAIN(), &before, Ok(done())).await);
    assert_ne!(other["conditions"][0]["lastTransitionTime"], "2026-01-01T00:00:00Z");
}

#[tokio::test]
async fn only_fields_that_the_kind_has_are_written() {
    let (ctx, calls) = context();
    let outcome =
        |replicas: i32| Ok(Outcome::ready("Available", "").status(json!({ "replicas": replicas, "other": 1 })));
    let mut bare = Bare::new("sample", BareSpec::default());
    MAIN().settle(&bare, outcome(3), &ctx).await.unwrap();
    assert_eq!(calls.status::<Bare>("sample"), json!({ "replicas": 3 }));
    calls.take();
    bare.status = Some(BareStatus { replicas: 3 });
    MAIN().settle(&bare, outcome(3), &ctx).await.unwrap();
    MAIN().settle(&bare, Err(Error::new("Broken", "")), &ctx).await.unwrap_err();
    MAIN().settle(&ConfigMap::default(), outcome(3), &ctx).await.unwrap();
    assert!(calls.is_empty(), "{:?}", calls.take());
}

#[tokio::test]
async fn conditions_may_be_of_another_type() {
    let (ctx, calls) = context();
    let status = OwnStatus {
        phase: "Running".to_owned(),
        conditions: vec![OwnCondition { type_: "Healthy".to_owned(), status: "True".to_owned() }],
    };
    let mut own = Own::new("sample", OwnSpec::default());
    MAIN().settle(&own, Ok(Outcome::ready("Available", "").status(status)), &ctx).await.unwrap();
    let written = calls.status::<Own>("sample");
    let conditions = json!([{ "type": "Ready", "status": "True" }, { "type": "Healthy", "status": "True" }]);
    assert_eq!(written, json!({ "phase": "Running", "conditions": conditions }));
    calls.take();
    own.status = serde_json::from_value(written).unwrap();
    let result = Err(Error::new("Broken", ""));
    MAIN().settle(&own, result, &ctx).await.unwrap_err();
    let failed = json!({ "conditions": [{ "type": "Ready", "status": "False" }] });
    assert_eq!(calls.status::<Own>("sample"), failed, "without the required field, which another field manager has");
}

#[tokio::test]
async fn conditions_of_the_status_are_written_behind_those_of_the_outcome() {
    let given =
        vec![conditions::ready("Ignored", ""), conditions::condition("Synced", conditions::Status::True, "Synced", "")];
    let outcome = Outcome::ready("Available", "")
        .condition(conditions::condition("Degraded", conditions::Status::False, "AsExpected", ""))
        .status(WebStatus { conditions: given, ..WebStatus::default() });
    let status = applied(&settle(&MAIN(), &web(Value::Null), Ok(outcome)).await);
    let shown: Vec<&str> = list(&status["conditions"]).iter().map(|it| text(it, "reason")).collect();
    assert_eq!(shown, ["Available", "AsExpected", "Synced"]);
}

#[tokio::test]
async fn a_second_controller_writes_its_own_fields_only() {
    let writer = Writer::new("Synced", true);
    let main = json!({ "observedGeneration": 1, "replicas": 3, "conditions": [
        { "type": "Ready", "status": "True", "reason": "A", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" },
    ] });
    let outcome = || Outcome::ready("UpToDate", "").status(json!({ "address": "a.example.com" }));
    let status = applied(&settle(&writer, &web(main.clone()), Ok(outcome())).await);
    assert_eq!(status.as_object().unwrap().keys().collect::<Vec<_>>(), ["address", "conditions"]);
    assert_eq!((list(&status["conditions"]).len(), &status["conditions"][0]["type"]), (1, &json!("Synced")));
    let mut both = main;
    both["address"] = status["address"].clone();
    both["conditions"].as_array_mut().unwrap().push(status["conditions"][0].clone());
    assert_eq!(settle(&writer, &web(both.clone()), Ok(outcome())).await, []);
    let less = applied(&settle(&writer, &web(both), Ok(Outcome::ready("UpToDate", ""))).await);
    assert_eq!(
        less.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["conditions"],
        "a field that is given up is removed"
    );
}

#[tokio::test]
async fn what_others_wrote_is_applied_against_once() {
    let writer = MAIN();
    let mut status = applied(&settle(&writer, &web(Value::Null), Ok(done())).await);
    status["address"] = "of another controller".into();
    assert_eq!(settle(&writer, &web(status.clone()), Ok(done())).await, []);
    let restarted = MAIN();
    assert_eq!(settle(&restarted, &web(status.clone()), Ok(done())).await.len(), 1, "it may be its own of before");
    assert_eq!(settle(&restarted, &web(status), Ok(done())).await, []);
}

#[tokio::test]
async fn a_failure_changes_the_condition_only() {
    let writer = MAIN();
    let before = applied(&settle(&writer, &web(Value::Null), Ok(done())).await);
    let failure = || Err(Error::new("QuotaExceeded", "no more than 3"));
    let calls = settle(&writer, &web(before), failure()).await;
    assert!(calls[0].query.contains("fieldManager=test-operator%2Ffailure"), "{}", calls[0].query);
    let status = applied(&calls);
    assert_eq!(status.as_object().unwrap().keys().collect::<Vec<_>>(), ["conditions", "observedGeneration"]);
    assert_eq!(
        (&status["conditions"][0]["status"], &status["conditions"][0]["reason"]),
        (&json!("False"), &json!("QuotaExceeded"))
    );
    assert_eq!(events(&calls), [("Warning".to_owned(), "QuotaExceeded".to_owned())]);
    assert_eq!(settle(&writer, &web(status), failure()).await, []);
}

/// Each write of a status changes the object, and the change must not cause another reconcile: after a failure, it would
/// bypass the backoff.
#[tokio::test]
async fn a_write_of_the_status_is_known_when_the_watch_delivers_it() {
    let (writer, object) = (MAIN(), web(Value::Null));
    let (ctx, _) = context_having([testing::object(&object)]);
    let api = Api::<Web>::namespaced(ctx.client.clone(), "default");
    let before = api.get("sample").await.unwrap();
    assert!(!writer.is_own_write(&before), "nothing is written yet");
    for attempt in 0..3 {
        let late = Err(Error::new("Late", format!("took {attempt} ms")));
        writer.settle(&api.get("sample").await.unwrap(), late, &ctx).await.unwrap_err();
        let after = api.get("sample").await.unwrap();
        assert!(writer.is_own_write(&after));
        assert!(!MAIN().is_own_write(&after), "another controller's");
    }
    assert!(!writer.is_own_write(&before), "an older version");
    let foreign = json!({ "metadata": { "labels": { "a": "b" } } });
    let changed = api.patch("sample", &PatchParams::default(), &Patch::Merge(foreign)).await.unwrap();
    assert!(!writer.is_own_write(&changed), "a newer version");
}

/// A child that was just applied, or a write of another field manager, may trigger a reconcile before the watch
/// delivers the status that was just written.
#[tokio::test]
async fn a_status_that_the_watch_has_not_brought_yet_is_not_written_again() {
    let (writer, object) = (MAIN(), web(Value::Null));
    let at = |version: u64, status: &Value| {
        let mut object = web(status.clone());
        object.metadata.resource_version = Some(version.to_string());
        object
    };
    let (ctx, calls) = context_having([testing::object(&object)]);
    let settle = async |object: &Web, outcome: Outcome| {
        writer.settle(object, Ok(outcome), &ctx).await.unwrap();
        calls.take()
    };
    let api = Api::<Web>::namespaced(ctx.client.clone(), "default");
    let stored = async || api.get("sample").await.unwrap().metadata.resource_version.unwrap();

    let first: u64 = stored().await.parse().unwrap();
    let written = applied(&settle(&at(first - 1, &Value::Null), done()).await);
    let second: u64 = stored().await.parse().unwrap();
    assert!(second > first);
    calls.take();
    // `first` is newer than the object of the first reconcile, but does not have its status.
    for version in [first - 1, first] {
        assert_eq!(settle(&at(version, &Value::Null), done()).await, []);
    }
    let calls = settle(&at(first, &Value::Null), Outcome::failed("Full", "4 of 4")).await;
    assert_eq!(events(&calls), [("Warning".to_owned(), "Full".to_owned())]);
    let calls = settle(&at(second, &written), Outcome::failed("Full", "5 of 4")).await;
    assert_eq!(events(&calls), [], "the event was of the reconcile before");
    let calls = settle(&at(second + 2, &json!({ "replicas": 1 })), done()).await;
    assert_eq!(applied(&calls)["replicas"], 3, "a newer version without it");
}

#[tokio::test]
async fn events_are_about_changes() {
    let condition = |status: &str, reason: &str| {
        let time = "2026-01-01T00:00:00Z";
        web(
            json!({ "conditions": [{ "type": "Ready", "status": status, "reason": reason, "message": "", "lastTransitionTime": time }] }),
        )
    };
    let progress = || Ok(Outcome::not_ready("Progressing", ""));
    for (before, result, expected) in [
        (web(Value::Null), progress(), None),
        (web(Value::Null), Ok(done()), Some(("Normal", "Available"))),
        (web(Value::Null), Ok(Outcome::failed("Failed", "")), Some(("Warning", "Failed"))),
        (web(Value::Null), Err(Error::new("Broken", "")), Some(("Warning", "Broken"))),
        (condition("False", "Progressing"), Ok(done()), Some(("Normal", "Available"))),
        (condition("True", "Available"), progress(), Some(("Normal", "Progressing"))),
        (condition("True", "Available"), Ok(done()), None),
        (condition("False", "Broken"), Err(Error::new("Broken", "another message")), None),
    ] {
        let expected = expected.map(|(type_, reason)| (type_.to_owned(), reason.to_owned()));
        let shown = format!("{before:?} {result:?}");
        assert_eq!(events(&settle(&MAIN(), &before, result).await), Vec::from_iter(expected), "{shown}");
    }
}

#[cfg(feature = "helm")]
#[tokio::test]
async fn a_silent_condition_has_no_event() {
    let installed = || conditions::condition("Deployed", conditions::Status::True, "Installed", "");
    let with_deployed = |outcome: Outcome| outcome.condition(installed());
    let loud = settle(&MAIN(), &web(Value::Null), Ok(with_deployed(done()))).await;
    let of =
        |reasons: &[&str]| reasons.iter().map(|reason| ("Normal".to_owned(), (*reason).to_owned())).collect::<Vec<_>>();
    assert_eq!(events(&loud), of(&["Available", "Installed"]));
    let silent = settle(&MAIN(), &web(Value::Null), Ok(with_deployed(done()).silent("Deployed"))).await;
    assert_eq!(events(&silent), of(&["Available"]));
    assert_eq!(applied(&silent)["conditions"][1]["type"], "Deployed");
}

#[tokio::test]
async fn the_time_of_the_next_reconcile_is_that_of_the_outcome() {
    let (ctx, calls) = context();
    let minute = Duration::from_secs(60);
    let later = Outcome::unchanged().requeue_after(minute);
    assert_eq!(MAIN().settle(&web(Value::Null), Ok(later), &ctx).await.unwrap(), Action::requeue(minute));
    let action = Action::await_change().into_outcome();
    assert_eq!(MAIN().settle(&web(Value::Null), Ok(action), &ctx).await.unwrap(), Action::await_change());
    let usual = MAIN().settle(&web(Value::Null), Ok(().into_outcome()), &ctx).await.unwrap();
    assert!(usual != Action::await_change() && usual != Action::requeue(minute));
    assert!(calls.is_empty());
}

#[tokio::test]
async fn a_controller_that_returns_an_action_writes_no_status() {
    let (ctx, calls) = context();
    let writer = Writer::new(READY, Action::WRITES);
    writer.settle(&web(Value::Null), Err(Error::new("Broken", "")), &ctx).await.unwrap_err();
    assert!(calls.is_empty());
}

#[tokio::test]
async fn a_status_that_cannot_be_written_is_an_error_unless_the_object_is_gone() {
    for (code, reason, is_error) in [(404, "NotFound", false), (403, "Forbidden", true), (409, "Conflict", true)] {
        let (ctx, _): (_, Calls) = context_with(move |_| (code, status(code, reason)));
        let settled = MAIN().settle(&web(Value::Null), Ok(Outcome::not_ready("Progressing", "")), &ctx).await;
        assert_eq!(settled.is_err(), is_error, "{reason}");
        // The first error is the relevant one.
        let settled = MAIN().settle(&web(Value::Null), Err(Error::new("Broken", "")), &ctx).await;
        assert_eq!(settled.unwrap_err().reason(), "Broken");
    }
}
