// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! The arguments of the manager; each can be an environment variable too.

use std::net::{AddrParseError, SocketAddr};
use std::path::PathBuf;

use clap::value_parser;

use crate::leader_election::LeaseOptions;

#[derive(Clone, Debug, clap::Parser)]
pub struct Options {
    /// Watch these namespaces only, separated by commas; without any, the whole cluster
    #[arg(long, env, value_name = "NAMESPACES", value_delimiter = ',')]
    pub watch_namespace: Vec<String>,
    /// Reconcile so many objects of a controller at the same time; 0 is no limit
    #[arg(long, env, value_name = "NUMBER", default_value_t = 50)]
    pub concurrency: u16,
    /// Start at most so many reconciles a second, of all controllers together, up to 1000; 0 is no limit
    #[arg(long, env, value_name = "NUMBER", value_parser = value_parser!(u32).range(..=1000), default_value_t = 0)]
    pub rate: u32,
    /// Seconds until an object is looked at again when nothing happens, in case an event was lost
    #[arg(long, env, value_name = "SECONDS", value_parser = value_parser!(u64).range(1..), default_value_t = 3600)]
    pub requeue_interval: u64,
    /// Seconds that running reconciles have to finish at shutdown; less than the Pod's `terminationGracePeriodSeconds`
    #[arg(long, env, value_name = "SECONDS", value_parser = value_parser!(u64).range(1..), default_value_t = 20)]
    pub grace_period: u64,
    /// Where `/healthz` and `/readyz` are served
    #[arg(long, env, value_name = "ADDRESS", value_parser = address, default_value = ":8081")]
    pub health_probe_bind_address: SocketAddr,
    /// Where `/metrics` is served; `0` serves none
    #[arg(long, env, value_name = "ADDRESS", value_parser = optional, default_value = ":8080")]
    // Its whole name: a plain `Option` would be to clap an argument that can be left out, not a value that can be `0`.
    pub metrics_bind_address: std::option::Option<SocketAddr>,
    /// Serve `/metrics` by HTTPS, to those who may read it: RBAC, verb `get` on the URL
    #[arg(long, env)]
    pub metrics_secure: bool,
    /// The folder with the certificate of `/metrics`, `tls.crt` and `tls.key`; without it, one is made
    #[arg(long, env, value_name = "FOLDER")]
    pub metrics_cert_path: Option<PathBuf>,
    #[command(flatten)]
    pub leader_election: LeaseOptions,
}

/// `HOST:PORT`; without a host, on all.
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

    #[test]
    fn refuses_mistakes() {
        for (argument, reason) in [
            ("--grace-period=0", "0 is not in 1.."),
            ("--requeue-interval=0", "0 is not in 1.."),
            ("--rate=-1", "-1 is not in 0..=1000"),
            ("--rate=1001", "1001 is not in 0..=1000"),
            ("--metrics-bind-address=metrics", "invalid socket address"),
        ] {
            let refused = Options::try_parse_from(["manager", argument]).unwrap_err();
            assert!(refused.to_string().contains(reason), "{refused}");
        }
    }
}
