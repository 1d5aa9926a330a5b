//! `--webhook-cert-dir`: certificates in a folder, from another issuer.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use k8s_openapi::ByteString;
use serde_json::{Value, json};

use crate::control_plane::ControlPlane;
use crate::example::{BACKUPS, output};
use crate::manager::Manager;
use crate::objects::{backup, free_port, refused};
use crate::{MINUTE, within};

#[test]
fn certificates_of_others_are_followed() {
    let Some(cluster) = ControlPlane::start("certificates", 0) else { return };
    BACKUPS.install(&cluster);
    let folder = cluster.folder.join("certificate");
    fs::create_dir(&folder).unwrap();
    let first = issue(&folder);
    let port = free_port();
    let arguments = [
        format!("--webhook-cert-dir={}", folder.display()),
        format!("--webhook-bind-address=127.0.0.1:{port}"),
        // The folder takes precedence over the Service.
        "--webhook-service=webhook-service".into(),
    ];
    let arguments = arguments.each_ref().map(String::as_str);
    let kubeconfig = Path::new(&cluster.kubeconfig);
    let mut manager = Manager::start(BACKUPS.program(), kubeconfig, "manager", &arguments);
    manager.becomes_ready();
    assert_eq!(served(port), first);
    asks(&cluster, port, &first);

    let second = issue(&folder);
    assert_ne!(first, second);
    within(MINUTE, "the other certificate is served", || served(port) == second);
    asks(&cluster, port, &second);
    // The API server only reports the expiry to users whose requests fail.
    expire(&folder);
    within(MINUTE, "the log has it", || manager.log().contains("has expired: clients refuse it until it is renewed"));
    let second = issue(&folder);
    within(MINUTE, "the renewed certificate is served", || served(port) == second);
    // A certificate with the key of another one is not served.
    fs::write(folder.join("tls.crt"), &first).unwrap();
    within(MINUTE, "the log has it", || manager.log().contains("the previous certificate stays in use"));
    assert_eq!(served(port), second);
    assert!(manager.terminate().success());
}

/// Asserts that the API server calls the webhook if it trusts only this certificate.
fn asks(cluster: &ControlPlane, port: u16, certificate: &str) {
    let manifests = fs::read_to_string(BACKUPS.folder().join("config/webhook/manifests.yaml")).unwrap();
    let mut manifests = manifests.split("\n---\n").map(|document| serde_saphyr::from_str::<Value>(document).unwrap());
    let mut validating = manifests.find(|it| it["kind"] == "ValidatingWebhookConfiguration").unwrap();
    let config = &mut validating["webhooks"][0]["clientConfig"];
    let url = format!("https://127.0.0.1:{port}{}", config["service"]["path"].as_str().unwrap());
    *config = json!({ "url": url, "caBundle": ByteString(certificate.as_bytes().to_vec()) });
    cluster.kubectl(&["apply", "--server-side", "-f", "-"], &validating.to_string());
    let create = ["create", "--dry-run=server", "-f", "-"];
    // The API server needs time to load the configuration.
    within(MINUTE, "it is asked", || {
        let why = refused_or_not(cluster, &create);
        why.contains("spec.copies: Invalid value: 9: must be at most 5")
    });
    let why = refused(cluster, &create, &backup("v1", "wrong", "", "copies: 9"));
    assert_eq!(why, "The Backup \"wrong\" is invalid: spec.copies: Invalid value: 9: must be at most 5\n");
}

fn refused_or_not(cluster: &ControlPlane, create: &[&str]) -> String {
    String::from_utf8(cluster.run(create, &backup("v1", "wrong", "", "copies: 9")).stderr).unwrap()
}

/// Issues a self-signed certificate.
fn issue(folder: &Path) -> String {
    let mut openssl = Command::new("openssl");
    openssl.current_dir(folder).args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]);
    openssl.args(["-subj", "/CN=webhooks", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]);
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "tls.key", "-out", "tls.crt"]);
    output(&mut openssl);
    fs::read_to_string(folder.join("tls.crt")).unwrap()
}

/// Writes an expired certificate.
fn expire(folder: &Path) {
    let mut params = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let key = rcgen::KeyPair::generate().unwrap();
    fs::write(folder.join("tls.crt"), params.self_signed(&key).unwrap().pem()).unwrap();
    fs::write(folder.join("tls.key"), key.serialize_pem()).unwrap();
}

fn served(port: u16) -> String {
    let mut openssl = Command::new("openssl");
    openssl.args(["s_client", "-connect", &format!("127.0.0.1:{port}")]).stdin(Stdio::null()).stderr(Stdio::null());
    let said = String::from_utf8(openssl.output().unwrap().stdout).unwrap();
    let (begin, end) = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----\n");
    let start = said.find(begin).unwrap_or_else(|| panic!("{said}"));
    let length = said[start..].find(end).unwrap() + end.len();
    said[start..start + length].to_owned()
}
