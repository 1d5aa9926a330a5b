//! Runs the ansible-runner program: limits concurrent runs, writes its input files, and handles its exit.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::AnsibleOptions;
use super::controller::Play;
use super::dependents::Dependents;
use super::events::Summary;
use super::operator_sdk_util;
use super::project::Project;
use crate::error::shortened;
use crate::processes::{NO_PROXY, end, make_folder, no_proxy, private_file, private_folder, stop};
use crate::{Context, Error, Result, manager};

/// The time for a run to exit after SIGTERM, before it is killed.
const DYING: Duration = Duration::from_secs(10);
/// The maximum length of an event, in bytes. Longer ones are skipped.
const LONGEST: usize = 8 << 20;
/// An environment variable that identifies the processes of a run, which ansible-runner starts in a session of their
/// own.
const MARK: &str = "OPCTL_ANSIBLE_RUN";

/// State that all controllers of a process share.
#[derive(Debug)]
pub(crate) struct Ansible {
    options: AnsibleOptions,
    slots: Semaphore,
    project: OnceLock<Arc<Project>>,
    pub(super) dependents: Dependents,
}

/// The arguments of a run.
pub(super) struct Job<'a> {
    /// A key of the controller and the object. No two runs with the same key may exist at a time.
    pub key: &'a str,
    /// The folder for the run's files.
    pub folder: &'a Path,
    pub ident: &'a str,
    pub play: &'a Play,
    pub variables: &'a Map<String, Value>,
    /// The kubeconfig with the proxy for this run.
    pub kubeconfig: &'a Value,
    pub timeout: Duration,
    pub kept: u16,
    pub verbosity: u8,
    pub allows_broken_conditionals: bool,
}

/// The reason why a run did not succeed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The operator is shutting down.
    Stopped,
    /// The error of Ansible, or of the process.
    Failed(String),
}

impl Ansible {
    pub fn new(options: AnsibleOptions) -> Self {
        Self {
            slots: Semaphore::new(options.ansible_processes.into()),
            options,
            project: OnceLock::new(),
            dependents: Dependents::default(),
        }
    }

    /// The project, as it was when it was read first.
    pub(super) fn project(&self) -> Result<Arc<Project>> {
        if let Some(project) = self.project.get() {
            return Ok(project.clone());
        }
        let folder = &self.options.ansible_project;
        let project = Project::read(folder).map_err(|error| {
            Error::new(
                "InvalidProject",
                format!("the Ansible project in `{}` cannot be read: {error}", folder.display()),
            )
        })?;
        Ok(self.project.get_or_init(|| project.into()).clone())
    }

    /// Checks that ansible-runner exists, and so do the roles and playbooks.
    pub(super) async fn check(&self, plays: &[&Play]) -> Result<(), manager::Error> {
        let other = |why: String| manager::Error::Other(why.into());
        let program = self.options.ansible_runner.display();
        let hint = "install ansible-core and ansible-runner 2.4, or name the program with `--ansible-runner`";
        let output =
            Command::new(&self.options.ansible_runner).arg("--version").env("PATH", self.path()).output().await;
        let output = output.map_err(|error| other(format!("cannot run `{program}`: {error}; {hint}")))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut numbers = text.trim().split('.').map(|part| part.parse::<u32>().ok());
        if !matches!((numbers.next().flatten(), numbers.next().flatten()), (Some(2), Some(4..)) | (Some(3..), _)) {
            let shown = match output.status.success() {
                true => format!("`{program}` is version {}, not 2.4 or newer", text.trim()),
                false => format!("`{program}` fails: {}", last_line(&output.stderr)),
            };
            return Err(other(format!("{shown}; {hint}")));
        }
        if !env::split_paths(&self.path()).any(|folder| folder.join("ansible-playbook").is_file()) {
            return Err(other(format!("there is no ansible-playbook beside `{program}` or in PATH; {hint}")));
        }
        let project = self.project().map_err(|error| other(error.to_string()))?;
        for play in plays {
            project.find(play).map_err(|why| {
                other(format!("{why}; `--ansible-project` names the folder with `roles` and `playbooks`"))
            })?;
        }
        self.runs().map(drop).map_err(|error| other(format!("cannot make the folder for runs: {error}")))
    }

    /// The `PATH` for a run, starting with the folder of ansible-runner, which contains ansible-playbook.
    fn path(&self) -> std::ffi::OsString {
        let path = env::var_os("PATH").unwrap_or_default();
        let beside = self.options.ansible_runner.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folders = beside.map(Path::to_owned).into_iter().chain(env::split_paths(&path));
        env::join_paths(folders).unwrap_or(path)
    }

    /// The folder for the files of runs.
    pub(super) fn runs(&self) -> io::Result<PathBuf> {
        match &self.options.ansible_runs {
            Some(folder) => {
                make_folder(folder)?;
                fs::canonicalize(folder)
            }
            None => private_folder("opctl-ansible"),
        }
    }

    /// Waits until another run may start.
    pub(super) async fn turn(&self) -> SemaphorePermit<'_> {
        let Ok(turn) = self.slots.acquire().await else { unreachable!("the semaphore is never closed") };
        turn
    }

    /// Runs Ansible. If the future is dropped, the run is terminated. No process is left when this returns.
    ///
    /// At shutdown, a run has half of the grace period to finish.
    pub(super) async fn run(&self, ctx: &Context, job: Job<'_>) -> Result<Summary, Failure> {
        let failed = |error: io::Error| Failure::Failed(format!("cannot run ansible-runner: {error}"));
        let mark = format!("{}/{}", ctx.operator.name, job.key);
        // Terminates the processes that an operator left when it was killed.
        if end(MARK, &mark).await {
            warn!("a run of an earlier process was ended");
        }
        let mut command = self.prepare(&job).map_err(failed)?;
        command.env(MARK, &mark).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C on a terminal must reach only the operator, which shuts the run down in order.
        #[cfg(unix)]
        command.process_group(0);
        let (artifacts, folder) = (job.folder.join("artifacts").join(job.ident), job.folder.to_owned());
        let (limit, kept) = (job.timeout, job.kept);
        let (shutdown, patience) = (ctx.shutdown(), Duration::from_secs(ctx.options.grace_period) / 2);
        let mut child = command.spawn().map_err(failed)?;
        let dropped = CancellationToken::new();
        let _ends = dropped.clone().drop_guard();
        // A separate task, since the caller may be dropped, but no process may be left.
        let ended = tokio::spawn(async move {
            let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
            let mut summary = Summary::default();
            let mut text = make_folder(&artifacts).and_then(|()| private_file(&artifacts.join("stdout")));
            let ended = {
                let errors = tokio::spawn(async move {
                    let mut last = Vec::new();
                    if let Some(stderr) = stderr {
                        let mut lines = BufReader::new(stderr);
                        while let Ok(Some(line)) = next_line(&mut lines, 1 << 16).await {
                            last = line.unwrap_or_default();
                        }
                    }
                    last
                });
                let read = async {
                    if let Some(stdout) = stdout {
                        read(BufReader::new(stdout), &mut summary, &mut text).await;
                    }
                    errors.await.unwrap_or_default()
                };
                tokio::select! {
                    errors = read => Ok(errors),
                    () = sleep(limit) => Err(Some(format!("it ran longer than its timeout of {limit:?}"))),
                    () = dropped.cancelled() => Err(None),
                    () = async { shutdown.await; sleep(patience).await } => Err(None),
                }
            };
            let status = match &ended {
                Ok(_) => child.wait().await,
                Err(_) => stop(&mut child, DYING).await,
            };
            end(MARK, &mark).await;
            tidy(&folder, &artifacts, kept);
            match (ended, status) {
                (_, Err(error)) => Err(failed(error)),
                (Err(None), _) => Err(Failure::Stopped),
                (Err(Some(why)), _) => Err(Failure::Failed(format!("{why}, {}", summary.place()))),
                (Ok(_), Ok(_)) if summary.is_good() => Ok(summary),
                (Ok(errors), Ok(status)) => Err(Failure::Failed(summary.failure().unwrap_or_else(|| {
                    match (last_line(&errors).as_str(), status.code()) {
                        ("", None) => format!("ansible-runner was killed {}", summary.place()),
                        ("", Some(_)) => format!("the playbook did not end, but stopped {}", summary.place()),
                        (error, _) => error.to_owned(),
                    }
                }))),
            }
        });
        ended.await.unwrap_or_else(|error| Err(Failure::Failed(error.to_string())))
    }

    /// Writes the input files of a run, and returns the command.
    fn prepare(&self, job: &Job<'_>) -> io::Result<Command> {
        let project = self.project().map_err(|error| io::Error::other(error.to_string()))?;
        let found = project.find(job.play).map_err(io::Error::other)?;
        for folder in ["", "env", "inventory", "tmp"] {
            make_folder(&job.folder.join(folder))?;
        }
        let write = |path: &str, text: &str| private_file(&job.folder.join(path))?.write_all(text.as_bytes());
        write("env/extravars", &Value::from(job.variables.clone()).to_string())?;
        // The output file would contain each event again, and ansible-runner would poll for signals only once a second.
        write("env/settings", r#"{"suppress_output_file": true, "pexpect_timeout": 1}"#)?;
        write("kubeconfig", &job.kubeconfig.to_string())?;
        if env::var_os("ANSIBLE_INVENTORY").is_none() {
            let host =
                "localhost ansible_connection=local ansible_python_interpreter=\"{{ ansible_playbook_python }}\"\n";
            write("inventory/hosts", host)?;
        }
        let playbook = match job.play {
            Play::Playbook(_) => found.unwrap_or_default(),
            Play::Role(name) => {
                write("role.yml", &project.playbook_for(name, found.as_deref()).to_string())?;
                job.folder.join("role.yml")
            }
        };
        let mut command = Command::new(&self.options.ansible_runner);
        command.arg("run").arg(job.folder).arg("--json").arg("--playbook").arg(playbook);
        command.arg("--ident").arg(job.ident).arg("--project-dir").arg(&project.folder);
        command.arg("--rotate-artifacts").arg(job.kept.max(1).to_string());
        if job.verbosity > 0 {
            command.arg(format!("-{}", "v".repeat(job.verbosity.into())));
        }
        if !self.options.ansible_args.is_empty() {
            command.arg("--cmdline").arg(&self.options.ansible_args);
        }
        let kubeconfig = job.folder.join("kubeconfig");
        command.env("KUBECONFIG", &kubeconfig).env("K8S_AUTH_KUBECONFIG", &kubeconfig).env("PATH", self.path());
        // Modules that are killed leave files in the temporary folders. kubectl and helm cache API discovery by port,
        // and another run may have the same port.
        for name in ["TMPDIR", "ANSIBLE_LOCAL_TEMP", "ANSIBLE_REMOTE_TEMP", "KUBECACHEDIR"] {
            command.env(name, job.folder.join("tmp"));
        }
        command.envs(NO_PROXY.map(|name| (name, no_proxy(name))));
        let conditionals = ("ANSIBLE_ALLOW_BROKEN_CONDITIONALS", "true");
        let conditionals = job.allows_broken_conditionals.then_some(conditionals);
        for (name, value) in
            [("ANSIBLE_GATHERING", "explicit"), ("ANSIBLE_NOCOLOR", "1")].into_iter().chain(conditionals)
        {
            if env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        let collections = job.folder.join("collections");
        operator_sdk_util::write(&collections)?;
        for (name, part, defaults, last) in [
            ("ANSIBLE_ROLES_PATH", "roles", "~/.ansible/roles:/usr/share/ansible/roles:/etc/ansible/roles", None),
            (
                "ANSIBLE_COLLECTIONS_PATH",
                "collections",
                "~/.ansible/collections:/usr/share/ansible/collections",
                // Last, so that a collection of this name in the project takes precedence.
                Some(&collections),
            ),
        ] {
            let own = Some(project.folder.join(part)).filter(|own| own.is_dir());
            if own.is_none() && last.is_none() {
                continue;
            }
            let usual = env::var_os(name).unwrap_or_else(|| defaults.into());
            let all = [own.map(PathBuf::into_os_string), Some(usual), last.map(|last| last.clone().into_os_string())];
            command.env(name, Vec::from_iter(all.into_iter().flatten()).join(OsStr::new(":")));
        }
        Ok(command)
    }
}

/// Reads events until the end of the output.
async fn read(mut lines: impl AsyncBufRead + Unpin, summary: &mut Summary, text: &mut io::Result<File>) {
    loop {
        match next_line(&mut lines, LONGEST).await {
            Ok(Some(Some(line))) => {
                let shown = summary.note(&line).unwrap_or_else(|_| {
                    // Before Ansible has started, this is plain text; afterwards it may be part of an event.
                    let line = String::from_utf8_lossy(if summary.task.is_empty() { &line } else { &[] });
                    summary.said(&line);
                    line.into_owned()
                });
                if let (Ok(text), false) = (&mut *text, shown.is_empty()) {
                    // The file only helps users, so errors are ignored.
                    let _ = writeln!(text, "{}", shown.replace("\r\n", "\n"));
                }
            }
            Ok(Some(None)) => {}
            Ok(None) => return,
            Err(error) => return warn!("the events of a run cannot be read: {error}"),
        }
    }
}

/// The next line; `Some(None)` if it exceeds `longest`, and `None` at the end.
async fn next_line(lines: &mut (impl AsyncBufRead + Unpin), longest: usize) -> io::Result<Option<Option<Vec<u8>>>> {
    let (mut line, mut is_too_long, mut is_some) = (Vec::new(), false, false);
    loop {
        let part = lines.fill_buf().await?;
        if part.is_empty() {
            return Ok(is_some.then_some((!is_too_long).then_some(line)));
        }
        is_some = true;
        let end = part.iter().position(|byte| *byte == b'\n');
        let read = end.unwrap_or(part.len());
        if line.len() + read > longest {
            is_too_long = true;
            line = Vec::new();
        } else if !is_too_long {
            line.extend_from_slice(&part[..read]);
        }
        lines.consume(read + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(Some((!is_too_long).then_some(line)));
        }
    }
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    shortened(last.trim(), 2000).to_owned()
}

/// Removes files of a run that are no longer needed or may contain secrets: variables, the kubeconfig, and the
/// environment, which is in the file `command`.
fn tidy(folder: &Path, artifacts: &Path, kept: u16) {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => warn!("files of a run are left: {error}"),
        _ => {}
    };
    for part in ["env", "inventory", "tmp"] {
        gone(fs::remove_dir_all(folder.join(part)));
    }
    for file in ["kubeconfig", "role.yml"] {
        gone(fs::remove_file(folder.join(file)));
    }
    gone(fs::remove_file(artifacts.join("command")));
    for part in ["job_events", "fact_cache"] {
        gone(fs::remove_dir_all(artifacts.join(part)));
    }
    if kept == 0 {
        gone(fs::remove_dir_all(folder));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let mut lines = BufReader::with_capacity(4, &b"one\nmuch too long\n\ntwo"[..]);
        let mut all = Vec::new();
        while let Some(line) = next_line(&mut lines, 5).await.unwrap() {
            all.push(line.map(|line| String::from_utf8(line).unwrap()));
        }
        let [one, empty, two] = ["one", "", "two"].map(|line| Some(line.to_owned()));
        assert_eq!(all, [one, None, empty, two]);
    }
}
