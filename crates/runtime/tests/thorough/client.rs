//! Requests to local API servers: through proxies, to overloaded servers, and to servers with an untrusted certificate.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::{join_all, ready};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{Api, EvictParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, Config};
use opctl_runtime::telemetry::metrics::Metrics;
use opctl_runtime::testing::options;
use opctl_runtime::{Manager, brief, client, operator, with_causes};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

/// The requests that a server received: method, path and time.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(String, Instant)>>>);

impl Seen {
    fn add(&self, line: &str) {
        self.0.lock().unwrap().push((line.to_owned(), Instant::now()));
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(line, _)| line.clone()).collect()
    }

    fn count(&self, path: &str) -> usize {
        self.lines().iter().filter(|line| line.contains(path)).count()
    }
}

/// Status, `Retry-After`, body.
type Answer = (u16, Option<u64>, Value);

fn refused(code: u16, retry_after: Option<u64>) -> Answer {
    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": "too busy", "reason": "" });
    (code, retry_after, status)
}

fn version() -> Answer {
    let version = json!({
        "major": "1", "minor": "37", "gitVersion": "v1.37.0", "gitCommit": "", "gitTreeState": "", "buildDate": "",
        "goVersion": "", "compiler": "", "platform": "",
    });
    (200, None, version)
}

fn list() -> Answer {
    (200, None, json!({ "apiVersion": "v1", "kind": "List", "metadata": {}, "items": [] }))
}

/// Reads one request with its body, and returns its head.
async fn head(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length =
        head.to_lowercase().split_once("content-length: ").and_then(|(_, rest)| rest.lines().next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    Ok(head)
}

async fn answer<F: Future<Output = Answer>>(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    seen: &Seen,
    answer: impl Fn(&str) -> F,
) -> io::Result<()> {
    let head = head(&mut stream).await?;
    let line = head.lines().next().unwrap_or_default();
    seen.add(line);
    let (code, retry_after, body) = answer(line).await;
    let body = body.to_string();
    let retry_after = retry_after.map(|seconds| format!("Retry-After: {seconds}\r\n")).unwrap_or_default();
    let length = body.len();
    let head = format!("HTTP/1.1 {code} X\r\nContent-Length: {length}\r\nConnection: close\r\n{retry_after}\r\n");
    stream.write_all((head + &body).as_bytes()).await?;
    stream.shutdown().await
}

/// A server without TLS.
async fn server(answers: impl Fn(&str) -> Answer + Send + Sync + 'static) -> (String, Seen) {
    server_with(move |line| ready(answers(line))).await
}

/// Like [`server`], with asynchronous responses.
async fn server_with<F>(answers: impl Fn(&str) -> F + Send + Sync + 'static) -> (String, Seen)
where
    F: Future<Output = Answer> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (seen, answers) = (Seen::default(), Arc::new(answers));
    let kept = seen.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (seen, answers) = (seen.clone(), answers.clone());
            tokio::spawn(async move { answer(stream, &seen, &*answers).await });
        }
    });
    (url, kept)
}

/// A server with TLS for `api.example.com`: its port and its certificate.
async fn secure_server() -> (u16, Vec<u8>) {
    let pair = rcgen::generate_simple_self_signed(["api.example.com".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(pair.signing_key.serialize_der());
    let certificate = pair.cert.der().clone();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.clone()], key.into()).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                answer(acceptor.accept(stream).await?, &Seen::default(), |_| ready(version())).await
            });
        }
    });
    (port, certificate.to_vec())
}

/// An HTTP proxy that responds to CONNECT with `code`, and connects to a local port for any host.
async fn http_proxy(port: u16, code: u16) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, seen) = (listener.local_addr().unwrap().to_string(), Seen::default());
    let kept = seen.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let seen = seen.clone();
            tokio::spawn(async move {
                seen.add(&head(&mut stream).await?);
                stream.write_all(format!("HTTP/1.1 {code} X\r\n\r\n").as_bytes()).await?;
                let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
                copy_bidirectional(&mut stream, &mut server).await
            });
        }
    });
    (address, kept)
}

/// A SOCKS5 proxy that requires a user and a password, and connects to a local port for any host.
async fn socks_proxy(port: u16) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, seen) = (listener.local_addr().unwrap().to_string(), Seen::default());
    let kept = seen.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let seen = seen.clone();
            tokio::spawn(async move {
                let mut methods = [0; 2];
                stream.read_exact(&mut methods).await?;
                stream.read_exact(&mut vec![0; methods[1].into()]).await?;
                stream.write_all(&[5, 2]).await?;
                let mut credentials = Vec::new();
                assert_eq!(stream.read_u8().await?, 1);
                for _ in 0..2 {
                    let mut part = vec![0; stream.read_u8().await?.into()];
                    stream.read_exact(&mut part).await?;
                    credentials.push(String::from_utf8(part).unwrap());
                }
                stream.write_all(&[1, 0]).await?;
                let mut connect = [0; 5];
                stream.read_exact(&mut connect).await?;
                let mut host = vec![0; connect[4].into()];
                stream.read_exact(&mut host).await?;
                let asked = stream.read_u16().await?;
                seen.add(&format!("{} {}:{asked}", credentials.join(":"), String::from_utf8(host).unwrap()));
                stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
                let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
                copy_bidirectional(&mut stream, &mut server).await
            });
        }
    });
    (address, kept)
}

fn metrics() -> Metrics {
    Metrics::new(operator!())
}

fn connect(url: &str) -> Client {
    client::from_config(Config::new(url.parse().unwrap()), &metrics()).unwrap()
}

/// A client of a server that can only be reached through this proxy, since its name does not resolve.
fn through(proxy: &str, certificate: Vec<u8>) -> Client {
    let mut config = Config::new("https://api.example.com:6443".parse().unwrap());
    config.root_cert = Some(vec![certificate]);
    config.proxy_url = Some(proxy.parse().unwrap());
    client::from_config(config, &metrics()).unwrap()
}

fn pods(client: &Client) -> Api<Pod> {
    Api::namespaced(client.clone(), "default")
}

#[tokio::test]
async fn reaches_a_server_through_an_http_proxy_with_credentials() {
    let (port, certificate) = secure_server().await;
    let (address, seen) = http_proxy(port, 200).await;
    let client = through(&format!("http://me:p%40ss@{address}"), certificate);
    assert_eq!(client.apiserver_version().await.unwrap().git_version, "v1.37.0");
    let asked = seen.lines().remove(0);
    assert!(asked.starts_with("CONNECT api.example.com:6443 HTTP/1.1\r\n"), "{asked}");
    // `me:p@ss`
    assert!(asked.contains("Proxy-Authorization: Basic bWU6cEBzcw==\r\n"), "{asked}");
}

#[tokio::test]
async fn reaches_a_server_through_a_socks_proxy_with_credentials() {
    let (port, certificate) = secure_server().await;
    let (address, seen) = socks_proxy(port).await;
    let client = through(&format!("socks5://me:p%40ss@{address}"), certificate);
    assert_eq!(client.apiserver_version().await.unwrap().git_version, "v1.37.0");
    assert_eq!(seen.lines(), ["me:p@ss api.example.com:6443"]);
}

#[tokio::test]
async fn errors_name_the_server_and_the_proxy() {
    let (port, certificate) = secure_server().await;
    for (code, reason) in [
        (403, "the proxy refuses to connect to this server; `NO_PROXY` can except it (tunnel error: unsuccessful)"),
        (407, "the proxy wants a user and a password (tunnel error: proxy authorization required)"),
    ] {
        let (address, _) = http_proxy(port, code).await;
        let client = through(&format!("http://me:secret@{address}"), certificate.clone());
        let error = brief(&client.apiserver_version().await.unwrap_err());
        let from = "(`proxy-url` in the kubeconfig)";
        let expected = format!(
            "cannot connect to https://api.example.com:6443 through the proxy http://{address} {from}: {reason}"
        );
        assert_eq!(error, expected);
    }
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = brief(&connect(&format!("http://{closed}")).apiserver_version().await.unwrap_err());
    assert_eq!(
        error,
        format!("cannot connect to http://{closed}: tcp connect error: Connection refused (os error 111)")
    );
    // Closes each connection at once.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let error = brief(&pods(&connect(&url)).get("x").await.unwrap_err());
    assert!(error.starts_with(&format!("GET {url}/api/v1/namespaces/default/pods/x failed: ")), "{error}");
}

#[tokio::test]
async fn a_start_without_a_server_says_once_why() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let client = connect(&format!("http://{closed}"));
    let error = Manager::new(operator!()).start(client, options([]), Vec::new()).await.unwrap_err();
    let why = format!("cannot connect to http://{closed}: tcp connect error: Connection refused (os error 111)");
    assert_eq!(with_causes(&error), format!("the API server does not answer: {why}"));
}

#[tokio::test]
async fn says_that_a_connection_takes_too_long() {
    // Accepts connections, but never completes a TLS handshake.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let mut config = Config::new(url.parse().unwrap());
    config.connect_timeout = Some(Duration::from_millis(100));
    let error = brief(&client::from_config(config, &metrics()).unwrap().apiserver_version().await.unwrap_err());
    assert_eq!(error, format!("cannot connect to {url}: it takes too long (deadline has elapsed)"));
}

#[tokio::test]
async fn says_that_credentials_may_have_expired() {
    let unauthorized = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 401, "message": "Unauthorized", "reason": "Unauthorized",
    });
    let (url, _) = server(move |_| (401, None, unauthorized.clone())).await;
    let error = pods(&connect(&url)).get("x").await.unwrap_err();
    assert_eq!(brief(&error), "Unauthorized: the credentials are invalid or have expired");
}

#[tokio::test]
async fn says_that_a_certificate_is_not_trusted() {
    let (port, _) = secure_server().await;
    let mut config = Config::new(format!("https://127.0.0.1:{port}").parse().unwrap());
    let other = rcgen::generate_simple_self_signed(["api.example.com".to_owned()]).unwrap();
    config.root_cert = Some(vec![other.cert.der().to_vec()]);
    let error = brief(&client::from_config(config, &metrics()).unwrap().apiserver_version().await.unwrap_err());
    assert!(
        error.starts_with(&format!("cannot connect to https://127.0.0.1:{port}: its certificate is not trusted (")),
        "{error}"
    );
    assert!(error.ends_with("); check `certificate-authority` in the kubeconfig"), "{error}");
}

#[tokio::test]
async fn asks_again_after_the_time_that_the_server_names() {
    let requests = AtomicUsize::new(0);
    let (url, seen) = server(move |_| match requests.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => refused(429, Some(3)),
        _ => list(),
    })
    .await;
    let metrics = metrics();
    let client = client::from_config(Config::new(url.parse().unwrap()), &metrics).unwrap();
    pods(&client).list(&ListParams::default()).await.unwrap();
    let times: Vec<Instant> = seen.0.lock().unwrap().iter().map(|(_, time)| *time).collect();
    assert_eq!(times.len(), 3);
    for pause in times.windows(2).map(|two| two[1] - two[0]) {
        // Without `Retry-After`, the pauses would be 1 and 2 seconds.
        assert!(pause >= Duration::from_secs(3), "{pause:?}");
    }
    let text = metrics.text();
    for line in [
        r#"rest_client_requests_total{verb="list",group="",resource="pods",code="429"} 2"#,
        r#"rest_client_requests_total{verb="list",group="",resource="pods",code="200"} 1"#,
        r#"rest_client_request_retries_total{verb="list",group="",code="429"} 2"#,
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn hundreds_of_requests_do_not_hammer_an_overloaded_server() {
    const COUNT: usize = 300;
    // Responds when all requests have been sent, and refuses them and the next two.
    let (sent, all) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(COUNT)));
    let (url, seen) = server_with(move |_| {
        let (number, all) = (sent.fetch_add(1, Ordering::SeqCst), all.clone());
        async move {
            if number < COUNT {
                all.wait().await;
            }
            if number < COUNT + 2 { refused(503, None) } else { list() }
        }
    })
    .await;
    let client = connect(&url);
    let requests = (0..COUNT).map(|_| {
        let pods = pods(&client);
        async move { pods.list(&ListParams::default()).await.map(drop) }
    });
    let answers = join_all(requests).await;
    assert!(answers.iter().all(Result::is_ok), "{:?}", answers.iter().find(|it| it.is_err()));
    // All at once; one at a time while the server is overloaded; then all again.
    assert_eq!(seen.lines().len(), COUNT + 2 + COUNT);
}

#[tokio::test]
async fn gives_up_after_some_tries() {
    let (url, seen) = server(|_| refused(429, Some(0))).await;
    let error = pods(&connect(&url)).list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 429), "{error:?}");
    assert_eq!(seen.lines().len(), 5);
}

#[tokio::test]
async fn does_not_wait_for_longer_than_a_caller_can() {
    let (url, seen) = server(|_| refused(429, Some(3600))).await;
    let client = connect(&url);
    let start = Instant::now();
    let error = pods(&client).list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 429), "{error:?}");
    let error = brief(&pods(&client).get("x").await.unwrap_err());
    let begin =
        format!("GET {url}/api/v1/namespaces/default/pods/x was not sent: the server is overloaded, try again in ");
    assert!(error.starts_with(&begin), "{error}");
    assert!(start.elapsed() < Duration::from_secs(1) && seen.lines().len() == 1);
}

#[tokio::test]
async fn repeats_nothing_that_may_have_been_carried_out() {
    let (url, seen) = server(|line| match line.contains("slow") {
        true => refused(504, Some(0)),
        false => refused(503, None),
    })
    .await;
    let pods = pods(&connect(&url));
    assert!(pods.create(&PostParams::default(), &Pod::default()).await.is_err());
    assert_eq!(seen.lines().len(), 1);
    assert!(pods.get("slow").await.is_err());
    assert_eq!(seen.count("slow"), 1);
    let merge = Patch::Merge(json!({}));
    assert!(pods.patch("a", &PatchParams::default(), &merge).await.is_err());
    assert_eq!(seen.count("PATCH"), 1);
}

#[tokio::test]
async fn an_eviction_that_a_budget_forbids_is_no_overload() {
    let (url, seen) = server(|line| match line.contains("eviction") {
        true => refused(429, Some(10)),
        false => list(),
    })
    .await;
    let (pods, start) = (pods(&connect(&url)), Instant::now());
    assert!(pods.evict("x", &EvictParams::default()).await.is_err());
    pods.list(&ListParams::default()).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(1) && seen.count("eviction") == 1);
}

#[tokio::test]
async fn an_api_that_is_unavailable_does_not_hold_up_the_others() {
    let (url, _) = server(|line| match line.contains("/apis/apps/") {
        true => refused(503, None),
        false => list(),
    })
    .await;
    let client = connect(&url);
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { Api::<Deployment>::all(client).list(&ListParams::default()).await.map(drop) }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let start = Instant::now();
    Api::<ConfigMap>::all(client).list(&ListParams::default()).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(1) && !waiting.is_finished());
    waiting.abort();
}
