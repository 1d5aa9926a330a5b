//! `/metrics` as deployed: over HTTPS, for clients with RBAC permission, with a certificate that is reloaded.

use std::path::Path;
use std::process::Command;

use super::eventually;
use super::memcached::MEMCACHED;
use crate::common;
use crate::control_plane::ControlPlane;

#[test]
fn serves_metrics_to_those_whom_rbac_lets_read_them() {
    let Some(cluster) = ControlPlane::start("metrics", 0) else { return };
    MEMCACHED.make(&cluster, &["install"]);
    MEMCACHED.apply(&cluster);
    let token = |account: &str| {
        cluster.kubectl(&["create", "serviceaccount", account], "");
        cluster.kubectl(&["create", "token", account], "").trim().to_owned()
    };
    let (scraper, nobody) = (token("scraper"), token("nobody"));
    let reader = format!("--clusterrole={}-metrics-reader", MEMCACHED.name);
    cluster.kubectl(&["create", "clusterrolebinding", "scraper", &reader, "--serviceaccount=default:scraper"], "");

    let pair = |name: &str| {
        let folder = cluster.folder.join(name);
        std::fs::create_dir(&folder).unwrap();
        let (certificate, key) = (folder.join("tls.crt"), folder.join("tls.key"));
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]);
        openssl.args(["-subj", "/CN=metrics", "-addext", "subjectAltName=IP:127.0.0.1", "-out"]);
        openssl.arg(&certificate).arg("-keyout").arg(key);
        common::output(openssl);
        certificate
    };
    let (first, second) = (pair("first"), pair("second"));
    // Like Secrets mounted by the kubelet: files are symbolic links into a folder, which is also a link.
    let (mounted, data) = (cluster.folder.join("mounted"), cluster.folder.join("mounted/..data"));
    std::fs::create_dir(&mounted).unwrap();
    std::os::unix::fs::symlink("../first", &data).unwrap();
    for file in ["tls.crt", "tls.key"] {
        std::os::unix::fs::symlink(Path::new("..data").join(file), mounted.join(file)).unwrap();
    }

    let folder = format!("--metrics-cert-path={}", mounted.display());
    let mut manager = MEMCACHED.run(&cluster, &["--metrics-secure", &folder]);
    let get = |trusted: &Path, token: &str| {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--include", "--max-time", "10", "--cacert"]).arg(trusted);
        if !token.is_empty() {
            curl.args(["--header", &format!("Authorization: Bearer {token}")]);
        }
        let answer = curl.arg(format!("https://{}/metrics", manager.metrics)).output().unwrap();
        String::from_utf8(answer.stdout).unwrap()
    };
    for (token, status) in [("", "401"), ("made-up", "401"), (&nobody, "403"), (&scraper, "200")] {
        let answer = get(&first, token);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert_eq!(answer.ends_with("# EOF\n"), status == "200", "{answer}");
    }
    let answer = get(&first, &scraper);
    assert!(answer.contains("\r\ncontent-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
    assert!(answer.contains("\nprocess_resident_memory_bytes ") && answer.contains("\ncontroller_build_info{"));

    cluster.kubectl(&["delete", "clusterrolebinding", "scraper"], "");
    eventually("no metrics without the right", || get(&first, &scraper).starts_with("HTTP/1.1 403 "));

    assert!(get(&second, &nobody).is_empty(), "this certificate is not served yet");
    let next = cluster.folder.join("mounted/..data_tmp");
    std::os::unix::fs::symlink("../second", &next).unwrap();
    std::fs::rename(next, data).unwrap();
    eventually("the other certificate", || get(&second, &nobody).starts_with("HTTP/1.1 403 "));
    assert!(get(&first, &nobody).is_empty());
    assert_eq!(manager.terminate().code(), Some(0));
}
