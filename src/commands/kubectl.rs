//! Finds kubectl: on PATH, in KUBEBUILDER_ASSETS, or in the cache that `opctl testenv setup` fills.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::environment;
use crate::commands::complete;
use opctl_cluster::Kubectl;

#[derive(Args, Clone, Debug)]
pub struct KubectlArgs {
    /// The kubectl command to use, e.g. "minikube kubectl --" [default: kubectl from PATH, KUBEBUILDER_ASSETS, or
    /// `opctl testenv setup`]
    #[arg(long, value_name = "PROGRAM")]
    pub kubectl: Option<String>,
}

/// The cluster that a command uses, and the program that reaches it.
#[derive(Args, Clone, Debug)]
pub struct ContextArgs {
    /// The context of the kubeconfig [default: the current one]
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::contexts))]
    pub context: Option<String>,

    /// The kubeconfig to use [default: KUBECONFIG, or ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    #[command(flatten)]
    pub program: KubectlArgs,
}

impl ContextArgs {
    pub fn kubectl(&self) -> Kubectl {
        let kubectl = find(self.program.kubectl.as_deref(), self.context.as_deref());
        Kubectl { kubeconfig: self.kubeconfig.clone(), ..kubectl }
    }
}

/// kubectl with a context. `command` is the command that the user configured, possibly with arguments.
pub fn find(command: Option<&str>, context: Option<&str>) -> Kubectl {
    let (program, leading) = match command.filter(|command| *command != "kubectl") {
        // The path of an existing file may contain spaces.
        Some(command) if !Path::new(command).is_file() => words(command),
        Some(command) => (command.into(), Vec::new()),
        None => (found().unwrap_or_else(|| "kubectl".into()), Vec::new()),
    };
    Kubectl { program, leading, context: context.map(String::from), kubeconfig: None }
}

fn words(command: &str) -> (PathBuf, Vec<String>) {
    let mut words = command.split_whitespace().map(String::from);
    (words.next().unwrap_or_default().into(), words.collect())
}

fn found() -> Option<PathBuf> {
    let (search, name) = (environment::search(None, None), format!("kubectl{EXE_SUFFIX}"));
    if search.path.iter().any(|folder| folder.join(&name).is_file()) {
        // The plain name is easier to read in messages.
        return Some("kubectl".into());
    }
    let assets = search.kubebuilder_assets.map(|folder| folder.join(name)).filter(|program| program.is_file());
    assets.or_else(|| search.cache.find(None)?.1.program("kubectl"))
}
