//! Loading of the kubeconfig and the environment. Requests are tested in `tests/thorough/client.rs`.

use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::io::AsyncReadExt;
use tower::Layer;

use super::*;
use crate::Operator;

const OPERATOR: Operator = Operator { name: "sample-operator", version: "1.2.3" };

const KUBECONFIG: &str = "
apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: { cluster: here, user: me, namespace: apps }
- name: elsewhere
  context: { cluster: missing, user: me }
clusters:
- name: here
  cluster: { server: 'http://192.0.2.1:6443' }
users:
- name: me
  user: { token: secret }
";

async fn connected(file: &Path, proxy: Option<&str>) -> Result<Client, Error> {
    let metrics = Metrics::new(OPERATOR);
    let variable = |name: &str| match name {
        "KUBECONFIG" => Some(file.display().to_string()),
        "HTTP_PROXY" => proxy.map(str::to_owned),
        // kube refuses the comma.
        "NO_PROXY" => Some("198.51.100.0/24,".to_owned()),
        _ => None,
    };
    connect_with(&Term::default(), &metrics, &variable).await
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[tokio::test]
async fn requests_go_through_the_proxy_of_the_environment_unless_no_proxy_names_the_server() {
    let proxy = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", proxy.local_addr().unwrap());
    let client = connected(file(KUBECONFIG).path(), Some(&url)).await.unwrap();
    assert_eq!(client.default_namespace(), "apps");
    let request = tokio::spawn(async move { client.apiserver_version().await });
    let (mut connection, _) = proxy.accept().await.unwrap();
    let mut line = [0; 32];
    connection.read_exact(&mut line).await.unwrap();
    assert_eq!(&line, b"CONNECT 192.0.2.1:6443 HTTP/1.1\r");
    request.abort();

    // Nothing listens here, so the connection is refused at once; a proxy would accept it.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let local = KUBECONFIG.replace("192.0.2.1:6443", &closed.to_string());
    let client = connected(file(&local).path(), Some(&url)).await.unwrap();
    let error = describe(&client.apiserver_version().await.unwrap_err());
    assert!(error.starts_with(&format!("cannot connect to http://{closed}: ")), "{error}");
    assert!(error.contains("refused") && !error.contains("proxy"), "{error}");
}

#[tokio::test]
async fn says_what_is_wrong_with_the_kubeconfig() {
    for (text, reason) in [
        (KUBECONFIG.replace("current-context: here", "current-context: away"), "it has no context `away`"),
        (KUBECONFIG.replace("current-context: here", "current-context: elsewhere"), "it has no cluster `missing`"),
        (KUBECONFIG.replace("current-context: here", "current-context: ''"), "it has no current context; set one"),
        (KUBECONFIG.replace("cluster: { server: 'http://192.0.2.1:6443' }", "cluster: {}"), "has no `server`"),
        (KUBECONFIG.replace("kind: Config", "kind: [Config"), "failed to parse kubeconfig YAML"),
        (
            KUBECONFIG.replace("token: secret", "client-certificate: /missing.crt, client-key: /missing.key"),
            "/missing.crt",
        ),
        (KUBECONFIG.replace("server:", "proxy-url: 'ftp://proxy', server:"), "cannot use the proxy `ftp://proxy`"),
    ] {
        let file = file(&text);
        let error = connected(file.path(), None).await.err().unwrap_or_else(|| panic!("{text}"));
        let error = with_causes(&error);
        assert!(error.contains(reason), "{reason}: {error}");
    }
    let error = connected(Path::new("/missing/kubeconfig"), None).await.err().unwrap().to_string();
    assert_eq!(
        error,
        "cannot use the kubeconfig `/missing/kubeconfig`: `/missing/kubeconfig`: No such file or directory (os error 2)"
    );
}

/// Sends the requests of `count` concurrent callers to a server that takes this long, on the clock of tokio.
async fn slow(count: u32, takes: Option<Duration>) -> (Vec<Result<(), String>>, u32) {
    let sent = Arc::new(AtomicU32::new(0));
    let seen = sent.clone();
    let service = tower::service_fn(move |_: http::Request<Body>| {
        seen.fetch_add(1, Ordering::SeqCst);
        async move {
            match takes {
                Some(takes) => tokio::time::sleep(takes).await,
                None => pending().await,
            }
            Ok::<_, BoxError>(http::Response::new(Body::empty()))
        }
    });
    let metrics = Metrics::new(OPERATOR);
    let layer = RequestsLayer::new(Server { url: "https://slow:6443".to_owned(), proxy: None }, metrics);
    let client = Client::new(layer.layer(service), "default");
    let requests = (0..count).map(|_| async {
        let request = http::Request::get("/api/v1/pods").body(Body::empty()).unwrap();
        client.send(request).await.map(drop).map_err(|error| describe(&error))
    });
    (futures::future::join_all(requests).await, sent.load(Ordering::SeqCst))
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_gets_each_request_once() {
    let (answers, sent) = slow(20, Some(Duration::from_secs(80))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(sent, 20);
    let (answers, sent) = slow(20, None).await;
    let late = "GET https://slow:6443/api/v1/pods failed: no answer in 90 seconds";
    assert!(answers.iter().all(|answer| *answer == Err(late.to_owned())), "{answers:?}");
    assert_eq!(sent, 20);
}

#[tokio::test]
async fn no_more_of_a_request_is_sent_after_the_term() {
    const SIZE: usize = 64 << 20;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = Config::new(format!("http://{}", listener.local_addr().unwrap()).parse().unwrap());
    let term = Term::default();
    let client = build(config, None, &term, &Metrics::new(OPERATOR)).unwrap();
    let body = Body::from(vec![b' '; SIZE]);
    let request = http::Request::put("/api/v1/namespaces/default/configmaps/large").body(body).unwrap();
    let sent = tokio::spawn(async move { client.send(request).await });

    let (mut connection, _) = listener.accept().await.unwrap();
    let mut buffer = vec![0; 64 << 10];
    let mut received = connection.read(&mut buffer).await.unwrap();
    assert!(received > 0);
    term.end();
    // The kernel still delivers the bytes that it has accepted.
    while let Ok(more @ 1..) = connection.read(&mut buffer).await {
        received += more;
    }
    assert!(received < SIZE, "{received}");
    let error = describe(&sent.await.unwrap().unwrap_err());
    assert!(error.ends_with("this replica is no longer the leader"), "{error}");
}
