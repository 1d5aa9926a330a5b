//! The arguments of the manager; each can be an environment variable too.

use std::net::{AddrParseError, SocketAddr};
use std::path::PathBuf;

use clap::value_parser;

use crate::leader_election::LeaseOptions;

/// The arguments of a [`Manager`](crate::Manager); each can be an environment variable too.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Watch these namespaces only, separated by commas; without any, the whole cluster
    #[arg(long, env, value_name = "NAMESPACES", value_delimiter = ',')]
    pub watch_namespace: Vec<String>,
    /// Maximum number of concurrent reconciles per controller; 0 is no limit
    #[arg(long, env, value_name = "NUMBER", default_value_t = 50)]
    pub concurrency: u16,
    /// Maximum number of reconciles per second, of all controllers together, up to 1000; 0 is no limit
    #[arg(long, env, value_name = "NUMBER", value_parser = value_parser!(u32).range(..=1000), default_value_t = 0)]
    pub rate: u32,
    /// Seconds until an object is reconciled again when nothing happens, in case an event was lost
    #[arg(long, env, value_name = "SECONDS", value_parser = value_parser!(u64).range(1..), default_value_t = 3600)]
    pub requeue_interval: u64,
    /// Seconds that running reconciles get to finish at shutdown; less than the Pod's `terminationGracePeriodSeconds`
    #[arg(long, env, value_name = "SECONDS", value_parser = value_parser!(u64).range(1..), default_value_t = 20)]
    pub grace_period: u64,
    /// The address of the server for `/healthz` and `/readyz`
    #[arg(long, env, value_name = "ADDRESS", value_parser = address, default_value = ":8081")]
    pub health_probe_bind_address: SocketAddr,
    /// The address of the server for `/metrics`; `0` turns it off
    #[arg(long, env, value_name = "ADDRESS", value_parser = optional, default_value = ":8080")]
    // The full path, since clap treats an `Option` as an argument that can be omitted, not as a value that can be `0`.
    pub metrics_bind_address: std::option::Option<SocketAddr>,
    /// Serve `/metrics` over HTTPS, to clients with the RBAC verb `get` on this URL only
    #[arg(long, env)]
    pub metrics_secure: bool,
    /// The folder with `tls.crt` and `tls.key` for `/metrics`; without it, a self-signed certificate is used
    #[arg(long, env, value_name = "FOLDER")]
    pub metrics_cert_path: Option<PathBuf>,
    /// Leader election.
    #[command(flatten)]
    pub leader_election: LeaseOptions,
    /// Several active replicas.
    #[cfg(feature = "shards")]
    #[command(flatten)]
    pub shards: crate::shards::ShardOptions,
    /// Webhooks.
    #[cfg(feature = "webhook")]
    #[command(flatten)]
    pub webhook: crate::webhook::WebhookOptions,
    /// Helm.
    #[cfg(feature = "helm")]
    #[command(flatten)]
    pub helm: crate::helm::HelmOptions,
    /// Ansible.
    #[cfg(feature = "ansible")]
    #[command(flatten)]
    pub ansible: crate::ansible::AnsibleOptions,
}

/// Parses `IP:PORT`. Without an IP address, the server listens on all IPv4 addresses.
///
/// # Errors
///
/// If the text is not an address.
pub fn address(text: &str) -> Result<SocketAddr, AddrParseError> {
    match text.strip_prefix(':') {
        Some(port) => format!("0.0.0.0:{port}").parse(),
        None => text.parse(),
    }
}

fn optional(text: &str) -> Result<Option<SocketAddr>, AddrParseError> {
    (text != "0").then(|| address(text)).transpose()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Arguments {
        #[command(flatten)]
        _options: Options,
    }

    #[test]
    fn refuses_mistakes() {
        for (argument, reason) in [
            ("--grace-period=0", "0 is not in 1.."),
            ("--requeue-interval=0", "0 is not in 1.."),
            ("--rate=-1", "-1 is not in 0..=1000"),
            ("--rate=1001", "1001 is not in 0..=1000"),
            ("--metrics-bind-address=metrics", "invalid socket address"),
        ] {
            let refused = Arguments::try_parse_from(["manager", argument]).unwrap_err();
            assert!(refused.to_string().contains(reason), "{refused}");
        }
    }
}
