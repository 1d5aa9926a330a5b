use std::sync::{Arc, Mutex};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client;
use serde_json::{Value, json};

use super::*;
use crate::Operator;
use crate::testing::{self as mock, Call, Calls, options, status};
use crate::webhook::Webhook;
use crate::webhook::{Defaulting, Rejection, Request};

const OPERATOR: Operator = Operator { name: "shop", version: "1.2.3" };
const SECRET: &str = "shop-webhook-certificate";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn nothing(_: &mut ConfigMap, _: &Request<ConfigMap>) -> Result<(), Rejection> {
    Ok(())
}

/// An API server with a Secret, and a configuration that refers to this operator.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    secret: Option<Value>,
    version: u32,
    /// The bundle of the configuration; `None` if the configuration does not exist.
    trusted: Option<Value>,
    /// A Secret that is written between the next read and the write after it.
    sneaks_in: Option<Value>,
}

impl Server {
    fn answer(&self, call: &Call) -> (u16, Value) {
        let mut state = self.0.lock().unwrap();
        if !call.path.starts_with(SECRETS) {
            let Some(trusted) = &mut state.trusted else {
                return (404, status(404, "NotFound"));
            };
            if call.method == "PATCH" {
                *trusted = call.body["webhooks"][0]["clientConfig"]["caBundle"].clone();
            }
            let webhook = json!({ "name": "a", "clientConfig": { "caBundle": trusted } });
            return (200, json!({ "metadata": {}, "webhooks": [webhook] }));
        }
        let seen = |secret: &Value| secret["metadata"]["resourceVersion"].clone();
        match (call.method.as_str(), &state.secret) {
            ("GET", found) => {
                let found = found.clone().map(|it| (200, it));
                if let Some(secret) = state.sneaks_in.take() {
                    state.put(secret);
                }
                return found.unwrap_or((404, status(404, "NotFound")));
            }
            ("POST", None) => {}
            ("PUT", Some(secret)) if seen(secret) == seen(&call.body) => {}
            ("PUT", None) => return (404, status(404, "NotFound")),
            _ => return (409, status(409, "Conflict")),
        }
        state.put(call.body.clone());
        (200, call.body.clone())
    }

    fn client(&self) -> (Client, Calls) {
        let server = self.clone();
        mock::api_server(move |call| server.answer(call))
    }

    async fn replica(&self) -> (Shared, Calls) {
        let (client, calls) = self.client();
        let ctx = Context::new(client, OPERATOR, options([]));
        let webhooks: [Webhook; 1] = [Defaulting::new("/", nothing).into()];
        let registrations = Registration::all(&webhooks, OPERATOR.name);
        let replica = Shared::open(&ctx, "webhooks", registrations).await.unwrap();
        (replica, calls)
    }

    fn pair(&self) -> Pair {
        let secret = self.0.lock().unwrap().secret.clone().unwrap();
        read(&serde_json::from_value(secret).unwrap())
    }

    fn trusted(&self) -> String {
        let trusted = self.0.lock().unwrap().trusted.clone();
        let bundle: ByteString = serde_json::from_value(trusted.unwrap()).unwrap();
        String::from_utf8(bundle.0).unwrap()
    }
}

impl State {
    fn put(&mut self, mut secret: Value) {
        self.version += 1;
        secret["metadata"]["resourceVersion"] = self.version.to_string().into();
        self.secret = Some(secret);
    }
}

fn issued(now: SystemTime) -> Pair {
    Pair::issue("shop", &names_of_service("webhooks", "default"), now).unwrap()
}

fn secret(pair: &Pair) -> Value {
    json!(write(SECRET, Secret::default(), pair))
}

#[tokio::test]
async fn replicas_that_start_at_once_serve_the_same() {
    let server = Server::default();
    let first = issued(SystemTime::now());
    server.0.lock().unwrap().sneaks_in = Some(secret(&first));
    let (replica, calls) = server.replica().await;
    assert_eq!(replica.served, first);
    let methods: Vec<_> = calls.take().into_iter().map(|call| call.method).collect();
    assert_eq!(methods, ["GET", "POST", "GET"]);
}

#[tokio::test]
async fn a_secret_that_is_no_good_is_replaced_with_its_labels_kept() {
    let server = Server::default();
    let labels = json!({ "labels": { "team": "a" } });
    let broken = json!({ "metadata": labels, "data": { "tls.crt": "YQ==" }, "type": "Opaque" });
    server.0.lock().unwrap().put(broken);
    let (replica, calls) = server.replica().await;
    assert_eq!(server.pair(), replica.served);
    let put = calls.take().remove(1).body;
    assert_eq!((&put["metadata"]["labels"]["team"], &put["type"]), (&json!("a"), &json!("Opaque")));
}

#[tokio::test(start_paused = true)]
async fn another_certificate_is_served_when_the_api_server_trusts_both() {
    let server = Server::default();
    server.0.lock().unwrap().trusted = Some(Value::Null);
    let (mut one, _) = server.replica().await;
    let (mut two, calls) = server.replica().await;
    let (now, before) = (SystemTime::now(), one.served.clone());
    assert!(one.look(now).await.unwrap() && two.look(now).await.unwrap());
    assert_eq!(server.trusted(), before.bundle);

    // One replica replaces the pair, the other follows.
    let later = now + DAY * 60;
    assert!(one.look(later).await.unwrap());
    let after = server.pair();
    assert_eq!(after.bundle, after.ca().to_owned() + before.ca());
    assert_eq!((&one.served, &two.served), (&after, &before));
    assert_eq!(server.trusted(), after.bundle);
    calls.take();
    let start = tokio::time::Instant::now();
    assert!(two.look(later).await.unwrap());
    assert!(start.elapsed() >= SPREAD);
    assert_eq!(two.served, after);
    assert!(calls.take().iter().all(|call| call.method == "GET"));

    // The bundle no longer contains the CA before that.
    assert!(one.look(later + DAY * 60).await.unwrap());
    let last = server.pair();
    assert_eq!(last.bundle, last.ca().to_owned() + after.ca());
}

#[tokio::test(start_paused = true)]
async fn nothing_else_is_served_while_the_api_server_is_not_told() {
    let server = Server::default();
    let (mut replica, _) = server.replica().await;
    let before = replica.served.clone();
    // The Secret is deleted, and no object contains the CA.
    server.0.lock().unwrap().secret = None;
    assert!(!replica.look(SystemTime::now()).await.unwrap());
    assert_eq!(replica.served, before);
    assert!(server.pair().bundle.ends_with(before.ca()), "it is trusted, too");

    // Another process has issued a pair without knowing the served one.
    server.0.lock().unwrap().trusted = Some(Value::Null);
    let other = issued(SystemTime::now());
    server.0.lock().unwrap().put(secret(&other));
    assert!(replica.look(SystemTime::now()).await.unwrap());
    assert_eq!(server.trusted(), other.bundle.clone() + before.ca());
    assert_eq!(replica.served.leaf, other.leaf);
}
