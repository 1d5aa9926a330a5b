// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! `reconcile` against a mock API server, at any time of the day.

use kube::runtime::reflector;
use kube::runtime::watcher::Event;
use opctl_runtime::testing::{self, Call};
use serde_json::Value;

use super::*;

const NOON: &str = "2025-01-03T12:00:00Z";
const NIGHT: &str = "2025-01-03T23:00:00Z";

#[tokio::test]
async fn scales_the_target_and_reports_it() {
    let (outcome, calls) = reconciled(object("sample"), Some(1), NOON).await;
    assert!(
        calls
            .iter()
            .take(2)
            .all(|call| call.path == "/apis/apps/v1/namespaces/default/deployments/web/scale")
    );
    assert_eq!(
        (&*calls[1].method, &calls[1].body),
        ("PATCH", &json!({ "spec": { "replicas": 5 } }))
    );
    assert_eq!(calls[2].body["reason"], "Scaled");
    assert_eq!(
        calls[2].body["note"],
        "`web` from 1 to 5 replicas, for `day`"
    );
    let outcome = outcome.unwrap();
    assert_eq!(outcome.conditions()[0].status, "True");
    let last =
        json!({ "time": "2025-01-03T08:00:00Z", "job": "day", "schedule": "0 8 * * *", "size": 5 });
    assert_eq!(outcome.status_fields()["lastRun"], last);
    assert_eq!(
        outcome.status_fields()["nextRun"]["time"],
        "2025-01-03T20:00:00Z"
    );
}

#[tokio::test]
async fn does_not_touch_a_target_that_has_its_size() {
    let (_, calls) = reconciled(object("sample"), Some(5), NOON).await;
    assert_eq!(sizes(&calls), [Value::Null]);
}

#[tokio::test]
async fn undoes_a_manual_change() {
    let (_, calls) = reconciled(object("sample"), Some(9), NOON).await;
    assert_eq!(sizes(&calls), [Value::Null, json!(5)]);
}

#[tokio::test]
async fn applies_only_the_last_of_the_missed_runs() {
    let (outcome, calls) = reconciled(object("sample"), Some(5), "2025-02-07T21:00:00Z").await;
    assert_eq!(sizes(&calls), [Value::Null, json!(1)]);
    assert_eq!(
        outcome.unwrap().status_fields()["lastRun"]["time"],
        "2025-02-07T20:00:00Z"
    );
}

#[tokio::test]
async fn runs_again_when_the_next_job_is_due_and_not_later() {
    for (now, seconds) in [
        ("2025-01-03T19:59:58.5Z", 1.5),
        ("2025-01-03T19:59:59.999Z", 0.001),
        // The next is nine hours away, but the clock may be set.
        (NIGHT, 600.0),
    ] {
        let (outcome, _) = reconciled(object("sample"), Some(5), now).await;
        let expected = Outcome::unchanged().requeue_after(Duration::from_secs_f64(seconds));
        assert_eq!(outcome.unwrap().action(), expected.action(), "{now}");
    }
}

#[tokio::test]
async fn does_not_wait_for_a_run_that_became_due_meanwhile() {
    let (ctx, _calls) =
        testing::context_with(|_| (200, json!({ "metadata": {}, "spec": { "replicas": 5 } })));
    let times = ["2025-01-03T19:59:59Z", "2025-01-03T20:00:01Z"];
    let times = std::sync::Mutex::new(times.into_iter());
    let clock = || times.lock().unwrap().next().unwrap().parse().unwrap();
    let outcome = reconcile(Arc::new(object("sample")), ctx, clock)
        .await
        .unwrap();
    assert_eq!(
        outcome.action(),
        Outcome::unchanged().requeue_after(Duration::ZERO).action()
    );
}

#[tokio::test]
async fn reports_a_missing_target_and_the_next_run() {
    let (outcome, _) = reconciled(object("sample"), None, NOON).await;
    let outcome = outcome.unwrap();
    let condition = &outcome.conditions()[0];
    assert_eq!(
        (&*condition.status, &*condition.reason),
        ("False", "TargetNotFound")
    );
    assert_eq!(condition.message, "there is no Deployment `web`");
    assert_eq!(outcome.status_fields()["nextRun"]["job"], "night");
}

#[tokio::test]
async fn reports_the_schedule_that_is_wrong_and_scales_nothing() {
    let mut object = object("sample");
    object.spec.jobs[1].schedule = "0 20 31 2 *".to_owned();
    let (outcome, calls) = reconciled(object, Some(1), NOON).await;
    let outcome = outcome.unwrap();
    assert_eq!(calls, []);
    assert_eq!(outcome.conditions()[0].reason, "InvalidSchedule");
    assert_eq!(
        outcome.conditions()[0].message,
        "the schedule of `night` never comes"
    );
    assert_eq!(outcome.status_fields(), &Value::Null);
}

#[tokio::test]
async fn the_older_of_two_with_one_target_scales_it() {
    // They are of the same age, so their names decide.
    let (store, mut writer) = reflector::store();
    for name in ["sample", "other"] {
        writer.apply_watcher_event(&Event::Apply(object(name)));
    }
    let (ctx, calls) = testing::context();
    let ctx = Arc::new(Context::clone(&ctx).with_objects(store));
    let clock = || NOON.parse().unwrap();
    let error = reconcile(Arc::new(object("sample")), ctx.clone(), clock)
        .await
        .unwrap_err();
    assert_eq!((error.reason(), calls.take()), ("TargetTaken", vec![]));
    let outcome = reconcile(Arc::new(object("other")), ctx, clock)
        .await
        .unwrap();
    assert_eq!(
        outcome.conditions()[0].reason,
        "TargetNotFound",
        "it looks for it"
    );
}

#[test]
fn a_deployment_is_the_target_of_objects_that_name_it() {
    let deployment = |namespace: &str, name: &str| {
        let metadata = json!({ "namespace": namespace, "name": name });
        serde_json::from_value::<Deployment>(json!({ "metadata": metadata })).unwrap()
    };
    assert!(is_target(&object("sample"), &deployment("default", "web")));
    assert!(!is_target(
        &object("sample"),
        &deployment("default", "other")
    ));
    assert!(!is_target(&object("sample"), &deployment("other", "web")));
}

/// Reconciles at a time, while the target has this size or is missing.
async fn reconciled(object: CronHPA, size: Option<i32>, now: &str) -> (Result<Outcome>, Vec<Call>) {
    let (ctx, calls) = testing::context_with(move |call| match (&*call.method, size) {
        ("GET", None) => (404, testing::status(404, "NotFound")),
        ("GET", Some(size)) => (200, json!({ "metadata": {}, "spec": { "replicas": size } })),
        _ => (200, call.body.clone()),
    });
    let now: Timestamp = now.parse().unwrap();
    (reconcile(Arc::new(object), ctx, || now).await, calls.take())
}

/// The sizes that were read (null) and written.
fn sizes(calls: &[Call]) -> Vec<Value> {
    let scales = calls.iter().filter(|call| call.path.ends_with("/scale"));
    scales
        .map(|call| call.body["spec"]["replicas"].clone())
        .collect()
}

fn object(name: &str) -> CronHPA {
    let spec = json!({
        "scaleTarget": { "name": "web" },
        "jobs": [
            { "name": "day", "schedule": "0 8 * * *", "size": 5 },
            { "name": "night", "schedule": "0 20 * * *", "size": 1 },
        ],
    });
    Arc::unwrap_or_clone(testing::stored(CronHPA::new(
        name,
        serde_json::from_value(spec).unwrap(),
    )))
}
