//! The shared API server of the tests, and operators on it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, process};

use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Request;
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, Config, Resource, ResourceExt};
use opctl_runtime::telemetry::metrics::Metrics;
use opctl_runtime::{Manager, Operator, Result, Runnable, client, testing};
use opctl_testenv::{Assets, Environment, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::kinds;

pub const OPERATOR: Operator = Operator { name: "runtime-test", version: "0.0.0" };

/// A running API server, and a client with all permissions.
#[derive(Clone)]
pub struct Cluster {
    pub client: Client,
    pub config: Config,
}

/// The guard stops it after the tests.
struct Shared {
    environment: Environment,
    _folder: TempDir,
}

static SHARED: LazyLock<Option<Shared>> = LazyLock::new(|| {
    let (environment, _folder) = start("shared")?;
    Some(Shared { environment, _folder })
});

/// Starts an API server for one test, with a folder that must outlive it; `None` if the programs are missing.
pub fn start(name: &str) -> Option<(Environment, TempDir)> {
    let folder = env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty());
    let Some(assets) = folder.and_then(Assets::in_folder) else {
        assert!(env::var_os("OPCTL_TESTS_MUST_RUN").is_none(), "KUBEBUILDER_ASSETS names no folder with an API server");
        eprintln!("skipped: KUBEBUILDER_ASSETS names no folder with an API server");
        return None;
    };
    let root = TempDir::new().unwrap();
    let environment = Environment::start(Settings::new(assets, root.path(), name)).unwrap();
    Some((environment, root))
}

impl Cluster {
    /// The shared cluster of all tests; `None` if the programs are missing.
    pub async fn shared() -> Option<Self> {
        static READY: tokio::sync::Mutex<bool> = tokio::sync::Mutex::const_new(false);
        log();
        let mut is_ready = READY.lock().await;
        let cluster = Self::of(&SHARED.as_ref()?.environment).await;
        if !*is_ready {
            cluster.install().await;
            *is_ready = true;
        }
        Some(cluster)
    }

    pub async fn of(environment: &Environment) -> Self {
        let kubeconfig = Kubeconfig::read_from(environment.kubeconfig()).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        Self { client: Client::try_from(config.clone()).unwrap(), config }
    }

    pub async fn install(&self) {
        let api = Api::<CustomResourceDefinition>::all(self.client.clone());
        for crd in kinds::crds() {
            let params = PatchParams::apply("test").force();
            api.patch(&crd.name_any(), &params, &Patch::Apply(&crd)).await.unwrap();
            await_condition(api.clone(), &crd.name_any(), conditions::is_crd_established()).await.unwrap();
        }
    }

    /// Creates a namespace.
    pub async fn namespace(&self, name: &str) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mut namespace = Namespace::default();
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        namespace.metadata.name = Some(format!("{name}-{}-{number}", process::id()));
        let api = Api::all(self.client.clone());
        api.create(&PostParams::default(), &namespace).await.unwrap().name_any()
    }

    /// The API of the objects of kind `K`, decoded without their type.
    pub fn raw<K: Resource<DynamicType = ()>>(&self, namespace: &str) -> Api<DynamicObject> {
        let resource = ApiResource::erase::<K>(&());
        match namespace {
            "" => Api::all_with(self.client.clone(), &resource),
            namespace => Api::namespaced_with(self.client.clone(), namespace, &resource),
        }
    }

    pub async fn create<K: Resource<DynamicType = ()>>(&self, namespace: &str, name: &str, spec: Value) {
        self.create_as_is::<K>(namespace, json!({ "metadata": { "name": name }, "spec": spec })).await;
    }

    /// Creates an object without validation by its Rust type.
    pub async fn create_as_is<K: Resource<DynamicType = ()>>(&self, namespace: &str, mut object: Value) {
        object["apiVersion"] = K::api_version(&()).into();
        object["kind"] = K::kind(&()).into();
        let url = self.raw::<K>(namespace).resource_url().to_owned();
        let request = Request::new(url).create(&PostParams::default(), object.to_string().into_bytes()).unwrap();
        self.client.request_text(request).await.unwrap();
    }

    /// Changes an object by a merge patch, as a user does.
    pub async fn patch<K: Resource<DynamicType = ()>>(&self, namespace: &str, name: &str, patch: Value) {
        let params = PatchParams { field_manager: Some("by-hand".to_owned()), ..PatchParams::default() };
        let requests = Request::new(self.raw::<K>(namespace).resource_url().to_owned());
        let request = requests.patch(name, &params, &Patch::Merge(patch)).unwrap();
        self.client.request_text(request).await.unwrap();
    }

    /// An object as JSON; null if it does not exist.
    pub async fn get<K: Resource<DynamicType = ()>>(&self, namespace: &str, name: &str) -> Value {
        let found = self.raw::<K>(namespace).get_opt(name).await.unwrap();
        found.map(|object| serde_json::to_value(object).unwrap()).unwrap_or_default()
    }

    /// A condition of an object; null if it has none of this type.
    pub async fn condition<K: Resource<DynamicType = ()>>(&self, namespace: &str, name: &str, type_: &str) -> Value {
        let object = self.get::<K>(namespace, name).await;
        let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|condition| condition["type"] == type_).unwrap_or_default()
    }

    /// Waits until the condition `Ready` of an object has this status and reason.
    pub async fn ready<K: Resource<DynamicType = ()>>(&self, namespace: &str, name: &str, status: &str, reason: &str) {
        let what = format!("Ready={status} ({reason}) of {} {name}", K::kind(&()));
        eventually(&what, async || {
            let condition = self.condition::<K>(namespace, name, "Ready").await;
            let (is, was) = (condition["status"] == status && condition["reason"] == reason, condition);
            is.then_some(()).ok_or(was)
        })
        .await;
    }

    /// The names of the objects of a kind, sorted.
    pub async fn names<K: Resource<DynamicType = ()>>(&self, namespace: &str) -> Vec<String> {
        let all = self.raw::<K>(namespace).list(&ListParams::default()).await.unwrap();
        let mut names: Vec<String> =
            all.iter().filter(|it| it.meta().deletion_timestamp.is_none()).map(|it| it.name_any()).collect();
        names.sort();
        names
    }

    /// Type, reason and note of the events about an object, the oldest first.
    pub async fn events(&self, namespace: &str, name: &str) -> Vec<(String, String, String)> {
        let api = Api::<Event>::namespaced(self.client.clone(), namespace);
        let mut all = api.list(&ListParams::default()).await.unwrap().items;
        all.retain(|event| {
            let is_ours = event.reporting_controller.as_deref() == Some(OPERATOR.name);
            is_ours && event.regarding.as_ref().and_then(|it| it.name.as_deref()) == Some(name)
        });
        all.sort_by(|one, other| one.event_time.as_ref().map(|it| it.0).cmp(&other.event_time.as_ref().map(|it| it.0)));
        let shown = |event: Event| {
            (event.type_.unwrap_or_default(), event.reason.unwrap_or_default(), event.note.unwrap_or_default())
        };
        all.into_iter().map(shown).collect()
    }

    /// Starts an operator with these arguments.
    pub fn run(&self, arguments: &[&str], runnables: Vec<Runnable>) -> Running {
        Running::start(self.config.clone(), arguments, runnables)
    }
}

/// A running operator, killed on drop.
pub struct Running {
    probes: u16,
    metrics_port: u16,
    /// The metrics of its requests.
    requests: Metrics,
    task: JoinHandle<()>,
}

impl Running {
    pub fn start(config: Config, arguments: &[&str], runnables: Vec<Runnable>) -> Self {
        let [probes, metrics_port] = free_ports();
        let requests = Metrics::new(OPERATOR);
        let client = client::from_config(config, &requests).unwrap();
        let addresses = [
            format!("--health-probe-bind-address=127.0.0.1:{probes}"),
            format!("--metrics-bind-address=127.0.0.1:{metrics_port}"),
        ];
        let options = testing::options(arguments.iter().copied().chain(addresses.iter().map(String::as_str)));
        let task = tokio::spawn(async move {
            let ended = Manager::new(OPERATOR).start(client, options, runnables).await;
            eprintln!("the operator ended: {ended:?}");
        });
        Self { probes, metrics_port, requests, task }
    }

    /// Waits until `/readyz` returns 200.
    pub async fn ready(&self) {
        eventually("/readyz", async || {
            assert!(!self.task.is_finished(), "the operator ended");
            match get(self.probes, "/readyz").await {
                Ok((200, _)) => Ok(()),
                other => Err(other),
            }
        })
        .await;
    }

    pub async fn is_ready(&self) -> bool {
        matches!(get(self.probes, "/readyz").await, Ok((200, _)))
    }

    /// The sum of a metric's samples whose labels contain all of these texts.
    pub async fn metric(&self, name: &str, labels: &[&str]) -> f64 {
        sum(&get(self.metrics_port, "/metrics").await.unwrap().1, name, labels)
    }

    /// The number of requests whose labels contain all of these texts, such as `verb="patch"`.
    pub fn requests(&self, labels: &[&str]) -> u64 {
        sum(&self.requests.text(), "rest_client_requests_total", labels) as u64
    }

    /// Requests by verb, resource and code.
    pub fn all_requests(&self) -> BTreeMap<String, u64> {
        let text = self.requests.text();
        let lines = text.lines().filter_map(|line| line.strip_prefix("rest_client_requests_total"));
        let parsed = lines.filter_map(|line| line.rsplit_once(' '));
        parsed.map(|(labels, number)| (labels.to_owned(), number.parse().unwrap())).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn sum(metrics: &str, name: &str, labels: &[&str]) -> f64 {
    let lines =
        metrics.lines().filter(|line| line.starts_with(name) && labels.iter().all(|label| line.contains(label)));
    lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
}

async fn get(port: u16, path: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let code = answer.split_whitespace().nth(1).and_then(|code| code.parse().ok());
    Ok((code.unwrap_or_default(), answer))
}

fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// Enough for a machine that is busy with compilers.
const PATIENCE: Duration = Duration::from_secs(60);

/// Retries until success, for at most a minute.
pub async fn eventually<T, E: Debug>(what: &str, mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let start = Instant::now();
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) if start.elapsed() > PATIENCE => panic!("not within a minute: {what}: {error:?}"),
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn lines() -> MutexGuard<'static, Vec<u8>> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records the log of the operators.
fn log() {
    struct Lines;
    impl Write for Lines {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            lines().extend_from_slice(text);
            Ok(text.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(|| Lines);
    // Fails for all but the first test.
    let _ = subscriber.try_init();
}

/// The log lines that contain all of these texts.
pub fn logged(texts: &[&str]) -> Vec<String> {
    let log = String::from_utf8_lossy(&lines()).into_owned();
    log.lines().filter(|line| texts.iter().all(|text| line.contains(text))).map(str::to_owned).collect()
}

/// `Ok`, with the error type that the compiler cannot infer for a closure.
pub fn ok<T>(value: T) -> Result<T> {
    Ok(value)
}

/// The names of the reconciled objects, in order.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub fn note(&self, object: &impl ResourceExt) {
        self.0.lock().unwrap().push(object.name_any());
    }

    pub fn count(&self, name: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|other| *other == name).count()
    }
}
