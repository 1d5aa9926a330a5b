//! `opctl install`: applies the CRDs and waits until they are established.

use clap::Args;

use super::on_cluster::{Cluster, ClusterArgs};
use super::{Console, Outcome, project_folder, tree};
use crate::rendered;
use opctl_cluster as cluster;

/// Apply the CRDs to the cluster and wait until they are established
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # To the cluster of KUBECONFIG
  opctl install

  # To another cluster
  opctl install --context kind-dev")]
pub struct InstallArgs {
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

pub fn run(args: &InstallArgs, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.cluster.connection, "install", console)?;
    let crds = rendered::crds(&tree(&project_folder()?), &cluster.kubectl)?;
    if args.cluster.print {
        console.print(&cluster::text(&crds));
        return Ok(Outcome::Done);
    }
    cluster.connect()?;
    cluster.apply_in_order(&crds)?;
    Ok(Outcome::Done)
}
