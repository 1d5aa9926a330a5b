//! A Kubernetes control plane for a single test, stopped when dropped.
//!
//! Requires KUBEBUILDER_ASSETS: a folder with kubectl and the control plane's programs.

use std::env;
use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use opctl_testenv::{Assets, Environment, Settings};

pub use crate::skipped::skipped;

pub struct ControlPlane {
    environment: Mutex<Environment>,
    pub kubectl: PathBuf,
    /// The folder of the control plane, removed with it.
    pub folder: PathBuf,
    pub kubeconfig: String,
}

impl ControlPlane {
    /// Starts a control plane with this number of fake nodes, which mark Pods as Running; without nodes, nothing is
    /// scheduled. `None` if a program is missing, which is reported on stderr.
    pub fn start(name: &str, nodes: u16) -> Option<Self> {
        let needed = ["kubectl", "kube-controller-manager"];
        let assets = env::var_os("KUBEBUILDER_ASSETS").and_then(Assets::in_folder);
        let assets = assets.filter(|assets| needed.iter().all(|program| assets.program(program).is_some()));
        let Some(assets) = assets else {
            skipped(&format!("{name} on an API server"), "KUBEBUILDER_ASSETS names no folder with a control plane");
            return None;
        };
        let kubectl = assets.program("kubectl")?;
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("testenv");
        let mut settings = Settings::new(assets, root, format!("{name}-{}", std::process::id()));
        settings.nodes = Some(nodes);
        let environment = Environment::start(settings).unwrap_or_else(|error| panic!("{name}: {error}"));
        let kubeconfig = environment.kubeconfig().to_str().unwrap().to_owned();
        Some(Self {
            folder: environment.folder().to_owned(),
            environment: Mutex::new(environment),
            kubectl,
            kubeconfig,
        })
    }

    /// Runs kubectl and returns stdout. Panics if it fails.
    pub fn kubectl(&self, arguments: &[&str], stdin: &str) -> String {
        let output = self.run(arguments, stdin);
        assert!(output.status.success(), "{arguments:?}: {}\n{stdin}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn run(&self, arguments: &[&str], stdin: &str) -> Output {
        let mut child = Command::new(&self.kubectl)
            .args(arguments)
            .env("KUBECONFIG", &self.kubeconfig)
            // kubectl caches API discovery by port, which another API server may have used.
            .env("KUBECACHEDIR", self.folder.join("kubectl"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

/// Access to rarely used functions, such as killing programs.
impl Deref for ControlPlane {
    type Target = Mutex<Environment>;

    fn deref(&self) -> &Self::Target {
        &self.environment
    }
}
