//! The common parts of cluster commands: connecting, errors of kubectl, applying, deleting and waiting.

mod crds;
mod failure;
mod rollout;

use std::time::Duration;

use clap::Args;

use super::{Console, counted};
use crate::commands::kubectl::ContextArgs;
use crate::error::{ExternalError, UserError};
use opctl_cluster::connection::{self, VERSION, VIEW};
use opctl_cluster::{self as cluster, FIELD_MANAGER, Kubectl, Object};
use opctl_edit::plan::Mode;

/// The cluster of a command that waits for it.
#[derive(Args, Clone, Debug)]
pub struct ConnectionArgs {
    #[command(flatten)]
    pub context: ContextArgs,

    /// The maximum time to wait, e.g. 90s or 1m30s
    #[arg(long, value_name = "DURATION", default_value = "2m")]
    pub timeout: String,
}

/// The same, for a command that applies or deletes the manifests of a project.
#[derive(Args, Clone, Debug)]
pub struct ClusterArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Print the manifests without using a cluster
    #[arg(long)]
    pub print: bool,
}

/// The cluster of a command, and the console for its progress and results.
pub struct Cluster<'a> {
    pub kubectl: Kubectl,
    pub timeout: Duration,
    /// The timeout, as given by the user.
    timeout_argument: &'a str,
    /// The command has `--print`.
    prints: bool,
    pub console: &'a Console,
}

impl<'a> Cluster<'a> {
    /// Does not contact the cluster. Refuses flags about writing files, which `command` would ignore.
    pub fn of(args: &'a ConnectionArgs, command: &str, console: &'a Console) -> anyhow::Result<Self> {
        let prints = matches!(command, "install" | "uninstall" | "deploy" | "undeploy");
        let flag = match console.mode {
            Mode::Apply if console.overwrite.is_empty() => None,
            Mode::Apply => Some("--overwrite"),
            Mode::DryRun => Some("--dry-run"),
            Mode::Diff => Some("--diff"),
            Mode::Check => Some("--check"),
        };
        if let Some(flag) = flag {
            let refusal =
                UserError::new(format!("`{flag}` is for commands that write files, and `opctl {command}` writes none"));
            let print =
                prints.then(|| format!("`opctl {command} --print` prints the manifests without using a cluster"));
            let diff = format!("kubectl diff --server-side --force-conflicts --field-manager {FIELD_MANAGER} -f -");
            let applies = matches!(command, "install" | "deploy");
            let compare = applies.then(|| format!("`… --print | {diff}` compares them with a cluster"));
            return Err(print.into_iter().chain(compare).fold(refusal, UserError::help).into());
        }
        let timeout = duration(&args.timeout).ok_or_else(|| {
            UserError::new(format!("invalid timeout `{}`", args.timeout))
                .help("write it as `90s`, `2m`, `1m30s` or `1h`")
        })?;
        let kubectl = args.context.kubectl();
        Ok(Self { kubectl, timeout, timeout_argument: &args.timeout, prints, console })
    }

    /// For a command that already has a cluster.
    pub fn with(kubectl: Kubectl, console: &'a Console) -> Self {
        Self { kubectl, timeout: Duration::from_secs(60), timeout_argument: "60s", prints: false, console }
    }

    /// Prints the name of the cluster, and checks that its API server responds.
    pub fn connect(&self) -> Result<(), ExternalError> {
        let view = self.kubectl.output(&VIEW, "");
        let has_context = view.is_ok();
        let failure = |error| self.connection_failure(&error);
        match connection::describe(&self.kubectl, view).map_err(failure)? {
            Some(name) => self.console.info(&format!("cluster: {name}")),
            None => {
                self.console.info("cluster: the default of kubectl, because the kubeconfig has no current context");
            }
        }
        connection::check_answer(self.kubectl.output(&VERSION, ""), has_context).map_err(failure)
    }

    /// The namespace of the kubeconfig.
    pub fn current_namespace(&self) -> String {
        let view = ["config", "view", "--minify", "-o", "jsonpath={.contexts[0].context.namespace}"];
        let namespace = self.kubectl.output(&view, "").unwrap_or_default();
        if namespace.is_empty() { "default".into() } else { namespace }
    }

    /// Applies CRDs and namespaces first, and waits until the CRDs are served; then applies and returns the other
    /// objects.
    pub fn apply_in_order<'o>(&self, objects: &'o [Object]) -> anyhow::Result<Vec<&'o Object>> {
        let (first, rest): (Vec<&Object>, Vec<&Object>) =
            objects.iter().partition(|object| object.is_crd() || object.is("", "Namespace"));
        self.apply(&first)?;
        self.await_served(first.iter().copied().filter(|object| object.is_crd()))?;
        self.apply(&rest)?;
        Ok(rest)
    }

    pub fn apply(&self, objects: &[&Object]) -> anyhow::Result<()> {
        if objects.is_empty() {
            return Ok(());
        }
        let busy = self.console.busy(&format!("applying {}", counted(objects.len(), "object")));
        let applied = cluster::apply(&self.kubectl, objects);
        drop(busy);
        let applied = applied.map_err(|error| {
            let ExternalError(refusal) = self.failure("apply the manifests", &error);
            ExternalError(refusal.help("earlier changes are kept; fix this and run the command again"))
        })?;
        let lines = applied.objects.iter().map(|(change, name)| format!("{:10}  {name}\n", change.word()));
        self.console.list(&lines.collect::<String>());
        applied.warnings.iter().for_each(|warning| self.console.warn(warning));
        Ok(())
    }

    /// Deletes objects. Skips missing objects, and kinds that the cluster does not know.
    pub fn delete(&self, objects: &[&Object]) -> anyhow::Result<()> {
        let busy = self.console.busy(&format!("deleting {}", counted(objects.len(), "object")));
        let deleted = cluster::delete(&self.kubectl, objects, self.timeout);
        drop(busy);
        self.list("delete", &deleted.map_err(|error| self.failure("delete the manifests", &error))?);
        Ok(())
    }

    fn list(&self, verb: &str, names: &str) {
        self.console.list(&names.lines().map(|name| format!("{verb}  {name}\n")).collect::<String>());
    }
}

/// Parses a Go duration (`90s`, `1m30s`, `1.5h`). A number without a unit is in seconds.
pub fn duration(text: &str) -> Option<Duration> {
    let unit = if text.ends_with(|last: char| last.is_ascii_digit()) { "s" } else { "" };
    let nanoseconds = u64::try_from(opctl_cel::parse_duration(&format!("{text}{unit}"))?).ok()?;
    // A duration of more than a year is a mistake, and close to kubectl's limit.
    Some(Duration::from_nanos(nanoseconds)).filter(|time| time.as_secs() <= 365 * 24 * 3600)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_kubectl() {
        for (text, seconds) in [("90s", 90), ("2m", 120), ("1m30s", 90), ("1.5h", 5400), ("5", 5), ("0s", 0)] {
            assert_eq!(duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "m", "2 m", "-1s", "1d", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
