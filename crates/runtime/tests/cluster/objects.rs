//! Objects of the examples, by kubectl.

use std::net::TcpListener;

use serde_json::Value;

use crate::control_plane::ControlPlane;
use crate::manager::Manager;

/// A `Backup`.
pub fn backup(version: &str, name: &str, metadata: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: cache.example.com/{version}, kind: Backup, metadata: {{name: {name}, namespace: default{metadata}}}, \
         spec: {{{spec}}}}}"
    )
}

/// A `Cache`.
pub fn cache(name: &str, size: u8) -> String {
    format!("{{apiVersion: cache.example.com/v1, kind: Cache, metadata: {{name: {name}}}, spec: {{size: {size}}}}}")
}

/// An object of the cluster.
pub fn object(cluster: &ControlPlane, arguments: &[&str]) -> Value {
    let text = cluster.kubectl(&[&["get", "-o", "json"], arguments].concat(), "");
    serde_json::from_str(&text).unwrap()
}

/// What kubectl says where it must fail.
pub fn refused(cluster: &ControlPlane, arguments: &[&str], stdin: &str) -> String {
    let output = cluster.run(arguments, stdin);
    assert!(!output.status.success(), "{arguments:?} went well: {stdin}");
    String::from_utf8(output.stderr).unwrap()
}

/// The names of objects that send the API server somewhere.
pub fn configurations(cluster: &ControlPlane) -> String {
    let kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
    cluster.kubectl(&["get", kinds, "-o", "name"], "")
}

/// How many reconciles have ended.
pub fn reconciles_of(manager: &Manager) -> u32 {
    let metrics = manager.metrics();
    let lines = metrics.lines().filter(|line| line.starts_with("controller_reconciles_total{"));
    lines.map(|line| line.rsplit_once(' ').unwrap().1.parse::<u32>().unwrap()).sum()
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
