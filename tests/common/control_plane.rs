//! A Kubernetes control plane of a test's own, stopped when it is dropped.
//!
//! Needs KUBEBUILDER_ASSETS (a folder with kubectl and the control plane's binaries) and the scripts that start one.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub struct ControlPlane {
    scripts: PathBuf,
    pub kubectl: PathBuf,
    /// Its own; removed with it unless it cannot be stopped.
    pub folder: PathBuf,
    pub kubeconfig: String,
    /// Held while it runs: one at a time, see [`FIXED_PORTS`].
    _turn: File,
}

/// The controller manager and the scheduler of every control plane listen there; a second one's end without a word, and
/// then nothing makes its Pods.
const FIXED_PORTS: [u16; 2] = [10257, 10259];

impl ControlPlane {
    /// With so many nodes, which run Pods by word only; without one nothing is scheduled. `None`, and said on stderr,
    /// where something that it needs is missing.
    pub fn start(name: &str, nodes: u8) -> Option<Self> {
        let kubectl = env::var_os("KUBEBUILDER_ASSETS").map(|assets| Path::new(&assets).join("kubectl"));
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/control-plane");
        let missing = match &kubectl {
            None => "KUBEBUILDER_ASSETS is not set",
            Some(kubectl) if !kubectl.is_file() => "no `kubectl` in KUBEBUILDER_ASSETS",
            Some(_) if !scripts.join("up").is_file() => "no scripts in ../shared/control-plane",
            Some(_) => "",
        };
        if !missing.is_empty() {
            skipped(&format!("{name} on an API server"), missing);
            return None;
        }
        let turn = File::create(env::temp_dir().join("opctl-control-plane.lock")).unwrap();
        turn.lock().unwrap();
        let taken = FIXED_PORTS.iter().find(|port| TcpListener::bind(("0.0.0.0", **port)).is_err());
        assert!(nodes == 0 || taken.is_none(), "another control plane has port {taken:?}: stop it, then try again");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let mut up = Command::new(scripts.join("up"));
        let up = up.arg(&folder).args(["--nodes", &nodes.to_string()]).stderr(Stdio::inherit()).output().unwrap();
        let kubeconfig = String::from_utf8(up.stdout).unwrap().trim().to_owned();
        let cluster = Self { scripts, kubectl: kubectl?, folder, kubeconfig, _turn: turn };
        assert!(up.status.success(), "the control plane did not start");
        Some(cluster)
    }

    /// Standard output; it must go well.
    pub fn kubectl(&self, arguments: &[&str], stdin: &str) -> String {
        let output = self.run(arguments, stdin);
        assert!(output.status.success(), "{arguments:?}: {}\n{stdin}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn run(&self, arguments: &[&str], stdin: &str) -> Output {
        let mut child = Command::new(&self.kubectl)
            .args(arguments)
            .env("KUBECONFIG", &self.kubeconfig)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        let stopped = Command::new(self.scripts.join("down")).arg(&self.folder).status();
        if stopped.is_ok_and(|status| status.success()) {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Says that something was not tested; fails where OPCTL_TESTS_MUST_RUN is set.
pub fn skipped(what: &str, why: &str) {
    assert!(env::var_os("OPCTL_TESTS_MUST_RUN").is_none(), "{what} cannot be tested: {why}");
    // Not `eprintln!`, which the test harness hides.
    io::stderr().write_all(format!("SKIPPED {what}: {why}\n").as_bytes()).unwrap();
}
