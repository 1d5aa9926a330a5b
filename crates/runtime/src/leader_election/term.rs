//! The time for which a replica leads, and a client that writes within it only.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use http::header::UPGRADE;
use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use tokio::time::Instant;
use tower::service_fn;

/// The time for which this replica leads, by its own clock, which goes on while the process is stopped. Clones share it.
#[derive(Clone, Default)]
pub struct Term {
    /// None as long as the replica has not led.
    end: Arc<Mutex<Option<Instant>>>,
}

impl Term {
    pub fn extend(&self, end: Instant) {
        *self.lock() = Some(end);
    }

    /// Ends it now.
    pub fn end(&self) {
        self.extend(Instant::now());
    }

    fn is_over(&self) -> bool {
        self.lock().is_some_and(|end| Instant::now() >= end)
    }

    /// The same client, whose writes fail once the term is over.
    ///
    /// Each step of a write looks at the clock first: a process that was stopped goes on amid a request, such as in a pause before
    /// another try, or while it connects.
    pub fn guard(&self, client: Client) -> Client {
        let namespace = client.default_namespace().to_owned();
        let (term, valid_until) = (self.clone(), *client.valid_until());
        let send = service_fn(move |request| send(client.clone(), term.clone(), request));
        Client::new(send, namespace).with_valid_until(valid_until)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn send(client: Client, term: Term, request: Request<Body>) -> Result<http::Response<Body>, kube::Error> {
    // `exec` and the like are upgrades of a GET.
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD) && !request.headers().contains_key(UPGRADE);
    let what = format!("{} {}", request.method(), request.uri().path());
    let mut sent = pin!(client.send(request));
    poll_fn(|context| {
        if !is_read && term.is_over() {
            let error = format!("{what} was not sent: this replica is no longer the leader");
            return Poll::Ready(Err(kube::Error::Service(error.into())));
        }
        sent.as_mut().poll(context)
    })
    .await
}
