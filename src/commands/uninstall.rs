//! `opctl uninstall`: deletes the CRDs, and with them every object of these kinds; it counts them and asks first.

use super::on_cluster::Cluster;
use super::rendered;
use super::{Console, Outcome, tree};
use crate::cli::Uninstall;
use crate::cluster::{self, Object};

pub fn run(args: &Uninstall, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.cluster, "uninstall", console)?;
    let crds = rendered::crds(&tree(&rendered::project()?), &cluster.kubectl)?;
    if args.cluster.print {
        console.print(&cluster::text(&crds));
        return Ok(Outcome::Done);
    }
    let crds: Vec<&Object> = crds.iter().collect();
    cluster.connect()?;
    let holder =
        "the operator takes its finalizers away when it has cleaned up: let it run (`opctl deploy` or `make run`)";
    Ok(if cluster.delete_crds(&crds, args.yes, holder)? { Outcome::Done } else { Outcome::Refused })
}
