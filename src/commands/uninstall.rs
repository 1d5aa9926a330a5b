//! `opctl uninstall`: deletes the CRDs, and with them all objects of these kinds. It counts the objects and asks for
//! confirmation first.

use clap::Args;

use super::on_cluster::{Cluster, ClusterArgs};
use super::{Console, Outcome, project_folder, tree};
use crate::rendered;
use opctl_cluster::{self as cluster, Object};

/// Delete the CRDs, and with them all objects of these kinds in the cluster
///
/// Shows how many objects there are and asks for confirmation first.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # Show the number of objects, ask, and delete
  opctl uninstall

  # In a script
  opctl uninstall --yes")]
pub struct UninstallArgs {
    #[command(flatten)]
    pub cluster: ClusterArgs,

    /// Delete without asking for confirmation
    #[arg(short, long)]
    pub yes: bool,
}

pub fn run(args: &UninstallArgs, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.cluster.connection, "uninstall", console)?;
    let crds = rendered::crds(&tree(&project_folder()?), &cluster.kubectl)?;
    if args.cluster.print {
        console.print(&cluster::text(&crds));
        return Ok(Outcome::Done);
    }
    let crds: Vec<&Object> = crds.iter().collect();
    cluster.connect()?;
    let holder =
        "the operator removes its finalizers once it has cleaned up: let it run (`opctl deploy` or `make run`)";
    Ok(if cluster.delete_crds(&crds, args.yes, holder)? { Outcome::Done } else { Outcome::Problems })
}
