// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! Counts and times reconciles, in the OpenMetrics format.
//!
//! Every label has few values: the names of controllers, and one word for each kind of error.

use std::sync::Arc;
use std::time::Instant;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    reconciles: Family<Labels, Counter>,
    failures: Family<FailureLabels, Counter>,
    duration: Family<Labels, Histogram>,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct Labels {
    controller: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct FailureLabels {
    controller: &'static str,
    error: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("controller");
        let reconciles = Family::default();
        registry.register(
            "reconciles",
            "Reconciles that have ended",
            reconciles.clone(),
        );
        let failures = Family::default();
        registry.register(
            "reconcile_failures",
            "Reconciles that have failed",
            failures.clone(),
        );
        let buckets = || {
            Histogram::new([
                0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0,
            ])
        };
        let duration = Family::new_with_constructor(buckets as fn() -> Histogram);
        registry.register_with_unit(
            "reconcile_duration",
            "How long a reconcile takes",
            Unit::Seconds,
            duration.clone(),
        );
        Self {
            registry: Arc::new(registry),
            reconciles,
            failures,
            duration,
        }
    }
}

impl Metrics {
    /// Counts a reconcile and its duration when the returned guard is dropped.
    pub fn measure(&self, controller: &'static str) -> impl Drop + use<> {
        Measure {
            metrics: self.clone(),
            labels: Labels { controller },
            start: Instant::now(),
        }
    }

    pub fn count_failure(&self, controller: &'static str, error: &'static str) {
        self.failures
            .get_or_create(&FailureLabels { controller, error })
            .inc();
    }

    /// All metrics as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("writing to a string does not fail");
        text
    }
}

struct Measure {
    metrics: Metrics,
    labels: Labels,
    start: Instant,
}

impl Drop for Measure {
    fn drop(&mut self) {
        self.metrics.reconciles.get_or_create(&self.labels).inc();
        self.metrics
            .duration
            .get_or_create(&self.labels)
            .observe(self.start.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_controller_for_itself() {
        let metrics = Metrics::default();
        drop(metrics.measure("a"));
        drop(metrics.measure("a"));
        metrics.count_failure("b", "Timeout");
        let text = metrics.text();
        assert!(
            text.contains("controller_reconciles_total{controller=\"a\"} 2"),
            "{text}"
        );
        assert!(
            text.contains(
                "controller_reconcile_failures_total{controller=\"b\",error=\"Timeout\"} 1"
            ),
            "{text}"
        );
        assert!(
            text.contains("controller_reconcile_duration_seconds_count{controller=\"a\"} 2"),
            "{text}"
        );
    }
}
