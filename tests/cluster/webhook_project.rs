//! A project with webhooks, a conversion and a certificate: kustomize renders its files, and an API server accepts
//! them.
#![cfg(unix)]

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::control_plane::{ControlPlane, skipped};
use crate::project_with_webhooks::{CERTIFICATE, MARKERS, PEM, manifests, project, said};

/// The Service of the webhooks.
const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata:
  name: webhook-service
  namespace: system
spec:
  ports:
  - port: 443
  selector:
    control-plane: controller-manager
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: serving-cert
  namespace: system
";

#[test]
fn the_api_server_takes_an_authority_that_is_a_file() {
    let Some(cluster) = ControlPlane::start("webhook-file", 0) else { return };
    let sandbox = project(&format!("{MARKERS}// +opctl:ca:file=certs/ca.crt\n"));
    fs::create_dir(sandbox.folder.join("certs")).unwrap();
    fs::write(sandbox.folder.join("certs/ca.crt"), PEM).unwrap();
    let made = manifests(&sandbox);
    assert!(made.status.success(), "{}", said(&made));
    let strict = ["create", "--dry-run=server", "--validate=strict", "-f"];
    for path in ["config/webhook/manifests.yaml", "config/crd/bases/cache.example.com_memcacheds.yaml"] {
        cluster.kubectl(&[&strict[..], &[sandbox.folder.join(path).to_str().unwrap()]].concat(), "");
    }
}

#[test]
fn kustomize_gives_service_and_certificate_their_names() {
    let kubectl = std::env::var_os("KUBEBUILDER_ASSETS").map(|assets| std::path::Path::new(&assets).join("kubectl"));
    let Some(kubectl) = kubectl.filter(|kubectl| kubectl.is_file()) else {
        return skipped("the names that kustomize gives", "no `kubectl` in KUBEBUILDER_ASSETS");
    };
    let sandbox = project(&format!("{MARKERS}{CERTIFICATE}"));
    let made = manifests(&sandbox);
    assert!(made.status.success(), "{}", said(&made));
    let default = sandbox.folder.join("config/default");
    fs::write(default.join("webhook_service.yaml"), SERVICE).unwrap();
    let path = default.join("kustomization.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let more = "resources:\n  - ../webhook\n  - webhook_service.yaml\n";
    let text = text.replacen("resources:\n", more, 1) + "transformers:\n  - ../webhook/certificate\n";
    fs::write(path, text).unwrap();
    let built = Command::new(kubectl).arg("kustomize").arg(default).output().unwrap();
    assert!(built.status.success(), "{}", said(&built));
    let built = String::from_utf8(built.stdout).unwrap();

    let objects: Vec<Value> =
        built.split("\n---\n").map(|document| serde_saphyr::from_str(document).unwrap()).collect();
    let of_kind = |kind: &str| objects.iter().filter(move |object| object["kind"] == kind).collect::<Vec<_>>();
    let (crds, mutating, validating) = (
        of_kind("CustomResourceDefinition"),
        of_kind("MutatingWebhookConfiguration"),
        of_kind("ValidatingWebhookConfiguration"),
    );
    assert_eq!([crds.len(), mutating.len(), validating.len()], [2, 1, 1]);
    assert!(crds[1]["metadata"]["annotations"].is_null() && crds[1]["spec"]["conversion"].is_null());
    let mut clients = vec![&crds[0]["spec"]["conversion"]["webhook"]["clientConfig"]];
    for configuration in [mutating[0], validating[0]] {
        clients.extend(configuration["webhooks"].as_array().unwrap().iter().map(|webhook| &webhook["clientConfig"]));
    }
    for client in clients {
        assert_eq!(client["service"]["name"], "shop-webhook-service");
        assert_eq!(client["service"]["namespace"], "shop-system");
    }
    for object in [crds[0], mutating[0], validating[0]] {
        let annotation = &object["metadata"]["annotations"]["cert-manager.io/inject-ca-from"];
        assert_eq!(annotation, "shop-system/shop-serving-cert");
    }
    assert_eq!(mutating[0]["metadata"]["name"], "shop-mutating-webhook-configuration");
    if let Some(cluster) = ControlPlane::start("webhook-project", 0) {
        for object in [crds[0], mutating[0], validating[0]] {
            let strict = ["create", "--dry-run=server", "--validate=strict", "-f", "-"];
            cluster.kubectl(&strict, &object.to_string());
        }
    }
}
