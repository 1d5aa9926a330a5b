//! Certificates that somebody else makes, in a folder.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::prelude::{BASE64_STANDARD, Engine};

use crate::common;
use crate::control_plane::ControlPlane;
use crate::deployed::{at, render};
use crate::eventually;
use crate::manager::Manager;
use crate::operator::{Operator, backup, free_port, refused};

#[test]
fn certificates_of_others_are_followed() {
    let operator = Operator::get();
    let Some(cluster) = ControlPlane::start("files", 0) else { return };
    operator.make_target(&cluster, &["install"]);
    let folder = cluster.folder.join("certificate");
    fs::create_dir(&folder).unwrap();
    let first = issue(&folder);
    let port = free_port();
    let arguments = [
        format!("--webhook-cert-dir={}", folder.display()),
        format!("--webhook-bind-address=127.0.0.1:{port}"),
        // Which the folder goes before.
        "--webhook-service=shop-webhook-service".into(),
    ];
    let arguments = arguments.each_ref().map(String::as_str);
    let kubeconfig = Path::new(&cluster.kubeconfig);
    let mut manager = Manager::start(&operator.manager, kubeconfig, "manager", &arguments);
    manager.becomes_ready();
    assert_eq!(served(port), first);
    asks(operator, &cluster, port, &first);

    let second = issue(&folder);
    assert_ne!(first, second);
    eventually("the other certificate is served", || served(port) == second);
    asks(operator, &cluster, port, &second);
    // A pair that does not fit together is not served.
    fs::write(folder.join("tls.crt"), &first).unwrap();
    eventually("the log has it", || manager.log().contains("the previous certificate stays in use"));
    assert_eq!(served(port), second);
    assert!(manager.terminate().success());
}

/// The API server does, which trusts this certificate and no other.
fn asks(operator: &Operator, cluster: &ControlPlane, port: u16, certificate: &str) {
    let mut configurations = render(operator);
    configurations.retain(|it| it["kind"] == "ValidatingWebhookConfiguration");
    let bundle = BASE64_STANDARD.encode(certificate);
    for object in &mut configurations {
        at(object, port);
        object["webhooks"][0]["clientConfig"]["caBundle"] = bundle.clone().into();
        cluster.kubectl(&["apply", "--server-side", "-f", "-"], &object.to_string());
    }
    let create = ["create", "--dry-run=server", "-f", "-"];
    // Until the API server has read what was applied.
    eventually("it is asked", || {
        let why = refused_or_not(cluster, &create);
        why.contains("spec.copies: Invalid value: 9: must be at most 5")
    });
    let why = refused(cluster, &create, &backup("v1", "wrong", "", "copies: 9"));
    assert_eq!(why, "The Backup \"wrong\" is invalid: spec.copies: Invalid value: 9: must be at most 5\n");
}

fn refused_or_not(cluster: &ControlPlane, create: &[&str]) -> String {
    String::from_utf8(cluster.run(create, &backup("v1", "wrong", "", "copies: 9")).stderr).unwrap()
}

/// A certificate that is its own CA.
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
    common::output(openssl);
    fs::read_to_string(folder.join("tls.crt")).unwrap()
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
