//! The progress of an installation by OLM: the statuses of its objects → done, waiting or failed, with the reason.
//!
//! OLM reconciles after each change, so an error may be temporary. An error that OLM does not retry fails at once.
//! Others are shown as the reason for waiting, and become the error at the timeout.

use serde_json::Value;

use crate::{Rollout, condition, text_at};

/// The progress of the Pod of a catalog.
pub fn pod(pod: &Value) -> Rollout {
    if let Some(["True", ..]) = condition(pod, "Ready") {
        return Rollout::Done;
    }
    if text_at(pod, "/status/phase") == "Failed" {
        let reasons = super::reasons(&Value::Null, std::slice::from_ref(pod));
        return Rollout::Failed(reasons.first().cloned().unwrap_or_else(|| "the Pod has failed".into()));
    }
    let reasons = super::reasons(&Value::Null, std::slice::from_ref(pod));
    Rollout::Waiting(reasons.into_iter().next().unwrap_or_else(|| "the Pod is not ready".into()))
}

/// The progress of a Subscription, until it has an InstallPlan.
pub fn subscription(subscription: &Value) -> Rollout {
    if !text_at(subscription, "/status/installPlanRef/name").is_empty() {
        return Rollout::Done;
    }
    if let Some(["True", reason, message]) = condition(subscription, "BundleUnpackFailed") {
        return Rollout::Failed(with(reason, message));
    }
    for kind in ["ResolutionFailed", "CatalogSourcesUnhealthy", "BundleUnpacking", "InstallPlanPending"] {
        if let Some(["True", reason, message]) = condition(subscription, kind) {
            // OLM retries the resolution, and a catalog may have just started.
            return Rollout::Waiting(with(reason, message));
        }
    }
    Rollout::Waiting("OLM has not created an InstallPlan yet".into())
}

/// The progress of an approved InstallPlan.
pub fn install_plan(plan: &Value) -> Rollout {
    match text_at(plan, "/status/phase") {
        "Complete" => Rollout::Done,
        "Failed" => {
            let message = match condition(plan, "Installed") {
                Some(["False", reason, message]) => with(reason, message),
                _ => text_at(plan, "/status/message").to_owned(),
            };
            Rollout::Failed(if message.is_empty() { "OLM reports no reason".into() } else { message })
        }
        phase => {
            let lookups = plan.pointer("/status/bundleLookups").and_then(Value::as_array);
            let conditions =
                lookups.into_iter().flatten().filter_map(|lookup| lookup["conditions"].as_array()).flatten();
            let mut open = conditions.filter(|condition| condition["status"] == "True");
            let why = open.find_map(|condition| {
                let message = with(text_at(condition, "/reason"), text_at(condition, "/message"));
                (!message.is_empty()).then_some(message)
            });
            let message = Some(text_at(plan, "/status/message")).filter(|message| !message.is_empty());
            let phase = if phase.is_empty() { "OLM has not processed it yet" } else { phase };
            Rollout::Waiting(why.or(message.map(String::from)).unwrap_or_else(|| phase.into()))
        }
    }
}

/// The progress of a ClusterServiceVersion.
pub fn csv(csv: &Value) -> Rollout {
    let (phase, reason) = (text_at(csv, "/status/phase"), text_at(csv, "/status/reason"));
    let message = with(reason, text_at(csv, "/status/message"));
    match phase {
        "Succeeded" => Rollout::Done,
        "Failed" => Rollout::Failed(message + &unmet(csv)),
        "" => Rollout::Waiting("OLM has not processed it yet".into()),
        phase => Rollout::Waiting(format!("{phase}: {message}{}", unmet(csv))),
    }
}

/// The requirements that are not met.
fn unmet(csv: &Value) -> String {
    let requirements = csv.pointer("/status/requirementStatus").and_then(Value::as_array);
    let is_met = |status: &str| matches!(status, "Present" | "Satisfied");
    let open = requirements.into_iter().flatten().filter(|requirement| !is_met(text_at(requirement, "/status")));
    let line = |requirement: &Value| {
        let [kind, name, status, message] =
            ["/kind", "/name", "/status", "/message"].map(|field| text_at(requirement, field));
        let dependents = requirement["dependents"].as_array().into_iter().flatten();
        let missing: Vec<String> = dependents
            .filter(|dependent| !is_met(text_at(dependent, "/status")))
            .map(|dependent| text_at(dependent, "/message").to_owned())
            .filter(|message| !message.is_empty())
            .collect();
        let missing = if missing.is_empty() { String::new() } else { format!(" ({})", missing.join("; ")) };
        format!("\n  {kind} `{name}`: {}{missing}", with(status, message))
    };
    open.map(line).collect()
}

/// The progress of a ClusterCatalog of OLM v1.
pub fn cluster_catalog(catalog: &Value) -> Rollout {
    // `Serving` may refer to the previous image.
    let is_seen = is_observed(catalog, "Progressing");
    match (condition(catalog, "Progressing"), condition(catalog, "Serving")) {
        (Some(["False", "Blocked", message]), _) => Rollout::Failed(message.into()),
        (Some([_, "Retrying", message]), _) => Rollout::Waiting(with("Retrying", message)),
        (_, Some(["True", ..])) if is_seen => Rollout::Done,
        (_, Some(["False", reason, message])) => Rollout::Waiting(with(reason, message)),
        _ => Rollout::Waiting("OLM has not processed it yet".into()),
    }
}

/// The progress of a ClusterExtension of OLM v1, until this version is installed.
pub fn cluster_extension(extension: &Value, version: &str) -> Rollout {
    let is_installed = text_at(extension, "/status/install/bundle/version") == version;
    let is_seen = is_observed(extension, "Progressing");
    match (condition(extension, "Progressing"), condition(extension, "Installed")) {
        (Some(["False", reason, message]), _) if is_seen => Rollout::Failed(with(reason, message)),
        (Some([_, "Retrying", message]), _) if is_seen => Rollout::Waiting(with("Retrying", message)),
        (_, Some(["True", ..])) if is_installed && is_seen => Rollout::Done,
        (Some([_, reason, message]), _) if is_seen => Rollout::Waiting(with(reason, message)),
        _ => Rollout::Waiting("OLM has not processed it yet".into()),
    }
}

/// `true` if a condition was observed for the current spec.
fn is_observed(object: &Value, kind: &str) -> bool {
    let generation = object.pointer("/metadata/generation").and_then(Value::as_i64);
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    let condition = conditions.into_iter().flatten().find(|condition| condition["type"] == kind);
    condition.is_some_and(|condition| condition["observedGeneration"].as_i64() == generation)
}

fn with(reason: &str, message: &str) -> String {
    match (reason, message) {
        ("", message) => message.into(),
        (reason, "") => reason.into(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn waiting(text: &str) -> Rollout {
        Rollout::Waiting(text.into())
    }

    fn failed(text: &str) -> Rollout {
        Rollout::Failed(text.into())
    }

    #[test]
    fn a_subscription_waits_for_its_install_plan() {
        let with = |kind: &str| json!({"status": {"conditions": [{"type": kind, "status": "True", "reason": "R", "message": "m"}]}});
        assert_eq!(subscription(&json!({"status": {"installPlanRef": {"name": "i"}}})), Rollout::Done);
        assert_eq!(subscription(&with("ResolutionFailed")), waiting("R: m"));
        assert_eq!(subscription(&with("BundleUnpackFailed")), failed("R: m"));
        assert_eq!(subscription(&json!({})), waiting("OLM has not created an InstallPlan yet"));
    }

    #[test]
    fn an_install_plan_fails_with_its_reason() {
        let conditions =
            json!([{"type": "Installed", "status": "False", "reason": "InstallComponentFailed", "message": "no"}]);
        assert_eq!(
            install_plan(&json!({"status": {"phase": "Failed", "conditions": conditions}})),
            failed("InstallComponentFailed: no")
        );
        let lookups = json!([{"conditions": [{"type": "BundleLookupPending", "status": "True", "reason": "JobIncomplete", "message": "unpacking"}]}]);
        assert_eq!(
            install_plan(&json!({"status": {"phase": "Installing", "bundleLookups": lookups}})),
            waiting("JobIncomplete: unpacking")
        );
        assert_eq!(install_plan(&json!({"status": {"phase": "Complete"}})), Rollout::Done);
    }

    #[test]
    fn a_csv_names_the_requirements_that_are_not_met() {
        let requirements = json!([
            {"kind": "CustomResourceDefinition", "name": "a.b", "status": "Present"},
            {"kind": "CustomResourceDefinition", "name": "c.d", "status": "NotPresent", "message": "CRD is not present"},
            {"kind": "ServiceAccount", "name": "s", "status": "PresentNotSatisfied", "message": "Policy rule not satisfied", "dependents": [
                {"kind": "PolicyRule", "status": "NotSatisfied", "message": "namespaced rule:{…}"},
                {"kind": "PolicyRule", "status": "Satisfied", "message": "fine"}]},
        ]);
        let pending = json!({"status": {"phase": "Pending", "reason": "RequirementsNotMet", "message": "one or more", "requirementStatus": requirements}});
        assert_eq!(
            csv(&pending),
            waiting(
                "Pending: RequirementsNotMet: one or more\n  CustomResourceDefinition `c.d`: NotPresent: CRD is not \
                 present\n  ServiceAccount `s`: PresentNotSatisfied: Policy rule not satisfied (namespaced rule:{…})"
            )
        );
        assert_eq!(
            csv(&json!({"status": {"phase": "Failed", "reason": "InstallCheckFailed", "message": "late"}})),
            failed("InstallCheckFailed: late")
        );
        assert_eq!(csv(&json!({"status": {"phase": "Succeeded"}})), Rollout::Done);
    }

    #[test]
    fn an_extension_is_installed_when_its_conditions_are_of_this_version() {
        let extension = |generation: i64, progressing: [&str; 2], version: &str| {
            json!({"metadata": {"generation": 2}, "status": {"install": {"bundle": {"version": version}}, "conditions": [
                {"type": "Progressing", "status": progressing[0], "reason": progressing[1], "message": "m", "observedGeneration": generation},
                {"type": "Installed", "status": "True", "reason": "Succeeded", "message": ""}]}})
        };
        let of =
            |generation, progressing, version| cluster_extension(&extension(generation, progressing, version), "0.2.0");
        assert_eq!(of(2, ["True", "Succeeded"], "0.2.0"), Rollout::Done);
        assert_eq!(of(2, ["True", "Succeeded"], "0.1.0"), waiting("Succeeded: m"));
        assert_eq!(of(1, ["True", "Succeeded"], "0.2.0"), waiting("OLM has not processed it yet"));
        assert_eq!(of(2, ["False", "Blocked"], "0.1.0"), failed("Blocked: m"));
        assert_eq!(of(2, ["True", "Retrying"], "0.1.0"), waiting("Retrying: m"));
    }

    #[test]
    fn a_catalog_serves_once_it_has_looked_at_the_current_image() {
        let catalog = |generation: i64, progressing: &str| {
            json!({"metadata": {"generation": 1}, "status": {"conditions": [
                {"type": "Progressing", "status": "True", "reason": progressing, "message": "m", "observedGeneration": generation},
                {"type": "Serving", "status": "True", "reason": "Available", "message": ""}]}})
        };
        assert_eq!(cluster_catalog(&catalog(1, "Succeeded")), Rollout::Done);
        assert_eq!(cluster_catalog(&catalog(0, "Succeeded")), waiting("OLM has not processed it yet"));
        assert_eq!(cluster_catalog(&catalog(1, "Retrying")), waiting("Retrying: m"));
    }
}
