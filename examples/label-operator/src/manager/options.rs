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

use std::collections::BTreeSet;
use std::net::{AddrParseError, SocketAddr};
use std::path::PathBuf;

use clap::value_parser;

use super::lease::LeaseOptions;

#[derive(Clone, Debug, clap::Parser)]
pub struct Options {
    /// Watch these namespaces only, separated by commas; without any, the whole cluster
    #[arg(long, env, value_name = "NAMESPACES", value_parser = namespaces, default_value = "", hide_default_value = true)]
    pub watch_namespace: BTreeSet<String>,
    /// Reconcile so many objects of a controller at the same time; 0 is no limit
    #[arg(long, env, value_name = "NUMBER", default_value_t = 10)]
    pub concurrency: u16,
    /// Start at most so many reconciles a second, of all controllers together; 0 is no limit
    #[arg(long, env, value_name = "NUMBER", default_value_t = 0)]
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

/// `a,b`: what the API server takes for names of namespaces, DNS labels, each once.
fn namespaces(text: &str) -> Result<BTreeSet<String>, String> {
    let mut names = BTreeSet::new();
    for name in text.split(',').filter(|_| !text.is_empty()) {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_legal = name.len() <= 63
            && name.bytes().all(|byte| is_inner(byte) || byte == b'-')
            && name.bytes().next().is_some_and(is_inner)
            && name.bytes().last().is_some_and(is_inner);
        if !is_legal {
            return Err(format!(
                "`{name}` is not the name of a namespace: at most 63 of a-z, 0-9 and `-`, no `-` at the ends"
            ));
        }
        if !names.insert(name.to_owned()) {
            return Err(format!("`{name}` is there twice"));
        }
    }
    Ok(names)
}

/// `HOST:PORT`; without a host, on all.
fn address(text: &str) -> Result<SocketAddr, AddrParseError> {
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

    fn parse(argument: &str) -> Result<Options, String> {
        let parsed = Options::try_parse_from(["manager", argument]);
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn takes_no_namespace_one_or_several() {
        let watched = |argument: &str| Vec::from_iter(parse(argument).unwrap().watch_namespace);
        assert_eq!(watched("--watch-namespace="), [""; 0]);
        assert_eq!(watched("--watch-namespace=a"), ["a"]);
        assert_eq!(
            watched("--watch-namespace=team-b,team-a"),
            ["team-a", "team-b"]
        );
    }

    #[test]
    fn refuses_mistakes() {
        let long = format!("--watch-namespace={}", "a".repeat(64));
        for (argument, reason) in [
            (
                "--watch-namespace=a,-b",
                "`-b` is not the name of a namespace",
            ),
            ("--watch-namespace=a,", "`` is not the name of a namespace"),
            ("--watch-namespace=A", "`A` is not the name of a namespace"),
            (&long, "at most 63"),
            ("--watch-namespace=a,b,a", "`a` is there twice"),
            ("--grace-period=0", "0 is not in 1.."),
            ("--requeue-interval=0", "0 is not in 1.."),
            ("--rate=-1", "-1 is not in 0.."),
            ("--metrics-bind-address=metrics", "invalid socket address"),
        ] {
            let refused = parse(argument).unwrap_err();
            assert!(refused.contains(reason), "{argument}: {refused}");
        }
    }
}
