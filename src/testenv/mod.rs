//! A Kubernetes API server for tests, on this machine: a real one, with etcd behind it, ready within seconds.
//!
//! ```no_run
//! use opctl::testenv::{self, Assets, Environment, Settings};
//!
//! let assets = Assets::in_folder("/usr/local/kubebuilder/bin").expect("etcd and kube-apiserver are there");
//! let environment = Environment::start(Settings::new(assets, "target/testenv", "mine"))?;
//! environment.install(&testenv::crds(&["config/crd/bases".into()])?)?;
//! println!("KUBECONFIG={}", environment.kubeconfig().display());
//! # Ok::<(), opctl::testenv::TestenvError>(())
//! ```
//!
//! It is stopped and removed when the [`Environment`] is dropped; also when its process is killed.

pub mod assets;
mod client;
mod crds;
mod error;
mod pki;
mod place;
mod process;
mod servers;

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

pub use assets::{Assets, AssetsError};
use client::Client;
pub use crds::{Crd, read as crds};
pub use error::TestenvError;
use pki::Pki;
pub use place::Scratch;

use crate::interrupt::Process;

/// What to start, and where.
#[derive(Clone, Debug)]
pub struct Settings {
    pub assets: Assets,
    /// A folder for folders of environments; what killed processes left in it is cleaned up.
    pub root: PathBuf,
    /// Of the folder in it.
    pub name: String,
    /// Fake nodes, which run Pods by word only; without any nothing is scheduled. They need `kube-scheduler` and `kwok`; `None`:
    /// one where these are there.
    pub nodes: Option<u16>,
}

impl Settings {
    pub fn new(assets: Assets, root: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        Self { assets, root: root.into(), name: name.into(), nodes: None }
    }
}

/// A running API server with what belongs to it.
pub struct Environment {
    /// The API server's, with its port on loopback.
    pub url: String,
    /// `http://127.0.0.1:PORT` of etcd, to look at what is stored.
    pub etcd: String,
    /// Of Kubernetes, e.g. `1.36.0`.
    pub version: String,
    pub ready_in: Duration,
    pub nodes: u16,
    assets: Assets,
    client: Client,
    servers: Vec<Server>,
    scratch: Scratch,
}

struct Server {
    name: &'static str,
    arguments: Vec<String>,
    process: Process,
}

/// On a machine that is busy with compilers.
const PATIENCE: Duration = Duration::from_secs(60);
/// Somebody may take a port between the moment when it is found free and the moment when it is used.
const TRIES: usize = 5;

impl Environment {
    /// Starts etcd and the API server, where it is there the controller manager, and with nodes the scheduler and kwok; gives
    /// them once the API server is ready.
    pub fn start(settings: Settings) -> Result<Self, TestenvError> {
        let missing = servers::NODES.into_iter().find(|program| settings.assets.program(program).is_none());
        let nodes = match (settings.nodes, missing) {
            (Some(nodes @ 1..), Some(program)) => {
                let folder = settings.assets.folder().to_owned();
                return Err(TestenvError::Missing { program, folder, nodes });
            }
            (Some(nodes), _) => nodes,
            (None, missing) => u16::from(missing.is_none()),
        };
        let start = Instant::now();
        let pki = Pki::make()?;
        let mut tries = 1;
        loop {
            match Self::try_start(&settings, nodes, &pki) {
                Err(TestenvError::Ended { said, .. }) if is_port_taken(&said) && tries < TRIES => tries += 1,
                outcome => {
                    let mut environment = outcome?;
                    environment.ready_in = start.elapsed();
                    return Ok(environment);
                }
            }
        }
    }

    fn try_start(settings: &Settings, nodes: u16, pki: &Pki) -> Result<Self, TestenvError> {
        let scratch = Scratch::take(&settings.root, &settings.name)?;
        let [client_port, peer_port, api_port] = servers::free_ports()?;
        let url = format!("https://127.0.0.1:{api_port}");
        let client = Client::new(&url, &pki.authority, &pki.admin)
            .map_err(|error| refused("the certificates of opctl", error))?;
        servers::write_files(&scratch.folder, pki, &kubeconfig(&url, pki))?;
        let mut environment = Self {
            url,
            etcd: format!("http://127.0.0.1:{client_port}"),
            version: String::new(),
            ready_in: Duration::ZERO,
            nodes,
            assets: settings.assets.clone(),
            client,
            servers: Vec::new(),
            scratch,
        };
        environment.spawn("etcd", servers::etcd(environment.folder(), client_port, peer_port))?;
        environment.spawn("kube-apiserver", servers::api_server(environment.folder(), api_port, client_port))?;
        environment.await_ready()?;
        if settings.assets.program("kube-controller-manager").is_some() {
            environment.spawn("kube-controller-manager", servers::controller_manager(environment.folder()))?;
        }
        if nodes > 0 {
            environment.spawn("kube-scheduler", servers::scheduler(environment.folder()))?;
            environment.spawn("kwok", servers::kwok(environment.folder(), settings.assets.folder())?)?;
            for number in 1..=nodes {
                environment.add_node(number)?;
            }
        }
        Ok(environment)
    }

    pub fn assets(&self) -> &Assets {
        &self.assets
    }

    /// Its files: the logs of its programs, and the [`kubeconfig`](Self::kubeconfig).
    pub fn folder(&self) -> &Path {
        &self.scratch.folder
    }

    /// Of an administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        kubeconfig_in(self.folder())
    }

    /// Applies them, and waits until all are served.
    pub fn install(&self, crds: &[Crd]) -> Result<(), TestenvError> {
        crds::apply(&self.client, crds)
    }

    /// Kills one of its programs, e.g. `kube-apiserver`, as a crash would; `false` where it does not run.
    pub fn kill(&mut self, program: &str) -> bool {
        let Some(server) = self.servers.iter_mut().find(|server| server.name == program) else { return false };
        server.process.kill().is_ok() && self.scratch.forget(server.process.id()).is_ok()
    }

    /// Starts a killed program again; it has the same data and the same address.
    pub fn start_again(&mut self, program: &str) -> Result<(), TestenvError> {
        let Some(at) = self.servers.iter().position(|server| server.name == program) else { return Ok(()) };
        let Server { name, arguments, .. } = &self.servers.remove(at);
        self.spawn(name, arguments.clone())
    }

    /// Its folder, for more of what shall end with it.
    pub fn scratch(&mut self) -> &mut Scratch {
        &mut self.scratch
    }

    /// It goes on without this process, until [`stop`].
    pub fn keep(self) -> Result<(), TestenvError> {
        let said = json!({ "url": self.url, "version": self.version });
        self.scratch.write(ABOUT, &said.to_string())?;
        self.servers.into_iter().for_each(std::mem::forget);
        self.scratch.keep()
    }

    fn spawn(&mut self, name: &'static str, arguments: Vec<String>) -> Result<(), TestenvError> {
        let program = self.assets.folder().join(name);
        let failed = |error| TestenvError::Start { program: program.clone(), error };
        let process = process::start(&program, &arguments, self.folder()).map_err(failed)?;
        let pid = process.id();
        self.servers.push(Server { name, arguments, process });
        self.scratch.watch(pid)
    }

    fn await_ready(&mut self) -> Result<(), TestenvError> {
        let start = Instant::now();
        loop {
            // The last thing that a new API server makes by itself is what everybody uses first.
            let ready = self.client.get("/readyz").and_then(|_| self.client.get("/api/v1/namespaces/default"));
            let error = match ready.and_then(|_| self.client.get("/version")) {
                Ok(version) => {
                    let version: Value = serde_json::from_str(&version).unwrap_or_default();
                    version["gitVersion"]
                        .as_str()
                        .unwrap_or_default()
                        .trim_start_matches('v')
                        .clone_into(&mut self.version);
                    return Ok(());
                }
                Err(error) => error,
            };
            for server in &mut self.servers {
                if let Ok(Some(status)) = server.process.end() {
                    let said = servers::last_words(&self.scratch.folder, server.name);
                    return Err(TestenvError::Ended { program: server.name.into(), status: status.to_string(), said });
                }
            }
            if start.elapsed() > PATIENCE {
                let said = servers::last_words(self.folder(), "kube-apiserver");
                return Err(TestenvError::NotReady { seconds: PATIENCE.as_secs(), why: error.to_string(), said });
            }
            sleep(Duration::from_millis(50));
        }
    }

    fn add_node(&self, number: u16) -> Result<(), TestenvError> {
        let name = format!("fake-{number}");
        let resources = json!({ "cpu": "32", "memory": "256Gi", "pods": "1000" });
        let node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": { "name": name, "labels": { "type": "kwok" } },
            "status": { "allocatable": resources, "capacity": resources },
        });
        let path = format!("/api/v1/nodes/{name}");
        self.client.apply(&path, &node).map_err(|error| refused(&format!("the node `{name}`"), error))
    }
}

/// In the folder of one that is kept: what [`kept`] tells of it.
const ABOUT: &str = "about.json";

/// An environment that goes on without the process that started it.
pub struct Kept {
    pub name: String,
    pub folder: PathBuf,
    pub url: String,
    pub version: String,
}

impl Kept {
    pub fn kubeconfig(&self) -> PathBuf {
        kubeconfig_in(&self.folder)
    }

    /// Applies them, and waits until all are served.
    pub fn install(&self, crds: &[Crd]) -> Result<(), TestenvError> {
        let (authority, admin) = servers::read_admin(&self.folder)?;
        let client = Client::new(&self.url, &authority, &admin).map_err(|error| refused("its certificates", error))?;
        crds::apply(&client, crds)
    }
}

/// Those below `root`, by name.
pub fn kept(root: &Path) -> Result<Vec<Kept>, TestenvError> {
    let about = |folder: PathBuf| {
        let path = folder.join(ABOUT);
        let text = std::fs::read_to_string(&path).map_err(|error| TestenvError::io("read", &path, error))?;
        let about: Value = serde_json::from_str(&text).unwrap_or_default();
        let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Kept { name, url: text("url"), version: text("version"), folder })
    };
    place::kept(root)?.into_iter().map(about).collect()
}

/// Stops one that was kept, and removes its folder.
pub fn stop(kept: &Kept) -> Result<(), TestenvError> {
    place::remove(&kept.folder)
}

fn refused(what: &str, error: client::RequestError) -> TestenvError {
    TestenvError::Refused { what: what.to_owned(), message: error.to_string() }
}

fn is_port_taken(said: &str) -> bool {
    said.contains("address already in use")
}

fn kubeconfig_in(folder: &Path) -> PathBuf {
    folder.join("kubeconfig")
}

fn kubeconfig(url: &str, pki: &Pki) -> String {
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: testenv
  cluster:
    server: {url}
    certificate-authority-data: {authority}
users:
- name: admin
  user:
    client-certificate-data: {certificate}
    client-key-data: {key}
contexts:
- name: testenv
  context:
    cluster: testenv
    user: admin
current-context: testenv
",
        authority = STANDARD.encode(&pki.authority),
        certificate = STANDARD.encode(&pki.admin.public),
        key = STANDARD.encode(&pki.admin.key),
    )
}
