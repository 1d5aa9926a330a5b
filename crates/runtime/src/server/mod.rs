//! HTTP/1 servers, with or without TLS, that clients cannot exhaust.
//!
//! A handler gets a request only after it was received completely. Until then, and while the response is written,
//! [`Limits`] bounds connections, time and memory.

mod access;
mod connections;
mod limits;
mod stream;
mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::response::IntoResponse;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Buf, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use tracing::{debug, warn};

use connections::{Connections, Held, Phase, Slot};
use stream::Stream;

pub(crate) use access::Access;
pub use limits::Limits;
pub use tls::Certificate;

/// Pause before the next `accept` after the process ran out of resources, such as file descriptors.
const PAUSE: Duration = Duration::from_millis(500);

/// A running server. Dropping it stops it.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

struct Shared {
    router: Router,
    certificate: Option<Certificate>,
    limits: Arc<Limits>,
    connections: Connections,
    /// Once cancelled, each response closes its connection.
    closing: CancellationToken,
    /// Once cancelled, connections without a request are closed.
    ending: CancellationToken,
}

impl Server {
    /// Starts a server for `router` at an address: HTTPS with a certificate, plain HTTP without one.
    ///
    /// # Errors
    ///
    /// If the address cannot be bound.
    pub async fn start(
        address: SocketAddr,
        router: Router,
        certificate: Option<Certificate>,
        limits: Limits,
    ) -> io::Result<Self> {
        let failure = |error: io::Error| io::Error::new(error.kind(), format!("cannot serve on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(failure)?;
        let address = listener.local_addr().map_err(failure)?;
        let mut tasks = JoinSet::new();
        if let Some(certificate) = certificate.clone() {
            tasks.spawn(certificate.follow());
        }
        let limits = Arc::new(limits);
        let shared = Arc::new(Shared {
            // `Limits` bounds the body; the default of axum would apply first.
            router: router.layer(DefaultBodyLimit::disable()),
            certificate,
            connections: Connections::new(limits.clone()),
            limits,
            closing: CancellationToken::new(),
            ending: CancellationToken::new(),
        });
        tasks.spawn(accept(listener, shared.clone()));
        Ok(Self { address, shared, _tasks: tasks })
    }

    /// The listening address, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.shared.connections.count()
    }

    /// Announces the shutdown: each response has `Connection: close` from now on. Without it, a client may have sent
    /// another request when the connection is closed, and that request is lost.
    pub fn announce_shutdown(&self) {
        self.shared.closing.cancel();
    }

    /// Stops accepting connections, closes those without a request, and waits for the responses of the others, at most
    /// for `patience`.
    pub async fn shut_down(self, patience: Duration) {
        self.shared.closing.cancel();
        self.shared.ending.cancel();
        let ended = async {
            while self.connections() > 0 {
                sleep(Duration::from_millis(10)).await;
            }
        };
        let _ = timeout(patience, ended).await;
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Some(accepted) = shared.ending.run_until_cancelled(listener.accept()).await {
        while connections.try_join_next().is_some() {}
        let (stream, client) = match accepted {
            Ok(accepted) => accepted,
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(error) => {
                warn!("cannot accept a connection: {error}");
                sleep(PAUSE).await;
                continue;
            }
        };
        let admitted = shared.connections.admit(client.ip());
        let Some(slot) = shared.ending.run_until_cancelled(admitted).await else {
            break;
        };
        connections.spawn(serve(stream, slot, shared.clone()));
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Serves a connection until it ends or must be closed.
async fn serve(stream: TcpStream, slot: Slot, shared: Arc<Shared>) {
    let slot = Arc::new(slot);
    // Without this, the second packet of a response waits up to 40 ms for the client's acknowledgement of the first.
    let _ = stream.set_nodelay(true);
    let served = async {
        let Some(certificate) = &shared.certificate else {
            return exchange(stream, &slot, &shared).await;
        };
        let handshake = TlsAcceptor::from(certificate.config()).accept(stream);
        let handshake = timeout(shared.limits.handshake, handshake);
        match shared.ending.run_until_cancelled(handshake).await {
            Some(Ok(Ok(stream))) => exchange(stream, &slot, &shared).await,
            Some(Ok(Err(error))) => debug!("TLS handshake failed: {error}"),
            Some(Err(_)) => debug!("TLS handshake took too long"),
            None => {}
        }
    };
    slot.closed.run_until_cancelled(served).await;
}

/// Handles the requests of a connection.
async fn exchange<S>(stream: S, slot: &Arc<Slot>, shared: &Arc<Shared>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let limits = &shared.limits;
    let stream = Stream::new(stream, slot.clone(), limits.clone());
    let service = service_fn(|request| answer(request, slot, shared));
    let connection = http1::Builder::new()
        .max_buf_size(limits.head_size)
        .max_headers(limits.headers)
        // `Stream` distinguishes an idle connection from a slow head.
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shared.ending.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        debug!("connection closed: {error}");
    }
}

async fn answer(
    request: Request<Incoming>,
    slot: &Arc<Slot>,
    shared: &Arc<Shared>,
) -> Result<Response<Full<Chunk>>, Infallible> {
    slot.enter(Phase::Body);
    let read = timeout(shared.limits.body, read(request, slot, &shared.limits)).await;
    slot.enter(Phase::Service);
    let (response, mut held, is_last) = match read {
        Ok(Ok((request, held))) => {
            let Ok(response) = shared.router.clone().oneshot(request).await;
            (response, held, shared.closing.is_cancelled())
        }
        Ok(Err(refused)) => (refused.into_response(), slot.hold(0).await, true),
        Err(_) => {
            let slow = StatusCode::REQUEST_TIMEOUT.into_response();
            (slow, slot.hold(0).await, true)
        }
    };
    let (head, body) = response.into_parts();
    let bytes = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => {
            warn!("an answer failed: {error}");
            return Ok(status(StatusCode::INTERNAL_SERVER_ERROR));
        }
    };
    if timeout(2 * shared.limits.grace, held.resize(bytes.len())).await.is_err() {
        return Ok(status(StatusCode::SERVICE_UNAVAILABLE));
    }
    slot.enter(Phase::Answer);
    let chunk = Chunk { bytes, _held: Some(held) };
    let mut response = Response::from_parts(head, Full::new(chunk));
    if is_last {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    Ok(response)
}

fn status(status: StatusCode) -> Response<Full<Chunk>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

/// Reads a request with its whole body, and reserves the memory for it.
async fn read(
    request: Request<Incoming>,
    slot: &Arc<Slot>,
    limits: &Limits,
) -> Result<(Request<Body>, Held), StatusCode> {
    let (head, mut body) = request.into_parts();
    let mut held = slot.hold(0).await;
    let mut blocks = Vec::new();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        let Ok(data) = frame.into_data() else { continue };
        size += data.len();
        if size <= limits.body_size {
            held.grow(data.len()).await;
            append(&mut blocks, &data);
        } else if size <= 2 * limits.body_size {
            // Continues to read, since clients do not read the response before they have sent the request.
            blocks = Vec::new();
            held = slot.hold(0).await;
        } else {
            break;
        }
    }
    if size > limits.body_size {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let body = match blocks.len() {
        0 | 1 => blocks.pop().unwrap_or_default(),
        _ => blocks.concat(),
    };
    Ok((Request::from_parts(head, body.into()), held))
}

/// Size of the blocks that collect a body, in bytes. Larger ones would fragment the heap.
const BLOCK: usize = 64 << 10;

fn append(blocks: &mut Vec<Vec<u8>>, data: &[u8]) {
    match blocks.last_mut() {
        Some(last) if last.len() + data.len() <= BLOCK => last.extend_from_slice(data),
        _ => blocks.push(data.to_vec()),
    }
}

/// The body of a response, which holds its memory until it is written.
#[derive(Default)]
struct Chunk {
    bytes: Bytes,
    _held: Option<Held>,
}

impl Buf for Chunk {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
    }
}
