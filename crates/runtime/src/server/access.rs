//! Authentication and authorization of requests by the API server: bearer tokens that RBAC allows to `get` a path.

use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use futures::future::{BoxFuture, WeakShared};
use http::{StatusCode, header};
use k8s_openapi::api::authentication::v1::TokenReview;
use k8s_openapi::api::authorization::v1::{NonResourceAttributes, SubjectAccessReview};
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::warn;

use crate::error::brief;

/// Timeout of a review; less than the usual scrape timeout of Prometheus.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time for which a permission is cached, and so still holds after it was revoked.
const ALLOWED: Duration = Duration::from_secs(10);
/// Time for which a refusal is cached, and so still holds after permission was granted.
const REFUSED: Duration = Duration::from_secs(2);
/// Maximum number of cached verdicts.
const ENTRIES: usize = 256;
/// Maximum number of concurrent reviews: a client that tries many tokens must not flood the API server.
const REVIEWS: usize = 8;

/// The verdict of the API server about a token and a path; `None` after an error, which is logged where it occurs.
type Verdict = Option<StatusCode>;

/// Reviews tokens, and caches the verdicts for some seconds.
#[derive(Clone)]
pub(crate) struct Access {
    client: Client,
    reviews: Arc<Semaphore>,
    entries: Arc<Mutex<HashMap<Key, Entry>>>,
    hashers: [RandomState; 2],
}

/// Hashes of the token and the path, with random keys: tokens are not kept, and collisions cannot be constructed.
type Key = [u64; 2];

enum Entry {
    /// A running review; dropped with the last request that waits for it.
    Asked(WeakShared<BoxFuture<'static, Verdict>>),
    Known(StatusCode, Instant),
}

impl Access {
    pub fn new(client: Client) -> Self {
        Self {
            client,
            reviews: Arc::new(Semaphore::new(REVIEWS)),
            entries: Arc::default(),
            hashers: [RandomState::new(), RandomState::new()],
        }
    }

    /// Middleware that passes a request on if its bearer token permits it.
    pub async fn guard(State(access): State<Self>, request: Request, next: Next) -> Response {
        let header = request.headers().get(header::AUTHORIZATION);
        let Some(token) = header.and_then(|value| bearer(value.to_str().ok()?)) else {
            return StatusCode::UNAUTHORIZED.into_response();
        };
        match access.verdict(token, request.uri().path()).await {
            Some(StatusCode::OK) => next.run(request).await,
            Some(refused) => refused.into_response(),
            None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }

    /// The verdict, from the cache or a review. Concurrent requests with the same token share one review.
    fn verdict(&self, token: &str, path: &str) -> impl Future<Output = Verdict> + use<> {
        let key = self.hashers.each_ref().map(|it| it.hash_one((token, path)));
        let mut entries = self.entries();
        match entries.get(&key) {
            Some(Entry::Known(status, until)) if Instant::now() < *until => {
                return std::future::ready(Some(*status)).left_future();
            }
            Some(Entry::Asked(asked)) => {
                if let Some(asked) = asked.upgrade() {
                    return asked.right_future();
                }
            }
            _ => {}
        }
        if entries.len() >= ENTRIES {
            make_room(&mut entries);
        }
        let access = self.clone();
        let (token, path) = (token.to_owned(), path.to_owned());
        let asked = async move { access.ask(key, token, path).await };
        let asked = asked.boxed().shared();
        let weak = asked.downgrade().expect("it has not been polled");
        entries.insert(key, Entry::Asked(weak));
        asked.right_future()
    }

    async fn ask(self, key: Key, token: String, path: String) -> Verdict {
        let review = async {
            let _permit = self.reviews.acquire().await;
            review(&self.client, token, path).await
        };
        let verdict = match tokio::time::timeout(PATIENCE, review).await {
            Ok(Ok(status)) => Some(status),
            Ok(Err(error)) => {
                warn!("cannot authenticate a request for metrics: {}", brief(&error));
                None
            }
            Err(_) => {
                warn!("cannot authenticate a request for metrics: no answer within {PATIENCE:?}");
                None
            }
        };
        let mut entries = self.entries();
        match verdict {
            None => entries.remove(&key),
            Some(status) => {
                let time = if status == StatusCode::OK { ALLOWED } else { REFUSED };
                entries.insert(key, Entry::Known(status, Instant::now() + time))
            }
        };
        verdict
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The token of an `Authorization` header. The scheme may be in lower case (RFC 7235, section 2.1).
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

/// Removes expired entries, and otherwise those that expire next: refusals rather than permissions. Running reviews are
/// kept: there is at most one per connection.
fn make_room(entries: &mut HashMap<Key, Entry>) {
    let now = Instant::now();
    entries.retain(|_, entry| match entry {
        Entry::Known(_, until) => now < *until,
        Entry::Asked(asked) => asked.upgrade().is_some(),
    });
    let expiry = |entry: &Entry| match entry {
        Entry::Known(_, until) => Some(*until),
        Entry::Asked(_) => None,
    };
    while entries.len() >= ENTRIES {
        let known = entries.iter().filter_map(|(key, entry)| Some((expiry(entry)?, *key)));
        let Some((_, next)) = known.min() else { return };
        entries.remove(&next);
    }
}

async fn review(client: &Client, token: String, path: String) -> kube::Result<StatusCode> {
    let params = PostParams::default();
    let mut user = TokenReview::default();
    // `token` is an `Option` in the types of some versions of Kubernetes.
    #[allow(clippy::useless_conversion)]
    {
        user.spec.token = token.into();
    }
    let user = Api::all(client.clone()).create(&params, &user).await?;
    let user = user.status.filter(|status| status.authenticated == Some(true));
    let Some(user) = user.and_then(|status| status.user) else {
        return Ok(StatusCode::UNAUTHORIZED);
    };
    let mut access = SubjectAccessReview::default();
    access.spec.user = user.username;
    access.spec.uid = user.uid;
    access.spec.groups = user.groups;
    access.spec.extra = user.extra;
    access.spec.non_resource_attributes =
        Some(NonResourceAttributes { path: Some(path), verb: Some("get".to_owned()) });
    let access = Api::all(client.clone()).create(&params, &access).await?;
    Ok(match access.status {
        Some(status) if status.allowed => StatusCode::OK,
        _ => StatusCode::FORBIDDEN,
    })
}

#[cfg(test)]
mod tests;
