//! `opctl dev`: runs the operator on this machine and restarts it when its source changes.
//!
//! Each change starts a round: generate the manifests, apply those that the operator needs, build, and restart.
//! An error ends the round and is reported; the previous operator keeps running.

mod dev_cluster;
mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use opctl_testenv::Scratch;

use super::on_cluster::Cluster;
use super::{Console, Outcome, check, counted, environment, manifests, project_folder, report, testenv, tree};
use crate::commands::complete;
use crate::commands::kubectl::KubectlArgs;
use crate::commands::testenv::TestenvServersArgs;
use crate::error::{ExternalError, UserError};
use crate::rendered::{self, ImageSubstitution};
use dev_cluster::{Account, DevCluster};
use opctl_cluster::{self as cluster, Object};
use opctl_edit::plan::Mode;
use opctl_model::diagnostic;
use opctl_model::project::{Manifest, ProjectFile};
use opctl_process::{Process, Shield};
use opctl_tools as tools;
use watch::Files;

/// Run the operator on this machine, and restart it when its source changes
///
/// Starts an API server as `opctl testenv up` does, installs the CRDs, runs the operator with the permissions of its generated
/// role, and registers its webhooks. When a file in src changes, the manifests are regenerated and applied, and the operator
/// is rebuilt and restarted; while the code does not compile, the previous build keeps running. Ctrl-C stops everything.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl dev

  # With another version of Kubernetes
  opctl dev --kubernetes 1.35

  # Against the cluster of KUBECONFIG; its API server must reach this machine for webhooks
  WEBHOOK_URL=https://172.17.0.1:9443 opctl dev --context kind-dev

  # With arguments for the operator
  opctl dev -- --watch-namespace default")]
pub struct DevArgs {
    /// Use the cluster of this kubeconfig context instead of a new API server
    #[arg(long, value_name = "NAME", conflicts_with_all = ["crds", "nodes", "kubernetes"], add = ArgValueCandidates::new(complete::contexts))]
    pub context: Option<String>,

    /// The kubeconfig of that context [default: KUBECONFIG, or ~/.kube/config]
    #[arg(long, value_name = "FILE", requires = "context")]
    pub kubeconfig: Option<PathBuf>,

    #[command(flatten)]
    pub program: KubectlArgs,

    #[command(flatten)]
    pub servers: TestenvServersArgs,

    /// Arguments of the operator
    #[arg(last = true, value_name = "ARGUMENTS")]
    pub arguments: Vec<OsString>,
}

/// The time limit for the operator to stop; longer than an operator takes to finish its reconciles.
const PATIENCE: Duration = Duration::from_secs(20);

pub fn run(args: &DevArgs, console: &Console) -> anyhow::Result<Outcome> {
    if console.mode != Mode::Apply {
        let refusal = UserError::new("`opctl dev` runs the operator, and brings the manifests up to date");
        return Err(refusal.help("`opctl manifests` has `--dry-run`, `--diff` and `--check`").into());
    }
    let root = project_folder()?;
    let watched = watch::watched(&tree(&root))?;
    let mut seen = Files::of(&root, &watched);
    let sound = bring_up_to_date(&root, console);
    // The build takes longest and does not depend on the other steps.
    let (built, opened) = thread::scope(|scope| {
        let build = scope.spawn(|| build(&root));
        let opened = open(args, console).map(|cluster| {
            let mut dev = Dev {
                args,
                console,
                root: &root,
                cluster,
                applied: String::new(),
                found: String::new(),
                operator: None,
            };
            let applied = sound.and_then(|()| dev.check()).and_then(|()| dev.apply());
            (dev, applied)
        });
        if opened.is_err() {
            opctl_process::stop_children();
        }
        (build.join().expect("it does not panic"), opened)
    });
    let (mut dev, applied) = opened?;
    // Until here, a signal stops all processes at once, and the guard removes what is left.
    let shield = Shield::raise();
    let first = applied.and_then(|()| dev.start(built?));
    dev.report_failure(first, &shield);
    while !shield.is_interrupted() {
        dev.look_after_operator()?;
        thread::sleep(watch::PAUSE);
        let now = Files::of(&root, &watched);
        if now == seen {
            continue;
        }
        let now = now.settled(&root, &watched);
        console.status("Changed", &named(&now.changed_since(&seen)));
        seen = now;
        let round = dev.round();
        dev.report_failure(round, &shield);
    }
    dev.end()?;
    Ok(Outcome::Done)
}

struct Dev<'a> {
    args: &'a DevArgs,
    console: &'a Console,
    root: &'a Path,
    cluster: DevCluster,
    /// The manifests that were applied to the cluster.
    applied: String,
    /// The latest findings of `opctl check`, as shown.
    found: String,
    operator: Option<Operator>,
}

struct Operator {
    process: Process,
    binary: (PathBuf, Option<SystemTime>),
}

impl Dev<'_> {
    fn round(&mut self) -> anyhow::Result<()> {
        bring_up_to_date(self.root, self.console)?;
        self.check()?;
        self.apply()?;
        let built = build(self.root)?;
        self.start(built)
    }

    /// Shows the findings of `opctl check` if they changed: the operator runs with the permissions of its role.
    fn check(&mut self) -> anyhow::Result<()> {
        let tree = tree(self.root);
        let found = check::findings(&tree, Some(&ProjectFile::read(&tree)?)).findings;
        let shown = diagnostic::render(&found, false);
        if shown == self.found {
            return Ok(());
        }
        self.console.diagnose(&found);
        let text = match found.len() {
            0 => "nothing to report".to_owned(),
            number => format!("{}; `opctl check --fix` adds missing permissions", counted(number, "finding")),
        };
        self.console.status("Checked", &text);
        self.found = shown;
        Ok(())
    }

    /// Reports the error, and whether the previous build keeps running.
    fn report_failure(&self, round: anyhow::Result<()>, shield: &Shield) {
        let Err(error) = round else { return };
        // A signal stops child processes, too; their failure is not an error.
        if shield.is_interrupted() {
            return;
        }
        report(&error, self.console);
        let goes_on = if self.operator.is_some() { "; the previous build keeps running" } else { "" };
        self.console.status("Waiting", &format!("for a change of `src`{goes_on}"));
    }

    /// Applies the manifests that an operator outside of the cluster needs: CRDs, roles, bindings and service accounts.
    fn apply(&mut self) -> anyhow::Result<()> {
        let kubectl = self.cluster.kubectl(self.args);
        let tree = tree(self.root);
        let objects = rendered::whole(&tree, &kubectl, ImageSubstitution::Skip)?;
        let account = Account::of(&objects)?;
        let mut needed: Vec<Object> = objects.into_iter().filter(is_needed).collect();
        if self.root.join("src/webhook").exists() {
            needed.extend(account.registration(&ProjectFile::read(&tree)?.name)?);
        }
        let text = cluster::text(&needed);
        if text == self.applied {
            return Ok(());
        }
        let silent = self.console.silent();
        let cluster = Cluster::with(kubectl.clone(), &silent);
        cluster.apply_in_order(&needed)?;
        if self.applied.is_empty() {
            account.kubeconfig(&kubectl, self.cluster.scratch(), &silent)?;
        }
        let crds = needed.iter().filter(|object| object.is_crd()).count();
        let applied = match (crds, needed.len() - crds) {
            (0, others) => format!("{}; the project has no CRDs", counted(others, "object")),
            (crds, others) => format!("{} and {}", counted(crds, "CRD"), counted(others, "other object")),
        };
        self.console.status("Applied", &applied);
        self.applied = text;
        Ok(())
    }

    /// Replaces the running operator, if the build differs.
    fn start(&mut self, built: Option<PathBuf>) -> anyhow::Result<()> {
        let Some(path) = built else {
            return Err(ExternalError(UserError::new("the operator does not compile")).into());
        };
        let changed = path.metadata().and_then(|metadata| metadata.modified()).ok();
        let binary = (path, changed);
        if self.operator.as_ref().is_some_and(|operator| operator.binary == binary) {
            self.console.status("Unchanged", "the operator keeps running");
            return Ok(());
        }
        self.stop()?;
        let scratch = self.cluster.scratch();
        #[allow(clippy::disallowed_methods, reason = "it runs the operator")]
        let mut command = Command::new(&binary.0);
        command.args(&self.args.arguments).current_dir(self.root).stdin(std::process::Stdio::null());
        command
            .env("KUBECONFIG", scratch.folder().join(dev_cluster::KUBECONFIG))
            .env("WEBHOOK_URL", environment::webhook_url());
        // The Ansible that `make .venv` installs, if there is no other.
        if let Some(path) = environment::path_with(&self.root.join(".venv/bin")) {
            command.env("PATH", path);
        }
        let process = Process::start(&mut command)?;
        scratch.watch(process.id()).map_err(testenv::failed)?;
        self.console.status("Running", &format!("`{}`, process {}", binary.0.display(), process.id()));
        self.operator = Some(Operator { process, binary });
        Ok(())
    }

    fn stop(&mut self) -> anyhow::Result<()> {
        let Some(operator) = self.operator.take() else { return Ok(()) };
        let pid = operator.process.id();
        operator.process.stop(PATIENCE)?;
        self.cluster.scratch().forget(pid).map_err(testenv::failed)
    }

    fn look_after_operator(&mut self) -> anyhow::Result<()> {
        let Some(operator) = &mut self.operator else { return Ok(()) };
        if let Some(status) = operator.process.end()? {
            self.stop()?;
            self.console
                .status("Ended", &format!("the operator, by itself ({status}); a change of `src` starts it again"));
        }
        Ok(())
    }

    fn end(&mut self) -> anyhow::Result<()> {
        if self.operator.is_some() {
            self.console.status("Stopping", "the operator");
        }
        self.stop()?;
        if let DevCluster::Existing(..) = self.cluster {
            self.console.status(
                "Done",
                "kept the CRDs, roles and service account in the cluster; `opctl undeploy` deletes all but the CRDs",
            );
        }
        Ok(())
    }
}

/// The binary that `cargo run` runs, or, if Cargo.toml does not name one, the binary of a scaffolded project.
fn build(root: &Path) -> anyhow::Result<Option<PathBuf>> {
    let manifest = Manifest::read(&tree(root), "")?;
    let name = manifest.as_ref().and_then(Manifest::default_run).unwrap_or("manager");
    Ok(tools::build(root, name)?)
}

fn bring_up_to_date(root: &Path, console: &Console) -> anyhow::Result<()> {
    let changed = manifests::regenerate(root, console)?;
    let text =
        if changed.is_empty() { "are up to date".to_owned() } else { format!("changed: {}", changed.join(", ")) };
    console.status("Manifests", &text);
    Ok(())
}

fn open(args: &DevArgs, console: &Console) -> anyhow::Result<DevCluster> {
    let name = format!("dev-{}", std::process::id());
    if let Some(context) = &args.context {
        let scratch = Scratch::take(&environment::environments(), &name).map_err(testenv::failed)?;
        let cluster = DevCluster::Existing(context.clone(), scratch);
        Cluster::with(cluster.kubectl(args), console).connect()?;
        return Ok(cluster);
    }
    let crds = if args.servers.crds.is_empty() { Vec::new() } else { testenv::crds(&args.servers.crds)? };
    let environment = testenv::start(&args.servers, &name, &crds, &console.silent())?;
    let ready = environment.ready_in.as_secs_f64();
    console.status(
        "Cluster",
        &format!("Kubernetes {} at {}, ready in {ready:.1} s", environment.version, environment.url),
    );
    console.status("", &format!("export KUBECONFIG={}", environment.kubeconfig().display()));
    Ok(DevCluster::Local(Box::new(environment)))
}

/// `true` for all objects except for those that run the operator in the cluster or send the API server to it.
fn is_needed(object: &Object) -> bool {
    let accounts = ["Namespace", "ServiceAccount"].iter().any(|kind| object.is("", kind));
    object.is_crd() || accounts || object.group == "rbac.authorization.k8s.io"
}

fn named(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = paths.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    let more = if paths.len() > SHOWN { format!(" and {} more", paths.len() - SHOWN) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
