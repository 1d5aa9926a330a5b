//! `opctl olm uninstall`: deletes the objects of a release of OLM, once no operator depends on it.

use clap::Args;

use super::release::ReleaseArgs;
use super::status;
use crate::commands::on_cluster::{Cluster, ConnectionArgs};
use crate::commands::run::{EXTENSIONS, OlmVersion, SUBSCRIPTIONS, at};
use crate::commands::{Console, Outcome};
use crate::error::{ExternalError, UserError};
use opctl_cluster::{self as cluster, Crd, Object};

/// Remove OLM from the cluster
///
/// Refuses as long as OLM has installed operators: they would be lost with its CRDs. `--yes` removes it anyway.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl olm uninstall

  # An OLM that was installed from files
  opctl olm uninstall --manifests crds.yaml --manifests olm.yaml")]
pub struct UninstallArgs {
    #[command(flatten)]
    pub release: ReleaseArgs,

    /// Delete without asking for confirmation, and with all that OLM has installed
    #[arg(short, long)]
    pub yes: bool,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

pub fn run(args: &UninstallArgs, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.connection, "olm uninstall", console)?;
    cluster.connect()?;
    let (shown, crd) = match args.release.olm {
        OlmVersion::V0 => ("OLM v0", SUBSCRIPTIONS),
        OlmVersion::V1 => ("OLM v1", EXTENSIONS),
    };
    let found = Crd::all(&cluster.kubectl, &[crd.to_owned()]);
    let found = found.map_err(|error| cluster.failure("read the CRDs of OLM", &error))?;
    if found.is_empty() {
        console.info(&format!("{shown} is not installed"));
        return Ok(Outcome::Done);
    }
    let operators = operators(&cluster, crd)?;
    if !operators.is_empty() && !args.yes {
        let list: String = operators.iter().map(|name| format!("\n  {name}")).collect();
        let refusal = UserError::new(format!("{shown} has installed operators, which would be lost with it:{list}"));
        return Err(ExternalError(
            refusal.help("remove them first: `opctl cleanup PACKAGE -n NAMESPACE`").help("or remove all: `--yes`"),
        )
        .into());
    }
    let version = if args.release.olm == OlmVersion::V0 { status::version(&cluster)? } else { None };
    let objects = args.release.objects(version.as_deref(), console)?;
    let (crds, rest): (Vec<&Object>, Vec<&Object>) = objects.iter().partition(|object| object.is_crd());
    let is_own = |object: &&Object| {
        let group = |crd: &&Object| crd.defines.as_ref().is_some_and(|(group, _)| *group == object.group);
        crds.iter().any(group)
    };
    // OLM's own objects, such as its package server, go first, while OLM can clean up after them.
    let (own, mut others): (Vec<&Object>, Vec<&Object>) = rest.into_iter().rev().partition(is_own);
    others.sort_by_key(|object| {
        !matches!(object.group.as_str(), "admissionregistration.k8s.io" | "apiregistration.k8s.io")
    });
    let holder = "a controller of OLM takes its finalizers away: it still runs, see its logs";
    cluster.delete(&own)?;
    if !cluster.delete_crds(&crds, args.yes, holder)? {
        return Ok(Outcome::Problems);
    }
    cluster.delete(&others)?;
    console.info(&format!("{shown} is removed"));
    Ok(Outcome::Done)
}

/// The operators that OLM has installed, except for OLM itself.
fn operators(cluster: &Cluster, kind: &str) -> anyhow::Result<Vec<String>> {
    let output = cluster.kubectl.output(&["get", kind, "-A", "-o", "json"], "");
    let output = output.map_err(|error| cluster.failure("list what OLM has installed", &error))?;
    Ok(cluster::items(&output)
        .iter()
        .map(|object| match at(object, "/metadata/namespace") {
            "" => at(object, "/metadata/name").to_owned(),
            namespace => format!("{namespace}/{}", at(object, "/metadata/name")),
        })
        .collect())
}
