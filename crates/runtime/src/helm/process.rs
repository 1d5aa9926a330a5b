//! Runs the helm program: limits concurrent processes, locks releases, and handles exits.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tracing::{debug, warn};

use super::HelmOptions;
use super::chart::Chart;
use super::dependents::Dependents;
use super::release::Id;
use crate::digest::digest;
use crate::error::shortened;
use crate::processes::{NO_PROXY, end, make_folder, no_proxy, private_file, private_folder, stop};
use crate::proxy::{Proxy, Unchanged};
use crate::{Context, Error, Result, manager};

/// The time that helm may exceed its own `--timeout` before it is stopped.
const GRACE: Duration = Duration::from_secs(30);
/// The time for helm to record a failure after SIGTERM, before it is killed.
const DYING: Duration = Duration::from_secs(15);
/// An environment variable that identifies the helm processes of an operator that was killed.
const MARK: &str = "OPCTL_HELM_RELEASE";
/// Environment variables that take precedence over the kubeconfig.
const CLUSTER: [&str; 6] = [
    "HELM_KUBEAPISERVER",
    "HELM_KUBECAFILE",
    "HELM_KUBECONTEXT",
    "HELM_KUBEINSECURE_SKIP_TLS_VERIFY",
    "HELM_KUBETLS_SERVER_NAME",
    "HELM_KUBETOKEN",
];

/// State that all controllers of a process share.
#[derive(Debug)]
pub(crate) struct Helm {
    options: HelmOptions,
    slots: Semaphore,
    charts: Mutex<HashMap<String, Arc<Chart>>>,
    /// The releases that a helm process of this operator works on.
    running: Arc<Mutex<HashSet<Id>>>,
    /// Failures of the current inputs of each release, since not every failure creates a record.
    pub(super) failures: Mutex<HashMap<Id, super::release::Failures>>,
    pub(super) dependents: Dependents,
    pub(super) drifts: Drifts,
}

/// The last reported and uncorrected drift of each release.
#[derive(Debug, Default)]
pub(super) struct Drifts(Mutex<HashMap<Id, String>>);

impl Drifts {
    /// Records the drift, empty for none. Returns `true` if it differs from the previous one.
    pub fn report(&self, id: &Id, drifted: &str) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match drifted {
            "" => all.remove(id).is_some(),
            _ => all.insert(id.clone(), drifted.to_owned()).as_deref() != Some(drifted),
        }
    }
}

/// The reason why helm did not succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// A helm of an earlier process still works on the release.
    Busy,
    /// Helm was killed, which does not count as a failure of the release.
    Killed,
    /// The error of helm.
    Failed(String),
}

impl Helm {
    pub fn new(options: HelmOptions) -> Self {
        Self {
            slots: Semaphore::new(options.helm_processes.into()),
            options,
            charts: Mutex::default(),
            running: Arc::default(),
            failures: Mutex::default(),
            dependents: Dependents::default(),
            drifts: Drifts::default(),
        }
    }

    pub(super) fn folder(&self, chart: &str) -> PathBuf {
        self.options.helm_charts.join(chart)
    }

    /// The chart in this folder below `--helm-charts`, as it was when it was read first.
    pub(super) fn chart(&self, name: &str) -> Result<Arc<Chart>> {
        let mut charts = self.charts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chart) = charts.get(name) {
            return Ok(chart.clone());
        }
        let folder = self.folder(name);
        let chart = Chart::read(&folder).map_err(|error| {
            let message = format!("the chart in `{}` cannot be read: {error}", folder.display());
            Error::new("InvalidChart", message)
        })?;
        let chart = Arc::new(chart);
        charts.insert(name.to_owned(), chart.clone());
        Ok(chart)
    }

    /// Checks that the program is helm 4.
    pub(super) async fn check(&self) -> Result<(), manager::Error> {
        let program = self.options.helm_program.display();
        let other = |why: String| manager::Error::Other(why.into());
        let hint = "install helm 4, or name it with `--helm-program`";
        let output =
            Command::new(&self.options.helm_program).args(["version", "--template", "{{.Version}}"]).output().await;
        let output = output.map_err(|error| other(format!("cannot run `{program}`: {error}; {hint}")))?;
        let version = String::from_utf8_lossy(&output.stdout);
        match version.trim().strip_prefix("v4.") {
            Some(_) => Ok(()),
            None => Err(other(format!("`{program}` is helm {}, not version 4; {hint}", version.trim()))),
        }
    }

    /// Runs helm for a release, after waiting for a free slot. Only one helm works on a release at a time, even if the
    /// operator that started another one was killed. The operator's client sends the requests, so none is sent after
    /// another replica may have become the leader.
    ///
    /// `limit` is helm's own `--timeout`. At shutdown, helm has half of the grace period to finish; then SIGTERM makes
    /// it record a failure.
    pub(super) async fn run(
        &self,
        ctx: &Context,
        id: &Id,
        arguments: Vec<String>,
        input: String,
        limit: Duration,
    ) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::Failed(format!("cannot run helm: {error}"));
        let Ok(_slot) = self.slots.acquire().await else { unreachable!("the semaphore is never closed") };
        let mut log = self.lock(id).await.map_err(failed)?.ok_or(Failure::Busy)?;
        let running = Running::new(id, &self.running);
        let path = path(id).map_err(failed)?;
        let proxy = Proxy::start(ctx.client.clone(), Unchanged).await;
        let proxy = proxy.map_err(|error| Failure::Failed(error.to_string()))?;
        let files = Files::write(&path, &proxy.kubeconfig(&id.namespace).to_string()).map_err(failed)?;
        let mut command = Command::new(&self.options.helm_program);
        command
            .args(&arguments)
            .args(["--namespace", &id.namespace])
            .env("HELM_DRIVER", "secret")
            .env("HELM_NO_PLUGINS", "1")
            .env("KUBECONFIG", files.0.join("kubeconfig"))
            // Helm caches API discovery by port, and another proxy may have the same port.
            .env("KUBECACHEDIR", &files.0)
            .envs(NO_PROXY.map(|name| (name, no_proxy(name))))
            .env(MARK, &path)
            .kill_on_drop(true)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log.try_clone().map_err(failed)?);
        for name in ["HELM_NAMESPACE", "HELM_MAX_HISTORY", "HELM_DEBUG"].into_iter().chain(CLUSTER) {
            command.env_remove(name);
        }
        // Ctrl-C on a terminal must reach only the operator, which shuts helm down in order.
        #[cfg(unix)]
        command.process_group(0);
        debug!("helm {}", arguments.join(" "));
        let mut child = command.spawn().map_err(failed)?;
        let (shutdown, patience) = (ctx.shutdown(), Duration::from_secs(ctx.options.grace_period) / 2);
        // A separate task: the caller may be dropped, but helm continues. It is killed if the operator exits first,
        // such as when another replica may be the leader.
        let ended = tokio::spawn(async move {
            let (_proxy, _files, _running) = (proxy, files, running);
            if let Some(mut stdin) = child.stdin.take()
                // Helm exits early with an error message if its arguments are wrong.
                && let Err(error) = stdin.write_all(input.as_bytes()).await
            {
                debug!("helm does not read its input: {error}");
            }
            tokio::select! {
                status = child.wait() => return status,
                () = sleep(limit + GRACE) => warn!("helm is stopped: it runs longer than its timeout"),
                () = async { shutdown.await; sleep(patience).await } => warn!("helm is stopped: the operator shuts down"),
            }
            stop(&mut child, DYING).await
        });
        let status = ended.await.map_err(|error| Failure::Failed(error.to_string()))?.map_err(failed)?;
        let mut text = String::new();
        log.rewind().and_then(|()| log.read_to_string(&mut text)).map_err(failed)?;
        match status.code() {
            Some(0) => Ok(()),
            Some(_) => Err(Failure::Failed(reason(&text, status))),
            None => Err(Failure::Killed),
        }
    }

    /// `true` if no helm works on a release on this machine.
    pub(super) async fn is_free(&self, id: &Id) -> io::Result<bool> {
        Ok(self.lock(id).await?.is_some())
    }

    /// Opens and locks the file for helm's messages. Helm inherits the lock, which lasts until both processes exit.
    /// `None` while a helm holds it. A helm that a killed operator left is killed, since its requests fail anyway.
    async fn lock(&self, id: &Id) -> io::Result<Option<File>> {
        let path = path(id)?;
        let is_running = || self.running.lock().unwrap_or_else(PoisonError::into_inner).contains(id);
        match lock(&path)? {
            None if !is_running() && end(MARK, &path.to_string_lossy()).await => lock(&path),
            file => Ok(file),
        }
    }
}

/// A release that a helm of this process works on.
struct Running {
    id: Id,
    all: Arc<Mutex<HashSet<Id>>>,
}

impl Running {
    fn new(id: &Id, all: &Arc<Mutex<HashSet<Id>>>) -> Self {
        all.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        Self { id: id.clone(), all: all.clone() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// The temporary files of a helm process; removed when dropped.
struct Files(PathBuf);

impl Files {
    fn write(log: &Path, kubeconfig: &str) -> io::Result<Self> {
        let files = Self(log.with_extension("files"));
        make_folder(&files.0)?;
        private_file(&files.0.join("kubeconfig"))?.write_all(kubeconfig.as_bytes())?;
        Ok(files)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            debug!("files of helm are left: {error}");
        }
    }
}

/// The path of the file for helm's messages.
fn path(id: &Id) -> io::Result<PathBuf> {
    Ok(private_folder("opctl-helm")?.join(digest([&id.namespace, &id.name])))
}

fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().create(true).truncate(false).read(true).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0)?;
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The last error in helm's output, without its context.
fn reason(text: &str, status: ExitStatus) -> String {
    let errors = text.rfind("Error: ").map(|at| &text[at + "Error: ".len()..]);
    let last = || text.lines().rev().find(|line| !line.trim().is_empty());
    match errors.or_else(last) {
        Some(reason) => shortened(reason.trim(), 2000).to_owned(),
        None => format!("helm ended with {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_news_until_it_was_reported() {
        let (drifts, id) =
            (Drifts::default(), |name: &str| Id { namespace: "default".to_owned(), name: name.to_owned() });
        let reports = |name: &str, drifted: &str| drifts.report(&id(name), drifted);
        assert!(reports("web", "Deployment web: /spec/replicas"));
        assert!(!reports("web", "Deployment web: /spec/replicas"));
        assert!(reports("shop", "Deployment web: /spec/replicas"));
        assert!(reports("web", "Service web: it did not exist"));
        reports("web", "");
        assert!(reports("web", "Service web: it did not exist"));
    }
}
