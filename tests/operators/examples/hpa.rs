//! `examples/hpa`: sizes by schedule, in seconds here, with only the permissions of its role.

use std::thread::sleep;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::eventually;
use super::example::Example;
use crate::control_plane::ControlPlane;
use crate::nightly::is_run;

const HPA: Example = Example { folder: "hpa", name: "hpa-operator" };

/// Its last run was in January, so its size applies during the whole test.
const YEARLY: &str = "{name: always, schedule: '@yearly', size: 4}";

/// Changes the size every six seconds.
const RESTLESS: &str =
    "{name: up, schedule: '*/12 * * * * *', size: 3}, {name: down, schedule: '6-54/12 * * * * *', size: 1}";

#[test]
fn scales_on_time_and_after_a_change_by_hand() {
    if !is_run("the example hpa", "OPCTL_OPERATORS") {
        return;
    }
    // No nodes: only the number of replicas matters, no Pod has to run.
    let Some(cluster) = ControlPlane::start("hpa", 0) else { return };
    HPA.make(&cluster, &["install"]);
    HPA.apply(&cluster);
    let mut manager = HPA.run(&cluster, &[]);
    let shop = Shop(&cluster);
    cluster.kubectl(&["create", "namespace", "shop"], "");
    shop.deployment("web");
    shop.deployment("clock");

    shop.apply("web", "web", YEARLY);
    shop.await_size("web", 4);
    shop.await_reason("web", "OnSchedule");
    let columns = shop.run(&["get", "cronhpa", "web"]);
    assert!(columns.starts_with("NAME   TARGET   SCHEDULE   TARGET SIZE   NEXT RUN"), "{columns}");
    let events = shop.run(&[
        "get",
        "events",
        "--field-selector=reason=Scaled",
        "-o",
        "jsonpath={.items[*].note}{.items[*].message}",
    ]);
    assert_eq!(events, "`web` from 2 to 4 replicas, for `always`");
    shop.run(&["scale", "deployment", "web", "--replicas=9"]);
    shop.await_size("web", 4);

    shop.apply("clock", "clock", RESTLESS);
    eventually("three runs", || scalings(&manager.log()).len() > 3);
    // The first one is for the last scheduled run before the start.
    for (time, size) in &scalings(&manager.log())[1..] {
        let due = if *size == 3 { 0 } else { 6 };
        assert!((time.as_second() - due).rem_euclid(12) < 6, "{size} replicas at {time}");
    }
    let deployment = shop.get(&["deployment", "clock"]);
    let managers = deployment["metadata"]["managedFields"].as_array().unwrap();
    assert!(managers.iter().any(|each| each["manager"] == "hpa-operator" && each["subresource"] == "scale"));

    assert_eq!(manager.terminate().code(), Some(0));
    sleep(Duration::from_secs(13));
    let start = Timestamp::now();
    let mut manager = HPA.run(&cluster, &[]);
    eventually("a run after the downtime", || shop.last_run("clock").as_second() + 6 >= start.as_second());

    shop.apply("early", "late", YEARLY);
    shop.await_reason("early", "TargetNotFound");
    shop.deployment("late");
    shop.await_size("late", 4);
    shop.await_reason("early", "OnSchedule");
    sleep(Duration::from_secs(1));
    shop.apply("rival", "late", "{name: other, schedule: '@daily', size: 2}");
    shop.await_reason("rival", "TargetTaken");
    assert_eq!(shop.size("late"), 4);
    shop.apply("wrong", "web", "{name: wrong, schedule: '61 * * * *', size: 2}");
    shop.run(&["delete", "cronhpa", "web"]);
    eventually("a word about the schedule", || shop.reason("wrong") == "InvalidSchedule");
    for (target, jobs) in [
        ("{name: web}", "{name: words, schedule: every day, size: 2}"),
        ("{name: web}", "{name: negative, schedule: '@daily', size: -1}"),
        ("{name: web}", ""),
        ("{name: web, kind: DaemonSet}", YEARLY),
    ] {
        let refused = cluster.run(&["apply", "-n", "shop", "-f", "-"], &object("refused", target, jobs));
        assert!(!refused.status.success(), "the API server takes {target} with {jobs}");
    }

    let log = manager.log();
    assert!(!log.contains("forbidden") && !log.contains("failed, it starts again"), "{log}");
    assert_eq!(manager.terminate().code(), Some(0));
}

fn object(name: &str, target: &str, jobs: &str) -> String {
    format!(
        "{{apiVersion: autoscaling.example.com/v1alpha1, kind: CronHPA, metadata: {{name: {name}}}, \
         spec: {{scaleTarget: {target}, jobs: [{jobs}]}}}}"
    )
}

/// Accesses the namespace of the objects with kubectl.
struct Shop<'a>(&'a ControlPlane);

impl Shop<'_> {
    fn run(&self, arguments: &[&str]) -> String {
        self.0.kubectl(&[&["-n", "shop"], arguments].concat(), "")
    }

    fn get(&self, what: &[&str]) -> Value {
        serde_json::from_str(&self.run(&[&["get", "-o", "json", "--show-managed-fields"], what].concat())).unwrap()
    }

    fn deployment(&self, name: &str) {
        self.run(&["create", "deployment", name, "--image=nginx", "--replicas=2"]);
    }

    fn apply(&self, name: &str, target: &str, jobs: &str) {
        let object = object(name, &format!("{{name: {target}}}"), jobs);
        self.0.kubectl(&["apply", "-n", "shop", "-f", "-"], &object);
    }

    fn size(&self, deployment: &str) -> i64 {
        self.get(&["deployment", deployment])["spec"]["replicas"].as_i64().unwrap()
    }

    fn await_size(&self, deployment: &str, size: i64) {
        eventually(&format!("{size} replicas of {deployment}"), || self.size(deployment) == size);
    }

    fn reason(&self, name: &str) -> Value {
        self.get(&["cronhpa", name])["status"]["conditions"][0]["reason"].clone()
    }

    fn await_reason(&self, name: &str, reason: &str) {
        eventually(&format!("{name} is {reason}"), || self.reason(name) == reason);
    }

    fn last_run(&self, name: &str) -> Timestamp {
        // The epoch, before the first status.
        time(&self.get(&["cronhpa", name])["status"]["lastRun"]["time"]).unwrap_or_default()
    }
}

/// The times and sizes at which the operator scaled `clock`, from its log.
fn scalings(log: &str) -> Vec<(Timestamp, u8)> {
    let lines = log.lines().filter_map(|line| line.split_once("scaled `clock` from "));
    lines
        .map(|(head, sizes)| {
            let (_, size) = sizes.split_once(" to ").unwrap();
            let time = head.split_once(' ').unwrap().0;
            (time.parse().unwrap(), size.split_once(' ').unwrap().0.parse().unwrap())
        })
        .collect()
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str().map(|text| text.parse().unwrap())
}
