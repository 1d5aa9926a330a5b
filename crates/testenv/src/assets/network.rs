//! Downloads the index and archives. Interrupted downloads of archives are resumed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ring::digest::{Context, SHA512};
use ureq::http::{Response, Uri, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::{AssetsError, Event, Index, Release, Watch};

const INDEX: &str = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml";

const TRIES: u32 = 5;

/// The pause before the first retry. Doubled before each further one.
const PAUSE: Duration = Duration::from_millis(250);

/// The source of releases.
#[derive(Clone, Debug)]
pub struct Network {
    /// The URL of the index.
    pub index: String,
    /// The URL of the folder with the archives. `None` means the URLs in the index.
    pub archives: Option<String>,
    /// The proxies to use.
    pub proxies: Proxies,
    /// Timeout for connecting, and for a server that sends nothing.
    pub patience: Duration,
}

/// Proxies by the scheme of the URL.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// The URL of the proxy for `http:`, as in HTTP_PROXY.
    pub http: Option<String>,
    /// The URL of the proxy for `https:`, as in HTTPS_PROXY.
    pub https: Option<String>,
    /// Hosts to connect to directly, as in NO_PROXY.
    pub none: Vec<String>,
}

impl Network {
    /// Kubernetes' releases, or a mirror: the URL of a folder with `envtest-releases.yaml` and the archives.
    pub fn new(mirror: Option<&str>, proxies: Proxies) -> Self {
        let mirror = mirror.map(|mirror| mirror.trim_end_matches('/').to_owned());
        let index = mirror.as_ref().map_or_else(|| INDEX.into(), |mirror| format!("{mirror}/envtest-releases.yaml"));
        Self { index, archives: mirror, proxies, patience: Duration::from_secs(30) }
    }

    /// The URL of the index without its password.
    pub fn shown(&self) -> String {
        public(&self.index)
    }

    /// Downloads the index.
    ///
    /// # Errors
    ///
    /// If it cannot be downloaded or parsed.
    pub fn index(&self, watch: Watch) -> Result<Index, AssetsError> {
        let text = self.text(&self.index, watch)?;
        Index::parse(&text).map_err(|reason| AssetsError::BadIndex { url: self.shown(), reason })
    }

    /// Downloads a text of at most 10 MiB.
    ///
    /// # Errors
    ///
    /// If it cannot be downloaded.
    pub fn text(&self, url: &str, watch: Watch) -> Result<String, AssetsError> {
        self.persist(url, watch, |request, _| {
            let mut response = request.send(None)?;
            match response.status().as_u16() {
                200 => response.body_mut().read_to_string().map_err(|error| Failure::passing(&error)),
                _ => Err(Failure::status(&response)),
            }
        })
    }

    /// Downloads an archive to the file `part`, resuming an earlier download, and verifies its checksum.
    ///
    /// # Errors
    ///
    /// If it cannot be downloaded or written, or has a different checksum; then the file is removed.
    pub fn download(&self, release: &Release, part: &Path, watch: Watch) -> Result<(), AssetsError> {
        let written = |error| AssetsError::write(part, error);
        let url = match &self.archives {
            Some(folder) => format!("{folder}/{}", release.archive),
            None => release.url.clone(),
        };
        let expected = release.hash.to_lowercase();
        let mut resumed = length(part) > 0;
        if resumed && hash(part).map_err(written)? == expected {
            return Ok(());
        }
        loop {
            self.persist(&url, watch, |request, watch| receive(request, &url, part, watch))?;
            let found = hash(part).map_err(written)?;
            if found == expected {
                return Ok(());
            }
            std::fs::remove_file(part).map_err(written)?;
            if !resumed {
                return Err(AssetsError::WrongHash { url: public(&url), found, expected });
            }
            // The earlier download may have been of another file.
            resumed = false;
        }
    }

    /// Retries failures that may be temporary.
    fn persist<T>(
        &self,
        url: &str,
        watch: Watch,
        mut attempt: impl FnMut(&Request, Watch) -> Result<T, Failure>,
    ) -> Result<T, AssetsError> {
        let request = self.request(url)?;
        let mut tries = 1;
        loop {
            let reason = match attempt(&request, watch) {
                Ok(value) => return Ok(value),
                Err(Failure::Write(error)) => return Err(error),
                Err(Failure::Passing(reason)) if tries < TRIES => reason,
                Err(Failure::Passing(reason) | Failure::Lasting(reason)) => {
                    return Err(AssetsError::Download { url: public(url), proxy: request.proxy, reason });
                }
            };
            watch(Event::Retrying { reason: &reason });
            std::thread::sleep(PAUSE * 2u32.pow(tries - 1));
            tries += 1;
        }
    }

    fn request(&self, url: &str) -> Result<Request, AssetsError> {
        let uri: Uri = without_user(url).parse().map_err(|error: ureq::http::uri::InvalidUri| {
            AssetsError::Download { url: public(url), proxy: None, reason: error.to_string() }
        })?;
        let proxy = self.proxies.before(&uri)?;
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("opctl-testenv/", env!("CARGO_PKG_VERSION")))
            // The system's certificates, and those in SSL_CERT_FILE.
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .timeout_resolve(Some(self.patience))
            .timeout_connect(Some(self.patience))
            .timeout_per_read(Some(self.patience))
            .proxy(proxy.clone())
            .build()
            .new_agent();
        let shown = |proxy: &Proxy| public(&proxy.uri().to_string()).trim_end_matches('/').to_owned();
        let proxy = proxy.as_ref().filter(|proxy| !proxy.is_no_proxy(&uri)).map(shown);
        Ok(Request { agent, uri, user: user(url).map(ToOwned::to_owned), proxy })
    }
}

impl Proxies {
    fn before(&self, uri: &Uri) -> Result<Option<Proxy>, AssetsError> {
        let said = if uri.scheme_str() == Some("http") { &self.http } else { &self.https };
        let Some(said) = said else { return Ok(None) };
        let bad = |_| AssetsError::BadProxy(public(said));
        let proxy = Proxy::new(said).map_err(bad)?;
        let mut builder = Proxy::builder(proxy.protocol()).host(proxy.host()).port(proxy.port());
        if let Some(name) = proxy.username() {
            builder = builder.username(name);
        }
        if let Some(password) = proxy.password() {
            builder = builder.password(password);
        }
        // In curl and Go, a name includes its subdomains; in ureq, it does not.
        for host in self.none.iter().map(|host| host.trim()).filter(|host| !host.is_empty()) {
            builder = builder.no_proxy(host);
            if !host.starts_with(['.', '*']) {
                builder = builder.no_proxy(&format!(".{host}"));
            }
        }
        builder.build().map(Some).map_err(bad)
    }
}

struct Request {
    agent: Agent,
    uri: Uri,
    /// `name:password` from the URL.
    user: Option<String>,
    proxy: Option<String>,
}

impl Request {
    fn send(&self, from: Option<u64>) -> Result<Response<Body>, Failure> {
        let mut request = self.agent.get(&self.uri);
        if let Some(user) = &self.user {
            request = request.header(header::AUTHORIZATION, format!("Basic {}", BASE64_STANDARD.encode(user)));
        }
        if let Some(from) = from {
            request = request.header(header::RANGE, format!("bytes={from}-"));
        }
        request.call().map_err(|error| match &error {
            // Temporary: a retry may succeed.
            ureq::Error::Timeout(_) => Failure::passing(&error),
            ureq::Error::Io(io) if is_cut(io) => Failure::passing(&error),
            _ => Failure::Lasting(reason(&error)),
        })
    }
}

fn is_cut(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

enum Failure {
    /// Temporary: a retry may succeed.
    Passing(String),
    Lasting(String),
    Write(AssetsError),
}

impl Failure {
    fn passing(error: &ureq::Error) -> Self {
        Self::Passing(reason(error))
    }

    fn status(response: &Response<Body>) -> Self {
        let status = response.status();
        let reason = format!("the server answers {status}");
        if status.is_server_error() || status.as_u16() == 429 { Self::Passing(reason) } else { Self::Lasting(reason) }
    }
}

/// The cause, without ureq's wrapper.
fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) if is_cut(error) => "the connection was cut".into(),
        ureq::Error::Io(error) => match error.kind() {
            kind @ (io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable) => kind.to_string(),
            _ => error.to_string(),
        },
        ureq::Error::Timeout(_) => "nothing came for too long".into(),
        error => error.to_string(),
    }
}

/// A single attempt, which appends the missing part of the file.
fn receive(request: &Request, url: &str, part: &Path, watch: Watch) -> Result<(), Failure> {
    let written = |error| Failure::Write(AssetsError::write(part, error));
    let mut file = OpenOptions::new().append(true).create(true).open(part).map_err(written)?;
    let mut done = length(part);
    let mut response = request.send(Some(done).filter(|done| *done > 0))?;
    let begins = format!("bytes {done}-");
    let range = response.headers().get(header::CONTENT_RANGE).and_then(|range| range.to_str().ok());
    match response.status().as_u16() {
        206 if range.is_some_and(|range| range.starts_with(&begins)) => {}
        // The server sends the whole file, or the file has changed.
        status @ (200 | 206 | 416) => {
            if done > 0 {
                file.set_len(0).map_err(written)?;
                done = 0;
            }
            if status != 200 {
                return Err(Failure::Passing("the server sent another part than the missing one".into()));
            }
        }
        _ => return Err(Failure::status(&response)),
    }
    let size = response.body().content_length().map(|rest| done + rest);
    watch(Event::Downloading { url: &public(url), size });
    let mut reader = response.body_mut().as_reader();
    let mut buffer = vec![0; 1 << 16];
    loop {
        watch(Event::Progress { done, size });
        let length = reader.read(&mut buffer).map_err(|error| Failure::passing(&error.into()))?;
        if length == 0 {
            break;
        }
        file.write_all(&buffer[..length]).map_err(written)?;
        done += length as u64;
    }
    match size {
        Some(size) if done < size => Err(Failure::Passing("the connection was cut".into())),
        _ => Ok(()),
    }
}

fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

/// SHA-512, in hex.
fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA512);
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            length => context.update(&buffer[..length]),
        }
    }
    Ok(context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// `name:password` in the URL, if any.
fn user(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    authority.rsplit_once('@').map(|(user, _)| user)
}

fn without_user(url: &str) -> String {
    user(url).map_or_else(|| url.to_owned(), |user| url.replacen(&format!("{user}@"), "", 1))
}

/// The URL without its password.
fn public(url: &str) -> String {
    user(url).map_or_else(|| url.to_owned(), |user| url.replacen(user, "***", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let url = "https://me:secret@mirror.example.com/envtest";
        assert_eq!(public(url), "https://***@mirror.example.com/envtest");
        assert_eq!(without_user(url), "https://mirror.example.com/envtest");
        let plain = "https://mirror.example.com/a@b";
        assert_eq!((public(plain), without_user(plain)), (plain.to_owned(), plain.to_owned()));
    }

    #[test]
    fn a_mirror_has_all_in_one_folder() {
        let network = Network::new(Some("https://mirror.example.com/envtest/"), Proxies::default());
        assert_eq!(network.index, "https://mirror.example.com/envtest/envtest-releases.yaml");
        assert_eq!(network.archives.as_deref(), Some("https://mirror.example.com/envtest"));
    }

    #[test]
    fn a_proxy_is_that_of_the_scheme_and_not_for_hosts_that_are_reached_directly() {
        let proxies = Proxies {
            http: Some("http://plain:1".into()),
            https: Some("http://me:pass%40word@secure:2".into()),
            none: ["example.com", " .internal", "10.0.0.1 "].map(String::from).to_vec(),
        };
        let before = |url: &str| proxies.before(&url.parse().unwrap()).unwrap().unwrap();
        let proxy = before("https://github.com/x");
        assert_eq!((proxy.host(), proxy.port(), proxy.password()), ("secure", 2, Some("pass@word")));
        assert_eq!(before("http://github.com/x").host(), "plain");
        for (url, direct) in [
            ("https://example.com/x", true),
            ("https://mirror.example.com:8443/x", true),
            ("https://notexample.com/x", false),
            ("https://a.internal/x", true),
            ("https://10.0.0.1/x", true),
            ("https://github.com/x", false),
        ] {
            assert_eq!(proxy.is_no_proxy(&url.parse().unwrap()), direct, "{url}");
        }
        let bad = Proxies { https: Some("gopher://x".into()), ..Proxies::default() };
        assert!(matches!(bad.before(&"https://x/".parse().unwrap()), Err(AssetsError::BadProxy(_))));
    }
}
