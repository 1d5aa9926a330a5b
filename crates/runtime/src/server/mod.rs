//! HTTP and HTTPS servers, with certificates that are followed and clients that are asked who they are.

pub mod access;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum_server::accept::NoDelayAcceptor;
use axum_server::tls_rustls::RustlsAcceptor;
use axum_server::{Handle, Server};
use hyper_util::rt::TokioTimer;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

pub use tls::Certificate;

/// How long a client may take for the head of a request: longer than Prometheus pauses, which keeps its connection.
const IDLE: Duration = Duration::from_secs(90);

/// Serves HTTP, or with a certificate HTTPS, until the set is dropped or the handle used.
pub async fn serve(
    servers: &mut JoinSet<()>,
    address: SocketAddr,
    router: Router,
    certificate: Option<Certificate>,
) -> io::Result<Handle<SocketAddr>> {
    let in_vain = |error: io::Error| io::Error::new(error.kind(), format!("cannot serve on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(in_vain)?;
    let handle = Handle::new();
    let mut server = Server::<SocketAddr>::from_listener(listener).http1_only().handle(handle.clone());
    let mut http = server.http_builder().http1();
    http.timer(TokioTimer::new()).header_read_timeout(IDLE);
    let service = router.into_make_service();
    // They never return: errors of single connections are axum-server's to handle.
    if let Some(certificate) = certificate {
        let tls = RustlsAcceptor::new(certificate.config.clone());
        // Else the second part of an answer waits until the client has confirmed the first, 40 ms.
        let server = server.acceptor(tls.acceptor(NoDelayAcceptor::new()));
        servers.spawn(async move { drop(server.serve(service).await) });
        servers.spawn(certificate.follow());
    } else {
        servers.spawn(async move { drop(server.serve(service).await) });
    }
    Ok(handle)
}
