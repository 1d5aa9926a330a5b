//! `opctl testenv up`, `down` and `status`: manage API servers that keep running after opctl exits.

use std::io::IsTerminal;

use clap::Args;
use opctl_testenv::Kept;
use serde_json::{Value, json};

use super::TestenvServersArgs;
use super::{crds, failed, start};
use crate::commands::environment::environments;
use crate::commands::output::OutputArgs;
use crate::commands::{Console, Next, Outcome, next_steps};
use crate::error::{ExternalError, UserError};

/// Start an API server in the background and print the path of its kubeconfig
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  export KUBECONFIG=\"$(opctl testenv up)\"
  kubectl get crds
  opctl testenv down

  # A second one
  opctl testenv up other --nodes 2")]
pub struct TestenvUpArgs {
    /// The name of the test environment
    #[arg(value_name = "NAME", default_value = "default")]
    pub name: String,

    #[command(flatten)]
    pub servers: TestenvServersArgs,
}

/// Stop an API server that `opctl testenv up` started
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl testenv down
  opctl testenv down other
  opctl testenv down --all")]
pub struct TestenvDownArgs {
    /// The name of the test environment
    #[arg(value_name = "NAME", default_value = "default")]
    pub name: String,

    /// Stop all test environments
    #[arg(long, conflicts_with = "name")]
    pub all: bool,
}

/// Prints only the path of the kubeconfig to stdout, for `export KUBECONFIG="$(opctl testenv up)"`.
pub fn up(args: &TestenvUpArgs, console: &Console) -> anyhow::Result<Outcome> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if !args.name.starts_with(|letter: char| letter.is_ascii_alphanumeric()) || !args.name.chars().all(plain) {
        let refusal = UserError::new(format!("invalid name `{}`", args.name));
        return Err(ExternalError(refusal.help("letters, digits, `-`, `_` and `.`, a letter or digit first")).into());
    }
    let crds = crds(&args.servers.crds)?;
    let kubeconfig = match kept()?.into_iter().find(|kept| kept.name == args.name) {
        Some(kept) => {
            if args.servers.nodes.is_some() || args.servers.kubernetes.is_some() {
                let refusal = UserError::new(format!("`{}` is already running with its original settings", kept.name));
                return Err(ExternalError(refusal.help(format!("`opctl testenv down {}` stops it", kept.name))).into());
            }
            kept.install(&crds).map_err(failed)?;
            let installed = if crds.is_empty() { "" } else { "; its CRDs are up to date" };
            console.info(&format!(
                "`{}` is up already: Kubernetes {} at {}{installed}",
                kept.name, kept.version, kept.url
            ));
            kept.kubeconfig()
        }
        None => {
            let environment = start(&args.servers, &args.name, &crds, console)?;
            let kubeconfig = environment.kubeconfig();
            environment.keep().map_err(failed)?;
            kubeconfig
        }
    };
    console.print(&format!("{}\n", kubeconfig.display()));
    if std::io::stdout().is_terminal() {
        let export = Next::new(format!("export KUBECONFIG={}", kubeconfig.display()), "");
        console.info(&next_steps(&[&export]));
    }
    Ok(Outcome::Done)
}

pub fn down(args: &TestenvDownArgs, console: &Console) -> anyhow::Result<Outcome> {
    let kept = kept()?;
    let those: Vec<&Kept> = kept.iter().filter(|kept| args.all || kept.name == args.name).collect();
    for one in &those {
        one.stop().map_err(failed)?;
        console.info(&format!("stopped `{}`", one.name));
    }
    if those.is_empty() {
        let what =
            if args.all { "no test environment".to_owned() } else { format!("no test environment `{}`", args.name) };
        let others: Vec<String> = kept.iter().map(|kept| format!("`{}`", kept.name)).collect();
        let others = if others.is_empty() { String::new() } else { format!("; there is {}", others.join(", ")) };
        console.note(&format!("{what} is up{others}"));
    }
    Ok(Outcome::Done)
}

/// List the API servers that `opctl testenv up` started
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl testenv status

  # For programs
  opctl testenv status -o json")]
pub struct TestenvStatusArgs {
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Prints a line for each environment: name, version of Kubernetes, address, kubeconfig.
pub fn status(args: &TestenvStatusArgs, console: &Console) -> anyhow::Result<Outcome> {
    let kept = kept()?;
    if args.output.is_json() {
        let environment = |kept: &Kept| json!({ "name": kept.name, "kubernetes": kept.version, "url": kept.url, "kubeconfig": kept.kubeconfig() });
        let environments: Vec<Value> = kept.iter().map(environment).collect();
        console.print(&format!("{:#}\n", json!({ "environments": environments })));
        return Ok(Outcome::Done);
    }
    let width = kept.iter().map(|kept| kept.name.len()).max().unwrap_or_default();
    for one in &kept {
        let Kept { name, version, url, .. } = one;
        console.print(&format!("{name:width$}  Kubernetes {version}  {url}  {}\n", one.kubeconfig().display()));
    }
    if kept.is_empty() {
        console.note("no test environment is up; `opctl testenv up` starts one");
    }
    Ok(Outcome::Done)
}

fn kept() -> anyhow::Result<Vec<Kept>> {
    Kept::list(&environments()).map_err(failed)
}
