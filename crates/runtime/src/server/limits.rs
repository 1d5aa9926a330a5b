//! Limits of a server for clients that are not authenticated yet.

use std::time::Duration;

/// The limits of a [`Server`](super::Server), all of which apply before any authentication.
///
/// The server holds at most `memory` bytes of bodies and responses. In addition, an idle connection takes about 12 KiB,
/// and up to `head_size` more while its request is read.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum number of connections. Default: 512. For a new one beyond it, the client address with the most
    /// connections loses the one that has been idle, or busy with the same transfer, for longest; one with a complete
    /// request is never closed.
    pub connections: usize,
    /// Time from the connection to the end of the TLS handshake. Default: 10 seconds.
    pub handshake: Duration,
    /// Time from the first to the last byte of a request's head, and from the connection to its first request. Default:
    /// 10 seconds.
    pub head: Duration,
    /// Time until the next request of a connection. Default: 90 seconds, longer than the usual scrape interval of
    /// Prometheus.
    pub idle: Duration,
    /// Maximum size of a request's line and headers in bytes, at least 8192. Default: 16 KiB.
    pub head_size: usize,
    /// Maximum number of headers. Default: 64.
    pub headers: usize,
    /// Time from the head of a request to the end of its body. Default: 10 seconds.
    pub body: Duration,
    /// Maximum size of a request's body in bytes. Default: 0.
    pub body_size: usize,
    /// Maximum size of all bodies and responses together, in bytes. Default: 16 MiB. A part of the size `body_size` is
    /// reserved for the request that began first, so that large requests do not wait for each other.
    pub memory: usize,
    /// Time for which a slow request or response keeps its memory while others need it. Default: 1 second.
    pub grace: Duration,
    /// Time until a client has read a response. Default: 30 seconds.
    pub write: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(90),
            head_size: 16 << 10,
            headers: 64,
            body: Duration::from_secs(10),
            body_size: 0,
            memory: 16 << 20,
            grace: Duration::from_secs(1),
            write: Duration::from_secs(30),
        }
    }
}
