//! What the operator counts and times, in the OpenMetrics format.
//!
//! Every label has few values: the names of controllers, and one word for each kind of result and error.

#[cfg(feature = "webhook")]
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry, Unit};

use crate::Operator;

#[cfg(feature = "webhook")]
pub(crate) use webhooks::{WebhookResult, Webhooks};

#[derive(Clone)]
pub struct Metrics {
    /// Whether this replica reconciles: 1 or 0.
    pub leader: Gauge,
    #[cfg(feature = "webhook")]
    pub(crate) webhooks: Webhooks,
    registry: Arc<Registry>,
    reconciles: Family<[Label; 2], Counter>,
    failures: Family<[Label; 2], Counter>,
    requeues: Family<[Label; 1], Counter>,
    duration: Family<[Label; 1], Histogram>,
}

/// Name and value.
type Label = (&'static str, &'static str);

/// In seconds.
const BUCKETS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

impl Metrics {
    pub fn new(operator: Operator) -> Self {
        let mut all = Registry::default();
        #[cfg(target_os = "linux")]
        all.register_collector(Box::new(super::process::Process));
        #[cfg(feature = "webhook")]
        let webhooks = Webhooks::register(&mut all);
        let own = all.sub_registry_with_prefix("controller");
        let build = Info::new([("version", operator.version)]);
        own.register("build", "What runs here", build);
        let duration = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> _);
        own.register_with_unit("reconcile_duration", "How long a reconcile takes", Unit::Seconds, duration.clone());
        Self {
            #[cfg(feature = "webhook")]
            webhooks,
            leader: add(own, "leader", "1 while this replica reconciles"),
            reconciles: add(own, "reconciles", "Reconciles that have ended, by result"),
            failures: add(own, "reconcile_failures", "Those that failed, by reason"),
            requeues: add(own, "requeues", "Reconciles that scheduled another one"),
            duration,
            registry: Arc::new(all),
        }
    }
}

/// A metric that is in the registry: its clones count together.
fn add<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

impl Metrics {
    /// Counts a reconcile that has ended: whether it schedules another one, or the reason why it failed.
    pub fn reconciled(&self, controller: &'static str, outcome: Result<bool, &'static str>, duration: Duration) {
        let controller = ("controller", controller);
        let result = if outcome.is_ok() { "success" } else { "error" };
        let labels = [controller, ("result", result)];
        self.reconciles.get_or_create(&labels).inc();
        if let Err(reason) = outcome {
            let labels = [controller, ("reason", reason)];
            self.failures.get_or_create(&labels).inc();
        }
        // After a failure, there is always another try.
        if outcome.unwrap_or(true) {
            self.requeues.get_or_create(&[controller]).inc();
        }
        let durations = self.duration.get_or_create(&[controller]);
        durations.observe(duration.as_secs_f64());
    }

    pub fn watch_restarted(&self, _controller: &'static str, _kind: &str) {}
    pub fn decode_failed(&self, _controller: &'static str, _kind: &str) {}
    pub fn undecodable(&self, _controller: &'static str, _kind: &str, _number: usize) {}
    pub fn running(&self, _controller: &'static str) {}

    /// All metrics as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string does not fail");
        text
    }
}

#[cfg(test)]
mod tests;
