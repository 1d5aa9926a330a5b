//! The term of a leader, and a client that writes only within it.

use std::future::poll_fn;
use std::ops::Add;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use http::header::UPGRADE;
use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use tokio::time::Instant;
use tower::service_fn;

/// A time by two clocks of this machine. Both advance while the process is stopped.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// By the clock of timers, which stops while the machine is suspended.
    pub awake: Instant,
    /// Time since boot, including suspension.
    pub booted: Duration,
}

impl Moment {
    pub fn now() -> Self {
        Self { awake: Instant::now(), booted: since_boot() }
    }

    /// `true` if the time has passed by either clock.
    fn is_past(self) -> bool {
        let now = Self::now();
        now.awake >= self.awake || now.booted >= self.booted
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self { awake: self.awake + duration, booted: self.booted + duration }
    }
}

#[cfg(target_os = "linux")]
fn since_boot() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    time.try_into().expect("it is not before the boot")
}

/// Always zero: only Linux uses the second clock. A [`Moment`] passes by the first clock alone.
#[cfg(not(target_os = "linux"))]
fn since_boot() -> Duration {
    Duration::ZERO
}

/// The time for which this replica leads. Clones share it.
#[derive(Clone, Default)]
pub struct Term {
    /// `None` until the replica first leads.
    end: Arc<Mutex<Option<Moment>>>,
}

impl Term {
    pub fn extend(&self, end: Moment) {
        *self.lock() = Some(end);
    }

    pub fn end(&self) {
        self.extend(Moment::now());
    }

    pub fn is_over(&self) -> bool {
        self.lock().is_some_and(Moment::is_past)
    }

    /// Wraps a client so that its writes fail once the term is over.
    ///
    /// Each poll of a write checks the term first: a stopped process may resume in the middle of a request, such as
    /// before a retry or while it connects. The connections of
    /// [`client::connect_within`](crate::client::connect_within) check it again.
    pub fn guard(&self, client: Client) -> Client {
        let namespace = client.default_namespace().to_owned();
        let (term, valid_until) = (self.clone(), *client.valid_until());
        let send = service_fn(move |request| send(client.clone(), term.clone(), request));
        Client::new(send, namespace).with_valid_until(valid_until)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Moment>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn send(client: Client, term: Term, request: Request<Body>) -> Result<http::Response<Body>, kube::Error> {
    // `exec` and similar requests are a GET with an upgrade.
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD) && !request.headers().contains_key(UPGRADE);
    let what = format!("{} {}", request.method(), request.uri().path());
    let mut sent = pin!(client.send(request));
    poll_fn(|context| {
        if !is_read && term.is_over() {
            let error = format!("{what} failed: this replica is no longer the leader");
            return Poll::Ready(Err(kube::Error::Service(error.into())));
        }
        sent.as_mut().poll(context)
    })
    .await
}
