//! A proxy between the API server and a program that the operator runs: helm, or ansible-runner with its tasks.
//!
//! It listens on loopback while the program runs, and accepts requests whose path begins with the secret of this run.
//! The secret is in the path of the kubeconfig's URL, since the Go client libraries send no token without TLS. The
//! operator's client sends the requests, so none is sent after the operator has exited or another replica may be the
//! leader, even if the program still runs.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue,
    TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kube::Client;
use kube::client::Body;
use kube::core::Status;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::RwLock;
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::debug;

use crate::client::describe;
use crate::client::target::Target;
use crate::{Error, Result};

/// Hop-by-hop headers, which are not forwarded.
const OF_CONNECTION: [HeaderName; 4] = [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING, UPGRADE];

/// A running proxy. It closes when dropped.
pub(crate) struct Proxy<R> {
    /// Includes the secret.
    url: String,
    shared: Arc<Shared<R>>,
    _closing: DropGuard,
}

/// Handles the requests of a program.
pub(crate) trait Requests: Send + Sync + 'static {
    /// Sends a request, possibly modified, and returns its response.
    fn send(&self, client: &Client, asked: &Asked) -> impl Future<Output = Result<Response<Body>, kube::Error>> + Send;
}

struct Shared<R> {
    client: Client,
    requests: R,
    /// The prefix of all request paths.
    secret: String,
    /// `true` while requests may be sent. Each request holds a read lock until its response.
    is_open: RwLock<bool>,
}

impl<R: Requests> Proxy<R> {
    pub async fn start(client: Client, requests: R) -> Result<Self> {
        let cannot =
            |why: &dyn Display| Error::new("ProxyFailed", format!("cannot start the proxy of a program: {why}"));
        let mut random = [0; 32];
        SystemRandom::new().fill(&mut random).map_err(|error| cannot(&error))?;
        let secret: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| cannot(&error))?;
        let url = format!("http://{}", listener.local_addr().map_err(|error| cannot(&error))?);
        let (url, secret) = (format!("{url}/{secret}"), format!("/{secret}/"));
        let shared = Arc::new(Shared { client, requests, secret, is_open: true.into() });
        let closing = CancellationToken::new();
        tokio::spawn(listen(listener, shared.clone(), closing.clone()));
        Ok(Self { url, shared, _closing: closing.drop_guard() })
    }

    /// The kubeconfig of the program, with the address of the proxy and a default namespace.
    pub fn kubeconfig(&self, namespace: &str) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "proxy", "cluster": { "server": self.url } }],
            "users": [{ "name": "run", "user": {} }],
            "contexts": [{ "name": "run", "context": { "cluster": "proxy", "user": "run", "namespace": namespace } }],
            "current-context": "run",
        })
    }

    /// Rejects further requests, and waits until the last response.
    #[cfg_attr(not(feature = "ansible"), expect(dead_code, reason = "only runs of Ansible use it"))]
    pub async fn end(&self) -> &R {
        *self.shared.is_open.write().await = false;
        &self.shared.requests
    }
}

async fn listen<R: Requests>(listener: TcpListener, shared: Arc<Shared<R>>, closing: CancellationToken) {
    loop {
        let stream = match closing.run_until_cancelled(listener.accept()).await {
            Some(Ok((stream, _))) => stream,
            // For example, too many open files.
            Some(Err(error)) => {
                debug!("a connection of a program is lost: {error}");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
            None => return,
        };
        let (shared, closing) = (shared.clone(), closing.clone());
        tokio::spawn(async move { closing.run_until_cancelled(serve(stream, shared)).await });
    }
}

async fn serve<R: Requests>(stream: TcpStream, shared: Arc<Shared<R>>) {
    // Otherwise the second part of a response is delayed by 40 ms, until the client has acknowledged the first part.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let shared = shared.clone();
        async move {
            Ok::<_, Infallible>(shared.answer(request).await.unwrap_or_else(|error| refusal(502, &describe(&error))))
        }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades();
    if let Err(error) = connection.await {
        debug!("a connection of a program is closed: {error}");
    }
}

fn refusal(code: u16, why: &str) -> Response<Body> {
    let status = Status::failure(&format!("the proxy of the operator: {why}"), "ProxyFailed").with_code(code);
    let mut response = Response::new(Body::from(serde_json::to_vec(&status).unwrap_or_default()));
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A request with its whole body.
pub(crate) struct Asked {
    pub head: Parts,
    pub body: Bytes,
    pub target: Target,
}

impl Asked {
    /// The same request with another body.
    pub fn with(&self, body: Bytes) -> Request<Body> {
        let mut request = Request::new(Body::from(body));
        request.method_mut().clone_from(&self.head.method);
        request.uri_mut().clone_from(&self.head.uri);
        request.headers_mut().clone_from(&self.head.headers);
        request
    }

    pub fn unchanged(&self) -> Request<Body> {
        self.with(self.body.clone())
    }

    /// The URL of the collection: the kind in its namespace.
    #[cfg_attr(not(feature = "ansible"), expect(dead_code, reason = "only runs of Ansible use it"))]
    pub fn collection(&self) -> &str {
        let path = self.head.uri.path();
        match self.target.name {
            Some(_) => {
                let depth = 1 + usize::from(self.target.subresource().is_some());
                path.trim_end_matches('/').rsplitn(depth + 1, '/').last().unwrap_or(path)
            }
            None => path,
        }
    }
}

impl<R: Requests> Shared<R> {
    async fn answer(self: Arc<Self>, mut request: Request<Incoming>) -> Result<Response<Body>, kube::Error> {
        let path = request.uri().path_and_query().map_or("/", |it| it.as_str());
        let Some(path) = path.strip_prefix(&self.secret).map(|path| format!("/{path}")) else {
            return Ok(refusal(401, "this is not the address of the program"));
        };
        *request.uri_mut() = path.parse::<Uri>().map_err(|error| kube::Error::HttpError(error.into()))?;
        // The response is also read here, so compressed encodings are not accepted.
        [AUTHORIZATION, HOST, ACCEPT_ENCODING].iter().for_each(|name| _ = request.headers_mut().remove(name));
        if request.headers().contains_key(UPGRADE) {
            return self.tunnel(request).await;
        }
        OF_CONNECTION.iter().for_each(|name| _ = request.headers_mut().remove(name));
        let (head, body) = request.into_parts();
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => return Ok(refusal(400, &error.to_string())),
        };
        let target = Target::of(&head.method, &head.uri);
        let asked = Asked { head, body, target };
        // A separate task, so that a client that is killed does not cancel the request halfway.
        let sent = tokio::spawn(async move {
            let is_open = self.is_open.read().await;
            match *is_open {
                true => self.requests.send(&self.client, &asked).await.map(without_connection),
                false => Ok(refusal(503, "the program has ended")),
            }
        });
        sent.await.unwrap_or_else(|error| Ok(refusal(500, &error.to_string())))
    }

    /// Connects both sides of an upgraded connection, such as for `kubectl exec`.
    async fn tunnel(&self, mut request: Request<Incoming>) -> Result<Response<Body>, kube::Error> {
        let client = hyper::upgrade::on(&mut request);
        let (head, body) = request.into_parts();
        let body = body.collect().await.map(|body| body.to_bytes()).map_err(kube::Error::HyperError)?;
        let mut response = self.client.send(Request::from_parts(head, Body::from(body))).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(without_connection(response));
        }
        let server = hyper::upgrade::on(&mut response);
        tokio::spawn(async move {
            if let (Ok(client), Ok(server)) = tokio::join!(client, server) {
                // An error means that one side has closed the connection.
                let _ = copy_bidirectional(&mut TokioIo::new(client), &mut TokioIo::new(server)).await;
            }
        });
        Ok(response)
    }
}

fn without_connection(mut response: Response<Body>) -> Response<Body> {
    OF_CONNECTION.iter().for_each(|name| _ = response.headers_mut().remove(name));
    response
}

/// Forwards requests unchanged.
#[cfg(feature = "helm")]
pub(crate) struct Unchanged;

#[cfg(feature = "helm")]
impl Requests for Unchanged {
    async fn send(&self, client: &Client, asked: &Asked) -> Result<Response<Body>, kube::Error> {
        client.send(asked.unchanged()).await
    }
}

#[cfg(all(test, feature = "helm"))]
mod tests {
    use kube::Config;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::telemetry::metrics::Metrics;
    use crate::{Operator, client};

    /// A server that responds with the head of each request, and echoes everything on upgraded connections.
    async fn server() -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let head = head(&mut stream).await;
                    let answer = match head.contains("upgrade: ") {
                        true => "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
                            .to_owned(),
                        false => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{head}", head.len()),
                    };
                    stream.write_all(answer.as_bytes()).await.unwrap();
                    let (mut from, mut to) = stream.split();
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                });
            }
        });
        client::from_config(Config::new(url.parse().unwrap()), &Metrics::new(Operator { name: "test", version: "1" }))
            .unwrap()
    }

    async fn head(stream: &mut TcpStream) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        String::from_utf8(head).unwrap()
    }

    async fn ask(url: &str, header: &str) -> (String, TcpStream) {
        let (address, secret) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET /{secret}/api/v1/pods?limit=1 HTTP/1.1\r\nHost: {address}\r\nAuthorization: Basic x\r\n{header}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        (head(&mut stream).await, stream)
    }

    #[tokio::test]
    async fn only_the_program_that_knows_the_secret_is_answered_and_only_while_it_runs() {
        let proxy = Proxy::start(server().await, Unchanged).await.unwrap();
        let code = async |url: &str| ask(url, "Connection: close").await.0[9..12].to_owned();
        let (address, secret) = proxy.url.rsplit_once('/').unwrap();
        assert_eq!(code(&format!("{address}/{}", "0".repeat(secret.len()))).await, "401");
        let (answer, mut stream) = ask(&proxy.url, "X-One: 1\r\nConnection: close").await;
        let mut sent = String::new();
        stream.read_to_string(&mut sent).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && sent.starts_with("GET /api/v1/pods?limit=1 "), "{answer}{sent}");
        assert!(sent.contains("x-one: 1") && !sent.contains("authorization"), "{sent}");
        let kubeconfig = proxy.kubeconfig("web");
        assert_eq!(kubeconfig["clusters"][0]["cluster"]["server"], proxy.url.as_str());
        assert_eq!(kubeconfig["contexts"][0]["context"]["namespace"], "web");
        proxy.end().await;
        assert_eq!(code(&proxy.url).await, "503");
    }

    #[tokio::test]
    async fn a_connection_that_is_upgraded_passes_bytes_both_ways() {
        let proxy = Proxy::start(server().await, Unchanged).await.unwrap();
        let (answer, mut stream) = ask(&proxy.url, "Connection: Upgrade\r\nUpgrade: echo").await;
        assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
        stream.write_all(b"hello").await.unwrap();
        let mut echo = [0; 5];
        stream.read_exact(&mut echo).await.unwrap();
        assert_eq!(&echo, b"hello");
    }
}
