//! The client of the API server: configured by the kubeconfig or the Pod's service account, with proxies, metrics,
//! retries that do not add to an overload, and errors that name the server.

mod fence;
mod overload;
mod proxy;
mod requests;
pub(crate) mod target;

use std::path::PathBuf;
use std::time::Duration;
use std::{env, fmt};

use http::Uri;
use hyper::rt::{Read, Write};
use hyper_timeout::TimeoutConnector;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt};
use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

use crate::leader_election::Term;
use crate::telemetry::metrics::Metrics;
use crate::with_causes;
use fence::Fenced;
use proxy::{Proxy, Scheme};
use requests::{RequestsLayer, Server};

pub use requests::RequestError;

/// Creates a client for the cluster of the kubeconfig, or of the Pod that the operator runs in. Sends no request.
///
/// Reads the kubeconfig of `KUBECONFIG`, or else `~/.kube/config`; without one, uses the Pod's service account.
/// `proxy-url`, `HTTPS_PROXY` and `NO_PROXY` have the meaning that they have for kubectl; a Pod reaches its own cluster
/// without a proxy.
///
/// `metrics` counts the requests.
///
/// # Errors
///
/// If there is neither a kubeconfig nor a service account, or if their settings are invalid.
pub async fn connect(metrics: &Metrics) -> Result<Client, Error> {
    connect_within(&Term::default(), metrics).await
}

/// Like [`connect`], but the connections send nothing once the term is over.
pub(crate) async fn connect_within(term: &Term, metrics: &Metrics) -> Result<Client, Error> {
    connect_with(term, metrics, &|name| env::var(name).ok()).await
}

async fn connect_with(
    term: &Term,
    metrics: &Metrics,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<Client, Error> {
    let (mut config, proxy_url) = match kubeconfig(variable)? {
        Some(Found { paths, kubeconfig }) => {
            let proxy_url = proxy_url(&kubeconfig);
            let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
            let config = config.map_err(|source| Error::Kubeconfig { paths, source: source.into() })?;
            (config, proxy_url)
        }
        None => (Config::incluster_env().map_err(Error::no_pod)?, None),
    };
    config.apply_debug_overrides();
    let is_pod = config.root_cert_file.is_some();
    let proxy = match is_pod {
        true => None,
        false => Proxy::choose(&config.cluster_url, proxy_url.as_deref(), variable)?,
    };
    build(config, proxy, term, metrics)
}

/// Creates a client from a custom configuration, with everything that [`connect`] adds. Uses its `proxy_url`, and
/// ignores the environment variables.
///
/// # Errors
///
/// If the proxy, certificates or credentials are invalid.
pub fn from_config(config: Config, metrics: &Metrics) -> Result<Client, Error> {
    let proxy_url = config.proxy_url.as_ref().map(Uri::to_string);
    let proxy = Proxy::choose(&config.cluster_url, proxy_url.as_deref(), &|_| None)?;
    build(config, proxy, &Term::default(), metrics)
}

/// A merged kubeconfig, and the files that it was loaded from.
struct Found {
    paths: Paths,
    kubeconfig: Kubeconfig,
}

/// The kubeconfig, if it has a current context. Without one, the service account is used, if there is one.
fn kubeconfig(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Found>, Error> {
    let named = variable("KUBECONFIG").unwrap_or_default();
    let named: Vec<PathBuf> = env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
    let default = || Some(env::home_dir()?.join(".kube").join("config")).filter(|path| path.exists());
    let paths = match named.is_empty() {
        true => Paths(default().into_iter().collect()),
        false => Paths(named),
    };
    let read =
        paths.0.iter().try_fold(Kubeconfig::default(), |merged, path| merged.merge(Kubeconfig::read_from(path)?));
    let kubeconfig = match read {
        Ok(kubeconfig) => kubeconfig,
        Err(source) => return Err(Error::Kubeconfig { paths, source: source.into() }),
    };
    // `kubectl config unset current-context` leaves an empty name.
    let context = kubeconfig.current_context.as_deref().unwrap_or_default();
    if !context.is_empty() {
        return Ok(Some(Found { paths, kubeconfig }));
    }
    match Config::incluster_env() {
        Err(_) if !paths.0.is_empty() => {
            Err(Error::Kubeconfig { paths, source: KubeconfigError::CurrentContextNotSet.into() })
        }
        _ => Ok(None),
    }
}

/// The `proxy-url` of the current context's cluster.
fn proxy_url(kubeconfig: &Kubeconfig) -> Option<String> {
    let current = kubeconfig.current_context.as_ref()?;
    let context = kubeconfig.contexts.iter().find(|context| context.name == *current)?.context.as_ref()?;
    let cluster = kubeconfig.clusters.iter().find(|cluster| cluster.name == context.cluster)?.cluster.as_ref()?;
    cluster.proxy_url.clone()
}

fn build(config: Config, proxy: Option<Proxy>, term: &Term, metrics: &Metrics) -> Result<Client, Error> {
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    // Detects a dead peer within a minute. A watch, which may be silent for minutes, cannot use a short timeout
    // instead.
    connector.set_keepalive(Some(Duration::from_secs(30)));
    connector.set_keepalive_interval(Some(Duration::from_secs(10)));
    connector.set_keepalive_retries(Some(3));
    let term = term.clone();
    // Below TLS and proxies, where bytes leave the process.
    let connector = connector.map_response(move |stream| Fenced { stream, term: term.clone() });
    let server = Server {
        url: config.cluster_url.to_string().trim_end_matches('/').to_owned(),
        proxy: proxy
            .as_ref()
            .map(|proxy| (proxy.intercept.uri().to_string().trim_end_matches('/').to_owned(), proxy.origin)),
    };
    let layer = RequestsLayer::new(server, metrics.clone());
    let Some(Proxy { scheme, intercept, .. }) = proxy else {
        return stack(config, connector, layer);
    };
    match scheme {
        Scheme::Http => stack(config, tunnel(&intercept, connector), layer),
        Scheme::Https => {
            // With the certificate authorities of the API server, as in kubectl.
            let connector = config.rustls_https_connector_with_connector(connector).map_err(Error::config)?;
            stack(config, tunnel(&intercept, connector), layer)
        }
        Scheme::Socks5 => {
            let mut connector = SocksV5::new(intercept.uri().clone(), connector);
            if let Some((user, password)) = intercept.raw_auth() {
                connector = connector.with_auth(user.to_owned(), password.to_owned());
            }
            stack(config, connector, layer)
        }
    }
}

fn tunnel<C>(intercept: &hyper_util::client::proxy::matcher::Intercept, connector: C) -> Tunnel<C> {
    let tunnel = Tunnel::new(intercept.uri().clone(), connector);
    match intercept.basic_auth() {
        Some(credentials) => tunnel.with_auth(credentials.clone()),
        None => tunnel,
    }
}

/// The client stack of kube, with [`RequestsLayer`] in the place of kube's retries.
fn stack<C>(config: Config, connector: C, layer: RequestsLayer) -> Result<Client, Error>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin + 'static,
    C::Future: Send + 'static,
    C::Error: std::error::Error + Send + Sync + 'static,
{
    let auth = config.auth_layer().map_err(Error::config)?;
    let headers = config.extra_headers_layer().map_err(Error::config)?;
    let mut connector =
        TimeoutConnector::new(config.rustls_https_connector_with_connector(connector).map_err(Error::config)?);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_read_timeout(config.read_timeout);
    connector.set_write_timeout(config.write_timeout);
    connector.set_reset_reader_on_write(config.reset_reader_on_write);
    let client = hyper_util::client::legacy::Builder::new(TokioExecutor::new()).build::<_, Body>(connector);
    let service = ServiceBuilder::new()
        .layer(layer)
        .layer(config.base_uri_layer())
        .option_layer(auth)
        .layer(headers)
        .service(client.map_err(BoxError::from));
    Ok(Client::new(service, config.default_namespace))
}

/// Describes a failed request in one sentence that names the server. The `Display` of kube repeats the whole response,
/// or is just "client error (Connect)".
pub(crate) fn describe(error: &kube::Error) -> String {
    match error {
        // The server does not distinguish an expired certificate from an invalid token.
        kube::Error::Api(status) if status.code == 401 => {
            "Unauthorized: the credentials are invalid or have expired".to_owned()
        }
        kube::Error::Api(status) => status.to_string(),
        kube::Error::Service(error) => with_causes(&**error),
        error => with_causes(error),
    }
}

/// An error in the configuration of a client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is neither a kubeconfig nor a service account.
    #[error(
        "no cluster is configured: `KUBECONFIG` is not set, `~/.kube/config` does not exist, and this is not a Pod with a service account"
    )]
    NoCluster,
    /// The Pod's service account is invalid.
    #[error("cannot use the service account of this Pod: {0}")]
    ServiceAccount(#[source] InClusterError),
    /// The kubeconfig is invalid.
    #[error("cannot use the kubeconfig {paths}: {}", explained(source))]
    Kubeconfig {
        /// The files of the kubeconfig.
        paths: Paths,
        /// The cause.
        source: Box<KubeconfigError>,
    },
    /// The URL of the proxy is invalid.
    #[error("cannot use the proxy `{url}` of {origin}: it must be a URL with `http`, `https` or `socks5`")]
    Proxy {
        /// The URL, without credentials.
        url: String,
        /// The setting or environment variable that contains it.
        origin: &'static str,
    },
    /// The certificates or credentials are invalid.
    #[error("cannot use the certificates or credentials of the kubeconfig: {}", with_causes(&**.0))]
    Credentials(#[source] Box<kube::Error>),
}

impl Error {
    fn config(error: kube::Error) -> Self {
        Self::Credentials(Box::new(error))
    }

    fn no_pod(error: InClusterError) -> Self {
        match error {
            InClusterError::ReadEnvironmentVariable(_) => Self::NoCluster,
            error => Self::ServiceAccount(error),
        }
    }
}

fn explained(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::CurrentContextNotSet => {
            "it has no current context; set one by `kubectl config use-context NAME`".to_owned()
        }
        KubeconfigError::LoadContext(name) => {
            format!("it has no context `{name}`, which is its current one; `kubectl config get-contexts` lists them")
        }
        KubeconfigError::LoadClusterOfContext(name) => {
            format!("it has no cluster `{name}`, which its current context names")
        }
        KubeconfigError::MissingClusterUrl => "the cluster of its current context has no `server`".to_owned(),
        KubeconfigError::ReadConfig(error, path) => format!("`{}`: {error}", path.display()),
        error => with_causes(error),
    }
}

/// The files of a kubeconfig.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Paths(pub Vec<PathBuf>);

impl fmt::Display for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<String> = self.0.iter().map(|path| format!("`{}`", path.display())).collect();
        f.write_str(&paths.join(", "))
    }
}

#[cfg(test)]
mod tests;
