//! `opctl undeploy`: deletes the deployed resources but keeps the CRDs, their objects and the namespace.

use clap::Args;

use super::on_cluster::{Cluster, ClusterArgs};
use super::{Console, Outcome, project_folder, tree};
use crate::rendered::{self, ImageSubstitution};
use opctl_cluster::{self as cluster, Object};

/// Delete the deployed resources but keep the CRDs, their objects and the namespace
///
/// If objects have finalizers, which only a running operator removes, shows them and asks for confirmation first.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # Delete the operator and keep the custom resources
  opctl undeploy

  # Delete everything: CRDs and custom resources first, while the operator can still run finalizers
  opctl undeploy --delete-crds")]
pub struct UndeployArgs {
    #[command(flatten)]
    pub cluster: ClusterArgs,

    /// Also delete the CRDs, and with them all objects of these kinds in the cluster
    #[arg(long)]
    pub delete_crds: bool,

    /// Delete without asking for confirmation
    #[arg(short, long)]
    pub yes: bool,
}

pub fn run(args: &UndeployArgs, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.cluster.connection, "undeploy", console)?;
    let objects = rendered::whole(&tree(&project_folder()?), &cluster.kubectl, ImageSubstitution::Skip)?;
    let (kept, operator) = parts(&objects);
    let crds: Vec<&Object> = kept.iter().copied().filter(|object| object.is_crd()).collect();
    if args.cluster.print {
        let crds = crds.iter().filter(|_| args.delete_crds);
        console.print(&cluster::text(crds.chain(&operator).copied()));
        return Ok(Outcome::Done);
    }
    cluster.connect()?;
    if args.delete_crds {
        // CRDs are deleted while the operator still runs, because it may have to clean up their objects.
        let holder = "the operator was not deleted, and removes its finalizers once it has cleaned up: see its logs";
        if !cluster.delete_crds(&crds, args.yes, holder)? {
            return Ok(Outcome::Problems);
        }
    } else if !cluster.may_abandon_objects(&crds, args.yes)? {
        return Ok(Outcome::Problems);
    }
    cluster.delete(&operator)?;
    console.info(&left(&kept, args.delete_crds));
    Ok(Outcome::Done)
}

/// The objects that are kept, and the objects of the operator in the order of their deletion.
fn parts(objects: &[Object]) -> (Vec<&Object>, Vec<&Object>) {
    let kinds: Vec<&(String, String)> = objects.iter().filter_map(|object| object.defines.as_ref()).collect();
    let is_kept = |object: &&Object| {
        let of_users = kinds.iter().any(|(group, kind)| object.is(group, kind));
        object.is_crd() || object.is("", "Namespace") || of_users
    };
    let (kept, mut operator): (Vec<&Object>, Vec<&Object>) = objects.iter().partition(is_kept);
    // Webhooks go first, because they would reject every request without the operator; its permissions go last, because
    // it needs them until it stops.
    operator.reverse();
    operator.sort_by_key(|object| match (object.group.as_str(), object.kind.as_str()) {
        ("admissionregistration.k8s.io", _) => 0,
        ("apps", _) => 1,
        _ => 2,
    });
    (kept, operator)
}

/// A message about the objects that are kept, and the commands that delete them.
fn left(kept: &[&Object], without_crds: bool) -> String {
    let stays = |object: &&&Object| !without_crds || object.is("", "Namespace");
    let mut lines = Vec::new();
    if kept.iter().any(|object| object.is_crd()) && !without_crds {
        lines.push("kept the CRDs and their objects; `opctl uninstall` deletes them".to_owned());
    }
    for namespace in kept.iter().filter(stays).filter(|object| object.is("", "Namespace")) {
        let name = &namespace.name;
        lines.push(format!(
            "kept the namespace `{name}` and everything else in it; `kubectl delete namespace {name}` deletes it"
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhooks_go_first_and_users_keep_what_is_theirs() {
        let object = |group: &str, kind: &str, namespace: &str| {
            let version = if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") };
            format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {kind}, namespace: '{namespace}'}}\n")
        };
        let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.b.c}\n\
            spec: {group: b.c, names: {kind: A}}\n";
        let text = [
            object("", "Namespace", ""),
            crd.to_owned(),
            object("", "ServiceAccount", "n"),
            object("rbac.authorization.k8s.io", "ClusterRole", ""),
            object("apps", "Deployment", "n"),
            object("b.c", "A", "n"),
            object("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", ""),
        ];
        let objects = cluster::objects(&text.join("---\n")).unwrap();
        let (kept, operator) = parts(&objects);
        let kinds = |objects: Vec<&Object>| objects.iter().map(|object| object.kind.clone()).collect::<Vec<_>>();
        assert_eq!(kinds(kept), ["Namespace", "CustomResourceDefinition", "A"]);
        assert_eq!(kinds(operator), ["ValidatingWebhookConfiguration", "Deployment", "ClusterRole", "ServiceAccount"]);
    }
}
