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

//! `reconcile` against a mocked API server, at times of the test's choice.

use kube::runtime::reflector;
use kube::runtime::watcher::Event;
use serde_json::Value;

use super::*;
use crate::mock;

const NOON: &str = "2025-01-03T12:00:00Z";
const NIGHT: &str = "2025-01-03T23:00:00Z";

/// The target, if there is one, has so many replicas.
struct Cluster(Option<i32>);

impl Cluster {
    /// Reconciles at a time, and returns what comes of it and the requests.
    async fn reconcile(
        &self,
        object: CronHPA,
        now: &str,
    ) -> (Result<Action, Error>, Vec<mock::Call>) {
        let target = self.0;
        let (ctx, calls) = mock::context(move |call| match (call.method.as_str(), target) {
            ("GET", None) => (404, mock::status(404, "NotFound")),
            ("GET", Some(size)) => (200, json!({ "metadata": {}, "spec": { "replicas": size } })),
            _ => (200, call.body.clone()),
        });
        let now: Timestamp = now.parse().unwrap();
        let outcome = reconcile(Arc::new(object), None, || now, ctx).await;
        (outcome, calls.take())
    }
}

/// An object as the API server sends it: five replicas from eight in the morning, one from eight in the evening.
fn object(name: &str) -> CronHPA {
    let object = json!({
        "apiVersion": "autoscaling.example.com/v1alpha1",
        "kind": "CronHPA",
        "metadata": {
            "name": name, "namespace": "default", "uid": name, "generation": 2,
            "creationTimestamp": "2025-01-01T00:00:00Z",
        },
        "spec": {
            "scaleTarget": { "name": "web" },
            "jobs": [
                { "name": "day", "schedule": "0 8 * * *", "size": 5 },
                { "name": "night", "schedule": "0 20 * * *", "size": 1 },
            ],
        },
    });
    serde_json::from_value(object).unwrap()
}

/// The status that was written.
fn status(calls: &[mock::Call]) -> &Value {
    let written = |call: &&mock::Call| call.path.ends_with("/cronhpas/sample/status");
    &calls.iter().find(written).unwrap().body["status"]
}

fn methods(calls: &[mock::Call]) -> Vec<&str> {
    calls.iter().map(|call| call.method.as_str()).collect()
}

#[tokio::test]
async fn scales_the_target_and_tells_it() {
    let (_, calls) = Cluster(Some(1)).reconcile(object("sample"), NOON).await;
    for call in &calls[..2] {
        assert_eq!(
            call.path,
            "/apis/apps/v1/namespaces/default/deployments/web/scale"
        );
    }
    assert_eq!(calls[1].method, "PATCH");
    assert_eq!(calls[1].body, json!({ "spec": { "replicas": 5 } }));
    assert_eq!(calls[2].body["reason"], "Scaled");
    assert_eq!(
        calls[2].body["note"],
        "`web` from 1 to 5 replicas, for `day`"
    );
    let status = status(&calls);
    assert_eq!(
        status["lastRun"],
        json!({ "time": "2025-01-03T08:00:00Z", "job": "day", "schedule": "0 8 * * *", "size": 5 })
    );
    assert_eq!(status["nextRun"]["time"], "2025-01-03T20:00:00Z");
    assert_eq!(status["conditions"][0]["status"], "True");
    assert_eq!(status["observedGeneration"], 2);
}

#[tokio::test]
async fn leaves_a_target_alone_that_has_its_size_and_writes_nothing_twice() {
    let mut object = object("sample");
    let (_, calls) = Cluster(Some(5)).reconcile(object.clone(), NOON).await;
    assert_eq!(
        methods(&calls),
        ["GET", "PATCH", "POST"],
        "the scale, the status and its event"
    );
    object.status = serde_json::from_value(status(&calls).clone()).unwrap();
    let (_, calls) = Cluster(Some(5)).reconcile(object, NOON).await;
    assert_eq!(methods(&calls), ["GET"]);
}

#[tokio::test]
async fn undoes_a_change_by_hand() {
    let (_, calls) = Cluster(Some(5)).reconcile(object("sample"), NOON).await;
    let mut settled = object("sample");
    settled.status = serde_json::from_value(status(&calls).clone()).unwrap();
    let (_, calls) = Cluster(Some(9)).reconcile(settled, NOON).await;
    assert_eq!(
        methods(&calls),
        ["GET", "PATCH", "POST"],
        "the scale and its event"
    );
    assert_eq!(calls[1].body["spec"]["replicas"], 5);
}

#[tokio::test]
async fn applies_the_last_of_the_runs_that_were_missed_and_no_other() {
    let (_, calls) = Cluster(Some(1)).reconcile(object("sample"), NOON).await;
    let mut object = object("sample");
    object.status = serde_json::from_value(status(&calls).clone()).unwrap();
    let (_, calls) = Cluster(Some(5))
        .reconcile(object, "2025-02-07T21:00:00Z")
        .await;
    let sizes = calls.iter().filter(|call| call.path.ends_with("/scale"));
    let sizes: Vec<_> = sizes
        .map(|call| call.body["spec"]["replicas"].clone())
        .collect();
    assert_eq!(sizes, [Value::Null, json!(1)]);
    assert_eq!(status(&calls)["lastRun"]["time"], "2025-02-07T20:00:00Z");
}

#[tokio::test]
async fn runs_again_when_the_next_job_is_due_and_not_later() {
    for (now, seconds) in [
        ("2025-01-03T19:59:58.5Z", 1.5),
        ("2025-01-03T19:59:59.999Z", 0.001),
        // The next is nine hours away, but the clock may be set.
        (NIGHT, 600.0),
    ] {
        let (outcome, _) = Cluster(Some(5)).reconcile(object("sample"), now).await;
        assert_eq!(
            outcome.unwrap(),
            Action::requeue(Duration::from_secs_f64(seconds)),
            "{now}"
        );
    }
}

#[tokio::test]
async fn a_run_that_came_while_it_worked_is_not_waited_for() {
    let (ctx, _calls) =
        mock::context(|_| (200, json!({ "metadata": {}, "spec": { "replicas": 5 } })));
    let times = ["2025-01-03T19:59:59Z", "2025-01-03T20:00:01Z"];
    let times = std::sync::Mutex::new(times.into_iter());
    let clock = || times.lock().unwrap().next().unwrap().parse().unwrap();
    let action = reconcile(Arc::new(object("sample")), None, clock, ctx)
        .await
        .unwrap();
    assert_eq!(action, Action::requeue(Duration::ZERO));
}

#[tokio::test]
async fn says_that_the_target_is_missing_and_when_it_would_be_scaled() {
    let (outcome, calls) = Cluster(None).reconcile(object("sample"), NOON).await;
    assert_eq!(outcome.unwrap_err().reason(), "TargetNotFound");
    let condition = &status(&calls)["conditions"][0];
    assert_eq!(condition["status"], "False");
    assert_eq!(condition["reason"], "TargetNotFound");
    assert_eq!(condition["message"], "there is no Deployment `web`");
    assert_eq!(status(&calls)["nextRun"]["job"], "night");
}

#[tokio::test]
async fn says_which_schedule_is_wrong_and_scales_nothing() {
    let mut object = object("sample");
    object.spec.jobs[1].schedule = "0 20 31 2 *".to_owned();
    let (outcome, calls) = Cluster(Some(1)).reconcile(object, NOON).await;
    assert_eq!(outcome.unwrap_err().reason(), "InvalidSchedule");
    assert_eq!(
        methods(&calls),
        ["PATCH", "POST"],
        "the status and its event"
    );
    let condition = &status(&calls)["conditions"][0];
    assert_eq!(condition["message"], "the schedule of `night` never comes");
    assert_eq!(status(&calls).get("lastRun"), None);
}

#[tokio::test]
async fn the_older_of_two_with_one_target_scales_it() {
    let store = store([object("sample"), object("other")]);
    assert_eq!(rival(&store, &object("other")), None);
    let taken = rival(&store, &object("sample"));
    assert_eq!(
        taken.as_deref(),
        Some("other"),
        "of the same age, by their names"
    );

    let (ctx, calls) = mock::context(|call| (200, call.body.clone()));
    let clock = || NOON.parse().unwrap();
    let outcome = reconcile(Arc::new(object("sample")), taken, clock, ctx).await;
    assert_eq!(outcome.unwrap_err().reason(), "TargetTaken");
    assert_eq!(
        methods(&calls.take()),
        ["PATCH", "POST"],
        "the status and its event"
    );
}

#[test]
fn a_deployment_leads_to_the_objects_that_scale_it() {
    let store = store([object("sample")]);
    let deployment = |namespace: &str, name: &str| {
        let metadata = json!({ "namespace": namespace, "name": name });
        serde_json::from_value::<Deployment>(json!({ "metadata": metadata })).unwrap()
    };
    assert_eq!(
        scaling(&store, &deployment("default", "web")),
        [ObjectRef::new("sample").within("default")]
    );
    assert_eq!(scaling(&store, &deployment("default", "other")), []);
    assert_eq!(scaling(&store, &deployment("other", "web")), []);
}

#[tokio::test]
async fn leaves_an_object_alone_that_is_being_deleted() {
    let mut object = object("sample");
    object.metadata.deletion_timestamp = serde_json::from_value(json!(NOON)).unwrap();
    let (outcome, calls) = Cluster(Some(1)).reconcile(object, NOON).await;
    assert_eq!((outcome.unwrap(), calls), (Action::await_change(), vec![]));
}

/// What the controller knows.
fn store<const N: usize>(objects: [CronHPA; N]) -> Store<CronHPA> {
    let (store, mut writer) = reflector::store();
    for object in objects {
        writer.apply_watcher_event(&Event::Apply(object));
    }
    store
}
