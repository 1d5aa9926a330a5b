//! `opctl build-installer`: writes `dist/install.yaml`, which installs the operator with kubectl alone.

use clap::Args;

use super::kubectl::KubectlArgs;
use super::{Console, Next, Outcome, Task, carry_out, kubectl, lock, project_folder, tree, warn_of_missing_crds};
use crate::rendered::{self, ImageSubstitution};
use opctl_cluster as cluster;
use opctl_edit::plan::Plan;
use opctl_source::emit;

/// Write dist/install.yaml, which installs the operator with `kubectl apply` alone
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl build-installer --image registry.example.com/memcached-operator:v1

  # In CI: fail if it does not match config/default
  opctl build-installer --image registry.example.com/memcached-operator:v1 --check")]
pub struct BuildInstallerArgs {
    /// The image of the operator; optional if config/default sets one
    #[arg(long)]
    pub image: Option<String>,

    #[command(flatten)]
    pub program: KubectlArgs,
}

const PATH: &str = "dist/install.yaml";

pub fn run(args: &BuildInstallerArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = project_folder()?;
    let _lock = lock(&root, console)?;
    let tree = tree(&root);
    let kubectl = kubectl::find(args.program.kubectl.as_deref(), None);
    let image = ImageSubstitution::Required { image: args.image.as_deref(), command: "build-installer" };
    let objects = rendered::whole(&tree, &kubectl, image)?;
    warn_of_missing_crds(&tree, rendered::crd_names(&objects), console);
    let mut plan = Plan::default();
    let header = format!("{}`opctl build-installer` makes it of config/default.", emit::OURS);
    plan.generate(PATH, format!("{header}\n---\n{}", cluster::text(&objects)));
    let next =
        vec![Next::new(format!("kubectl apply --server-side -f {PATH}"), "installs the operator in any cluster")];
    let again = "run `opctl build-installer`";
    carry_out(&Task { again, tree: &tree, folder: "", plan, next }, console)
}
