//! How much a server gives to clients that nobody has authenticated yet.

use std::time::Duration;

/// The bounds of a [`Server`](super::Server), all of which apply before any authentication.
///
/// The server holds at most `memory` bytes of bodies and answers. Beside that, a connection costs about 12 KiB while nothing
/// happens on it, and up to `head_size` more while it is read.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at the same time, 512 by default. For one more, the client address with the most connections loses the one
    /// that has been without an answered request for longest.
    pub connections: usize,
    /// From a connection to the end of its TLS handshake: 10 seconds by default.
    pub handshake: Duration,
    /// From the first to the last byte of a request's head, and from a connection to its first request: 10 seconds by default.
    pub head: Duration,
    /// Until the next request on a connection: 90 seconds by default, which is longer than the usual interval of Prometheus.
    pub idle: Duration,
    /// Bytes of a request's line and headers, at least 8192: 16 KiB by default.
    pub head_size: usize,
    /// Headers of a request: 64 by default.
    pub headers: usize,
    /// From the head of a request to the end of its body: 10 seconds by default.
    pub body: Duration,
    /// Bytes of a request's body: none by default.
    pub body_size: usize,
    /// Bytes of all bodies and answers together, in whatever state: 16 MiB by default. `body_size` of it is for the request
    /// that began first, so that large ones do not wait for each other.
    pub memory: usize,
    /// For how long a request or an answer that is slow to arrive keeps its memory from others: one second by default.
    pub grace: Duration,
    /// Until a client has read an answer: 30 seconds by default.
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
