//! An operator as a process on this machine. It is killed when dropped, and its log is printed if the test fails.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);

pub struct Manager {
    process: Child,
    probes: SocketAddr,
    pub metrics: SocketAddr,
    log: PathBuf,
}

impl Manager {
    /// Starts an operator. `name` is the name of its log, next to the kubeconfig.
    pub fn start(program: &Path, kubeconfig: &Path, name: &str, arguments: &[&str]) -> Self {
        Self::start_in(Path::new("."), program, kubeconfig, name, arguments)
    }

    /// Starts an operator in the project's folder, like `make run`.
    pub fn start_in(folder: &Path, program: &Path, kubeconfig: &Path, name: &str, arguments: &[&str]) -> Self {
        Self::start_with(folder, program, kubeconfig, name, arguments, &[])
    }

    /// Starts an operator with environment variables.
    pub fn start_with(
        folder: &Path,
        program: &Path,
        kubeconfig: &Path,
        name: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        // Free ports. They are released before the operator binds them.
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [probes, metrics] = listeners.each_ref().map(|listener| listener.local_addr().unwrap());
        drop(listeners);
        let log = kubeconfig.with_file_name(format!("{name}.log"));
        let out = File::create(&log).unwrap();
        let process = Command::new(program)
            .arg(format!("--health-probe-bind-address={probes}"))
            .arg(format!("--metrics-bind-address={metrics}"))
            .args(arguments)
            .current_dir(folder)
            .env("KUBECONFIG", kubeconfig)
            .env("LOG_FORMAT", "text")
            .envs(variables.iter().copied())
            .env("RUST_LOG", "info")
            // Printing the backtrace of a panic takes seconds on a busy machine, longer than an API server waits for a
            // webhook.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stderr(out.try_clone().unwrap())
            .stdout(out)
            .spawn()
            .unwrap();
        Self { process, probes, metrics, log }
    }

    pub fn becomes_ready(&mut self) {
        let start = Instant::now();
        while get(self.probes, "/readyz") != "ok" {
            let ended = self.process.try_wait().unwrap();
            assert!(ended.is_none() && start.elapsed() < PATIENCE, "not ready: {ended:?}");
            sleep(Duration::from_millis(100));
        }
    }

    pub fn metrics(&self) -> String {
        get(self.metrics, "/metrics")
    }

    /// Stops the operator like the kubelet, and returns its exit status.
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.exit()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.process.id().to_string()]).status().unwrap();
        assert!(sent.success(), "it ended by itself");
    }

    pub fn exit(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
            sleep(Duration::from_millis(50));
        }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

/// The body of a response; empty if the server is not reachable, or closes the connection during its start.
fn get(address: SocketAddr, path: &str) -> String {
    let answer = || -> io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = answer().unwrap_or_default();
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            eprintln!("the manager's log:\n{}", self.log());
        }
    }
}
