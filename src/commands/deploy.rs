//! `opctl deploy`: deploys `config/default` with the given image and waits for the rollout.

use clap::Args;

use super::on_cluster::{Cluster, ClusterArgs};
use super::{Console, Outcome, project_folder, tree, warn_of_missing_crds};
use crate::api::{ansible, chart};
use crate::rendered::{self, ImageSubstitution};
use opctl_cluster::{self as cluster, Deadline};
use opctl_model::diagnostic::{Diagnostic, Severity};
use opctl_model::project::{ProjectFile, Tree};

/// Deploy config/default with the given image and wait for the rollout
///
/// CRDs and namespaces are applied first. No file of the project changes: the image replaces `controller` in the rendered
/// manifests, as an entry of `images` in a kustomization would.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl deploy --image registry.example.com/memcached-operator:v1

  # Print the manifests that would be applied
  opctl deploy --image registry.example.com/memcached-operator:v1 --print

  # Show the difference to the cluster
  opctl deploy --image registry.example.com/memcached-operator:v1 --print |
    kubectl diff --server-side --force-conflicts --field-manager opctl -f -")]
pub struct DeployArgs {
    #[command(flatten)]
    pub cluster: ClusterArgs,

    /// Do not wait for the rollout
    #[arg(long)]
    pub no_wait: bool,

    /// The image of the operator; optional if config/default sets one
    #[arg(long)]
    pub image: Option<String>,
}

pub fn run(args: &DeployArgs, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.cluster.connection, "deploy", console)?;
    let image = ImageSubstitution::Required { image: args.image.as_deref(), command: "deploy" };
    let tree = tree(&project_folder()?);
    let objects = rendered::whole(&tree, &cluster.kubectl, image)?;
    console.diagnose(&stale_permissions(&tree));
    warn_of_missing_crds(&tree, rendered::crd_names(&objects), console);
    if args.cluster.print {
        console.print(&cluster::text(&objects));
        return Ok(Outcome::Done);
    }
    cluster.connect()?;
    let rest = cluster.apply_in_order(&objects)?;
    if args.no_wait {
        return Ok(Outcome::Done);
    }
    let deadline = Deadline::after(cluster.timeout);
    for deployment in rest.iter().filter(|object| object.is("apps", "Deployment")) {
        cluster.await_rollout(deployment, deadline)?;
    }
    Ok(Outcome::Done)
}

/// A warning for each chart, role and playbook that may need permissions other than those that are deployed.
fn stale_permissions(tree: &Tree) -> Vec<Diagnostic> {
    let Ok(project) = ProjectFile::read(tree) else { return Vec::new() };
    let mut stale = chart::changed(tree, &project);
    stale.extend(ansible::stale(tree, &project).into_iter().map(|stale| stale.diagnostic));
    stale.into_iter().map(|diagnostic| Diagnostic { severity: Severity::Warning, ..diagnostic }).collect()
}
