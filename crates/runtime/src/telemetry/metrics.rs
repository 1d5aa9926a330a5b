//! Metrics in the OpenMetrics format.
//!
//! | metric | type | labels | meaning |
//! |---|---|---|---|
//! | `controller_reconciles_total` | counter | `controller`, `result`: `success`, `error` | finished reconciles |
//! | `controller_reconcile_failures_total` | counter | `controller`, `reason` | failed reconciles, by the reason of their error: `Panicked` for a panic, `TimedOut` for one that exceeded its timeout |
//! | `controller_reconcile_duration_seconds` | histogram | `controller` | duration of reconciles, with the requests that they waited for |
//! | `controller_active_reconciles` | gauge | `controller` | reconciles that are running |
//! | `controller_longest_running_reconcile_seconds` | gauge | `controller` | time since the oldest of the running reconciles began; 0 without any |
//! | `controller_reconcile_blocks_total` | counter | `controller` | steps of reconciles that blocked their thread for five seconds or longer |
//! | `controller_last_success_timestamp_seconds` | gauge | `controller` | time of the last successful reconcile, since 1970 |
//! | `controller_requeues_total` | counter | `controller` | successful reconciles that scheduled another one |
//! | `controller_retries_total` | counter | `controller` | failed reconciles, each of which schedules a retry |
//! | `controller_watch_restarts_total` | counter | `controller`, `kind` | watches that failed and were started again |
//! | `controller_decode_failures_total` | counter | `controller`, `kind` | received objects that do not fit their Rust type |
//! | `controller_undecodable_objects` | gauge | `controller`, `kind`, `namespace`: empty for the whole cluster | objects that are left out at present, since they do not fit their Rust type |
//! | `controller_objects` | gauge | `controller`, `ready`: `True`, `False`, `Unknown` | objects, by the status of their condition `Ready`; those of a controller that writes no status are left out |
//! | `controller_leader` | gauge | | 1 while this replica reconciles |
//! | `controller_build_info` | info | `version` | version of the operator |
//! | `controller_webhook_requests_total` | counter | `path`, `operation`, `outcome` | requests to webhooks |
//! | `controller_webhook_duration_seconds` | histogram | `path` | duration of these requests |
//! | `rest_client_requests_total` | counter | `verb`, `group`, `resource`, `code`: HTTP status or `<error>` | requests to the API server, each retry counted |
//! | `rest_client_request_duration_seconds` | histogram | `verb`, `group`, `resource` | time until the answers to these requests began |
//! | `rest_client_request_retries_total` | counter | `verb`, `group`, `code` | requests sent again, since the API server was overloaded |
//! | `process_cpu_seconds_total`, `process_start_time_seconds`, `process_resident_memory_bytes`, `process_open_fds` | | | the process, on Linux |
//!
//! Verbs and resources are those of RBAC. The names are those of client-go where it has the same metric, and close to
//! those of controller-runtime: `controller_runtime_reconcile_total` and `controller_runtime_active_workers` are its
//! `controller_reconciles_total` and `controller_active_reconciles`. Every label has few values.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use http::StatusCode;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry, Unit};

use crate::Operator;
use crate::client::target::Target;

/// The library whose metrics [`Metrics::register`] accepts.
pub use prometheus_client;

/// The metrics at `/metrics`. Clones share their values.
#[derive(Clone)]
pub struct Metrics {
    /// 1 if this replica reconciles, 0 otherwise.
    pub leader: Gauge,
    registry: Arc<Mutex<Registry>>,
    reconciles: Counters<2>,
    failures: Counters<2>,
    duration: Histograms<1>,
    active: Active,
    blocks: Counters<1>,
    last_success: Family<[Label; 1], Gauge<f64, AtomicU64>>,
    requeues: Counters<1>,
    retries: Counters<1>,
    watch_restarts: Counters<2>,
    decode_failures: Counters<2>,
    undecodable: Family<[Label; 3], Gauge>,
    objects: Objects,
    webhook_requests: Counters<3>,
    webhook_duration: Histograms<1>,
    requests: Counters<4>,
    request_duration: Histograms<3>,
    request_retries: Counters<3>,
}

/// Name and value.
type Label = (&'static str, String);
type Counters<const N: usize> = Family<[Label; N], Counter>;
type Histograms<const N: usize> = Family<[Label; N], Histogram, fn() -> Histogram>;

/// In seconds.
const BUCKETS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

impl Metrics {
    /// The metrics of an operator, with all values 0.
    pub fn new(operator: Operator) -> Self {
        let mut all = Registry::default();
        #[cfg(target_os = "linux")]
        all.register_collector(Box::new(super::process::Process));
        let own = all.sub_registry_with_prefix("controller");
        own.register("build", "Version of the operator", Info::new([("version", operator.version)]));
        let leader = add(own, "leader", "1 while this replica reconciles");
        let reconciles = add(own, "reconciles", "Finished reconciles, by result");
        let failures = add(own, "reconcile_failures", "Failed reconciles, by reason");
        let duration = add_duration(own, "reconcile_duration", "Duration of reconciles");
        let blocks =
            add(own, "reconcile_blocks", "Steps of reconciles that blocked their thread for five seconds or longer");
        let last_success = Family::default();
        let help = "Time of the last successful reconcile, since 1970";
        own.register_with_unit("last_success_timestamp", help, Unit::Seconds, last_success.clone());
        let requeues = add(own, "requeues", "Successful reconciles that scheduled another one");
        let retries = add(own, "retries", "Failed reconciles, each of which schedules a retry");
        let watch_restarts = add(own, "watch_restarts", "Watches that failed and were started again");
        let decode_failures = add(own, "decode_failures", "Received objects that do not fit their Rust type");
        let undecodable =
            add(own, "undecodable_objects", "Objects that are left out, since they do not fit their Rust type");
        let objects = Objects::default();
        let webhook_requests = add(own, "webhook_requests", "Requests to webhooks");
        let webhook_duration = add_duration(own, "webhook_duration", "Duration of requests to webhooks");
        all.register_collector(Box::new(objects.clone()));
        let active = Active::default();
        all.register_collector(Box::new(active.clone()));
        let client = all.sub_registry_with_prefix("rest_client");
        let requests = add(client, "requests", "Requests to the API server");
        let help = "Time until the answers of the API server began";
        let request_duration = add_duration(client, "request_duration", help);
        let help = "Requests sent again, since the API server was overloaded";
        let request_retries = add(client, "request_retries", help);
        Self {
            leader,
            registry: Arc::new(Mutex::new(all)),
            reconciles,
            failures,
            duration,
            active,
            blocks,
            last_success,
            requeues,
            retries,
            watch_restarts,
            decode_failures,
            undecodable,
            objects,
            webhook_requests,
            webhook_duration,
            requests,
            request_duration,
            request_retries,
        }
    }

    /// Registers a custom metric, and returns it.
    ///
    /// ```
    /// use opctl_runtime::telemetry::metrics::Metrics;
    /// use opctl_runtime::telemetry::metrics::prometheus_client::metrics::counter::Counter;
    ///
    /// # let metrics = Metrics::new(opctl_runtime::operator!());
    /// let backups: Counter = metrics.register("backups", "Backups that were made");
    /// backups.inc();
    /// assert!(metrics.text().contains("backups_total 1"));
    /// ```
    pub fn register<M: Metric + Clone + Default>(&self, name: &str, help: &str) -> M {
        add(&mut self.registry(), name, help)
    }

    /// Registers a custom metric without a default, such as a histogram, and returns it.
    ///
    /// ```
    /// use opctl_runtime::telemetry::metrics::Metrics;
    /// use opctl_runtime::telemetry::metrics::prometheus_client::metrics::histogram::Histogram;
    ///
    /// # let metrics = Metrics::new(opctl_runtime::operator!());
    /// let buckets = [1.0, 10.0, 60.0, 600.0];
    /// let duration = metrics.register_with("backup_duration_seconds", "Duration of backups", Histogram::new(buckets));
    /// duration.observe(12.0);
    /// assert!(metrics.text().contains("backup_duration_seconds_count 1"));
    /// ```
    pub fn register_with<M: Metric + Clone>(&self, name: &str, help: &str, metric: M) -> M {
        self.registry().register(name, help, metric.clone());
        metric
    }

    /// Registers `count`, which counts the objects of a controller in a namespace or the whole cluster by the status of
    /// their condition.
    pub(crate) fn count_objects(
        &self,
        controller: &'static str,
        namespace: Option<&str>,
        count: impl Fn() -> BTreeMap<&'static str, u32> + Send + Sync + 'static,
    ) {
        let key = (controller, namespace.unwrap_or_default().to_owned());
        self.objects.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Box::new(count));
    }

    /// Counts a running reconcile, until the guard is dropped.
    pub fn running(&self, controller: &str) -> Running {
        let running = Running { active: self.active.clone(), controller: controller.to_owned(), begin: Instant::now() };
        self.active.begins().entry(running.controller.clone()).or_default().push(running.begin);
        running
    }

    /// Counts a step of a reconcile that blocked its thread.
    pub(crate) fn blocked(&self, controller: &str) {
        self.blocks.get_or_create(&[label("controller", controller)]).inc();
    }

    /// Counts a finished reconcile: `true` if it scheduled another one, or the reason of its failure.
    pub fn reconciled(&self, controller: &str, outcome: Result<bool, &'static str>, duration: Duration) {
        let controller = label("controller", controller);
        let only = [controller.clone()];
        let result = if outcome.is_ok() { "success" } else { "error" };
        self.reconciles.get_or_create(&[controller.clone(), label("result", result)]).inc();
        self.duration.get_or_create(&only).observe(duration.as_secs_f64());
        // Initialized to 0, since Prometheus computes no rate from the first value of a counter.
        drop(self.blocks.get_or_create(&only));
        match outcome {
            Ok(is_requeued) => {
                // 0 if the clock is set before 1970.
                let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
                self.last_success.get_or_create(&only).set(now.as_secs_f64());
                if is_requeued {
                    self.requeues.get_or_create(&only).inc();
                }
            }
            Err(reason) => {
                self.failures.get_or_create(&[controller, label("reason", reason)]).inc();
                self.retries.get_or_create(&only).inc();
            }
        }
    }

    /// Counts a watch that failed and is started again.
    pub fn watch_restarted(&self, controller: &str, kind: &str) {
        self.watch_restarts.get_or_create(&[label("controller", controller), label("kind", kind)]).inc();
    }

    /// Counts a received object that does not fit its Rust type.
    pub fn decode_failed(&self, controller: &str, kind: &str) {
        self.decode_failures.get_or_create(&[label("controller", controller), label("kind", kind)]).inc();
    }

    /// Sets the number of objects that a watch currently skips, in one namespace or the whole cluster.
    pub fn undecodable(&self, controller: &str, kind: &str, namespace: Option<&str>, number: usize) {
        let namespace = label("namespace", namespace.unwrap_or_default());
        let labels = [label("controller", controller), label("kind", kind), namespace];
        self.undecodable.get_or_create(&labels).set(i64::try_from(number).unwrap_or(i64::MAX));
    }

    /// Counts a request to a webhook. `operation` is `CREATE`, `UPDATE`, `DELETE`, `CONNECT`, `CONVERT` or `UNKNOWN`.
    /// Labels are static strings, never text from requests, since anybody can send requests.
    pub fn webhook(&self, path: &str, operation: &'static str, outcome: &'static str, duration: Duration) {
        let path = label("path", path);
        let labels = [path.clone(), label("operation", operation), label("outcome", outcome)];
        self.webhook_requests.get_or_create(&labels).inc();
        self.webhook_duration.get_or_create(&[path]).observe(duration.as_secs_f64());
    }

    /// Counts a request to the API server; `code` is `None` without a response.
    pub(crate) fn requested(&self, target: &Target, code: Option<StatusCode>, duration: Duration) {
        let Target { verb, group, resource, .. } = target;
        let [verb, group, resource] = [label("verb", verb), label("group", group), label("resource", resource)];
        let code = label("code", code.as_ref().map_or("<error>", StatusCode::as_str));
        self.requests.get_or_create(&[verb.clone(), group.clone(), resource.clone(), code]).inc();
        self.request_duration.get_or_create(&[verb, group, resource]).observe(duration.as_secs_f64());
    }

    /// Counts a request that is sent again after a response with this code.
    pub(crate) fn retried(&self, target: &Target, code: StatusCode) {
        let labels = [label("verb", target.verb), label("group", &target.group), label("code", code.as_str())];
        self.request_retries.get_or_create(&labels).inc();
    }

    /// All metrics as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry()).expect("writing to a string does not fail");
        text
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Counts the objects of each controller and namespace at each scrape.
#[derive(Clone, Default)]
struct Objects(Arc<Mutex<Counts>>);

/// By controller and namespace.
type Counts = BTreeMap<(&'static str, String), Box<Count>>;

type Count = dyn Fn() -> BTreeMap<&'static str, u32> + Send + Sync;

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").finish_non_exhaustive()
    }
}

impl Collector for Objects {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let mut sums: BTreeMap<[(&str, &str); 2], u32> = BTreeMap::new();
        for ((controller, _), count) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            for (ready, number) in count() {
                *sums.entry([("controller", controller), ("ready", ready)]).or_default() += number;
            }
        }
        let help = "Objects, by the status of their condition Ready";
        let mut family = encoder.encode_descriptor("controller_objects", help, None, MetricType::Gauge)?;
        for (labels, number) in sums {
            ConstGauge::new(number).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// The start times of each controller's running reconciles, oldest first.
#[derive(Clone, Debug, Default)]
struct Active(Arc<Mutex<BTreeMap<String, Vec<Instant>>>>);

impl Active {
    fn begins(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Instant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collector for Active {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let begins = self.begins();
        let mut family =
            encoder.encode_descriptor("controller_active_reconciles", "Running reconciles", None, MetricType::Gauge)?;
        for (controller, begins) in &*begins {
            let number = i64::try_from(begins.len()).unwrap_or(i64::MAX);
            ConstGauge::new(number).encode(family.encode_family(&[("controller", controller)])?)?;
        }
        let (name, help) = ("controller_longest_running_reconcile", "Time since the oldest running reconcile began");
        let mut family = encoder.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Gauge)?;
        for (controller, begins) in &*begins {
            let longest = begins.first().map_or(0.0, |begin| begin.elapsed().as_secs_f64());
            ConstGauge::new(longest).encode(family.encode_family(&[("controller", controller)])?)?;
        }
        Ok(())
    }
}

/// A running reconcile, until it is dropped.
#[derive(Debug)]
pub struct Running {
    active: Active,
    controller: String,
    begin: Instant,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut begins = self.active.begins();
        let Some(begins) = begins.get_mut(&self.controller) else { return };
        // Reconciles that started at the same instant are interchangeable.
        if let Some(at) = begins.iter().position(|begin| *begin == self.begin) {
            begins.remove(at);
        }
    }
}

fn label(name: &'static str, value: &str) -> Label {
    (name, value.to_owned())
}

/// Adds a metric to the registry. Its clones share their values.
fn add<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

fn add_duration<const N: usize>(registry: &mut Registry, name: &str, help: &str) -> Histograms<N>
where
    [Label; N]: prometheus_client::encoding::EncodeLabelSet + Clone + std::hash::Hash + Eq + fmt::Debug + Send + Sync,
{
    let durations = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> _);
    registry.register_with_unit(name, help, Unit::Seconds, durations.clone());
    durations
}

#[cfg(test)]
mod tests;
