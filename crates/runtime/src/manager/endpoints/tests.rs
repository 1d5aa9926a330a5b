use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use kube::client::{Body, Client};
use kube::config::Config;
use serde_json::{Value, json};

use super::*;
use crate::Operator;
use crate::testing as mock;

/// The servers for these arguments, the one for metrics last. The API server responds with `answer`.
async fn serving<F>(arguments: &[&str], answer: F) -> Vec<Server>
where
    F: Fn(&mock::Call) -> (u16, Value) + Send + 'static,
{
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut options = mock::options(arguments.iter().copied());
    options.health_probe_bind_address = any;
    options.metrics_bind_address = options.metrics_bind_address.and(Some(any));
    let (client, _) = mock::api_server(answer);
    start(&Context::new(client, OPERATOR, options)).await.unwrap()
}

const OPERATOR: Operator = Operator { name: "sample", version: "1.2.3" };

/// The response to `GET /metrics`. The certificate of an HTTPS server must be the trusted one, if given.
async fn get(url: &str, token: &str, trusted: Option<Vec<u8>>) -> Result<(u16, String), kube::Error> {
    let mut config = Config::new(url.parse().unwrap());
    config.accept_invalid_certs = trusted.is_none();
    config.root_cert = trusted.map(|certificate| vec![certificate]);
    let mut request = http::Request::get("/metrics");
    if !token.is_empty() {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let request = request.body(Body::empty()).unwrap();
    let answer = Client::try_from(config)?.send(request).await?;
    let status = answer.status().as_u16();
    let body = answer.into_body().collect_bytes().await?;
    Ok((status, String::from_utf8(body.to_vec()).unwrap()))
}

/// An API server with the users `reader`, who may read metrics, and `other`, who may not.
fn knows(call: &mock::Call) -> (u16, Value) {
    let spec = &call.body["spec"];
    let answer = match call.path.as_str() {
        "/apis/authentication.k8s.io/v1/tokenreviews" => {
            let known = spec["token"] == "reader" || spec["token"] == "other";
            json!({ "authenticated": known, "user": { "username": spec["token"], "groups": ["all"] } })
        }
        "/apis/authorization.k8s.io/v1/subjectaccessreviews" => {
            assert_eq!(spec["nonResourceAttributes"], json!({ "path": "/metrics", "verb": "get" }));
            assert_eq!(spec["groups"], json!(["all"]));
            json!({ "allowed": spec["user"] == "reader" })
        }
        other => panic!("{other}"),
    };
    (201, json!({ "metadata": {}, "spec": spec, "status": answer }))
}

#[tokio::test]
async fn serves_metrics_to_those_who_may_read_them() {
    let servers = serving(&["--metrics-secure"], knows).await;
    let address = servers[1].address();
    let url = format!("https://{address}");
    for (token, expected) in [("", 401), ("unknown", 401), ("other", 403), ("reader", 200)] {
        let (status, body) = get(&url, token, None).await.unwrap();
        assert_eq!(status, expected, "{token}");
        assert_eq!(body.ends_with("# EOF\n"), expected == 200, "{body}");
    }
    assert!(get(&format!("http://{address}"), "reader", None).await.is_err());
}

#[tokio::test]
async fn serves_nothing_when_it_cannot_ask() {
    let refuse = |_: &mock::Call| (403, mock::status(403, "Forbidden"));
    let servers = serving(&["--metrics-secure"], refuse).await;
    let url = format!("https://{}", servers[1].address());
    let (status, body) = get(&url, "reader", None).await.unwrap();
    assert_eq!((status, body.as_str()), (500, ""));
}

#[tokio::test]
async fn serves_everyone_over_http_or_nobody() {
    let never = |_: &mock::Call| panic!("nothing to ask");
    let servers = serving(&[], never).await;
    assert_eq!(servers.len(), 2);
    assert_eq!(get(&format!("http://{}", servers[1].address()), "", None).await.unwrap().0, 200);
    let servers = serving(&["--metrics-bind-address=0"], never).await;
    assert_eq!(servers.len(), 1);
}

/// Writes a certificate for 127.0.0.1 and returns it as DER.
fn write_certificate(folder: &Path) -> Vec<u8> {
    let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(folder.join("tls.crt"), issued.cert.pem()).unwrap();
    std::fs::write(folder.join("tls.key"), issued.signing_key.serialize_pem()).unwrap();
    issued.cert.der().to_vec()
}

#[tokio::test]
async fn follows_its_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let first = write_certificate(folder.path());
    let argument = format!("--metrics-cert-path={}", folder.path().display());
    let servers = serving(&["--metrics-secure", &argument], knows).await;
    let url = format!("https://{}", servers[1].address());
    let is_served = async |certificate: &[u8]| get(&url, "reader", Some(certificate.to_vec())).await.is_ok();
    assert!(is_served(&first).await);

    std::fs::write(folder.path().join("tls.key"), "no key").unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(is_served(&first).await, "a broken pair is not used");

    let second = write_certificate(folder.path());
    let followed = async { while !is_served(&second).await {} };
    let in_time = tokio::time::timeout(Duration::from_secs(30), followed).await;
    assert!(in_time.is_ok() && !is_served(&first).await);
}
