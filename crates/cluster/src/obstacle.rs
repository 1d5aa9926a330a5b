//! Conditions which show that the API server does not serve a CRD as it was applied: a CRD of the cluster → the effect,
//! the cause, and a fix.

use std::fmt;

use serde_json::Value;

use crate::{Kubectl, KubectlError, condition, items, text_at};

/// A condition that prevents a CRD from working.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The effect: `is not served`.
    effect: String,
    /// The condition: `NamesAccepted=False, PluralConflict: …`. Empty if the CRD has no conditions yet.
    condition: String,
    /// The CRDs that already use its names.
    cause: Vec<String>,
    pub help: Vec<String>,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.effect)?;
        if !self.condition.is_empty() {
            write!(f, " ({})", self.condition)?;
        }
        self.cause.iter().try_for_each(|cause| write!(f, "; {cause}"))
    }
}

impl Obstacle {
    /// The obstacles of a CRD. `around` contains the known CRDs of the same group.
    pub fn all<'a>(crd: &Value, around: impl Iterator<Item = &'a Value> + Clone) -> Vec<Self> {
        let name = text_at(crd, "/metadata/name");
        if crd.pointer("/metadata/deletionTimestamp").is_some() {
            let condition = shown(crd, "Terminating").unwrap_or_default();
            let effect = "is being deleted, with all of its objects".to_owned();
            let help = vec![
                format!("kubectl get {name} --all-namespaces"),
                "an object that remains has a finalizer: make sure that the controller that removes it is running"
                    .into(),
            ];
            return vec![Self { effect, condition, cause: Vec::new(), help }];
        }
        let is = |kind, status| matches!(condition(crd, kind), Some([it, ..]) if it == status);
        let mut found = Vec::new();
        if is("NamesAccepted", "False") {
            found.push(Self::names(crd, around));
        } else if !is("Established", "True") {
            let condition = shown(crd, "Established").unwrap_or_default();
            let help = vec![format!("kubectl describe crd {name}")];
            found.push(Self { effect: "is not served".into(), condition, cause: Vec::new(), help });
        }
        if is("NonStructuralSchema", "True") {
            found.push(Self {
                effect: "has a schema that is not structural: the API server neither removes unknown fields nor sets defaults".into(),
                condition: shown(crd, "NonStructuralSchema").unwrap_or_default(),
                cause: Vec::new(),
                help: vec!["opctl install".into()],
            });
        }
        if is("KubernetesAPIApprovalPolicyConformant", "False") {
            found.push(Self {
                effect: "is in a group of Kubernetes without an approval".into(),
                condition: shown(crd, "KubernetesAPIApprovalPolicyConformant").unwrap_or_default(),
                cause: Vec::new(),
                help: vec!["use a group in a domain that you own".into()],
            });
        }
        found
    }

    /// The obstacles of these CRDs, by name. Requests all CRDs of the cluster.
    pub fn of_each(kubectl: &Kubectl, names: &[String]) -> Result<Vec<(String, Self)>, KubectlError> {
        let all = items(&kubectl.output(&["get", "customresourcedefinitions.apiextensions.k8s.io", "-o", "json"], "")?);
        let mut found = Vec::new();
        for crd in all.iter().filter(|crd| names.iter().any(|name| name == text_at(crd, "/metadata/name"))) {
            let name = text_at(crd, "/metadata/name");
            found.extend(Self::all(crd, all.iter()).into_iter().map(|obstacle| (name.to_owned(), obstacle)));
        }
        Ok(found)
    }

    fn names<'a>(crd: &Value, around: impl Iterator<Item = &'a Value> + Clone) -> Self {
        let effect = match condition(crd, "Established") {
            Some(["True", ..]) => "is served, but under its earlier names",
            _ => "is not served",
        };
        let [_, reason, message] = condition(crd, "NamesAccepted").unwrap_or_default();
        // A sentence such as `"a" is already in use`, or a list of such sentences.
        let taken: Vec<&str> = message.split('"').skip(1).step_by(2).collect();
        let is_kind = matches!(reason, "KindConflict" | "ListKindConflict");
        let (mut cause, mut help) = (Vec::new(), Vec::new());
        for name in &taken {
            if let Some(role) = role(crd, name, is_kind).filter(|_| reason == "ShortNamesConflict") {
                cause.push(format!("`{name}` is the {role} of this CRD itself"));
                help.push(format!(
                    "remove the short name `{name}`, then run `opctl manifests` and `opctl install`: kubectl accepts the singular and the plural anyway"
                ));
                continue;
            }
            let is_other = |it: &&Value| {
                it["spec"]["group"] == crd["spec"]["group"]
                    && text_at(it, "/metadata/name") != text_at(crd, "/metadata/name")
            };
            let other = around.clone().filter(is_other).find_map(|it| Some((it, role(it, name, is_kind)?)));
            let Some((other, role)) = other else { continue };
            let other = text_at(other, "/metadata/name");
            cause.push(format!("`{name}` is the {role} of `{other}`"));
            help.push(format!(
                "delete that CRD if it is no longer needed, with all of its objects: `kubectl delete crd {other}`"
            ));
        }
        if taken.len() > cause.len() || !help.iter().any(|help| help.starts_with("remove")) {
            let what = match reason {
                "ShortNamesConflict" => "the short name",
                "SingularConflict" => "the singular",
                "PluralConflict" => "the plural",
                _ => "the kind",
            };
            help.insert(0, format!("change {what}, then run `opctl manifests` and `opctl install`"));
        }
        Self { effect: effect.into(), condition: shown(crd, "NamesAccepted").unwrap_or_default(), cause, help }
    }
}

/// The role of an accepted name in a CRD.
fn role(crd: &Value, name: &str, is_kind: bool) -> Option<&'static str> {
    let names = &crd["status"]["acceptedNames"];
    let roles: &[(&str, &str)] = match is_kind {
        true => &[("kind", "kind"), ("listKind", "list kind")],
        false => &[("plural", "plural"), ("singular", "singular")],
    };
    let single = roles.iter().find(|(field, _)| names[field] == name).map(|(_, role)| *role);
    let short = names["shortNames"].as_array().filter(|short| !is_kind && short.iter().any(|it| it == name));
    single.or(short.map(|_| "short name"))
}

/// A condition for messages: `NamesAccepted=False, PluralConflict: "as" is already in use`.
fn shown(crd: &Value, kind: &str) -> Option<String> {
    let [status, reason, message] = condition(crd, kind)?;
    Some(format!("{kind}={status}, {reason}: {}", message.trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn crd(plural: &str, accepted: &Value, conditions: &Value) -> Value {
        json!({
            "metadata": {"name": format!("{plural}.b.c")}, "spec": {"group": "b.c"},
            "status": {"acceptedNames": accepted, "conditions": conditions},
        })
    }

    fn conditions(names: [&str; 3], established: [&str; 3]) -> Value {
        let condition = |kind: &str, [status, reason, message]: [&str; 3]| json!({"type": kind, "status": status, "reason": reason, "message": message});
        json!([condition("NamesAccepted", names), condition("Established", established)])
    }

    fn lines(crd: &Value, around: &[Value]) -> Vec<String> {
        let line = |it: &Obstacle| format!("{it} -> {}", it.help.join(" | "));
        Obstacle::all(crd, around.iter()).iter().map(line).collect()
    }

    const SERVED: [&str; 3] = ["True", "InitialNamesAccepted", "the initial names have been accepted"];

    #[test]
    fn a_crd_that_is_served_has_no_obstacle() {
        let served = crd("as", &json!({}), &conditions(["True", "NoConflicts", "no conflicts found"], SERVED));
        assert_eq!(lines(&served, &[]), [""; 0]);
    }

    #[test]
    fn a_short_name_may_be_the_singular_of_its_own_crd() {
        let refused = ["False", "ShortNamesConflict", "\"a\" is already in use"];
        let own = crd("as", &json!({"plural": "as", "singular": "a"}), &conditions(refused, SERVED));
        assert_eq!(
            lines(&own, std::slice::from_ref(&own)),
            [
                "is served, but under its earlier names (NamesAccepted=False, ShortNamesConflict: \"a\" is already in use); `a` is the singular of this CRD itself -> remove the short name `a`, then run `opctl manifests` and `opctl install`: kubectl accepts the singular and the plural anyway"
            ]
        );
    }

    #[test]
    fn names_of_another_crd_are_reported_with_that_crd() {
        let refused = ["False", "SingularConflict", "\"a\" is already in use"];
        let pending = ["False", "NotAccepted", "not all names are accepted"];
        let second = crd("as", &json!({"plural": "as"}), &conditions(refused, pending));
        let first = crd("bs", &json!({"plural": "bs", "shortNames": ["x", "a"]}), &json!([]));
        assert_eq!(
            lines(&second, &[first, second.clone()]),
            [
                "is not served (NamesAccepted=False, SingularConflict: \"a\" is already in use); `a` is the short name of `bs.b.c` -> change the singular, then run `opctl manifests` and `opctl install` | delete that CRD if it is no longer needed, with all of its objects: `kubectl delete crd bs.b.c`"
            ]
        );
        assert_eq!(
            lines(&second, &[]),
            [
                "is not served (NamesAccepted=False, SingularConflict: \"a\" is already in use) -> change the singular, then run `opctl manifests` and `opctl install`"
            ]
        );
    }

    #[test]
    fn other_conditions_are_shown_with_their_message() {
        let waiting = crd("as", &json!({}), &json!([]));
        assert_eq!(lines(&waiting, &[]), ["is not served -> kubectl describe crd as.b.c"]);
        let mut loose = crd("as", &json!({}), &conditions(["True", "NoConflicts", ""], SERVED));
        loose["status"]["conditions"].as_array_mut().unwrap().push(
            json!({"type": "NonStructuralSchema", "status": "True", "reason": "Violations", "message": "spec.x: Required value"}),
        );
        assert!(
            lines(&loose, &[])[0]
                .contains("(NonStructuralSchema=True, Violations: spec.x: Required value) -> opctl install")
        );
        let mut going = waiting;
        going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        going["status"]["conditions"] = json!([{"type": "Terminating", "status": "True", "reason": "InstanceDeletionInProgress", "message": "CustomResource deletion is in progress"}]);
        assert!(lines(&going, &[])[0].starts_with(
            "is being deleted, with all of its objects (Terminating=True, InstanceDeletionInProgress: CustomResource deletion is in progress) -> kubectl get as.b.c"
        ));
    }
}
