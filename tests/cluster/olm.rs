//! OLM bundles: an API server accepts the rendered objects, and the operator then has the permissions of
//! `config/default`.
#![cfg(unix)]

use std::fs;

use crate::control_plane::ControlPlane;
use crate::sandbox::{Sandbox, shell};

/// External kinds in a rendered bundle. Their CRDs accept any fields.
const OTHERS: [(&str, &str, &str); 4] = [
    ("ServiceMonitor", "servicemonitors", "monitoring.coreos.com"),
    ("PrometheusRule", "prometheusrules", "monitoring.coreos.com"),
    ("Certificate", "certificates", "cert-manager.io"),
    ("Issuer", "issuers", "cert-manager.io"),
];

fn declare(cluster: &ControlPlane, kind: &str, plural: &str, group: &str) {
    let schema = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
    let singular = kind.to_lowercase();
    let crd = format!(
        "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: {plural}.{group}}}, \
         spec: {{group: {group}, scope: Namespaced, names: {{kind: {kind}, plural: {plural}, singular: {singular}}}, \
         versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}]}}}}"
    );
    cluster.kubectl(&["apply", "-f", "-"], &crd);
    cluster.kubectl(&["wait", "--for=condition=Established", "crd", &format!("{plural}.{group}")], "");
}

#[test]
fn an_api_server_takes_what_a_bundle_renders_to() {
    let Some(cluster) = ControlPlane::start("olm-bundle", 1) else { return };
    for (kind, plural, group) in OTHERS {
        declare(&cluster, kind, plural, group);
    }
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl -q init shop --domain example.com --api depot/v1/Rack --api depot/v1/Shelf");
    sandbox.folder.push("shop");
    for command in [
        "opctl -q create webhook --group depot --version v1 --kind Rack --defaulting --validation",
        "opctl -q create api --group depot --version v2 --kind Rack --controller=false",
        "opctl -q create webhook --group depot --version v2 --kind Rack --conversion --spoke v1",
        "opctl -q edit --prometheus --network-policy --leader-election --cert-manager",
        "opctl -q generate bundle --image registry.example.com/shop:v1",
        "opctl -q bundle render bundle --namespace depot > all.yaml",
    ] {
        shell(&sandbox, command);
    }
    cluster.kubectl(&["create", "namespace", "depot"], "");
    let rendered = fs::read_to_string(sandbox.folder.join("all.yaml")).unwrap();
    // `--validate=strict` makes unknown fields errors.
    let apply = ["apply", "--server-side", "--validate=strict", "-f", "-"];
    cluster.kubectl(&apply, &rendered);
    // Repeated, since some kinds reject changes of their namespaced parts.
    cluster.kubectl(&apply, &rendered);

    let may = |account: &str, verb: &str, resource: &str, namespace: &str| {
        let user = format!("--as=system:serviceaccount:depot:{account}");
        let output = cluster.run(&["auth", "can-i", verb, resource, "--namespace", namespace, &user], "");
        String::from_utf8(output.stdout).unwrap().trim() == "yes"
    };
    for (account, verb, resource, namespace, expected) in [
        ("shop-controller-manager", "list", "racks.depot.example.com", "default", true),
        ("shop-controller-manager", "create", "leases.coordination.k8s.io", "depot", true),
        ("shop-controller-manager", "list", "namespaces", "default", true),
        ("shop-controller-manager", "create", "racks.depot.example.com", "default", false),
        ("default", "list", "racks.depot.example.com", "default", false),
    ] {
        assert_eq!(may(account, verb, resource, namespace), expected, "{account} {verb} {resource} in {namespace}");
    }
    // The operator's Pods mount the Secret of the Certificate.
    let get = |arguments: &[&str]| cluster.kubectl(&[&["get", "-n", "depot", "-o"], arguments].concat(), "");
    let secret = get(&["jsonpath={.spec.secretName}", "certificate", "shop-controller-manager-service-cert"]);
    let volume = "jsonpath={.spec.template.spec.volumes[?(@.name=='webhook-cert')].secret.secretName}";
    assert_eq!(get(&[volume, "deployment", "shop-controller-manager"]), secret);
}
