//! Applies and deletes objects.

use std::time::Duration;

use crate::{Kubectl, KubectlError, KubectlOutput, Object, text};

/// The field manager of objects that opctl applies. `kubectl apply -f dist/install.yaml` has another one.
pub const FIELD_MANAGER: &str = "opctl";

/// Applies the objects with server-side apply: the manifests own their fields, even if someone else has changed them
/// since. Fields that were removed from the manifests are deleted. Unlike with client-side apply, the size of an
/// annotation does not limit the objects.
pub fn apply(kubectl: &Kubectl, objects: &[&Object]) -> Result<KubectlOutput, KubectlError> {
    let apply =
        ["apply", "--server-side", "--force-conflicts", "--field-manager", FIELD_MANAGER, "-o", "name", "-f", "-"];
    kubectl.run(&apply, &text(objects.iter().copied()))
}

/// Deletes the objects and returns the names of those that existed, one per line. Skips kinds that the cluster does not
/// know.
pub fn delete(kubectl: &Kubectl, objects: &[&Object], timeout: Duration) -> Result<String, KubectlError> {
    let timeout = format!("{}s", timeout.as_secs().max(1));
    let delete = ["delete", "--ignore-not-found", "--timeout", &timeout, "-o", "name", "-f", "-"];
    let mut left: Vec<&Object> = objects.to_vec();
    while !left.is_empty() {
        let error = match kubectl.output(&delete, &text(left.iter().copied())) {
            Err(error) => error,
            deleted => return deleted,
        };
        let unknown: Vec<String> = unknown_kinds(&error.to_string());
        let before = left.len();
        left.retain(|object| !unknown.contains(&object.kind));
        if left.len() == before {
            return Err(error);
        }
    }
    Ok(String::new())
}

/// The kinds in errors such as `no matches for kind "ServiceMonitor" in version …`.
fn unknown_kinds(stderr: &str) -> Vec<String> {
    let kinds = stderr.split("no matches for kind \"").skip(1).filter_map(|rest| rest.split('"').next());
    kinds.map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_a_cluster_does_not_know_are_named() {
        let stderr = "resource mapping not found for name: \"a\" namespace: \"b\" from \"STDIN\": no matches for kind \
            \"ServiceMonitor\" in version \"monitoring.coreos.com/v1\"\nensure CRDs are installed first";
        assert_eq!(unknown_kinds(stderr), ["ServiceMonitor"]);
    }
}
