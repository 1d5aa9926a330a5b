//! Selection of the proxy for the API server, by the rules of kubectl.
//!
//! `proxy-url` in the kubeconfig takes precedence. Without it, `HTTPS_PROXY` applies (`HTTP_PROXY` for a server without
//! TLS), unless `NO_PROXY` matches the server or the server is on this machine. The rules are those of Go's
//! `golang.org/x/net/http/httpproxy`. kube 5.0 matches `NO_PROXY` with the proxy instead of the server, and refuses a
//! trailing comma.

use std::net::IpAddr;

use http::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use super::Error;

/// A proxy, with its credentials.
#[derive(Clone, Debug)]
pub(super) struct Proxy {
    pub scheme: Scheme,
    pub intercept: Intercept,
    /// The source of its URL: `HTTPS_PROXY`, `HTTP_PROXY`, or `proxy-url` in the kubeconfig.
    pub origin: &'static str,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Scheme {
    Http,
    Https,
    Socks5,
}

impl Proxy {
    /// Selects the proxy for `server`; `variable` reads the environment.
    pub fn choose(
        server: &Uri,
        proxy_url: Option<&str>,
        variable: &impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, Error> {
        if let Some(url) = proxy_url.filter(|url| !url.is_empty()) {
            return Self::parse(server, url, "`proxy-url` in the kubeconfig").map(Some);
        }
        let (name, lower) = match server.scheme_str() {
            Some("http") => ("HTTP_PROXY", "http_proxy"),
            _ => ("HTTPS_PROXY", "https_proxy"),
        };
        let first =
            |names: [&str; 2]| names.into_iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
        match first([name, lower]) {
            Some(_) if is_direct(server, &first(["NO_PROXY", "no_proxy"]).unwrap_or_default()) => Ok(None),
            Some(url) => Self::parse(server, &url, name).map(Some),
            None => Ok(None),
        }
    }

    fn parse(server: &Uri, url: &str, origin: &'static str) -> Result<Self, Error> {
        let refused = || Error::Proxy { url: without_credentials(url), origin };
        let intercept = Matcher::builder().all(url).build().intercept(server).ok_or_else(refused)?;
        let scheme = match intercept.uri().scheme_str() {
            Some("http") => Scheme::Http,
            Some("https") => Scheme::Https,
            Some("socks5" | "socks5h") => Scheme::Socks5,
            _ => return Err(refused()),
        };
        Ok(Self { scheme, intercept, origin })
    }
}

fn without_credentials(url: &str) -> String {
    match url.rsplit_once('@') {
        Some((before, host)) => {
            let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://"));
            format!("{}{host}", scheme.unwrap_or_default())
        }
        None => url.to_owned(),
    }
}

/// `true` if the server is reached without a proxy.
fn is_direct(server: &Uri, no_proxy: &str) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
    let port = server.port_u16().unwrap_or(if server.scheme_str() == Some("http") { 80 } else { 443 });
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    let mut entries = no_proxy.split(',').map(|entry| entry.trim().to_ascii_lowercase());
    entries.any(|entry| entry == "*" || matches(&entry, &host, address, port))
}

/// `true` if an entry of `NO_PROXY` matches the server. An entry is an address or a domain, both with an optional port,
/// or a CIDR range.
fn matches(entry: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if let Some((network, length)) = entry.split_once('/') {
        return address.is_some_and(|address| contains(network, length, address).unwrap_or(false));
    }
    let (name, only) = match entry.rsplit_once(':') {
        // The last of several colons belongs to an IPv6 address, unless that is in brackets.
        Some((name, digits)) if !name.contains(':') || name.ends_with(']') => match digits.parse::<u16>() {
            Ok(only) => (name, Some(only)),
            Err(_) => return false,
        },
        _ => (entry, None),
    };
    let name = name.trim_matches(['[', ']']);
    if name.is_empty() || only.is_some_and(|only| only != port) {
        return false;
    }
    if let Ok(named) = name.parse::<IpAddr>() {
        return address == Some(named);
    }
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(domain) => host.strip_suffix(domain).is_some_and(|it| it.ends_with('.')),
        None => host == name || host.strip_suffix(name).is_some_and(|it| it.ends_with('.')),
    }
}

fn contains(network: &str, length: &str, address: IpAddr) -> Option<bool> {
    let length: u32 = length.parse().ok()?;
    let (network, address, bits) = match (network.parse().ok()?, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => (network.to_bits().into(), address.to_bits().into(), 32_u32),
        (IpAddr::V6(network), IpAddr::V6(address)) => (network.to_bits(), address.to_bits(), 128),
        _ => return Some(false),
    };
    let host_bits = bits.checked_sub(length)?;
    let prefix = |address: u128| address.checked_shr(host_bits).unwrap_or(0);
    Some(prefix(network) == prefix(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> Uri {
        url.parse().unwrap()
    }

    fn chosen(url: &str, proxy_url: Option<&str>, variables: &[(&str, &str)]) -> Option<Proxy> {
        let variable = |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
        Proxy::choose(&server(url), proxy_url, &variable).unwrap()
    }

    #[test]
    fn no_proxy_is_read_as_go_reads_it() {
        for (no_proxy, direct, through) in [
            ("", "https://[::1]:6443", "https://10.0.0.1:6443"),
            ("", "https://127.0.0.9", "https://localhost.example.com"),
            ("", "https://localhost:6443", "https://[2001:db8::1]"),
            ("*", "https://api.example.com", ""),
            (" 10.0.0.1 , ", "https://10.0.0.1:6443", "https://10.0.0.11:6443"),
            ("10.0.0.1:6443", "https://10.0.0.1:6443", "https://10.0.0.1"),
            ("10.0.0.0/8,", "https://10.200.3.4:6443", "https://11.0.0.1:6443"),
            ("0.0.0.0/0", "https://8.8.8.8", "https://[2001:db8::1]"),
            ("2001:db8::/32", "https://[2001:db8::1]:6443", "https://[2001:db9::1]:6443"),
            ("2001:db8::1", "https://[2001:db8::1]:6443", "https://[2001:db8::2]:6443"),
            ("[2001:db8::1]:6443", "https://[2001:db8::1]:6443", "https://[2001:db8::1]"),
            ("example.com", "https://API.example.com:6443", "https://notexample.com"),
            ("example.com", "https://example.com", "https://example.com.evil.org"),
            ("example.com:6443", "https://api.example.com:6443", "https://api.example.com"),
            (".example.com", "https://api.example.com", "https://example.com"),
            ("*.example.com", "https://a.b.example.com", "https://example.com"),
            (",,no/host,:,a:b,[]", "https://localhost", "https://host"),
        ] {
            let variables = [("HTTPS_PROXY", "http://proxy:3128"), ("NO_PROXY", no_proxy)];
            assert!(chosen(direct, None, &variables).is_none(), "{no_proxy} {direct}");
            assert!(through.is_empty() || chosen(through, None, &variables).is_some(), "{no_proxy} {through}");
        }
    }

    #[test]
    fn proxy_url_of_the_kubeconfig_always_counts_as_for_kubectl() {
        let variables = [("HTTPS_PROXY", "http://other"), ("NO_PROXY", "*")];
        // With `ssh -D`, the server is local from the point of view of the proxy.
        let proxy = chosen("https://127.0.0.1:6443", Some("socks5://a:b%40@proxy:1080"), &variables).unwrap();
        assert_eq!(proxy.scheme, Scheme::Socks5);
        assert_eq!(proxy.intercept.raw_auth(), Some(("a", "b@")));
    }

    #[test]
    fn a_variable_counts_for_its_scheme_and_needs_none_itself() {
        let variables = [("https_proxy", "user:secret@proxy:3128"), ("HTTPS_PROXY", "")];
        let proxy = chosen("https://host:6443", None, &variables).unwrap();
        assert_eq!((proxy.scheme, proxy.intercept.uri().to_string().as_str()), (Scheme::Http, "http://proxy:3128/"));
        assert!(proxy.intercept.basic_auth().is_some());
        assert!(chosen("http://host:6443", None, &variables).is_none());
        assert!(chosen("http://host:6443", None, &[("HTTP_PROXY", "https://proxy")]).is_some());
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_named_without_its_password() {
        let error =
            Proxy::choose(&server("https://host"), Some("ftp://me:secret@proxy"), &|_| None).unwrap_err().to_string();
        assert!(error.contains("ftp://proxy") && !error.contains("secret"), "{error}");
    }
}
