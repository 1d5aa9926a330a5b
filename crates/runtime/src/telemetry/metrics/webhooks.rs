//! What the webhook server counts and times.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::{Label, add};

/// Requests of the API server to webhooks.
#[derive(Clone)]
pub(crate) struct Webhooks {
    requests: Family<[Label; 3], Counter>,
    duration: Family<[Label; 1], Histogram>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WebhookResult {
    Allowed,
    Refused,
    /// There was no verdict, so that the `failurePolicy` decides.
    Failed,
}

/// In seconds; an API server waits for 30 at most.
const BUCKETS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0];

impl Webhooks {
    pub fn register(registry: &mut Registry) -> Self {
        let own = registry.sub_registry_with_prefix("webhook");
        let duration = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> _);
        own.register_with_unit(
            "request_duration",
            "How long a request to a webhook takes",
            Unit::Seconds,
            duration.clone(),
        );
        Self { requests: add(own, "requests", "Requests to webhooks, by operation and result"), duration }
    }

    /// Counts a request that was answered.
    pub fn answered(&self, path: &'static str, operation: &'static str, result: WebhookResult, duration: Duration) {
        let result = match result {
            WebhookResult::Allowed => "allowed",
            WebhookResult::Refused => "refused",
            WebhookResult::Failed => "failed",
        };
        let labels = [("path", path), ("operation", operation), ("result", result)];
        self.requests.get_or_create(&labels).inc();
        self.duration.get_or_create(&[("path", path)]).observe(duration.as_secs_f64());
    }
}
