//! Objects of the examples, through kubectl.

use std::net::TcpListener;

use serde_json::Value;

use crate::control_plane::ControlPlane;
use crate::manager::Manager;

/// The manifest of a `Backup`.
pub fn backup(version: &str, name: &str, metadata: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: cache.example.com/{version}, kind: Backup, metadata: {{name: {name}, namespace: default{metadata}}}, \
         spec: {{{spec}}}}}"
    )
}

/// The manifest of a `Cache`.
pub fn cache(name: &str, size: u8) -> String {
    format!("{{apiVersion: cache.example.com/v1, kind: Cache, metadata: {{name: {name}}}, spec: {{size: {size}}}}}")
}

pub fn object(cluster: &ControlPlane, arguments: &[&str]) -> Value {
    let text = cluster.kubectl(&[&["get", "-o", "json"], arguments].concat(), "");
    serde_json::from_str(&text).unwrap()
}

/// The error of a kubectl command that must fail.
pub fn refused(cluster: &ControlPlane, arguments: &[&str], stdin: &str) -> String {
    let output = cluster.run(arguments, stdin);
    assert!(!output.status.success(), "{arguments:?} went well: {stdin}");
    String::from_utf8(output.stderr).unwrap()
}

/// The names of the webhook configurations.
pub fn configurations(cluster: &ControlPlane) -> String {
    let kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
    cluster.kubectl(&["get", kinds, "-o", "name"], "")
}

/// The number of finished reconciles.
pub fn reconciles_of(manager: &Manager) -> u32 {
    let metrics = manager.metrics();
    let lines = metrics.lines().filter(|line| line.starts_with("controller_reconciles_total{"));
    lines.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u32>().unwrap()).sum()
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
