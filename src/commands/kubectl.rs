//! Finds kubectl: on PATH, in KUBEBUILDER_ASSETS, or where `opctl testenv setup` has brought it.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};

use clap::Args;

use super::environment;
use crate::cluster::Kubectl;

#[derive(Args, Clone, Debug)]
pub struct KubectlArgs {
    /// The kubectl command to use, e.g. "minikube kubectl --" [default: kubectl from PATH, KUBEBUILDER_ASSETS, or `opctl testenv setup`]
    #[arg(long, value_name = "PROGRAM")]
    pub kubectl: Option<String>,
}

/// `said` is what the user calls it, with arguments where it needs some.
pub fn find(said: Option<&str>, context: Option<&str>) -> Kubectl {
    let (program, leading) = match said.filter(|said| *said != "kubectl") {
        // A path may have spaces.
        Some(said) if !Path::new(said).is_file() => words(said),
        Some(said) => (said.into(), Vec::new()),
        None => (found().unwrap_or_else(|| "kubectl".into()), Vec::new()),
    };
    Kubectl { program, leading, context: context.map(String::from), kubeconfig: None }
}

fn words(said: &str) -> (PathBuf, Vec<String>) {
    let mut words = said.split_whitespace().map(String::from);
    (words.next().unwrap_or_default().into(), words.collect())
}

fn found() -> Option<PathBuf> {
    let (search, name) = (environment::search(None, None), format!("kubectl{EXE_SUFFIX}"));
    if search.path.iter().any(|folder| folder.join(&name).is_file()) {
        // It reads better in messages.
        return Some("kubectl".into());
    }
    let assets = search.kubebuilder_assets.map(|folder| folder.join(name)).filter(|program| program.is_file());
    assets.or_else(|| search.cache.find(None)?.1.program("kubectl"))
}
