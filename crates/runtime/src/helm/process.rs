//! The helm program: how many run, which release each works on, and how they end.

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

/// How long helm may take longer than its own `--timeout`.
const GRACE: Duration = Duration::from_secs(30);
/// How long it may take after SIGTERM, in which it records the failure.
const DYING: Duration = Duration::from_secs(15);
/// The variable by which a helm of an operator that was killed is found.
const MARK: &str = "OPCTL_HELM_RELEASE";
/// Variables that would win over the kubeconfig.
const CLUSTER: [&str; 6] = [
    "HELM_KUBEAPISERVER",
    "HELM_KUBECAFILE",
    "HELM_KUBECONTEXT",
    "HELM_KUBEINSECURE_SKIP_TLS_VERIFY",
    "HELM_KUBETLS_SERVER_NAME",
    "HELM_KUBETOKEN",
];

/// What all controllers of a process share.
#[derive(Debug)]
pub(crate) struct Helm {
    options: HelmOptions,
    slots: Semaphore,
    charts: Mutex<HashMap<String, Arc<Chart>>>,
    /// The releases on which a helm of this process works.
    running: Arc<Mutex<HashSet<Id>>>,
    /// How often the inputs of a release failed, and when last: not every failure leaves a record.
    pub(super) failures: Mutex<HashMap<Id, super::release::Failures>>,
    pub(super) dependents: Dependents,
    pub(super) drifts: Drifts,
}

/// The drift of each release as it was last reported, and not corrected.
#[derive(Debug, Default)]
pub(super) struct Drifts(Mutex<HashMap<Id, String>>);

impl Drifts {
    /// Remembers the drift, which is empty if there is none, and returns whether it is another one than before.
    pub fn report(&self, id: &Id, drifted: &str) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match drifted {
            "" => all.remove(id).is_some(),
            _ => all.insert(id.clone(), drifted.to_owned()).as_deref() != Some(drifted),
        }
    }
}

/// Why a run of helm had no success.
#[derive(Debug)]
pub(super) enum Failure {
    /// A helm of an earlier process still works on this release.
    Busy,
    /// Somebody killed it: no fault of the release.
    Killed,
    /// What helm says.
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

    /// The chart in this folder below `--helm-charts`, as it was when it was first read.
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

    /// Checks that there is a helm 4.
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

    /// Runs helm for a release, when its turn has come. One helm at a time works on a release, even if the process that started
    /// the other one was killed. Its requests are sent by the client of the operator, and so none is sent when another replica may lead.
    ///
    /// `limit` is helm's own `--timeout`. At shutdown, helm has half of the grace period to finish; then SIGTERM makes it record a failure.
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
            // What it knows of an API server it keeps by its port, which another proxy has next time.
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
        // Ctrl-C on a terminal reaches the operator, which ends helm in order.
        #[cfg(unix)]
        command.process_group(0);
        debug!("helm {}", arguments.join(" "));
        let mut child = command.spawn().map_err(failed)?;
        let (shutdown, patience) = (ctx.shutdown(), Duration::from_secs(ctx.options.grace_period) / 2);
        // A task of its own: whoever waits for it may be dropped, but helm goes on. It is killed if the operator ends before it, such as
        // when another replica may lead.
        let ended = tokio::spawn(async move {
            let (_proxy, _files, _running) = (proxy, files, running);
            if let Some(mut stdin) = child.stdin.take()
                // It ends early where the arguments are wrong, and says so.
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

    /// Whether no helm works on a release, on this machine.
    pub(super) async fn is_free(&self, id: &Id) -> io::Result<bool> {
        Ok(self.lock(id).await?.is_some())
    }

    /// The file that helm writes its messages to, locked: the lock is helm's as well, and lasts as long as one of the two processes.
    /// `None` if a helm has it. One that a killed process has left is ended: its requests reach nobody any more.
    async fn lock(&self, id: &Id) -> io::Result<Option<File>> {
        let path = path(id)?;
        let is_running = || self.running.lock().unwrap_or_else(PoisonError::into_inner).contains(id);
        match lock(&path)? {
            None if !is_running() && end(MARK, &path.to_string_lossy()).await => lock(&path),
            file => Ok(file),
        }
    }
}

/// A release on which a helm of this process works.
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

/// The files of one helm, which are removed after it.
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

/// The file that helm writes its messages to.
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

/// The last line that is an error, without what it is part of.
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
