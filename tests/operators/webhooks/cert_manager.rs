//! Certificates of webhooks and metrics, issued and injected by cert-manager's controller and cainjector, and rotated
//! during requests.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::deployed::{Load, Proxy, at, balance, bundles, render, service_account};
use super::eventually;
use super::operator::{Operator, free_port, object};
use super::project::Project;
use crate::common;
use crate::control_plane::{ControlPlane, skipped};
use crate::manager::Manager;
use crate::nightly::is_run;

const NAMESPACE: &str = "shop-system";
const METRICS_SERVICE: &str = "shop-controller-manager-metrics-service.shop-system.svc";

/// The Certificates, with their Secrets.
const AUTHORITY: (&str, &str) = ("shop-authority", "certificate-authority");
const WEBHOOK: (&str, &str) = ("shop-serving-cert", "webhook-server-cert");
const METRICS: (&str, &str) = ("shop-metrics-cert", "metrics-server-cert");

#[test]
fn no_request_fails_while_cert_manager_rotates_certificates() {
    if !is_run("cert-manager without a node, on which `.ci/node webhooks` runs it,", "OPCTL_WEBHOOKS") {
        return;
    }
    let Some(program) = program() else { return };
    let operator = Operator::compiled();
    let project = Project::of(&operator.files, &["opctl edit --cert-manager"]);
    project.is_sound();
    let Some(cluster) = ControlPlane::start("cert-manager", 0) else { return };
    let cluster = &cluster;
    let _cert_manager = CertManager::start(&program, cluster);

    let ports = [free_port(), free_port()];
    let entry = balance(ports);
    for mut object in render(&project.folder()) {
        if object["kind"] == "Certificate" && object["metadata"]["name"] == WEBHOOK.0 {
            // Requests go to this machine instead of the Service.
            object["spec"]["ipAddresses"] = json!(["127.0.0.1"]);
        }
        cluster.kubectl(&["apply", "--server-side", "-f", "-"], &at(&mut object, entry).to_string());
    }
    // Grants the permissions of Prometheus.
    cluster.kubectl(
        &[
            "create",
            "clusterrolebinding",
            "scraper",
            "--clusterrole=shop-metrics-reader",
            "--serviceaccount=default:default",
        ],
        "",
    );
    let token = cluster.kubectl(&["create", "token", "default"], "");

    let kubelet = Kubelet::of(cluster);
    let folders = [&WEBHOOK, &METRICS].map(|(_, secret)| cluster.folder.join(secret));
    thread::scope(|scope| {
        scope.spawn(|| kubelet.run());
        let _ends = Ends(&kubelet.ends);
        eventually("both certificates are mounted", || folders.iter().all(|folder| folder.join("tls.crt").exists()));
        eventually("the authority is injected", || bundles(cluster).iter().all(|bundle| bundle != "none"));

        let account = service_account(cluster);
        let start = |place: usize, name: &str| {
            let arguments = [
                format!("--webhook-cert-dir={}", folders[0].display()),
                format!("--metrics-cert-path={}", folders[1].display()),
                format!("--webhook-bind-address=127.0.0.1:{}", ports[place]),
                "--metrics-secure".to_owned(),
                "--leader-elect".to_owned(),
            ];
            Manager::start(&operator.manager, &account, name, &arguments.each_ref().map(String::as_str))
        };
        let mut managers = [start(0, "one"), start(1, "other")];
        managers.iter_mut().for_each(Manager::becomes_ready);
        let scraper =
            Scraper { address: managers[0].metrics.to_string(), token: token.trim(), folder: &cluster.folder };
        assert!(scraper.scrape(&folders[1].join("ca.crt")).ends_with("# EOF\n"));

        let proxy = Proxy::start(cluster);
        let load = Load::start(&proxy, &["v1", "v1alpha1"]);
        let authorities = bundles(cluster);
        let mut rotations = 0;
        // Prometheus reads the authority's certificate periodically.
        let mut known = cluster.folder.join("known.crt");
        fs::copy(folders[1].join("ca.crt"), &known).unwrap();
        let mut rotate = |certificate: (&str, &str), how: fn(&ControlPlane, (&str, &str))| {
            let before = secret(cluster, certificate.1);
            how(cluster, certificate);
            eventually("another certificate is issued", || {
                secret(cluster, certificate.1).is_some_and(|now| Some(&now) != before.as_ref())
            });
            if certificate != AUTHORITY {
                rotations += 1;
                for manager in &managers {
                    let served = || manager.log().matches("serving the new certificate").count();
                    eventually("both replicas serve another certificate", || served() >= rotations);
                }
            }
            assert!(scraper.scrape(&known).ends_with("# EOF\n"), "Prometheus does not trust the certificate");
        };
        rotate(WEBHOOK, renew);
        rotate(METRICS, renew);
        rotate(WEBHOOK, delete);
        rotate(METRICS, delete);
        assert_eq!(bundles(cluster), authorities, "the same authority has signed all of them");
        // Certificates that the authority has signed before stay valid.
        rotate(AUTHORITY, renew);
        rotate(WEBHOOK, renew);
        eventually("the new certificate of the authority is injected", || bundles(cluster) != authorities);
        rotate(METRICS, renew);
        load.went_well();
        known = folders[1].join("ca.crt");
        assert!(scraper.scrape(&known).ends_with("# EOF\n"));
        for manager in &mut managers {
            assert!(manager.terminate().success());
        }
    });
}

/// cert-manager, built from its Go module. `None` without Go, which is reported on stderr.
fn program() -> Option<PathBuf> {
    if !Command::new("go").arg("version").output().is_ok_and(|output| output.status.success()) {
        skipped("cert-manager", "no `go` on the PATH");
        return None;
    }
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cert-manager/controller");
    let mut build = go(&["build", "-mod=readonly", "-trimpath", "-o"]);
    build.arg(&program).env("CGO_ENABLED", "0");
    common::output(build);
    Some(program)
}

fn go(arguments: &[&str]) -> Command {
    let mut command = Command::new("go");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cert-manager")).args(arguments);
    command
}

/// Processes of cert-manager, stopped when dropped.
struct CertManager(Vec<(Child, PathBuf)>);

impl CertManager {
    fn start(program: &Path, cluster: &ControlPlane) -> Self {
        let module = common::output(go(&["list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager"]));
        let crds = Path::new(module.trim()).join("deploy/crds");
        let crds: Vec<PathBuf> = fs::read_dir(crds).unwrap().map(|entry| entry.unwrap().path()).collect();
        for crd in crds.iter().filter(|path| path.extension().is_some_and(|extension| extension == "yaml")) {
            cluster.kubectl(&["apply", "--server-side", "-f", crd.to_str().unwrap()], "");
        }
        cluster.kubectl(&["wait", "--for=condition=Established", "crd", "--all"], "");
        let start = |name: &str| {
            let link = cluster.folder.join(name);
            symlink(program, &link).unwrap();
            let log = cluster.folder.join(format!("{name}.log"));
            let out = fs::File::create(&log).unwrap();
            let mut command = Command::new(link);
            command.arg("--kubeconfig").arg(&cluster.kubeconfig).stdin(Stdio::null());
            (command.stdout(out.try_clone().unwrap()).stderr(out).spawn().unwrap(), log)
        };
        Self(vec![start("controller"), start("cainjector")])
    }
}

impl Drop for CertManager {
    fn drop(&mut self) {
        for (process, log) in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
            if thread::panicking() {
                eprintln!("{}:\n{}", log.display(), fs::read_to_string(&log).unwrap_or_default());
            }
        }
    }
}

/// Mounts Secrets to folders with a delay of seconds, like the kubelet: files are links into a folder, which is also a
/// link.
struct Kubelet<'a> {
    cluster: &'a ControlPlane,
    ends: AtomicBool,
}

impl<'a> Kubelet<'a> {
    fn of(cluster: &'a ControlPlane) -> Self {
        Self { cluster, ends: AtomicBool::new(false) }
    }

    fn run(&self) {
        let mut mounted = [None, None];
        let mut version = 0;
        while !self.ends.load(Ordering::Relaxed) {
            for ((_, name), mounted) in [WEBHOOK, METRICS].iter().zip(&mut mounted) {
                // A deleted Secret stays mounted.
                let Some(now) = secret(self.cluster, name).filter(|now| mounted.as_ref() != Some(now)) else {
                    continue;
                };
                version += 1;
                self.mount(name, &now, version);
                *mounted = Some(now);
            }
            thread::sleep(Duration::from_secs(4));
        }
    }

    fn mount(&self, name: &str, data: &Value, version: usize) {
        let folder = self.cluster.folder.join(name);
        let inner = format!("..{version}");
        fs::create_dir_all(folder.join(&inner)).unwrap();
        for (key, value) in data.as_object().unwrap() {
            fs::write(folder.join(&inner).join(key), STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap();
        }
        symlink(inner, folder.join("..data_tmp")).unwrap();
        fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
        for key in data.as_object().unwrap().keys() {
            let _ = symlink(Path::new("..data").join(key), folder.join(key));
        }
    }
}

/// Stops the kubelet when dropped, also if the test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The data of a Secret, if it has a certificate.
fn secret(cluster: &ControlPlane, name: &str) -> Option<Value> {
    let output = cluster.run(&["get", "secret", name, "-n", NAMESPACE, "-o", "json"], "");
    let secret: Value = serde_json::from_slice(&output.stdout).ok()?;
    secret["data"]["tls.crt"].is_string().then(|| secret["data"].clone())
}

/// Renews a certificate like `cmctl renew`.
fn renew(cluster: &ControlPlane, (certificate, _): (&str, &str)) {
    let mut object = object(cluster, &["certificate", certificate, "-n", NAMESPACE]);
    let conditions = object["status"]["conditions"].as_array_mut().unwrap();
    conditions.retain(|condition| condition["type"] != "Issuing");
    let condition =
        json!({ "type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "by a test" });
    conditions.push(condition);
    cluster.kubectl(&["replace", "--subresource=status", "-f", "-"], &object.to_string());
}

/// Deletes a Secret, so that cert-manager issues another certificate.
fn delete(cluster: &ControlPlane, (_, secret): (&str, &str)) {
    cluster.kubectl(&["delete", "secret", secret, "-n", NAMESPACE], "");
}

/// Reads the metrics like Prometheus with the ServiceMonitor: at the address of the Pod, with the name of the Service.
struct Scraper<'a> {
    address: String,
    token: &'a str,
    folder: &'a Path,
}

impl Scraper<'_> {
    fn scrape(&self, authority: &Path) -> String {
        let (address, port) = self.address.rsplit_once(':').unwrap();
        let mut curl = Command::new("curl");
        curl.current_dir(self.folder).args(["--silent", "--show-error", "--fail", "--max-time", "10", "--cacert"]);
        curl.arg(authority).args(["--resolve", &format!("{METRICS_SERVICE}:{port}:{address}")]);
        curl.args(["--header", &format!("Authorization: Bearer {}", self.token)]);
        curl.arg(format!("https://{METRICS_SERVICE}:{port}/metrics"));
        common::output(curl)
    }
}
