//! `opctl install`: applies the CRDs and waits until they are established.

use super::on_cluster::Cluster;
use super::rendered;
use super::{Console, Outcome, tree};
use crate::cli::Install;
use crate::cluster;

pub fn run(args: &Install, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.cluster, "install", console)?;
    let crds = rendered::crds(&tree(&rendered::project()?), &cluster.kubectl)?;
    if args.cluster.print {
        console.print(&cluster::text(&crds));
        return Ok(Outcome::Done);
    }
    cluster.connect()?;
    cluster.apply_in_order(&crds)?;
    Ok(Outcome::Done)
}
