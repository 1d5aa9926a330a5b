//! An API server for unit tests: answers as the test says and keeps what it was asked.

use std::sync::{Arc, Mutex};

use clap::Parser;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use crate::{Context, Operator, Options};

/// A request that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub method: String,
    pub path: String,
    /// Of the body; that of a patch tells which kind of patch it is.
    pub content_type: String,
    /// JSON, or null where there was none.
    pub body: Value,
}

/// The requests that were made so far.
#[derive(Clone, Default)]
pub struct Calls(Arc<Mutex<Vec<Call>>>);

impl Calls {
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A client whose requests get the HTTP status and body that `answer` gives.
pub fn api_server<F>(answer: F) -> (Client, Calls)
where
    F: Fn(&Call) -> (u16, Value) + Send + 'static,
{
    let (service, mut requests) = tower_test::mock::pair::<http::Request<Body>, http::Response<Body>>();
    let calls = Calls::default();
    let seen = calls.clone();
    tokio::spawn(async move {
        while let Some((request, response)) = requests.next_request().await {
            let (head, body) = request.into_parts();
            let body = body.collect_bytes().await.unwrap();
            let content_type = head.headers.get(http::header::CONTENT_TYPE);
            let content_type = content_type.map(|value| value.to_str().unwrap().to_owned());
            let call = Call {
                method: head.method.to_string(),
                path: head.uri.path().to_owned(),
                content_type: content_type.unwrap_or_default(),
                body: serde_json::from_slice(&body).unwrap_or(Value::Null),
            };
            let (status, body) = answer(&call);
            seen.0.lock().unwrap().push(call);
            let body = Body::from(serde_json::to_vec(&body).unwrap());
            response.send_response(http::Response::builder().status(status).body(body).unwrap());
        }
    });
    (Client::new(service, "default"), calls)
}

/// What a controller is given, with a client as [`api_server`] makes it.
pub fn context<F>(answer: F) -> (Arc<Context>, Calls)
where
    F: Fn(&Call) -> (u16, Value) + Send + 'static,
{
    let (client, calls) = api_server(answer);
    let operator = Operator { name: "operator", version: "0.0.0" };
    let context = Context::new(client, operator, options(&[]));
    (Arc::new(context), calls)
}

/// The options with these arguments.
pub(crate) fn options(arguments: &[&str]) -> Options {
    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }
    Arguments::parse_from(["manager"].iter().chain(arguments)).options
}

/// The body with which the API server refuses a request.
pub fn status(code: u16, reason: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason })
}
