//! `opctl install`: applies the CRDs, and waits until they are served.

use super::on_cluster::Cluster;
use super::rendered;
use super::{Console, Outcome, tree};
use crate::cli::Install;
use crate::cluster::{self, Object};

pub fn run(args: &Install, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.cluster, "install", console)?;
    let crds = rendered::crds(&tree(&rendered::project()?), &cluster.kubectl)?;
    if args.cluster.print {
        console.data(&cluster::text(&crds));
        return Ok(Outcome::Done);
    }
    let crds: Vec<&Object> = crds.iter().collect();
    cluster.begin()?;
    cluster.apply(&crds)?;
    cluster.await_served(&crds)?;
    Ok(Outcome::Done)
}
