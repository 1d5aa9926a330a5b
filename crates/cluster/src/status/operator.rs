//! The Deployment of the operator: its image, rollout and restarts, and the leader among its replicas.

use std::collections::{BTreeMap, BTreeSet};

use opctl_model::selector::LabelSelector;
use serde_json::Value;

use super::Project;
use super::clock::{Now, age};
use super::gather::Facts;
use crate::findings::Finding;
use crate::{Rollout, full_name, list, name, reasons};

pub fn examine(project: &Project, facts: &Facts, now: Now) -> Vec<Finding> {
    let mut found = Vec::new();
    for deployment in project.of("Deployment") {
        let installed = match facts.installed(deployment) {
            Ok(Some(installed)) => installed,
            Ok(None) => {
                let what = format!("`{}` is not deployed", full_name(deployment));
                found.push(Finding::warning(what).about(full_name(deployment)).help("opctl deploy --image IMAGE"));
                continue;
            }
            Err(why) => {
                found.push(Finding::skipped(format!("`{}` cannot be read: {why}", full_name(deployment))));
                continue;
            }
        };
        let pods: Vec<Value> = facts.around.of("Pod").filter(|pod| selects(installed, pod)).cloned().collect();
        found.extend(check_image(deployment, installed, project.placeholder));
        found.push(check_rollout(installed, &pods));
        found.extend(facts.around.denied("Pod").map(|why| Finding::skipped(format!("Pods cannot be read: {why}"))));
        found.extend(pods.iter().flat_map(|pod| check_restarts(pod, now)));
        found.extend(check_digests(&pods));
        found.extend(check_leader(&project.name, installed, facts, now));
    }
    found
}

/// `true` if the Pod belongs to the Deployment.
fn selects(deployment: &Value, pod: &Value) -> bool {
    let selector = LabelSelector::of(&deployment["spec"]["selector"]);
    !selector.is_empty() && selector.selects_labels(&pod["metadata"]["labels"])
}

fn containers(template: &Value) -> impl Iterator<Item = &Value> {
    list(&template["spec"]["template"]["spec"]["containers"]).iter()
}

/// Compares the images, unless the project contains the placeholder that `opctl deploy` replaces.
fn check_image(ours: &Value, installed: &Value, placeholder: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for container in containers(ours) {
        let (wanted, container) = (container["image"].as_str().unwrap_or_default(), &container["name"]);
        let running = containers(installed).find(|it| it["name"] == *container);
        let running = running.and_then(|it| it["image"].as_str()).unwrap_or("no container of this name");
        let is_placeholder = wanted.split([':', '@']).next() == Some(placeholder);
        if is_placeholder && running.split([':', '@']).next() == Some(placeholder) {
            let what = format!("the placeholder `{running}` is deployed instead of an image");
            found.push(Finding::error(what).help("opctl deploy --image IMAGE"));
        } else if !is_placeholder && wanted != running {
            let what = format!("the image is `{running}`, and `{wanted}` in the project");
            found.push(Finding::warning(what).help("opctl deploy"));
        }
    }
    found
}

fn check_rollout(deployment: &Value, pods: &[Value]) -> Finding {
    let name = full_name(deployment);
    let image = containers(deployment).next().and_then(|container| container["image"].as_str()).unwrap_or_default();
    let (namespace, own) = (deployment["metadata"]["namespace"].as_str().unwrap_or_default(), self::name(deployment));
    let because = || reasons(deployment, pods).iter().map(|reason| format!("; {reason}")).collect::<String>();
    let replicas = deployment["spec"]["replicas"].as_u64().unwrap_or(1);
    let finding = match Rollout::of(deployment) {
        Rollout::Done => {
            Finding::ok(format!("`{name}` runs `{image}`, {replicas} of {replicas} replicas are available")).row()
        }
        Rollout::Waiting(why) => {
            let what = format!("`{name}` with `{image}` is not rolled out: {why}{}", because());
            Finding::warning(what).help(format!("kubectl --namespace {namespace} describe deployment {own}"))
        }
        Rollout::Failed(why) => {
            let what = format!("the rollout of `{name}` with `{image}` has failed: {why}{}", because());
            Finding::error(what).help(format!("kubectl --namespace {namespace} logs deployment/{own}"))
        }
    };
    let available = deployment["status"]["availableReplicas"].as_u64().unwrap_or_default();
    finding.about(&*name).with("replicas", replicas).with("available", available).with("image", image)
}

/// Only restarts within this time are reported, in seconds.
const RECENT: i64 = 24 * 3600;

fn check_restarts(pod: &Value, now: Now) -> Vec<Finding> {
    let pod_name = full_name(pod);
    let restarted = list(&pod["status"]["containerStatuses"]).iter().filter(|it| it["restartCount"].as_u64() > Some(0));
    let finding = |container: &Value| {
        let last = &container["lastState"]["terminated"];
        let since = now.since(&last["finishedAt"]);
        let reason = last["reason"].as_str().unwrap_or("unknown");
        let code = last["exitCode"].as_i64().map(|code| format!(", exit code {code}")).unwrap_or_default();
        let ago = since.map(|since| format!(", {} ago", age(since))).unwrap_or_default();
        let what = format!(
            "`{pod_name}` has restarted {} times, last because of {reason}{code}{ago}",
            container["restartCount"]
        );
        let finding = match since.is_none_or(|since| since < RECENT) {
            true => {
                let (namespace, name) = pod_name.split_once('/').unwrap_or(("default", &pod_name));
                Finding::warning(what).help(format!("kubectl --namespace {namespace} logs {name} --previous"))
            }
            false => Finding::ok(what),
        };
        let finding = finding.about(&*pod_name).with("container", container["name"].clone());
        let finding = finding.with("restarts", container["restartCount"].clone()).with("reason", reason);
        finding.with("exitCode", last["exitCode"].clone()).with("finishedAt", last["finishedAt"].clone())
    };
    restarted.map(finding).collect()
}

/// Reports replicas of different builds, which occur if a tag was pushed again.
fn check_digests(pods: &[Value]) -> Option<Finding> {
    let statuses = pods.iter().flat_map(|pod| list(&pod["status"]["containerStatuses"]));
    let mut images: Vec<(&str, BTreeSet<&str>)> = Vec::new();
    for status in statuses {
        let (image, id) =
            (status["image"].as_str().unwrap_or_default(), status["imageID"].as_str().unwrap_or_default());
        match images.iter_mut().find(|(known, _)| *known == image) {
            Some((_, ids)) => ids.extend(Some(id)),
            None => images.push((image, BTreeSet::from([id]))),
        }
    }
    let (image, ids) = images.into_iter().find(|(_, ids)| ids.iter().filter(|id| !id.is_empty()).count() > 1)?;
    let what = format!("replicas run different builds of `{image}`: {}", Vec::from_iter(ids).join(", "));
    Some(Finding::warning(what).help("give each build its own tag, or deploy by digest"))
}

/// Reports the leader, or the share of each replica if they share the objects. Without leader election, nothing is
/// reported for a single replica.
fn check_leader(project: &str, deployment: &Value, facts: &Facts, now: Now) -> Option<Finding> {
    let arguments = || containers(deployment).flat_map(|it| list(&it["args"])).filter_map(Value::as_str);
    let has_variable = |name: &str| containers(deployment).flat_map(|it| list(&it["env"])).any(|it| it["name"] == name);
    let shares = has_variable("SHARDS") || arguments().any(|argument| argument.starts_with("--shards"));
    let replicas = deployment["spec"]["replicas"].as_u64().unwrap_or(1);
    if !shares
        && !has_variable("LEADER_ELECT")
        && !arguments().any(|argument| argument.starts_with("--leader-elect") && argument != "--leader-elect=false")
    {
        let what = format!("{replicas} replicas run without leader election: each of them reconciles every object");
        return (replicas > 1).then(|| Finding::error(what).help("opctl edit --leader-election"));
    }
    if let Some(why) = facts.around.denied("Lease") {
        return Some(Finding::skipped(format!("the leader cannot be read: {why}")));
    }
    let id = arguments().find_map(|argument| argument.strip_prefix("--leader-election-id=")).unwrap_or(project);
    let Some(lease) = facts.around.of("Lease").find(|lease| name(lease) == id) else {
        return Some(Finding::warning(format!("no replica is the leader: there is no Lease `{id}`")));
    };
    let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
    let since = now.since(&lease["spec"]["renewTime"]).unwrap_or_default();
    let patience = lease["spec"]["leaseDurationSeconds"].as_i64().unwrap_or_default();
    Some(if holder.is_empty() {
        Finding::warning(format!("no replica is the leader: the Lease `{id}` was released"))
    } else if since > patience {
        let what = format!("the leader `{holder}` has not renewed its Lease `{id}` for {}", age(since));
        Finding::error(what).help("no replica reconciles; see the logs of the operator")
    } else if shares {
        Finding::ok(format!("the replicas share the objects: {}", shares_of(id, facts)))
    } else {
        Finding::ok(format!("the leader is `{holder}`, which renewed its Lease {} ago", age(since)))
    })
    .map(|finding| finding.about(id).with("leader", holder).with("renewTime", lease["spec"]["renewTime"].clone()))
}

/// The number of slots of each replica: `3 slots: a (2), b (1)`.
fn shares_of(id: &str, facts: &Facts) -> String {
    let is_slot = |lease: &&Value| {
        let labels = &lease["metadata"]["labels"];
        labels["opctl-runtime/operator"] == id && labels["opctl-runtime/slot"].is_string()
    };
    let mut shares: BTreeMap<&str, u32> = BTreeMap::new();
    for lease in facts.around.of("Lease").filter(is_slot) {
        *shares.entry(lease["spec"]["holderIdentity"].as_str().unwrap_or_default()).or_default() += 1;
    }
    let total: u32 = shares.values().sum();
    let shown = shares.into_iter().map(|(holder, slots)| match holder {
        "" => format!("no replica ({slots})"),
        holder => format!("`{holder}` ({slots})"),
    });
    format!("{total} slots: {}", shown.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::findings::Severity;
    use crate::status::gather::Answer;

    /// 2026-01-01T00:00:00Z.
    const NOW: Now = Now(1_767_225_600);

    fn deployment(image: &str, arguments: &[&str], replicas: u32) -> Value {
        json!({
            "metadata": { "name": "d", "namespace": "n" },
            "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": "x" } }, "template": { "spec": {
                "containers": [{ "name": "manager", "image": image, "args": arguments }],
            } } },
        })
    }

    #[test]
    fn a_placeholder_leaves_the_image_open() {
        let lines = |ours: &str, theirs: &str| -> Vec<String> {
            let found = check_image(&deployment(ours, &[], 1), &deployment(theirs, &[], 1), "controller");
            found.into_iter().map(|finding| finding.what).collect()
        };
        assert_eq!(lines("controller:latest", "a/b:v1"), [""; 0]);
        assert_eq!(lines("a/b:v1", "a/b:v1"), [""; 0]);
        assert_eq!(lines("a/b:v2", "a/b:v1"), ["the image is `a/b:v1`, and `a/b:v2` in the project"]);
        let placeholder = "the placeholder `controller:latest` is deployed instead of an image";
        assert_eq!(lines("controller:latest", "controller:latest"), [placeholder]);
    }

    #[test]
    fn restarts_have_the_reason_of_the_last_one() {
        let pod = |finished: &str| {
            json!({ "metadata": { "name": "p", "namespace": "n" }, "status": { "containerStatuses": [{
                "restartCount": 3, "image": "a", "imageID": "a@1",
                "lastState": { "terminated": { "reason": "OOMKilled", "exitCode": 137, "finishedAt": finished } },
            }] } })
        };
        let recent = check_restarts(&pod("2025-12-31T23:50:00Z"), NOW).remove(0);
        assert_eq!(recent.what, "`n/p` has restarted 3 times, last because of OOMKilled, exit code 137, 10m ago");
        assert_eq!(recent.severity, Severity::Warning);
        assert_eq!(check_restarts(&pod("2025-12-01T00:00:00Z"), NOW)[0].severity, Severity::Ok);
        let mut other = pod("2025-12-01T00:00:00Z");
        assert_eq!(check_digests(&[other.clone(), other.clone()]), None);
        other["status"]["containerStatuses"][0]["imageID"] = json!("a@2");
        assert!(check_digests(&[pod(""), other]).is_some());
    }

    #[test]
    fn a_leader_renews_its_lease() {
        let check = |arguments: &[&str], replicas: u32, renewed: Option<&str>| {
            let lease = |time: &str| {
                json!({ "kind": "Lease", "metadata": { "name": "shop" }, "spec": {
                    "holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": time,
                } })
            };
            let around = Answer { objects: renewed.map(lease).into_iter().collect(), error: None };
            let facts = Facts { around, ..Facts::default() };
            let finding = check_leader("shop", &deployment("a", arguments, replicas), &facts, NOW);
            finding.map(|finding| finding.severity)
        };
        assert_eq!(check(&[], 1, None), None);
        assert_eq!(check(&[], 2, None), Some(Severity::Error));
        assert_eq!(check(&["--leader-elect"], 2, None), Some(Severity::Warning));
        assert_eq!(check(&["--leader-elect"], 2, Some("2025-12-31T23:59:55.000000Z")), Some(Severity::Ok));
        assert_eq!(check(&["--leader-elect"], 2, Some("2025-12-31T23:59:00.000000Z")), Some(Severity::Error));
        assert_eq!(check(&["--shards=4"], 2, Some("2025-12-31T23:59:55.000000Z")), Some(Severity::Ok));
        assert_eq!(check(&["--shards=4"], 2, None), Some(Severity::Warning));
    }

    #[test]
    fn replicas_that_share_the_objects_have_slots() {
        let slot = |number: u32, holder: &str| {
            let labels = json!({ "opctl-runtime/operator": "shop", "opctl-runtime/slot": number.to_string() });
            json!({ "kind": "Lease", "metadata": { "name": format!("shop-slot-{number}"), "labels": labels },
                "spec": { "holderIdentity": holder } })
        };
        let around = Answer { objects: vec![slot(0, "b"), slot(1, "a"), slot(2, "b"), slot(3, "")], error: None };
        let facts = Facts { around, ..Facts::default() };
        assert_eq!(shares_of("shop", &facts), "4 slots: no replica (1), `a` (1), `b` (2)");
    }
}
