//! Groups and resources of Kubernetes itself, to find typos in permissions.

use opctl_model::names::nearest;
use opctl_model::project::builtin;

/// The group of Kubernetes that was meant by an unknown one. Groups of custom resources have a dot.
pub fn meant_group(group: &str) -> Option<&'static str> {
    if group.is_empty() || group.contains('.') || builtin::groups().any(|known| known == group) {
        return None;
    }
    builtin::full_group(group).or_else(|| nearest(group, builtin::groups().filter(|known| !known.contains('.'))))
}

/// The resource that was meant by one that none of these groups has: another name, or another group. Returns `None`
/// for groups other than Kubernetes' own.
pub fn meant_resource(groups: &[&str], resource: &str) -> Option<String> {
    let kinds = builtin::in_groups(groups)?;
    let (resource, subresource) = resource.split_at(resource.find('/').unwrap_or(resource.len()));
    if kinds.iter().any(|kind| kind.plural == resource) {
        return None;
    }
    if let Some(kind) = kinds.iter().find(|kind| kind.kind.to_lowercase() == resource) {
        return Some(format!("resources are plurals: write `{}{subresource}`", kind.plural));
    }
    let elsewhere = builtin::with_plural(resource).next()?;
    Some(format!("`{resource}` are in the group `{}`", elsewhere.group()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_groups_by_what_is_near() {
        assert_eq!(meant_group("networking"), Some("networking.k8s.io"));
        assert_eq!(meant_group("app"), Some("apps"));
        for group in ["", "core", "apps", "batch", "cache.example.com", "gateway.networking.k8s.io", "zoo"] {
            assert_eq!(meant_group(group), None, "{group}");
        }
    }

    #[test]
    fn knows_resources_of_groups_of_kubernetes() {
        let meant = |groups: &[&str], resource| meant_resource(groups, resource).unwrap_or_default();
        assert_eq!(meant(&["apps"], "deployment"), "resources are plurals: write `deployments`");
        assert_eq!(meant(&[""], "pod/log"), "resources are plurals: write `pods/log`");
        assert_eq!(meant(&["apps"], "pods"), "`pods` are in the group `core`");
        assert_eq!(meant(&["core", "apps"], "leases"), "`leases` are in the group `coordination.k8s.io`");
        let right: [(&[&str], &str); 6] = [
            (&["apps"], "deployments/status"),
            (&["apps", "batch"], "jobs"),
            (&[""], "events"),
            (&["metrics.k8s.io"], "pods"),
            (&["extensions"], "ingresses"),
            (&["*"], "deployment"),
        ];
        for (groups, resource) in right {
            assert_eq!(meant(groups, resource), "", "{resource}");
        }
    }
}
