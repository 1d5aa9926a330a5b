//! `opctl testenv setup`: finds or downloads the control plane binaries and prints their path.

use std::path::PathBuf;

use clap::Args;
use opctl_testenv::assets::{Search, Version, find, unpack};

use super::assets;
use super::programs::{search, watched};
use crate::commands::{Console, Outcome};
use crate::error::UserError;
use opctl_edit::plan::Mode;

/// Find or download etcd and kube-apiserver, and print their folder
///
/// Searches KUBEBUILDER_ASSETS, PATH and the cache. If they are missing, downloads them into the cache from the releases that
/// setup-envtest uses.
#[derive(Args, Debug, Default)]
#[command(after_help = "\
Examples:
  # For tests in any language
  export KUBEBUILDER_ASSETS=\"$(opctl testenv setup)\"

  # The latest patch release of a version
  opctl testenv setup --kubernetes 1.36

  # From a mirror, which has envtest-releases.yaml and the archives in one folder
  opctl testenv setup --mirror https://mirror.example.com/envtest

  # Without network access
  opctl testenv setup --archive envtest-v1.36.0-linux-amd64.tar.gz

  # In CI: fail if they are not installed
  opctl testenv setup --check")]
pub struct TestenvSetupArgs {
    /// The version of Kubernetes, e.g. 1.36 or 1.36.2 [default: the installed one, else the latest]
    #[arg(long, value_name = "VERSION")]
    pub kubernetes: Option<String>,

    /// The URL of a mirror with envtest-releases.yaml and the archives [default: OPCTL_ENVTEST_MIRROR, else the releases]
    #[arg(long, value_name = "URL")]
    pub mirror: Option<String>,

    /// Add this release archive to the cache, without network access
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kubernetes", "mirror", "list", "dry_run", "diff", "check"])]
    pub archive: Option<PathBuf>,

    /// List the available versions, latest first
    #[arg(long, conflicts_with = "kubernetes")]
    pub list: bool,
}

/// Prints only the folder, for `export KUBEBUILDER_ASSETS="$(opctl testenv setup)"`.
pub fn run(args: &TestenvSetupArgs, console: &Console) -> anyhow::Result<Outcome> {
    let search = || search(args.kubernetes.as_deref(), args.mirror.as_deref());
    if args.list {
        return list(&search()?, console);
    }
    if console.mode != Mode::Apply {
        return look(&search()?, console);
    }
    let assets = match &args.archive {
        Some(archive) => {
            let search = search()?;
            watched(&search, console, |watch| unpack(&search.cache, archive, watch))?
        }
        None => assets(args.kubernetes.as_deref(), args.mirror.as_deref(), console)?,
    };
    console.print(&format!("{}\n", assets.folder().display()));
    Ok(Outcome::Done)
}

/// Reports with `--dry-run`, `--diff` and `--check`, without downloading anything.
fn look(search: &Search, console: &Console) -> anyhow::Result<Outcome> {
    if let Some(assets) = watched(search, console, |watch| find(search, watch))? {
        console.print(&format!("{}\n", assets.folder().display()));
        return Ok(Outcome::Done);
    }
    if console.mode == Mode::Check {
        let refusal = UserError::new("there is no `etcd` and `kube-apiserver` yet");
        console.error(&refusal.help("`opctl testenv setup` downloads them"));
        return Ok(Outcome::Drift);
    }
    console.info(&format!("would download a release of `{}`", search.network.shown()));
    Ok(Outcome::Done)
}

/// Lists the available versions, newest first, and marks those in the cache.
fn list(search: &Search, console: &Console) -> anyhow::Result<Outcome> {
    let index = watched(search, console, |watch| search.network.index(watch))?;
    let cached: Vec<Version> = search.cache.releases().into_iter().map(|(version, _)| version).collect();
    let mut versions: Vec<Version> = index.versions().chain(cached.iter().copied()).collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.dedup();
    for version in versions {
        let place = if cached.contains(&version) { "  in the cache" } else { "" };
        console.print(&format!("{version}{place}\n"));
    }
    Ok(Outcome::Done)
}
