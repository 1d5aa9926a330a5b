//! A real Kubernetes API server for tests on this machine: etcd and kube-apiserver, ready within seconds. The
//! counterpart of Go's [envtest] for Rust.
//!
//! Works with any version of any Kubernetes client, because it depends on none: a test environment is a kubeconfig.
//!
//! ```no_run
//! use opctl_testenv::{Assets, Crd, Environment, Settings};
//!
//! let assets = Assets::in_folder("/usr/local/kubebuilder/bin").expect("etcd and kube-apiserver are installed");
//! let environment = Environment::start(Settings::new(assets, "target/testenv", "mine"))?;
//! environment.install(&Crd::load(&["config/crd/bases".into()])?)?;
//! println!("KUBECONFIG={}", environment.kubeconfig().display());
//! # Ok::<(), opctl_testenv::TestenvError>(())
//! ```
//!
//! Dropping the [`Environment`] stops its programs and removes its folder. A guard process does the same if this
//! process is killed. With [`Environment::keep`], the environment outlives the process.
//!
//! [`assets`] finds the programs on this machine, or downloads a release of them.
//!
//! The crate reads no environment variables and installs no signal handlers. It writes only below the folders given by
//! its caller: a complete download is renamed into the cache, and each environment has a folder.
//!
//! [envtest]: https://book.kubebuilder.io/reference/envtest

#![deny(missing_docs)]

#[cfg(not(unix))]
compile_error!("opctl-testenv runs on Linux and macOS; on Windows, in WSL");

pub mod assets;
mod client;
mod crds;
mod error;
mod folder;
mod pki;
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
pub use crds::Crd;
pub use error::TestenvError;
pub use folder::Scratch;
use pki::Pki;
use process::Process;

/// Settings of an environment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The programs to run.
    pub assets: Assets,
    /// The parent folder of all environments. Leftovers of killed processes in it are removed.
    pub root: PathBuf,
    /// The name of the environment and of its folder in `root`, where it must be unique.
    pub name: String,
    /// The number of fake nodes. Pods on them are marked Running, but no container runs; without a node no Pod is
    /// scheduled. Nodes require the programs `kube-scheduler` and `kwok`. `None` means one node if both are installed,
    /// else none.
    pub nodes: Option<u16>,
}

impl Settings {
    /// An environment with the default number of nodes.
    pub fn new(assets: Assets, root: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        Self { assets, root: root.into(), name: name.into(), nodes: None }
    }
}

/// A running API server, with the programs around it.
///
/// If the controller manager is installed, it runs as well: it deletes objects whose owner is gone, fills namespaces
/// and creates the Pods of Deployments.
pub struct Environment {
    /// The address of the API server: `https://127.0.0.1:PORT`.
    pub url: String,
    /// The address of etcd: `http://127.0.0.1:PORT`.
    pub etcd: String,
    /// The Kubernetes version, e.g. `1.36.0`.
    pub version: String,
    /// The time from the start until the API server was ready.
    pub ready_in: Duration,
    /// The number of fake nodes.
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

/// The startup timeout. Sufficient on a machine that is busy with compilers.
const PATIENCE: Duration = Duration::from_secs(60);
/// The number of attempts, since another process may take a free port before it is used.
const TRIES: usize = 5;

impl Environment {
    /// Starts the programs and waits until the API server is ready, for at most 60 seconds.
    ///
    /// # Errors
    ///
    /// If a program is missing, does not start or exits, if the API server does not become ready, if an environment of
    /// this name exists, or if its folder cannot be written.
    pub fn start(settings: Settings) -> Result<Self, TestenvError> {
        let missing = servers::NODES.into_iter().find(|program| settings.assets.program(program).is_none());
        let nodes = match (settings.nodes, missing) {
            (Some(1..), Some(program)) => {
                let folder = settings.assets.folder().to_owned();
                return Err(TestenvError::Missing { program, folder });
            }
            (Some(nodes), _) => nodes,
            (None, missing) => u16::from(missing.is_none()),
        };
        let start = Instant::now();
        let pki = Pki::make().map_err(|error| TestenvError::Certificates(error.to_string()))?;
        let mut tries = 1;
        loop {
            match Self::try_start(&settings, nodes, &pki) {
                Err(TestenvError::Exited { log, .. }) if is_port_taken(&log) && tries < TRIES => tries += 1,
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
        let client =
            Client::new(&url, &pki.authority, &pki.admin).map_err(|error| refused("the new certificates", error))?;
        servers::write_files(scratch.folder(), pki, &kubeconfig(&url, pki))?;
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

    /// The programs of the environment.
    pub fn assets(&self) -> &Assets {
        &self.assets
    }

    /// The folder with the files: logs of the programs, certificates and the [`kubeconfig`](Self::kubeconfig).
    pub fn folder(&self) -> &Path {
        self.scratch.folder()
    }

    /// The path of a kubeconfig with administrator rights.
    pub fn kubeconfig(&self) -> PathBuf {
        kubeconfig_in(self.folder())
    }

    /// Applies the CRDs and waits until the API server serves all of them.
    ///
    /// # Errors
    ///
    /// If the API server rejects one of them, or does not serve it within 30 seconds.
    pub fn install(&self, crds: &[Crd]) -> Result<(), TestenvError> {
        crds::apply(&self.client, crds)
    }

    /// Kills a program, e.g. `kube-apiserver`, as a crash would. Returns `false` if it does not run.
    pub fn kill(&mut self, program: &str) -> bool {
        let Some(server) = self.servers.iter_mut().find(|server| server.name == program) else { return false };
        server.process.kill().is_ok() && self.scratch.forget(server.process.id()).is_ok()
    }

    /// Restarts a killed program, with the same data and at the same address. Does not wait until it is ready.
    ///
    /// # Errors
    ///
    /// If the program does not start.
    pub fn restart(&mut self, program: &str) -> Result<(), TestenvError> {
        let Some(at) = self.servers.iter().position(|server| server.name == program) else { return Ok(()) };
        let Server { name, arguments, .. } = &self.servers.remove(at);
        self.spawn(name, arguments.clone())
    }

    /// The folder, to add files and processes that end together with the environment.
    pub fn scratch(&mut self) -> &mut Scratch {
        &mut self.scratch
    }

    /// Keeps the environment running when this process exits, until [`Kept::stop`].
    ///
    /// # Errors
    ///
    /// If its folder cannot be written.
    pub fn keep(self) -> Result<(), TestenvError> {
        let about = json!({ "url": self.url, "version": self.version });
        self.scratch.write(ABOUT, &about.to_string())?;
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
            // A new API server creates this namespace last, and tests use it first.
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
                if let Ok(Some(status)) = server.process.exit_status() {
                    let log = servers::end_of_log(self.scratch.folder(), server.name);
                    return Err(TestenvError::Exited { program: server.name.into(), status: status.to_string(), log });
                }
            }
            if start.elapsed() > PATIENCE {
                let log = servers::end_of_log(self.folder(), "kube-apiserver");
                return Err(TestenvError::NotReady { seconds: PATIENCE.as_secs(), reason: error.to_string(), log });
            }
            sleep(Duration::from_millis(50));
        }
    }

    fn add_node(&self, number: u16) -> Result<(), TestenvError> {
        let name = format!("fake-{number}");
        let resources = json!({ "cpu": "32", "memory": "256Gi", "pods": "1000" });
        // A kubelet sets the labels of Kubernetes, and many charts select nodes by them.
        let labels = json!({
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "type": "kwok",
        });
        let node = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": { "name": name, "labels": labels },
            "status": { "allocatable": resources, "capacity": resources },
        });
        let path = format!("/api/v1/nodes/{name}");
        self.client.apply(&path, &node).map_err(|error| refused(&format!("the node `{name}`"), error))
    }
}

/// The file in the folder of a kept environment with its description.
const ABOUT: &str = "about.json";

/// An environment that outlives the process that started it; see [`Environment::keep`].
#[derive(Clone, Debug)]
pub struct Kept {
    /// The name of the environment.
    pub name: String,
    /// The folder with its files.
    pub folder: PathBuf,
    /// The address of the API server.
    pub url: String,
    /// The Kubernetes version, e.g. `1.36.0`.
    pub version: String,
}

impl Kept {
    /// The kept environments in a root folder, sorted by name. Removes those that no longer run, e.g. because the
    /// machine restarted.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read, or something in it cannot be removed.
    pub fn list(root: &Path) -> Result<Vec<Self>, TestenvError> {
        let about = |folder: PathBuf| {
            let path = folder.join(ABOUT);
            let text = std::fs::read_to_string(&path).map_err(|error| TestenvError::io("read", &path, error))?;
            let about: Value = serde_json::from_str(&text).unwrap_or_default();
            let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Ok(Self { name, url: text("url"), version: text("version"), folder })
        };
        folder::kept(root)?.into_iter().map(about).collect()
    }

    /// The path of a kubeconfig with administrator rights.
    pub fn kubeconfig(&self) -> PathBuf {
        kubeconfig_in(&self.folder)
    }

    /// Applies the CRDs and waits until the API server serves all of them.
    ///
    /// # Errors
    ///
    /// If the API server rejects one of them, or does not serve it within 30 seconds.
    pub fn install(&self, crds: &[Crd]) -> Result<(), TestenvError> {
        let (authority, admin) = servers::read_admin(&self.folder)?;
        let client = Client::new(&self.url, &authority, &admin).map_err(|error| refused("its certificates", error))?;
        crds::apply(&client, crds)
    }

    /// Stops the programs and removes the folder.
    ///
    /// # Errors
    ///
    /// If a program does not exit, or the folder cannot be removed.
    pub fn stop(&self) -> Result<(), TestenvError> {
        folder::remove(&self.folder)
    }
}

fn refused(what: &str, error: client::RequestError) -> TestenvError {
    TestenvError::Refused { what: what.to_owned(), message: error.to_string() }
}

fn is_port_taken(log: &str) -> bool {
    log.contains("address already in use")
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
