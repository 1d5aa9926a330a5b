//! `opctl build-installer`: writes `dist/install.yaml`, which installs the operator with nothing but kubectl.

use super::rendered::{self, ImageSubstitution};
use super::{Console, Next, Outcome, Task, carry_out, kubectl, lock, tree};
use crate::cli::BuildInstaller;
use crate::cluster;
use crate::emit;
use crate::plan::Plan;

const PATH: &str = "dist/install.yaml";

pub fn run(args: &BuildInstaller, console: &Console) -> anyhow::Result<Outcome> {
    let root = rendered::project()?;
    let _lock = lock(&root, console)?;
    let tree = tree(&root);
    let kubectl = kubectl::find(args.program.kubectl.as_deref(), None);
    let image = ImageSubstitution::Required { image: args.image.as_deref(), command: "build-installer" };
    let objects = rendered::whole(&tree, &kubectl, image)?;
    let mut plan = Plan::default();
    let header = format!("{}`opctl build-installer` makes it of config/default.", emit::OURS);
    plan.generate(PATH, format!("{header}\n---\n{}", cluster::text(&objects)));
    let next =
        vec![Next::new(format!("kubectl apply --server-side -f {PATH}"), "installs the operator in any cluster")];
    let again = "run `opctl build-installer`";
    carry_out(&Task { again, tree: &tree, folder: "", plan, next }, console)
}
