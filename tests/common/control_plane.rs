//! A Kubernetes control plane of a test's own, stopped when it is dropped.
//!
//! Needs KUBEBUILDER_ASSETS (a folder with kubectl and the control plane's binaries) and the scripts that start one.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub struct ControlPlane {
    scripts: PathBuf,
    pub kubectl: PathBuf,
    /// Its own; removed with it unless it cannot be stopped.
    pub folder: PathBuf,
    pub kubeconfig: String,
}

/// Those that `up` starts at the same ports in every control plane, where a second one's end without a word, and then
/// nothing makes its Pods.
const AT_FIXED_PORTS: [(&str, u16); 2] = [("kube-controller-manager", 10257), ("kube-scheduler", 10259)];

/// With a control plane that somebody started by hand, which keeps its ports.
const PATIENCE: Duration = Duration::from_secs(60);

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
        // Until it has left its fixed ports: one starts at a time, any number runs.
        let turn = File::create(env::temp_dir().join("opctl-control-plane.lock")).unwrap();
        turn.lock().unwrap();
        await_fixed_ports();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let mut up = Command::new(scripts.join("up"));
        let up = up.arg(&folder).args(["--nodes", &nodes.to_string()]).stderr(Stdio::inherit()).output().unwrap();
        let kubeconfig = String::from_utf8(up.stdout).unwrap().trim().to_owned();
        let cluster = Self { scripts, kubectl: kubectl?, folder, kubeconfig };
        assert!(up.status.success(), "the control plane did not start");
        cluster.leave_fixed_ports();
        Some(cluster)
    }

    /// Another one needs them to start.
    fn leave_fixed_ports(&self) {
        let commands = AT_FIXED_PORTS.map(|(name, _)| Some((name, self.kill(name)?)));
        await_fixed_ports();
        for (name, command) in commands.into_iter().flatten() {
            self.start_again(name, command.into_iter().chain(["--secure-port=0".to_owned()]));
        }
    }

    /// Kills a process that `up` started, if it did, and gives its command.
    pub fn kill(&self, name: &str) -> Option<Vec<String>> {
        let pid = fs::read_to_string(self.folder.join(format!("{name}.pid"))).ok()?;
        let pid = pid.trim();
        let command = fs::read_to_string(Path::new("/proc").join(pid).join("cmdline"));
        let command = command.unwrap_or_else(|_| panic!("{name} has ended: has another control plane its port?"));
        let command: Vec<String> = command.split_terminator('\0').map(String::from).collect();
        assert!(command[0].ends_with(name), "{command:?}");
        assert!(Command::new("kill").args(["-KILL", pid]).status().unwrap().success());
        Some(command)
    }

    /// Not as a child of this process, which would have to wait for its end; `down` ends it as any other.
    pub fn start_again(&self, name: &str, command: impl IntoIterator<Item = String>) {
        let log = OpenOptions::new().append(true).open(self.folder.join(format!("{name}.log"))).unwrap();
        let start = r#"pid=$1; shift; setsid "$@" & echo $! >$pid"#;
        let mut shell = Command::new("sh");
        shell.args(["-c", start, "sh", &format!("{name}.pid")]).args(command).current_dir(&self.folder);
        shell.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        assert!(shell.status().unwrap().success());
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

fn await_fixed_ports() {
    let start = Instant::now();
    while let Some(taken) = AT_FIXED_PORTS.iter().find(|(_, port)| TcpListener::bind(("0.0.0.0", *port)).is_err()) {
        assert!(start.elapsed() < PATIENCE, "another control plane has the port of {taken:?}: stop it, then try again");
        sleep(Duration::from_millis(100));
    }
}

/// Says that something was not tested; fails where OPCTL_TESTS_MUST_RUN is set.
pub fn skipped(what: &str, why: &str) {
    assert!(env::var_os("OPCTL_TESTS_MUST_RUN").is_none(), "{what} cannot be tested: {why}");
    // Not `eprintln!`, which the test harness hides.
    io::stderr().write_all(format!("SKIPPED {what}: {why}\n").as_bytes()).unwrap();
}
