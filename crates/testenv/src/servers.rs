//! The files and arguments of each program of a test environment.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::Path;

use super::pki::{Pair, Pki};
use super::process::log_of;
use super::{TestenvError, folder, kubeconfig_in};

/// The programs required for fake nodes.
pub const NODES: [&str; 2] = ["kube-scheduler", "kwok"];

/// Free ports on the loopback address.
pub fn free_ports<const N: usize>() -> Result<[u16; N], TestenvError> {
    let failed = |error| TestenvError::io("find a free port on", Path::new("127.0.0.1"), error);
    // Bound at the same time, so that they differ.
    let listeners: Vec<TcpListener> =
        (0..N).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<io::Result<_>>().map_err(failed)?;
    let mut ports = [0; N];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.local_addr().map_err(failed)?.port();
    }
    Ok(ports)
}

pub fn write_files(folder: &Path, pki: &Pki, kubeconfig: &str) -> Result<(), TestenvError> {
    for (name, text) in [
        ("ca.crt", &pki.authority),
        ("admin.crt", &pki.admin.public),
        ("admin.key", &pki.admin.key),
        ("apiserver.crt", &pki.server.public),
        ("apiserver.key", &pki.server.key),
        ("tokens.pub", &pki.tokens.public),
        ("tokens.key", &pki.tokens.key),
    ] {
        folder::write(&folder.join(name), text)?;
    }
    folder::write(&kubeconfig_in(folder), kubeconfig)
}

/// The CA certificate and the administrator's key pair, written by [`write_files`].
pub fn read_admin(folder: &Path) -> Result<(String, Pair), TestenvError> {
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(|error| TestenvError::io("read", &path, error))
    };
    Ok((read("ca.crt")?, Pair { public: read("admin.crt")?, key: read("admin.key")? }))
}

pub fn etcd(folder: &Path, client: u16, peer: u16) -> Vec<String> {
    let client = format!("http://127.0.0.1:{client}");
    vec![
        format!("--data-dir={}", folder.join("etcd").display()),
        // The data need not survive a crash of the machine.
        "--unsafe-no-fsync".into(),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
    ]
}

pub fn api_server(folder: &Path, port: u16, etcd: u16) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", folder.join(name).display());
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        "--bind-address=127.0.0.1".into(),
        format!("--secure-port={port}"),
        file("tls-cert-file", "apiserver.crt"),
        file("tls-private-key-file", "apiserver.key"),
        file("client-ca-file", "ca.crt"),
        file("service-account-key-file", "tokens.pub"),
        file("service-account-signing-key-file", "tokens.key"),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        "--authorization-mode=RBAC".into(),
        "--service-cluster-ip-range=10.0.0.0/24".into(),
        "--allow-privileged".into(),
        // Pods need no token here, and the controller that creates service accounts may be missing.
        "--disable-admission-plugins=ServiceAccount".into(),
    ]
}

pub fn controller_manager(folder: &Path) -> Vec<String> {
    vec![
        kubeconfig_flag(folder),
        format!("--service-account-private-key-file={}", folder.join("tokens.key").display()),
        format!("--root-ca-file={}", folder.join("ca.crt").display()),
        "--leader-elect=false".into(),
        // All environments would use the same default port.
        "--secure-port=0".into(),
    ]
}

pub fn scheduler(folder: &Path) -> Vec<String> {
    vec![kubeconfig_flag(folder), "--leader-elect=false".into(), "--secure-port=0".into()]
}

/// Uses the stages in `kwok-stages` next to the program if they exist, else kwok's built-in ones.
pub fn kwok(folder: &Path, assets: &Path) -> Result<Vec<String>, TestenvError> {
    let mut arguments =
        vec![kubeconfig_flag(folder), "--manage-all-nodes".into(), "--node-lease-duration-seconds=40".into()];
    let stages = assets.join("kwok-stages");
    if stages.is_dir() {
        let failed = |error| TestenvError::io("read", &stages, error);
        let mut files = Vec::new();
        for entry in fs::read_dir(&stages).map_err(failed)? {
            files.push(entry.map_err(failed)?.path());
        }
        files.sort();
        arguments.extend(files.iter().map(|file| format!("--config={}", file.display())));
    }
    Ok(arguments)
}

fn kubeconfig_flag(folder: &Path) -> String {
    format!("--kubeconfig={}", kubeconfig_in(folder).display())
}

/// The last lines of a program's log.
pub fn end_of_log(folder: &Path, program: &str) -> String {
    const LINES: usize = 6;
    let log = fs::read(log_of(folder, program)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let last: Vec<String> = lines[lines.len().saturating_sub(LINES)..].iter().map(|line| format!("  {line}")).collect();
    last.join("\n")
}
