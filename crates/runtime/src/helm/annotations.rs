//! Annotations of an object that change the settings of its release, compatible with operator-sdk's Helm operators.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::jiff::SignedDuration;
use tracing::warn;

use super::release::Settings;

/// A change of this annotation's value causes another attempt.
pub(super) const RETRY: &str = "opctl-runtime/retry";

const PREFIX: &str = "helm.sdk.operatorframework.io/";

/// Applies the annotations of an object to its settings, and returns its reconcile period. Invalid annotations are
/// logged and ignored.
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
            // Helm 4 rolls back with a forced server-side apply, or, after `upgrade-force`, by replacing objects.
            ("rollback-force", Some(_)) => (),
            ("reconcile-period", _) => match value.parse::<SignedDuration>().ok().and_then(|time| time.try_into().ok())
            {
                Some(time) => period = Some(time),
                None => warn!("the annotation {name} is not a duration such as `1h30m`: `{value}`"),
            },
            (_, Some(_)) => warn!("the annotation {name} is unknown"),
            (_, None) => warn!("the annotation {name} is neither `true` nor `false`: `{value}`"),
        }
    }
    period
}

/// Parses a boolean like Go's `ParseBool`.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_of_operator_sdk_are_read() {
        let mut settings = Settings::default();
        let annotations = [
            ("helm.sdk.operatorframework.io/upgrade-force", "T"),
            ("helm.sdk.operatorframework.io/uninstall-disable-hooks", "true"),
            ("helm.sdk.operatorframework.io/install-disable-hooks", "yes"),
            ("helm.sdk.operatorframework.io/upgrade-description", "by hand"),
            ("helm.sdk.operatorframework.io/reconcile-period", "1h30m"),
            ("example.com/upgrade-force", "false"),
        ];
        let annotations = annotations.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(read(&annotations, &mut settings), Some(Duration::from_secs(5400)));
        assert!(settings.force_replace && settings.no_uninstall_hooks);
        // Go's `ParseBool` does not know `yes`.
        assert!(!settings.no_hooks);
        assert_eq!(settings.description.as_deref(), Some("by hand"));
        let unreadable = [("helm.sdk.operatorframework.io/reconcile-period".to_owned(), "often".to_owned())].into();
        assert_eq!(read(&unreadable, &mut settings), None);
    }
}
