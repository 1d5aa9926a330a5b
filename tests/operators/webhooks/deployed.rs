//! Webhooks like in a cluster: deployed manifests, the permissions of the service account, several replicas, and a
//! continuous load.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::eventually;
use super::operator::{Operator, free_port, object};
use crate::common;
use crate::control_plane::ControlPlane;
use crate::manager::Manager;
use crate::workdir::kubectl;

const SECRET: [&str; 4] = ["secret", "shop-webhook-certificate", "-n", "shop-system"];

#[test]
fn in_a_cluster() {
    let operator = Operator::compiled();
    let Some(cluster) = ControlPlane::start("deployed", 0) else { return };
    let cluster = &cluster;
    let ports = [free_port(), free_port()];
    let entry = balance(ports);
    // A Service has no Pods here, so the API server is configured with the address of a balancer.
    let objects: Vec<Value> = render(&operator.folder()).into_iter().map(|mut it| at(&mut it, entry).clone()).collect();
    let deploy = || {
        for object in &objects {
            cluster.kubectl(&["apply", "--server-side", "-f", "-"], &object.to_string());
        }
    };
    deploy();
    let account = service_account(cluster);
    let start = |place: usize, name: &str| {
        let arguments = [
            "--webhook-service=shop-webhook-service".to_owned(),
            format!("--webhook-bind-address=127.0.0.1:{}", ports[place]),
            "--leader-elect".to_owned(),
        ];
        Manager::start(&operator.manager, &account, name, &arguments.each_ref().map(String::as_str))
    };
    // No Secret exists at the start of both.
    let (mut one, mut other) = (start(0, "one"), start(1, "other"));
    one.becomes_ready();
    other.becomes_ready();
    let bundles = || bundles(cluster);
    assert_eq!(bundles().len(), 1);

    let proxy = Proxy::start(cluster);
    let load = Load::start(&proxy, &["v1", "v1alpha1"]);
    for rotations in 1..3 {
        cluster.kubectl(&[&["delete"], &SECRET[..]].concat(), "");
        for manager in [&one, &other] {
            let served = || manager.log().matches("serving another certificate").count();
            eventually("both replicas serve another certificate", || served() >= rotations);
        }
    }
    deploy();
    LEAVING.store(ports[0], Ordering::Relaxed);
    sleep(Duration::from_secs(1));
    assert!(one.terminate().success());
    LEAVING.store(0, Ordering::Relaxed);
    let mut one = start(0, "one-again");
    one.becomes_ready();
    // Until the balancer has sent some requests to it.
    sleep(Duration::from_secs(2));
    load.went_well();

    // Someone overwrites a field that the operator manages.
    let before = bundles();
    let wrong = r#"[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":null}]"#;
    let configuration = "validatingwebhookconfiguration/shop-validating-webhook-configuration";
    cluster.kubectl(&["patch", configuration, "--type=json", "-p", wrong], "");
    eventually("it is written again", || bundles() == before);

    // A single replica is restarted. Objects in the storage version are not converted.
    assert!(other.terminate().success());
    for policy in ["Ignore", "Fail"] {
        for kind in ["mutating", "validating"] {
            let name = format!("{kind}webhookconfiguration/shop-{kind}-webhook-configuration");
            let patch = format!(r#"[{{"op":"replace","path":"/webhooks/0/failurePolicy","value":"{policy}"}}]"#);
            cluster.kubectl(&["patch", &name, "--type=json", "-p", &patch], "");
        }
        // Until the API server has reloaded the configuration.
        sleep(Duration::from_secs(2));
        let load = Load::start(&proxy, &["v1"]);
        sleep(Duration::from_secs(1));
        assert!(one.terminate().success());
        sleep(Duration::from_secs(1));
        one = start(0, policy);
        one.becomes_ready();
        sleep(Duration::from_secs(1));
        let failures = load.end();
        match policy {
            "Ignore" => assert_eq!(failures, Vec::<String>::new()),
            _ => {
                assert!(!failures.is_empty());
                let unreachable = |why: &&String| !why.contains("failed calling webhook");
                assert_eq!(failures.iter().find(unreachable), None);
            }
        }
    }

    // Controllers run, too.
    let metadata = json!({ "name": "whole", "namespace": "default" });
    let (version, spec) = ("cache.example.com/v1alpha1", json!({ "timeout": "1s" }));
    let whole = json!({ "apiVersion": version, "kind": "Backup", "metadata": metadata, "spec": spec });
    cluster.kubectl(&["create", "-f", "-"], &whole.to_string());
    cluster.kubectl(&["wait", "backup/whole", "--for=condition=Ready", "--timeout=60s"], "");
    let metrics = one.metrics();
    assert!(!metrics.lines().any(|line| line.starts_with("controller_reconcile_failures_total{")), "{metrics}");
    for manager in [&one, &other] {
        let log = manager.log();
        assert!(!log.to_lowercase().contains("forbidden"), "{log}");
    }
    assert!(one.terminate().success());
}

/// The objects that `make deploy` applies.
pub fn render(folder: &Path) -> Vec<Value> {
    let mut command = Command::new(kubectl().unwrap());
    command.current_dir(folder).args(["kustomize", "config/default"]);
    let text = common::output(command);
    text.split("\n---\n").map(|object| opctl_model::yaml::read(object).unwrap()).collect()
}

/// The object with a local port instead of the Service.
pub fn at(object: &mut Value, port: u16) -> &Value {
    let here = |config: &mut Value| {
        let path = config["service"]["path"].as_str().unwrap();
        *config = json!({ "url": format!("https://127.0.0.1:{port}{path}") });
    };
    let webhooks = object.get_mut("webhooks").and_then(Value::as_array_mut);
    webhooks.into_iter().flatten().for_each(|webhook| here(&mut webhook["clientConfig"]));
    object.pointer_mut("/spec/conversion/webhook/clientConfig").map(here);
    object
}

/// The CA bundles that the API server trusts.
pub fn bundles(cluster: &ControlPlane) -> BTreeSet<String> {
    let mut found: Vec<Value> = Vec::new();
    for kind in ["mutating", "validating"] {
        let name = format!("shop-{kind}-webhook-configuration");
        let configuration = object(cluster, &[&format!("{kind}webhookconfigurations"), &name]);
        let webhooks = configuration["webhooks"].as_array().unwrap();
        found.extend(webhooks.iter().map(|webhook| webhook["clientConfig"]["caBundle"].clone()));
    }
    let crd = object(cluster, &["crd", "backups.cache.example.com"]);
    found.push(crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"].clone());
    found.iter().map(|it| it.as_str().unwrap_or("none").to_owned()).collect()
}

/// A kubeconfig with the token of the operator's service account, in its namespace.
pub fn service_account(cluster: &ControlPlane) -> PathBuf {
    let (namespace, name) = ("shop-system", "shop-controller-manager");
    let token = cluster.kubectl(&["create", "token", name, "-n", namespace], "");
    let path = cluster.folder.join("account.kubeconfig");
    let mut config: Value = opctl_model::yaml::read(&fs::read_to_string(&cluster.kubeconfig).unwrap()).unwrap();
    config["users"][0]["user"] = json!({ "token": token.trim() });
    config["contexts"][0]["context"]["namespace"] = namespace.into();
    fs::write(&path, config.to_string()).unwrap();
    path
}

/// The port of the replica that is about to stop, and gets no new connections: in a cluster, `preStop` of its container
/// waits for that.
static LEAVING: AtomicU16 = AtomicU16::new(0);

/// Balances connections like a Service: they go to the ports in turn, if these accept any.
pub fn balance(ports: [u16; 2]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let entry = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for (turn, client) in listener.incoming().enumerate() {
            let leaving = LEAVING.load(Ordering::Relaxed);
            let mut in_turn = [ports[turn % 2], ports[(turn + 1) % 2]].into_iter().filter(|port| *port != leaving);
            let server = in_turn.find_map(|port| TcpStream::connect(("127.0.0.1", port)).ok());
            // Without a server, the client's connection is closed.
            let (Ok(client), Some(server)) = (client, server) else { continue };
            copy(client.try_clone().unwrap(), server.try_clone().unwrap());
            copy(server, client);
        }
    });
    entry
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
}

/// Plain HTTP to the API server as an administrator, stopped when dropped.
pub struct Proxy {
    process: Child,
    address: String,
}

impl Proxy {
    pub fn start(cluster: &ControlPlane) -> Self {
        let mut command = Command::new(&cluster.kubectl);
        command.args(["proxy", "--port=0"]).env("KUBECONFIG", &cluster.kubeconfig).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        Self { process, address }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Creates objects with dry runs until it is dropped.
pub struct Load {
    since: Instant,
    ends: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    failures: Arc<Mutex<Vec<String>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    pub fn start(proxy: &Proxy, versions: &'static [&str]) -> Self {
        let (ends, asked, failures) = <(Arc<AtomicBool>, Arc<AtomicUsize>, Arc<Mutex<Vec<String>>>)>::default();
        let threads = (0..8).map(|thread| {
            let (ends, asked, failures) = (ends.clone(), asked.clone(), failures.clone());
            let address = proxy.address.clone();
            thread::spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    let count = asked.fetch_add(1, Ordering::Relaxed);
                    let version = versions[(thread + count) % versions.len()];
                    if let Err(why) = create(&address, version) {
                        failures.lock().unwrap().push(why);
                    }
                    sleep(Duration::from_millis(20));
                }
            })
        });
        let threads = threads.collect();
        Self { since: Instant::now(), ends, asked, failures, threads }
    }

    pub fn went_well(self) {
        assert_eq!(self.end(), Vec::<String>::new());
    }

    /// Stops the load. Returns the failures with reasons.
    fn end(self) -> Vec<String> {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().unwrap();
        }
        let (asked, seconds) = (self.asked.load(Ordering::Relaxed), self.since.elapsed().as_secs_f64());
        // An idle machine reaches at least twice this rate.
        assert!(asked as f64 / seconds >= 10.0, "{asked} in {seconds} s");
        println!("{asked} objects created in {seconds:.1} s");
        std::mem::take(&mut self.failures.lock().unwrap())
    }
}

fn create(address: &str, version: &str) -> Result<(), String> {
    let spec = json!({ "storageClass": "slow" });
    let metadata = json!({ "generateName": "load-" });
    let object = json!({ "apiVersion": format!("cache.example.com/{version}"), "kind": "Backup", "metadata": metadata, "spec": spec });
    let body = object.to_string();
    let path = format!("/apis/cache.example.com/{version}/namespaces/default/backups?dryRun=All");
    let mut stream = TcpStream::connect(address).map_err(|why| why.to_string())?;
    // The proxy only accepts this host name.
    let head = format!("POST {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n");
    let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
    let mut answer = String::new();
    let asked = stream.write_all((head + &body).as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
    asked.map_err(|why| why.to_string())?;
    let is_created = answer.lines().next().is_some_and(|line| line.contains(" 201 "));
    if is_created { Ok(()) } else { Err(answer) }
}
