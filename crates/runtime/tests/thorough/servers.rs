//! Servers under attack by unauthenticated clients, which must not affect other clients.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use opctl_runtime::server::{Certificate, Limits, Server};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The largest body in bytes: more than the default limit of axum.
const SIZE: usize = 5 << 19;

/// Short limits, so that a test can wait for them.
fn limits() -> Limits {
    Limits {
        connections: 20,
        handshake: Duration::from_millis(500),
        head: Duration::from_millis(500),
        idle: Duration::from_secs(2),
        body: Duration::from_secs(2),
        body_size: SIZE,
        memory: 8 << 20,
        grace: Duration::from_millis(200),
        write: Duration::from_secs(1),
        ..Limits::default()
    }
}

async fn start(limits: Limits, certificate: Option<Certificate>) -> Server {
    let large = || async { vec![b'x'; 2 << 20] };
    let slow = || async {
        sleep(Duration::from_millis(1500)).await;
        "slow"
    };
    let router = Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/large", get(large))
        .route("/slow", get(slow))
        .route("/size", post(|body: Bytes| async move { body.len().to_string() }));
    Server::start(([127, 0, 0, 1], 0).into(), router, certificate, limits).await.unwrap()
}

/// Connects from an address of the loopback interface: 127.0.0.1 and 127.0.0.2 are different clients.
async fn connect(server: SocketAddr, client: [u8; 4]) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((client, 0).into()).unwrap();
    socket.connect(server).await.unwrap()
}

const ATTACKER: [u8; 4] = [127, 0, 0, 1];
const OTHER: [u8; 4] = [127, 0, 0, 2];

async fn send(stream: &mut (impl AsyncWrite + Unpin), text: impl AsRef<[u8]>) {
    stream.write_all(text.as_ref()).await.unwrap();
    stream.flush().await.unwrap();
}

/// The data that the server sends until it closes the connection, and the time until then.
async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> (String, Duration) {
    let (start, mut bytes) = (Instant::now(), Vec::new());
    // A connection with unread data is reset.
    let _ = timeout(Duration::from_secs(20), stream.read_to_end(&mut bytes)).await.expect("it is never closed");
    (String::from_utf8_lossy(&bytes).into_owned(), start.elapsed())
}

/// Sends a request on a new connection and returns the response.
async fn ask(server: SocketAddr, client: [u8; 4], method: &str, path: &str, body: &[u8]) -> String {
    let mut stream = connect(server, client).await;
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
    send(&mut stream, head).await;
    let _ = stream.write_all(body).await;
    rest(&mut stream).await.0
}

/// Asserts that a well-behaved client is served at once.
async fn is_served(server: &Server, client: [u8; 4]) {
    let start = Instant::now();
    let answer = ask(server.address(), client, "GET", "/", b"").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("hello"), "{answer}");
    let answer = ask(server.address(), client, "POST", "/size", &[b'x'; 100_000]).await;
    assert!(answer.ends_with("\r\n\r\n100000"), "{answer}");
    assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
}

async fn is_closed_between(stream: &mut (impl AsyncRead + Unpin), least: u64, most: u64) -> String {
    let (text, time) = rest(stream).await;
    let (least, most) = (Duration::from_millis(least), Duration::from_millis(most));
    assert!((least..most).contains(&time), "{time:?} {text}");
    text
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let server = start(limits(), None).await;
    let mut silent = connect(server.address(), ATTACKER).await;
    is_served(&server, ATTACKER).await;
    assert_eq!(is_closed_between(&mut silent, 0, 1500).await, "");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_head_of_a_byte_at_a_time_is_cut_off() {
    let server = start(limits(), None).await;
    let mut slow = connect(server.address(), ATTACKER).await;
    let start = Instant::now();
    for byte in "GET / HTTP/1.1\r\nHost: somebody\r\n".chars().cycle() {
        sleep(Duration::from_millis(50)).await;
        if slow.write_all(&[byte as u8]).await.is_err() {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(3));
    }
    is_served(&server, ATTACKER).await;
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn the_next_request_may_come_later_than_the_first() {
    let server = start(limits(), None).await;
    let mut kept = connect(server.address(), ATTACKER).await;
    let mut answer = [0; 4096];
    for _ in 0..2 {
        send(&mut kept, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
        let read = kept.read(&mut answer).await.unwrap();
        assert!(answer[..read].ends_with(b"hello"));
        sleep(Duration::from_secs(1)).await;
    }
    // The connection was idle for longer than that; once it begins, the next request has the same limit as the first.
    send(&mut kept, "GET /").await;
    assert_eq!(is_closed_between(&mut kept, 400, 1000).await, "");

    let mut idle = connect(server.address(), ATTACKER).await;
    send(&mut idle, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let text = is_closed_between(&mut idle, 1900, 2500).await;
    assert!(text.ends_with("hello"), "{text}");
}

#[tokio::test]
async fn a_body_of_a_byte_at_a_time_is_cut_off() {
    let server = start(limits(), None).await;
    let (mut read, mut write) = connect(server.address(), ATTACKER).await.into_split();
    send(&mut write, "POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n").await;
    let dribble = tokio::spawn(async move {
        while write.write_all(b"x").await.is_ok() {
            sleep(Duration::from_millis(50)).await;
        }
    });
    sleep(Duration::from_millis(100)).await;
    is_served(&server, ATTACKER).await;
    let text = is_closed_between(&mut read, 1000, 2500).await;
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
    timeout(Duration::from_secs(2), dribble).await.unwrap().unwrap();
}

#[tokio::test]
async fn large_heads_and_bodies_are_refused() {
    let server = start(limits(), None).await;
    let address = server.address();
    let with = async |headers: String| {
        let mut stream = connect(address, ATTACKER).await;
        let _ = stream.write_all(format!("GET / HTTP/1.1\r\nHost: a\r\n{headers}\r\n").as_bytes()).await;
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        String::from_utf8_lossy(&start).into_owned()
    };
    assert_eq!(with(format!("A: {}\r\n", "x".repeat(10_000))).await, "HTTP/1.1 200");
    assert_eq!(with(format!("A: {}\r\n", "x".repeat(20_000))).await, "HTTP/1.1 431");
    assert_eq!(with("A: b\r\n".repeat(60)).await, "HTTP/1.1 200");
    assert_eq!(with("A: b\r\n".repeat(100)).await, "HTTP/1.1 431");

    assert!(ask(address, ATTACKER, "POST", "/size", &vec![b'x'; SIZE]).await.ends_with("2621440"));
    let refused = ask(address, ATTACKER, "POST", "/size", &vec![b'x'; SIZE + 1]).await;
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");

    let mut chunked = connect(address, ATTACKER).await;
    send(&mut chunked, "POST /size HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").await;
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 16, "x".repeat(1 << 16));
    while chunked.write_all(chunk.as_bytes()).await.is_ok() {}
    is_served(&server, ATTACKER).await;
}

#[tokio::test]
async fn http_2_by_prior_knowledge_is_not_answered() {
    let server = start(limits(), None).await;
    let mut stream = connect(server.address(), ATTACKER).await;
    // The preface of HTTP/2, and an empty SETTINGS frame.
    send(&mut stream, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    assert_eq!(is_closed_between(&mut stream, 0, 400).await, "");
}

#[tokio::test]
async fn one_client_cannot_hold_all_connections() {
    let limits = Limits { head: Duration::from_secs(60), ..limits() };
    let server = start(limits.clone(), None).await;
    let mut first = connect(server.address(), OTHER).await;
    let mut held = Vec::new();
    for _ in 0..5 * limits.connections {
        held.push(connect(server.address(), ATTACKER).await);
        assert!(server.connections() <= limits.connections);
    }
    sleep(Duration::from_millis(100)).await;
    assert_eq!(server.connections(), limits.connections);
    // Other clients are served, and so are new connections of this one.
    is_served(&server, OTHER).await;
    is_served(&server, ATTACKER).await;
    send(&mut first, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(rest(&mut first).await.0.ends_with("hello"));
}

#[tokio::test]
async fn a_request_that_is_served_is_not_closed_for_others() {
    let limits = limits();
    let server = start(limits.clone(), None).await;
    let address = server.address();
    let ask = move || async move { ask(address, ATTACKER, "GET", "/slow", b"").await };
    let asked = Vec::from_iter((0..limits.connections + 5).map(|_| tokio::spawn(ask())));
    for answer in asked {
        let answer = answer.await.unwrap();
        assert!(answer.ends_with("slow"), "{answer}");
    }
}

/// Sends the head of a request and only a part of its body.
async fn half_sent(server: SocketAddr, size: usize, sent: usize) -> TcpStream {
    let mut stream = connect(server, ATTACKER).await;
    let _ =
        stream.write_all(format!("POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n").as_bytes()).await;
    let _ = timeout(Duration::from_millis(100), stream.write_all(&vec![b'x'; sent])).await;
    stream
}

#[tokio::test]
async fn half_sent_bodies_leave_memory_for_others() {
    let limits = Limits { body: Duration::from_secs(60), ..limits() };
    let server = start(limits.clone(), None).await;
    let mut held = Vec::new();
    for _ in 0..10 {
        held.push(half_sent(server.address(), SIZE, 2_500_000).await);
    }
    for client in [ATTACKER, OTHER] {
        is_served(&server, client).await;
    }
    let whole = ask(server.address(), OTHER, "POST", "/size", &vec![b'x'; SIZE]).await;
    assert!(whole.ends_with("2621440"), "{whole}");
    // The connections that were slow for longest were closed; the rest fits.
    assert!(server.connections() <= limits.memory / 2_500_000, "{}", server.connections());
}

#[tokio::test]
async fn many_large_bodies_at_once_are_all_served() {
    // No timeout applies: the requests wait for each other.
    let long = Duration::from_secs(60);
    let limits = Limits { head: long, body: long, grace: long, write: long, ..limits() };
    let server = start(limits, None).await;
    let body = Arc::new(vec![b'x'; SIZE]);
    let asked = Vec::from_iter((0..15).map(|_| {
        let (body, address) = (body.clone(), server.address());
        tokio::spawn(async move { ask(address, ATTACKER, "POST", "/size", &body).await })
    }));
    for answer in asked {
        let answer = answer.await.unwrap();
        assert!(answer.ends_with("2621440"), "{answer}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_is_cut_off() {
    let server = start(Limits { memory: 64 << 20, ..limits() }, None).await;
    let mut held = Vec::new();
    for _ in 0..5 {
        let mut stream = connect(server.address(), ATTACKER).await;
        // More than the buffers of the kernel hold.
        send(&mut stream, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n".repeat(4)).await;
        held.push(stream);
    }
    sleep(Duration::from_millis(300)).await;
    assert_eq!(server.connections(), 5);
    is_served(&server, ATTACKER).await;
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn answers_that_nobody_reads_leave_memory_for_others() {
    let server = start(Limits { write: Duration::from_secs(60), memory: 7 << 20, ..limits() }, None).await;
    let mut held = Vec::new();
    for _ in 0..10 {
        let mut stream = connect(server.address(), ATTACKER).await;
        send(&mut stream, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n".repeat(8)).await;
        held.push(stream);
    }
    sleep(Duration::from_millis(300)).await;
    is_served(&server, OTHER).await;
    let large = async { while ask(server.address(), OTHER, "GET", "/large", b"").await.len() < 2 << 20 {} };
    timeout(Duration::from_secs(5), large).await.unwrap();
}

#[derive(Debug)]
struct TrustAll;

impl rustls::client::danger::ServerCertVerifier for TrustAll {
    fn verify_server_cert(
        &self,
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &[rustls::pki_types::CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Ok(rustls::client::danger::HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        rustls::crypto::ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// Shorter than the defaults, but longer than a busy machine takes for a few handshakes.
fn limits_for_handshakes() -> Limits {
    let seconds = Duration::from_secs(4);
    Limits { handshake: seconds, head: seconds, idle: seconds * 2, ..limits() }
}

async fn tls(server: SocketAddr, protocols: &[&str]) -> std::io::Result<TlsStream<TcpStream>> {
    let provider = rustls::crypto::ring::default_provider().into();
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.dangerous().with_custom_certificate_verifier(Arc::new(TrustAll)).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
    let stream = connect(server, ATTACKER).await;
    TlsConnector::from(Arc::new(config)).connect("localhost".try_into().unwrap(), stream).await
}

async fn ask_by_tls(server: SocketAddr) -> (String, Vec<u8>) {
    let mut stream = tls(server, &["h2", "http/1.1"]).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let certificate = stream.get_ref().1.peer_certificates().unwrap()[0].to_vec();
    send(&mut stream, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    (rest(&mut stream).await.0, certificate)
}

#[tokio::test]
async fn a_handshake_has_to_end_and_only_http_1_is_offered() {
    let server = start(limits_for_handshakes(), Some(Certificate::self_signed().unwrap())).await;
    let address = server.address();
    let mut silent = connect(address, ATTACKER).await;
    let mut slow = connect(address, ATTACKER).await;
    send(&mut slow, b"\x16\x03\x01").await;
    // A connection that is silent after the handshake.
    let mut quiet = tls(address, &[]).await.unwrap();
    assert!(ask_by_tls(address).await.0.ends_with("hello"));
    assert_eq!(is_closed_between(&mut silent, 0, 9000).await, "");
    rest(&mut slow).await;
    rest(&mut quiet).await;
    assert_eq!(server.connections(), 0);
    assert!(tls(address, &["h2"]).await.is_err());
    let plain = ask(address, ATTACKER, "GET", "/", b"").await;
    assert!(!plain.contains("HTTP/1.1"), "{plain}");
}

#[tokio::test]
async fn a_certificate_is_replaced_while_connections_last() {
    let certificate = Certificate::self_signed().unwrap();
    let server = start(limits_for_handshakes(), Some(certificate.clone())).await;
    let mut before = tls(server.address(), &[]).await.unwrap();
    let (_, first) = ask_by_tls(server.address()).await;
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (chain, key) = (issued.cert.pem(), issued.signing_key.serialize_pem());
    assert!(certificate.replace(chain.as_bytes(), b"no key").is_err());
    assert_eq!(ask_by_tls(server.address()).await.1, first);
    certificate.replace(chain.as_bytes(), key.as_bytes()).unwrap();
    assert_eq!(ask_by_tls(server.address()).await.1, issued.cert.der().to_vec());
    send(&mut before, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(rest(&mut before).await.0.ends_with("hello"));
}

#[test]
fn a_folder_without_a_whole_certificate_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let why = || Certificate::from_folder(folder.path().to_owned()).unwrap_err().to_string();
    let begin = format!("cannot serve HTTPS with the certificate in {}: tls.crt: ", folder.path().display());
    assert_eq!(why(), format!("{begin}No such file or directory (os error 2)"));
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.path().join("tls.key"), issued.signing_key.serialize_pem()).unwrap();
    // As on a full disk.
    std::fs::write(folder.path().join("tls.crt"), "").unwrap();
    assert_eq!(why(), format!("{begin}there is no certificate in it"));
}

#[tokio::test]
async fn what_is_asked_before_a_shutdown_is_answered() {
    let server = start(limits(), None).await;
    let address = server.address();
    let asked = tokio::spawn(ask(address, ATTACKER, "GET", "/slow", b""));
    let mut idle = connect(address, ATTACKER).await;
    send(&mut idle, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut silent = connect(address, ATTACKER).await;
    sleep(Duration::from_millis(200)).await;

    server.announce_shutdown();
    let mut kept = connect(address, ATTACKER).await;
    send(&mut kept, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let answer = rest(&mut kept).await.0;
    assert!(answer.contains("\r\nconnection: close\r\n") && answer.ends_with("hello"), "{answer}");

    let start = Instant::now();
    server.shut_down(Duration::from_secs(10)).await;
    assert!((1000..2000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    assert!(asked.await.unwrap().ends_with("slow"));
    assert!(rest(&mut idle).await.0.ends_with("hello"));
    assert_eq!(rest(&mut silent).await.0, "");
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_shutdown_does_not_wait_longer_than_it_should() {
    let server = start(limits(), None).await;
    let _asked = tokio::spawn(ask(server.address(), ATTACKER, "GET", "/slow", b""));
    sleep(Duration::from_millis(200)).await;
    let start = Instant::now();
    server.shut_down(Duration::from_millis(100)).await;
    assert!(start.elapsed() < Duration::from_millis(500));
}

#[tokio::test]
async fn a_server_that_is_dropped_ends() {
    let server = start(limits(), None).await;
    let mut open = connect(server.address(), ATTACKER).await;
    is_served(&server, ATTACKER).await;
    let address = server.address();
    drop(server);
    assert_eq!(rest(&mut open).await.0, "");
    assert!(TcpStream::connect(address).await.is_err());
}
