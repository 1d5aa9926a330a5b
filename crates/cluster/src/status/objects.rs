//! The custom resources: their number, those that are not ready, and those that cannot be deleted.

use serde_json::{Value, json};

use super::Project;
use super::clock::{Now, age};
use super::gather::Facts;
use crate::findings::Finding;
use crate::{condition, full_name, list, name};
use opctl_model::counted;

/// The maximum number of objects in a message.
const SHOWN: usize = 3;
/// The time for the operator to clean up after an object, or to set its first status, in seconds.
const PATIENCE: i64 = 5 * 60;

pub fn examine(project: &Project, facts: &Facts, now: Now) -> Vec<Finding> {
    let is_deployed = project.of("Deployment").any(|deployment| !matches!(facts.installed(deployment), Ok(None)));
    let mut found = Vec::new();
    for (crd, answer) in &facts.kinds {
        match &answer.error {
            // The CRD is missing, which is already reported.
            Some(error) if error.to_string().contains("NotFound") => {}
            Some(_) => {
                let why = answer.denied("").unwrap_or_default();
                found.push(Finding::skipped(format!("the objects of `{crd}` cannot be read: {why}")));
            }
            None => {
                let objects: Vec<&Value> = answer.objects.iter().collect();
                let kind = Kind { crd, has_status: has_status(crd, facts), is_deployed };
                found.extend(check(&kind, &objects, &facts.events.objects, now));
            }
        }
    }
    found
}

/// A kind of custom resources.
struct Kind<'a> {
    /// The name of its CRD.
    crd: &'a str,
    /// The CRD has the subresource `status`.
    has_status: bool,
    /// The operator is in the cluster, or cannot be read.
    is_deployed: bool,
}

fn has_status(crd: &str, facts: &Facts) -> bool {
    let versions = facts.installed.of("CustomResourceDefinition").filter(|it| name(it) == crd);
    versions.flat_map(|it| list(&it["spec"]["versions"])).any(|version| version["subresources"]["status"].is_object())
}

fn check(kind: &Kind, objects: &[&Value], events: &[Value], now: Now) -> Vec<Finding> {
    let crd = kind.crd;
    let is_going = |object: &Value| object["metadata"].get("deletionTimestamp").is_some();
    let (going, staying): (Vec<&Value>, Vec<&Value>) = objects.iter().partition(|object| is_going(object));
    let of_status = |status| staying.iter().copied().filter(move |it| ready(it) == status).collect::<Vec<&Value>>();
    let (ready_now, unknown) = (of_status(Some(true)), of_status(None));
    let mut not_ready = of_status(Some(false));
    let count = Finding::ok(format!(
        "{} of `{crd}`: {} ready{}{}",
        counted(objects.len(), "object"),
        ready_now.len(),
        some(unknown.len(), "without the condition `Ready`"),
        some(going.len(), "being deleted"),
    ));
    let count = count.with("total", objects.len()).with("ready", ready_now.len()).with("notReady", not_ready.len());
    let mut found = vec![count.with("unknown", unknown.len()).with("deleting", going.len()).row()];
    not_ready.sort_by_key(|object| changed(object).as_str().map(String::from));
    if !not_ready.is_empty() {
        let shown = not_ready.iter().take(SHOWN).map(|object| {
            let [_, reason, message] = condition(object, "Ready").unwrap_or_default();
            let since = now.since(&changed(object)).map(|since| format!(" for {}", age(since))).unwrap_or_default();
            let event = last_event(object, events).map(|event| format!("; last warning: {event}")).unwrap_or_default();
            let why = [reason, message].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": ");
            format!("\n    `{}`{since}: {why}{event}", full_name(object))
        });
        let what = format!("{} of `{crd}` not ready:", counted(not_ready.len(), "object"));
        let finding = Finding::warning(what + &shown.collect::<String>() + &more(not_ready.len()));
        found.push(finding.with("objects", not_ready.iter().map(|object| state(object)).collect::<Vec<_>>()));
    }
    let behind = |object: &&Value| {
        let observed = object["status"]["observedGeneration"].as_i64();
        observed.is_some_and(|observed| Some(observed) < object["metadata"]["generation"].as_i64())
    };
    let behind: Vec<&Value> = staying.iter().copied().filter(behind).collect();
    if !behind.is_empty() {
        let shown = behind.iter().take(SHOWN).map(|object| format!("\n    `{}`", full_name(object)));
        let what =
            format!("the operator has not seen the latest change of {} of `{crd}`:", counted(behind.len(), "object"));
        let finding = Finding::warning(what + &shown.collect::<String>() + &more(behind.len())).help("see its logs");
        found.push(finding.with("objects", behind.iter().map(|object| state(object)).collect::<Vec<_>>()));
    }
    let since_creation = |object: &Value| now.since(&object["metadata"]["creationTimestamp"]).unwrap_or_default();
    let is_empty = |object: &&Value| object["status"].as_object().is_none_or(serde_json::Map::is_empty);
    let ignored: Vec<&Value> = staying
        .into_iter()
        .filter(is_empty)
        .filter(|object| kind.has_status && since_creation(object) > PATIENCE)
        .collect();
    if !ignored.is_empty() {
        let shown = ignored.iter().take(SHOWN);
        let shown = shown.map(|object| format!("\n    `{}` for {}", full_name(object), age(since_creation(object))));
        let what = format!("{} of `{crd}` without a status:", counted(ignored.len(), "object"));
        let finding = Finding::warning(what + &shown.collect::<String>() + &more(ignored.len()));
        let finding = finding.with("objects", ignored.iter().map(|object| state(object)).collect::<Vec<_>>());
        found.push(finding.help("no operator has reconciled them: see its logs, and which namespaces it watches"));
    }
    let since_deletion = |object: &Value| now.since(&object["metadata"]["deletionTimestamp"]).unwrap_or_default();
    let is_stuck = |object: &&Value| since_deletion(object) > PATIENCE || !kind.is_deployed;
    let mut stuck: Vec<&Value> = going.into_iter().filter(is_stuck).collect();
    stuck.sort_by_key(|object| -since_deletion(object));
    if !stuck.is_empty() {
        let shown = stuck.iter().take(SHOWN).map(|object| {
            let finalizers: Vec<&str> =
                list(&object["metadata"]["finalizers"]).iter().filter_map(Value::as_str).collect();
            format!("\n    `{}` for {}: {}", full_name(object), age(since_deletion(object)), finalizers.join(", "))
        });
        let what = format!("{} of `{crd}` not deleted, because of finalizers:", counted(stuck.len(), "object"));
        let finding = Finding::error(what + &shown.collect::<String>() + &more(stuck.len()));
        let finding = finding.with("objects", stuck.iter().map(|object| state(object)).collect::<Vec<_>>());
        found.push(finding.help(match kind.is_deployed {
            true => "the operator removes its finalizers once it has cleaned up: see its logs",
            false => "only the operator removes its finalizers, and it is not deployed: `opctl deploy --image IMAGE`",
        }));
    }
    found.into_iter().map(|finding| finding.about(crd)).collect()
}

/// An object and its condition `Ready`, for programs.
fn state(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let [_, reason, message] = condition(object, "Ready").unwrap_or_default();
    json!({
        "namespace": metadata["namespace"], "name": metadata["name"], "reason": reason, "message": message,
        "since": changed(object), "deletionTimestamp": metadata["deletionTimestamp"], "finalizers": metadata["finalizers"],
    })
}

/// The condition `Ready`; `None` if the status does not have it.
fn ready(object: &Value) -> Option<bool> {
    condition(object, "Ready").map(|[status, ..]| status == "True")
}

/// The time of the last change of the condition `Ready`.
fn changed(object: &Value) -> Value {
    let conditions = list(&object["status"]["conditions"]);
    let condition = conditions.iter().find(|condition| condition["type"] == "Ready");
    condition.map(|condition| condition["lastTransitionTime"].clone()).unwrap_or_default()
}

fn last_event(object: &Value, events: &[Value]) -> Option<String> {
    let is_about = |event: &&Value| {
        let about = &event["involvedObject"];
        let is_same = |field| about[field].as_str() == object["metadata"][field].as_str();
        about["kind"] == object["kind"] && name(object) == about["name"] && is_same("namespace")
    };
    // RFC 3339, so sorting strings sorts by time.
    let time = |event: &&Value| {
        let times = [&event["lastTimestamp"], &event["eventTime"], &event["metadata"]["creationTimestamp"]];
        times.into_iter().find_map(|time| time.as_str().map(String::from))
    };
    let last = events.iter().filter(is_about).max_by_key(time)?;
    Some(format!("{}: {}", last["reason"].as_str().unwrap_or_default(), last["message"].as_str().unwrap_or_default()))
}

fn some(number: usize, what: &str) -> String {
    if number == 0 { String::new() } else { format!(", {number} {what}") }
}

fn more(number: usize) -> String {
    if number > SHOWN { format!("\n    and {} more", number - SHOWN) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Severity;

    fn object(name: &str, ready: Option<&str>) -> Value {
        let conditions = ready.map(|status| {
            json!([{ "type": "Ready", "status": status, "reason": "NoQuota", "message": "full",
                "lastTransitionTime": "2025-12-31T23:00:00Z" }])
        });
        json!({
            "kind": "A", "metadata": { "name": name, "namespace": "n", "generation": 2 },
            "status": { "conditions": conditions, "observedGeneration": 2 },
        })
    }

    fn lines(objects: &[Value], events: &[Value]) -> Vec<(Severity, String)> {
        let kind = Kind { crd: "as.b.c", has_status: true, is_deployed: true };
        let found = check(&kind, &objects.iter().collect::<Vec<_>>(), events, Now(1_767_225_600));
        found.into_iter().map(|finding| (finding.severity, finding.what)).collect()
    }

    #[test]
    fn objects_are_counted_by_readiness() {
        let objects = [object("a", Some("True")), object("b", None)];
        let count = "2 objects of `as.b.c`: 1 ready, 1 without the condition `Ready`";
        assert_eq!(lines(&objects, &[]), [(Severity::Ok, count.into())]);
    }

    #[test]
    fn what_is_not_ready_has_its_reason_and_last_warning() {
        let event = |time: &str, reason: &str| {
            json!({ "involvedObject": { "kind": "A", "name": "b", "namespace": "n" }, "lastTimestamp": time,
                "reason": reason, "message": "m" })
        };
        let events = [event("2026-01-01T00:00:00Z", "New"), event("2025-01-01T00:00:00Z", "Old")];
        let found = lines(&[object("a", Some("True")), object("b", Some("False"))], &events);
        let what = "1 object of `as.b.c` not ready:\n    `n/b` for 60m: NoQuota: full; last warning: New: m";
        assert_eq!(found[1], (Severity::Warning, what.into()));
        let many: Vec<Value> = (0..5).map(|number| object(&format!("b{number}"), Some("False"))).collect();
        assert!(lines(&many, &[])[1].1.ends_with("\n    and 2 more"));
    }

    #[test]
    fn a_change_that_was_not_seen_and_a_deletion_that_takes_long_are_reported() {
        let mut behind = object("a", Some("True"));
        behind["status"]["observedGeneration"] = json!(1);
        let what = "the operator has not seen the latest change of 1 object of `as.b.c`:\n    `n/a`";
        assert_eq!(lines(&[behind], &[])[1], (Severity::Warning, what.into()));
        let mut going = object("a", Some("True"));
        going["metadata"]["finalizers"] = json!(["b.c/x"]);
        going["metadata"]["deletionTimestamp"] = json!("2025-12-31T23:58:00Z");
        assert_eq!(lines(&[going.clone()], &[]).len(), 1, "it may take a while");
        going["metadata"]["deletionTimestamp"] = json!("2025-12-31T23:00:00Z");
        let what = "1 object of `as.b.c` not deleted, because of finalizers:\n    `n/a` for 60m: b.c/x";
        assert_eq!(lines(&[going], &[])[1], (Severity::Error, what.into()));
    }

    #[test]
    fn objects_that_no_operator_reconciles_are_reported() {
        let now = Now(1_767_225_600);
        let mut new = json!({ "kind": "A", "metadata": { "name": "a", "namespace": "n" } });
        new["metadata"]["creationTimestamp"] = json!("2025-12-31T23:58:00Z");
        let whats = |kind: &Kind, object: &Value| -> Vec<String> {
            check(kind, &[object], &[], now).into_iter().map(|finding| finding.what).collect()
        };
        let kind = Kind { crd: "as.b.c", has_status: true, is_deployed: false };
        assert_eq!(whats(&kind, &new).len(), 1, "the operator may need a while");
        new["metadata"]["creationTimestamp"] = json!("2025-12-31T23:00:00Z");
        assert_eq!(whats(&kind, &new)[1], "1 object of `as.b.c` without a status:\n    `n/a` for 60m");
        assert_eq!(whats(&Kind { has_status: false, ..kind }, &new).len(), 1, "it never has a status");
        let mut going = object("a", Some("True"));
        going["metadata"]["finalizers"] = json!(["b.c/x"]);
        going["metadata"]["deletionTimestamp"] = json!("2025-12-31T23:59:00Z");
        let kind = Kind { crd: "as.b.c", has_status: true, is_deployed: false };
        assert!(whats(&kind, &going)[1].contains("because of finalizers"), "nobody removes them");
    }
}
