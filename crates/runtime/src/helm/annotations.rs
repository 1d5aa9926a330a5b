//! Annotations of an object that change how its release is handled: those of operator-sdk's Helm operators.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;
use tracing::warn;

use super::release::Settings;

/// Another value of it asks for another try.
pub(super) const RETRY: &str = "opctl-runtime/retry";

const PREFIX: &str = "helm.sdk.operatorframework.io/";

/// The settings that an object asks for, and how often it is to be reconciled. What cannot be read is logged, and does not count.
pub(super) fn read(annotations: &BTreeMap<String, String>, settings: &mut Settings) -> Option<Duration> {
    let mut period = None;
    for (name, value) in annotations {
        let Some(option) = name.strip_prefix(PREFIX) else { continue };
        match (option, boolean(value)) {
            ("upgrade-force", Some(is_true)) => settings.force_replace = is_true,
            ("uninstall-wait", Some(_)) => (), // It is always waited for.
            ("install-disable-hooks" | "upgrade-disable-hooks", Some(is_true)) => settings.no_hooks = is_true,
            ("uninstall-disable-hooks", Some(is_true)) => settings.no_uninstall_hooks = is_true,
            ("install-description" | "upgrade-description" | "uninstall-description", _) => {
                settings.description = Some(value.clone())
            }
            // Helm 4 rolls back by a server-side apply with force, or, after `upgrade-force`, by replacing objects.
            ("rollback-force", Some(_)) => (),
            ("reconcile-period", _) => match value.parse::<SignedDuration>().ok().and_then(|time| time.try_into().ok())
            {
                Some(time) => period = Some(time),
                None => warn!("the annotation {name} is no duration such as `1h30m`: `{value}`"),
            },
            (_, Some(_)) => warn!("the annotation {name} is unknown"),
            (_, None) => warn!("the annotation {name} is neither `true` nor `false`: `{value}`"),
        }
    }
    period
}

/// As Go's `ParseBool` reads it.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}
