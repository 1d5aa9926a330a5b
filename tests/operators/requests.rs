//! A real API server requires exactly the permissions that the cases of `tests/requests` declare.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common;
use crate::control_plane::ControlPlane;
use crate::recorder::{Who, cases, write_recorder};

/// With the permissions of a case, no request is forbidden; without one of them, some request is.
#[test]
fn an_api_server_wants_what_cases_say() {
    let Some(cluster) = ControlPlane::start("requests", 0) else { return };
    let cases = cases();
    let folder = write_recorder(&cases);
    cluster.kubectl(&["apply", "-f", "-"], &objects());

    // The run with all permissions is the last one, since the objects that it creates or deletes would affect other
    // runs.
    let mut runs = String::new();
    let mut roles = Vec::new();
    let mut lacking = BTreeMap::new();
    for (case, said) in &cases {
        let all: BTreeSet<&String> = said.asks(Who::ThisRun).chain(said.asks(Who::AnotherRun)).collect();
        for lacks in said.asks(Who::ThisRun).map(Some).chain([None]) {
            let user = format!("user-{}", lacking.len());
            let granted = all.iter().filter(|permission| Some(**permission) != lacks);
            roles.extend(granted.enumerate().flat_map(|(index, permission)| role(&user, index, permission)));
            writeln!(runs, "{case}\t{user}").unwrap();
            lacking.insert(user, lacks);
        }
    }
    cluster.kubectl(&["apply", "-f", "-"], &json!({ "apiVersion": "v1", "kind": "List", "items": roles }).to_string());
    // Until the authorizer has applied the roles.
    sleep(Duration::from_secs(3));

    let mut cargo = common::cargo(&folder, &["run", "--quiet", "--", "--cluster"]);
    cargo.env("KUBECONFIG", &cluster.kubeconfig).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = cargo.spawn().unwrap();
    child.stdin.take().unwrap().write_all(runs.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let mut differences = String::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let [case, user, refused] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        match lacking.remove(user).unwrap() {
            Some(lacks) if refused.is_empty() => writeln!(differences, "{case}: nothing needs {lacks}").unwrap(),
            None if !refused.is_empty() => writeln!(differences, "{case}: it does not suffice for {refused}").unwrap(),
            _ => {}
        }
    }
    assert!(differences.is_empty(), "{differences}");
    assert!(lacking.is_empty(), "{lacking:?}");
}

/// The objects that cases require.
fn objects() -> String {
    let of = |kind: &str, name: &str| json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name, "namespace": "default" } });
    let mut finalized = of("ConfigMap", "deleted");
    finalized["metadata"]["finalizers"] = json!(["example.com/stays"]);
    let mut items = vec![of("ConfigMap", "a"), of("Secret", "a"), of("ServiceAccount", "a"), finalized];
    for name in ["a", "evicted"] {
        let mut pod = of("Pod", name);
        pod["spec"] = json!({ "containers": [{ "name": "a", "image": "a" }] });
        items.push(pod);
    }
    items.push(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "one" } }));
    items.push(json!({
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": { "name": "a" },
        "spec": { "signerName": "example.com/test", "usages": ["client auth"], "request": SIGNING_REQUEST },
    }));
    for (kind, plural, group) in
        [("Certificate", "certificates", "cert-manager.io"), ("Widget", "widgets", "example.com")]
    {
        let schema = json!({ "openAPIV3Schema": { "type": "object" } });
        items.push(json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{plural}.{group}") },
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": { "kind": kind, "plural": plural },
                "versions": [{ "name": "v1", "served": true, "storage": true, "schema": schema }],
            },
        }));
    }
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

/// A certificate signing request, whose key was deleted.
const SIGNING_REQUEST: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZk1JR0ZBZ0VBTUNNeEZUQVRCZ05WQkFvTURITjVjM1JsYlRwdWIyUmxjekVLTUFnR0ExVUVBd3dCWVRCWgpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQUJHTFBiRUkxZko1TFVzS05aWkZxN0xnTThBZFV4VkZYCm43a2hmblhNMnVqNmdRZkI1WEg5bFo2cDlEdjBobHFZcTZhTjNNbUdxM29TbS9OdjU4RWtBd2lnQURBS0JnZ3EKaGtqT1BRUURBZ05KQURCR0FpRUExTFMyWnVqcjZPNGN2UUFtRGRMV1NMdmRENyswOEczQVJQZ2hhMmZTaFY0QwpJUUQxU2JhUW8xdXZ2anVhNVB0WHRtNk4wMWo4NnJlU2x5R3VLNTZXWlhGeGpBPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";

/// A role with this permission, and its binding.
fn role(user: &str, index: usize, permission: &str) -> [Value; 2] {
    let (permission, namespace) = match permission.split_once(" in ") {
        Some((permission, namespace)) => (permission, Some(namespace)),
        None => (permission, None),
    };
    let (verb, resource) = permission.split_once(' ').unwrap();
    let (resource, subresource) = resource.split_once('/').map_or((resource, None), |(of, sub)| (of, Some(sub)));
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    let resource = subresource.map_or(plural.to_owned(), |subresource| format!("{plural}/{subresource}"));
    let kind = if namespace.is_some() { "Role" } else { "ClusterRole" };
    let metadata = json!({ "name": format!("{user}-{index}"), "namespace": namespace });
    let api = "rbac.authorization.k8s.io";
    let of = |kind: &str| json!({ "apiVersion": format!("{api}/v1"), "kind": kind, "metadata": metadata });
    let (mut role, mut binding) = (of(kind), of(&format!("{kind}Binding")));
    role["rules"] = json!([{ "apiGroups": [group], "resources": [resource], "verbs": [verb] }]);
    binding["roleRef"] = json!({ "apiGroup": api, "kind": kind, "name": metadata["name"] });
    binding["subjects"] = json!([{ "apiGroup": api, "kind": "User", "name": user }]);
    [role, binding]
}
