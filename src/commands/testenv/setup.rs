//! `opctl testenv setup`: finds or downloads the control plane binaries and prints their path.

use opctl_testenv::assets::{Search, Version, find, unpack};

use super::assets;
use super::programs::{search, watched};
use crate::cli::TestenvSetup;
use crate::commands::error::Refusal;
use crate::commands::{Console, Outcome};
use crate::plan::Mode;

/// The answer is one line of data, the folder: `export KUBEBUILDER_ASSETS="$(opctl testenv setup)"`.
pub fn run(args: &TestenvSetup, console: &Console) -> anyhow::Result<Outcome> {
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

/// With `--dry-run`, `--diff` and `--check`: nothing is downloaded.
fn look(search: &Search, console: &Console) -> anyhow::Result<Outcome> {
    if let Some(assets) = watched(search, console, |watch| find(search, watch))? {
        console.print(&format!("{}\n", assets.folder().display()));
        return Ok(Outcome::Done);
    }
    if console.mode == Mode::Check {
        let refusal = Refusal::new("there is no `etcd` and `kube-apiserver` yet");
        console.error(&refusal.help("`opctl testenv setup` downloads them"));
        return Ok(Outcome::Drift);
    }
    console.info(&format!("would download a release of `{}`", search.network.shown()));
    Ok(Outcome::Done)
}

/// The versions there are, newest first, and which of them are in the cache.
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
