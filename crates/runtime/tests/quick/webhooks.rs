//! The webhook server as an API server sees it: over HTTPS, with the certificate in a folder, until shutdown.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::client::Body;
use kube::{Client, Config};
use opctl_runtime::manager::Error;
use opctl_runtime::testing::{api_server, assert_webhooks, options, status};
use opctl_runtime::webhook::{self, Defaulting, Rejection, Request, Validating, Warnings, Webhook};
use opctl_runtime::{Context, operator};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

async fn default(object: &mut ConfigMap, _: &Request<ConfigMap>) -> Result<(), Rejection> {
    object.data.get_or_insert_with(|| BTreeMap::from([("key".to_owned(), "value".to_owned())]));
    Ok(())
}

async fn refuse(_: &ConfigMap, request: &Request<ConfigMap>) -> Result<Warnings, Rejection> {
    // Takes a while, and sends a request.
    sleep(Duration::from_millis(500)).await;
    request.ctx.client.apiserver_version().await?;
    let mut rejection = Rejection::default();
    rejection.forbidden("data", "not today");
    rejection.or(Warnings::new())
}

fn webhooks() -> Vec<Webhook> {
    vec![Defaulting::new("/mutate", default).into(), Validating::new("/validate").create(refuse).into()]
}

struct Served {
    ctx: Context,
    client: Client,
    ended: JoinHandle<Result<(), Error>>,
    _folder: tempfile::TempDir,
}

impl Served {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        std::fs::write(folder.path().join("tls.crt"), issued.cert.pem()).unwrap();
        std::fs::write(folder.path().join("tls.key"), issued.signing_key.serialize_pem()).unwrap();
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let arguments =
            [format!("--webhook-bind-address={address}"), format!("--webhook-cert-dir={}", folder.path().display())];
        let (api, _) = api_server(|_| (404, status(404, "NotFound")));
        let ctx = Context::new(api, operator!(), options(arguments.iter().map(String::as_str)));
        ctx.readiness.wait_for("webhooks");
        let (server, run) = (webhook::server(webhooks()), ctx.clone());
        let ended = tokio::spawn(async move { server.run(run).await });
        let ready = async {
            while !ctx.readiness.missing().is_empty() {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(10), ready).await.unwrap();
        let mut config = Config::new(format!("https://{address}").parse().unwrap());
        config.root_cert = Some(vec![issued.cert.der().to_vec()]);
        Self { ctx, client: Client::try_from(config).unwrap(), ended, _folder: folder }
    }

    async fn post(&self, path: &str, body: Vec<u8>) -> (u16, Value) {
        let request = http::Request::post(path).body(Body::from(body)).unwrap();
        let answer = self.client.send(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect_bytes().await.unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    async fn review(&self, path: &str) -> Value {
        let kind = json!({ "group": "", "version": "v1", "kind": "ConfigMap" });
        let resource = json!({ "group": "", "version": "v1", "resource": "configmaps" });
        let object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "sample" } });
        let request = json!({
            "uid": "1", "kind": kind, "resource": resource, "name": "sample", "operation": "CREATE", "userInfo": {},
            "object": object,
        });
        let review = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request });
        let (status, mut answer) = self.post(path, review.to_string().into()).await;
        assert_eq!(status, 200);
        answer["response"].take()
    }
}

#[tokio::test]
async fn answers_reviews_until_shutdown() {
    let served = Served::start().await;
    let response = served.review("/mutate?timeout=10s").await;
    assert_eq!((&response["allowed"], &response["patchType"]), (&json!(true), &json!("JSONPatch")));

    let start = Instant::now();
    let stop = async {
        sleep(Duration::from_millis(100)).await;
        served.ctx.stop();
    };
    let (response, ()) = tokio::join!(served.review("/validate"), stop);
    // The API server cannot be reached, so the webhook cannot decide.
    assert_eq!((&response["allowed"], &response["status"]["code"]), (&json!(false), &json!(500)));
    let message = response["status"]["message"].as_str().unwrap();
    assert!(message.starts_with("the webhook cannot decide: "), "{message}");
    timeout(Duration::from_secs(5), served.ended).await.unwrap().unwrap().unwrap();
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());

    let metrics = served.ctx.metrics.text();
    for line in [
        r#"controller_webhook_requests_total{path="/mutate",operation="CREATE",outcome="allowed"} 1"#,
        r#"controller_webhook_requests_total{path="/validate",operation="CREATE",outcome="refused"} 1"#,
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
}

/// A review of two objects of the largest size fits, a larger one does not.
#[tokio::test]
async fn a_larger_body_than_a_review_can_be_is_refused() {
    let served = Served::start().await;
    let size = 7 << 20;
    assert_eq!(served.post("/mutate", vec![b' '; size]).await.0, 400);
    assert_eq!(served.post("/mutate", vec![b' '; size + 1]).await.0, 413);
    assert_eq!(served.post("/none", vec![b' '; 1]).await.0, 404);
}

#[test]
fn manifests_and_webhooks_are_compared() {
    let project = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = project.path().join("config").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let configuration = |kind: &str, path: &str| {
        let service = json!({ "name": "webhooks", "namespace": "system", "path": path });
        json!({ "kind": kind, "webhooks": [{ "clientConfig": { "service": service } }] })
    };
    let [mutating, validating] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
    let differ = |path: &Path| {
        let path = path.to_str().unwrap().to_owned();
        std::panic::catch_unwind(move || assert_webhooks(&path, &webhooks())).is_err()
    };
    assert!(differ(project.path()));
    let whole = format!("{}\n---\n{}\n", configuration(mutating, "/mutate"), configuration(validating, "/validate"));
    write("webhook/manifests.yaml", &whole);
    assert!(!differ(project.path()));
    write("webhook/manifests.yaml", &whole.replace("/mutate", "/other"));
    assert!(differ(project.path()));
    write("webhook/manifests.yaml", &whole.replace(mutating, validating));
    assert!(differ(project.path()));

    write("webhook/manifests.yaml", &whole);
    let service = json!({ "name": "webhooks", "namespace": "system", "path": "/convert" });
    let conversion = json!({ "webhook": { "clientConfig": { "service": service } } });
    let crd = json!({ "metadata": { "name": "books.example.com" }, "spec": { "conversion": conversion } });
    write("crd/bases/books.yaml", &crd.to_string());
    assert!(differ(project.path()));
}
