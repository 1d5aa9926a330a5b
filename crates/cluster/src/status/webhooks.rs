//! Webhooks: differences between the project and the cluster, running endpoints, and the expiry of the trusted
//! certificate.

use serde_json::Value;

use super::Project;
use super::certificate::expiry;
use super::clock::{Now, age};
use super::gather::Facts;
use crate::findings::Finding;
use crate::{list, name};

pub fn examine(project: &Project, facts: &Facts, now: Now) -> Vec<Finding> {
    let mut found = Vec::new();
    for configuration in project.of("MutatingWebhookConfiguration").chain(project.of("ValidatingWebhookConfiguration"))
    {
        match facts.installed(configuration) {
            Err(why) => found.push(Finding::skipped(format!("`{}` cannot be read: {why}", name(configuration)))),
            Ok(None) => {
                let what = format!("`{}` is missing: its webhooks are not called", name(configuration));
                found.push(Finding::error(what).help("opctl deploy --image IMAGE"));
            }
            Ok(Some(installed)) => {
                let findings = check(configuration, installed, facts, now);
                found.extend(findings.into_iter().map(|finding| finding.about(name(configuration))));
            }
        }
    }
    for crd in project.of("CustomResourceDefinition") {
        let Ok(Some(installed)) = facts.installed(crd) else { continue };
        let conversion = &installed["spec"]["conversion"];
        if conversion["strategy"] == "Webhook" {
            let what = format!("the conversion of `{}`", name(crd));
            let finding = check_client(&what, &conversion["webhook"]["clientConfig"], facts, now);
            found.push(finding.about(name(crd)));
        }
    }
    found
}

/// Checks each webhook of a configuration.
fn check(ours: &Value, installed: &Value, facts: &Facts, now: Now) -> Vec<Finding> {
    let mut found = Vec::new();
    for webhook in list(&ours["webhooks"]) {
        let name = name_of(webhook);
        let Some(theirs) = list(&installed["webhooks"]).iter().find(|it| it["name"] == webhook["name"]) else {
            let what = format!("the webhook `{name}` is not registered");
            found.push(Finding::error(what).help("opctl deploy --image IMAGE"));
            continue;
        };
        // `Fail` is the default.
        let policy = |webhook: &Value| webhook["failurePolicy"].as_str().unwrap_or("Fail").to_owned();
        if policy(webhook) != policy(theirs) {
            let (theirs, ours) = (policy(theirs), policy(webhook));
            let what = format!("the webhook `{name}` has the failure policy `{theirs}`, and `{ours}` in the project");
            found.push(Finding::warning(what).help("opctl deploy --image IMAGE"));
        }
        let rules = |webhook: &Value| webhook["rules"].clone();
        if !has_rules(&rules(webhook), &rules(theirs)) {
            let what = format!("the webhook `{name}` is called for other requests than in the project");
            found.push(Finding::warning(what).help("opctl deploy --image IMAGE"));
        }
        found.push(check_client(&format!("the webhook `{name}`"), &theirs["clientConfig"], facts, now));
    }
    for extra in list(&installed["webhooks"])
        .iter()
        .filter(|it| !list(&ours["webhooks"]).iter().any(|our| our["name"] == it["name"]))
    {
        let what = format!("the webhook `{}` is registered, and the project does not have it", name_of(extra));
        found.push(Finding::warning(what).help("opctl deploy --image IMAGE"));
    }
    found
}

fn name_of(webhook: &Value) -> &str {
    webhook["name"].as_str().unwrap_or_default()
}

/// `true` if the rules are equal, ignoring fields that the API server adds.
fn has_rules(ours: &Value, theirs: &Value) -> bool {
    let (ours, theirs) = (list(ours), list(theirs));
    let keys = ["apiGroups", "apiVersions", "operations", "resources"];
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(ours, theirs)| keys.iter().all(|key| ours[key] == theirs[key]))
}

/// The remaining lifetime, in seconds, below which a certificate should have been renewed.
const SOON: i64 = 7 * 24 * 3600;

fn check_client(what: &str, client: &Value, facts: &Facts, now: Now) -> Finding {
    let logs = "see the logs of the operator, which registers its certificate when it starts, or of cert-manager";
    if client["caBundle"].as_str().unwrap_or_default().is_empty() {
        let what = format!("{what} has no `caBundle`, so the API server does not trust it");
        return Finding::error(what).help(logs);
    }
    let left = match expiry(&client["caBundle"]) {
        Ok(time) => time - now.0,
        Err(why) => return Finding::error(format!("the `caBundle` of {what} cannot be read: {why}")).help(logs),
    };
    if left <= 0 {
        return Finding::error(format!("the certificate of {what} expired {} ago", age(-left))).help(logs);
    }
    if let Some(service) = client["service"]["name"].as_str() {
        if let Some(why) = facts.around.denied("EndpointSlice") {
            return Finding::skipped(format!("the endpoints of {what} cannot be read: {why}"));
        }
        let slices = facts.around.of("EndpointSlice");
        let mut slices = slices.filter(|it| it["metadata"]["labels"]["kubernetes.io/service-name"] == service);
        let is_ready = |endpoint: &Value| endpoint["conditions"]["ready"] != false;
        if !slices.any(|slice| list(&slice["endpoints"]).iter().any(is_ready)) {
            let what = format!("nothing answers for {what}: the Service `{service}` has no ready endpoint");
            return Finding::error(what).help("see the rollout above");
        }
    }
    let valid = format!("valid for {}", age(left));
    let finding = match left < SOON {
        true => Finding::warning(format!("the certificate of {what} is only {valid}")).help(logs),
        false => Finding::ok(format!("{what} is registered, its certificate is {valid}")),
    };
    finding.with("certificateExpiresInSeconds", left)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};
    use serde_json::json;

    use super::*;
    use crate::findings::Severity;
    use crate::status::gather::Answer;

    /// A client configuration whose certificate is valid until 2026-01-31.
    fn client() -> Value {
        let mut params = CertificateParams::new(["a.b.svc".to_owned()]).unwrap();
        params.not_after = date_time_ymd(2026, 1, 31);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        json!({ "caBundle": STANDARD.encode(certificate.pem()), "service": { "name": "s" } })
    }

    fn facts(is_ready: bool) -> Facts {
        let slice = json!({
            "kind": "EndpointSlice", "metadata": { "labels": { "kubernetes.io/service-name": "s" } },
            "endpoints": [{ "conditions": { "ready": is_ready } }],
        });
        Facts { around: Answer { objects: vec![slice], error: None }, ..Facts::default() }
    }

    #[test]
    fn a_webhook_needs_trust_an_endpoint_and_time() {
        let on = |day: i64| Now(1_767_225_600 + day * 86_400);
        let severity = |client: &Value, is_ready, day| check_client("it", client, &facts(is_ready), on(day)).severity;
        assert_eq!(severity(&client(), true, 0), Severity::Ok);
        assert_eq!(severity(&client(), true, 25), Severity::Warning);
        assert_eq!(severity(&client(), true, 31), Severity::Error);
        assert_eq!(severity(&client(), false, 0), Severity::Error);
        assert_eq!(severity(&json!({ "service": { "name": "s" } }), true, 0), Severity::Error);
    }

    #[test]
    fn webhooks_are_compared_by_name() {
        let configuration = |names: &[&str], policy: &str| {
            let webhook = |name: &&str| json!({ "name": name, "failurePolicy": policy, "clientConfig": client() });
            json!({ "webhooks": names.iter().map(webhook).collect::<Vec<_>>() })
        };
        let lines = |ours: &Value, theirs: &Value| -> Vec<String> {
            let found = check(ours, theirs, &facts(true), Now(1_767_225_600)).into_iter();
            found.filter(|finding| finding.severity > Severity::Ok).map(|finding| finding.what).collect()
        };
        let ours = configuration(&["a"], "Fail");
        assert_eq!(lines(&ours, &configuration(&["a"], "Fail")), [""; 0]);
        let policy = "the webhook `a` has the failure policy `Ignore`, and `Fail` in the project";
        assert_eq!(lines(&ours, &configuration(&["a"], "Ignore")), [policy]);
        let (missing, extra) =
            ("the webhook `a` is not registered", "the webhook `b` is registered, and the project does not have it");
        assert_eq!(lines(&ours, &configuration(&["b"], "Fail")), [missing, extra]);
    }
}
