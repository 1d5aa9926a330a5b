//! Two replicas on a real API server: one leads, the other takes over after the leader was killed or the API server was
//! frozen.

use std::env;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::Api;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use opctl_runtime::telemetry::metrics::Metrics;
use opctl_runtime::{Manager, Operator, Runnable, Runs, client, manager, testing};
use opctl_testenv::{Assets, Environment, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::control_plane::skipped;

const DURATION: Duration = Duration::from_secs(10);
const DEADLINE: Duration = Duration::from_secs(4);
/// Duration of a request on a machine that is busy with other tests.
const SLACK: Duration = Duration::from_secs(6);

/// Forwards connections to the API server while it is not frozen.
#[derive(Clone, Default)]
struct Relay(Arc<AtomicBool>);

impl Relay {
    /// Starts it, and returns the port to use instead of `port`.
    async fn start(&self, port: u16) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = listener.local_addr().unwrap().port();
        let relay = self.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let relay = relay.clone();
                tokio::spawn(async move {
                    let server = TcpStream::connect(("127.0.0.1", port)).await?;
                    let ((from_client, to_client), (from_server, to_server)) =
                        (client.into_split(), server.into_split());
                    tokio::try_join!(relay.forward(from_client, to_server), relay.forward(from_server, to_client))
                });
            }
        });
        own
    }

    async fn forward(&self, mut from: impl AsyncReadExt + Unpin, mut to: impl AsyncWriteExt + Unpin) -> io::Result<()> {
        let mut bytes = vec![0; 16 * 1024];
        loop {
            let count = from.read(&mut bytes).await?;
            if count == 0 {
                return to.shutdown().await;
            }
            while self.0.load(Ordering::SeqCst) {
                sleep(Duration::from_millis(10)).await;
            }
            to.write_all(&bytes[..count]).await?;
        }
    }

    fn freeze(&self, frozen: bool) {
        self.0.store(frozen, Ordering::SeqCst);
    }
}

/// The number of replicas that reconcile: now, and the maximum so far.
#[derive(Clone, Default)]
struct Leaders {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Leaders {
    fn begin(&self) -> Leading {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        Leading(self.clone())
    }

    fn now(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }
}

/// Counts a replica as reconciling, until it is dropped.
struct Leading(Leaders);

impl Drop for Leading {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A replica with its own runtime, so that it can be killed.
struct Replica {
    runtime: Runtime,
    leads: Arc<AtomicBool>,
    ended: JoinHandle<Result<(), manager::Error>>,
}

impl Replica {
    fn start(operator: Operator, config: Config, leaders: &Leaders) -> Self {
        let leads = Arc::new(AtomicBool::new(false));
        let (seen, leaders) = (leads.clone(), leaders.clone());
        let work = Runnable::new("work", Runs::Once, move |ctx| {
            let (seen, leaders) = (seen.clone(), leaders.clone());
            async move {
                let _leading = leaders.begin();
                seen.store(true, Ordering::SeqCst);
                ctx.readiness.reached("work");
                ctx.shutdown().await;
                Ok(())
            }
        });
        let options = testing::options([
            "--leader-elect",
            "--leader-election-namespace=default",
            "--lease-duration=10",
            "--renew-deadline=4",
            "--retry-period=1",
            "--health-probe-bind-address=127.0.0.1:0",
            "--metrics-bind-address=0",
        ]);
        let runtime = Runtime::new().unwrap();
        let ended = runtime.spawn(async move {
            let client = client::from_config(config, &Metrics::new(operator)).unwrap();
            Manager::new(operator).start(client, options, vec![work]).await
        });
        Self { runtime, leads, ended }
    }

    fn leads(&self) -> bool {
        self.leads.load(Ordering::SeqCst)
    }

    /// Stops it like SIGKILL, without releasing the Lease.
    fn kill(self) {
        self.runtime.shutdown_background();
    }
}

async fn eventually(what: &str, limit: Duration, holds: impl Fn() -> bool) -> Duration {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < limit, "not within {limit:?}: {what}");
        sleep(Duration::from_millis(20)).await;
    }
    start.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_replica_takes_over_when_the_leader_is_killed_or_was_frozen_out() {
    let Some(assets) = env::var_os("KUBEBUILDER_ASSETS").and_then(Assets::in_folder) else {
        skipped("leader election", "KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver");
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let settings = Settings { nodes: Some(0), ..Settings::new(assets, root.path(), "leader-election") };
    let environment = tokio::task::spawn_blocking(|| Environment::start(settings)).await.unwrap().unwrap();
    let kubeconfig = Kubeconfig::read_from(environment.kubeconfig()).unwrap();
    let direct = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let relay = Relay::default();
    let port = relay.start(direct.cluster_url.port_u16().unwrap()).await;
    let mut config = direct.clone();
    config.cluster_url = format!("https://127.0.0.1:{port}").parse().unwrap();

    let operator = Operator { name: "sample-operator", version: "1.2.3" };
    let leaders = Leaders::default();
    let first = Replica::start(operator, config.clone(), &leaders);
    eventually("a leader", SLACK * 2, || first.leads()).await;
    let leases = Api::<Lease>::namespaced(Client::try_from(direct).unwrap(), "default");
    let holder = leases.get(operator.name).await.unwrap().spec.unwrap().holder_identity;
    assert!(holder.is_some_and(|holder| !holder.is_empty()), "the Lease is called like the operator");
    let second = Replica::start(operator, config.clone(), &leaders);
    sleep(DURATION + DEADLINE).await;
    assert!(!second.leads() && leaders.now() == 1, "the first one renews its Lease");

    first.kill();
    let waited = eventually("the second one leads", DURATION + SLACK, || second.leads()).await;
    assert!(waited > DURATION - DEADLINE, "the Lease was not released: {waited:?}");

    let third = Replica::start(operator, config, &leaders);
    sleep(Duration::from_secs(2)).await;
    relay.freeze(true);
    let frozen = Instant::now();
    eventually("the leader gives up", DEADLINE + SLACK, || second.ended.is_finished()).await;
    assert!(frozen.elapsed() < DURATION, "before another may lead: {:?}", frozen.elapsed());
    let lost = second.ended.await.unwrap().unwrap_err().to_string();
    assert_eq!(lost, "this replica is no longer the leader: no renewal in 4 seconds");
    sleep(DURATION).await;
    assert!(leaders.now() == 0 && !third.ended.is_finished(), "nobody can lead, and a follower waits");
    relay.freeze(false);
    eventually("the third one leads", DURATION + SLACK, || third.leads()).await;
    assert_eq!(leaders.most.load(Ordering::SeqCst), 1, "two replicas reconciled at the same time");

    second.runtime.shutdown_background();
    third.kill();
    tokio::task::spawn_blocking(move || drop(environment)).await.unwrap();
}
