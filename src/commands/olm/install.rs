//! `opctl olm install`: applies the manifests of a release of OLM.

use clap::Args;

use super::release::ReleaseArgs;
use crate::commands::on_cluster::{Cluster, ConnectionArgs};
use crate::commands::run::OlmVersion;
use crate::commands::{Console, Outcome};
use crate::error::{ExternalError, UserError};
use opctl_cluster::{Crd, Deadline};

/// Install OLM in the cluster
///
/// Downloads the manifests of a release from GitHub, applies them, and waits for the rollout. For clusters for development: on
/// OpenShift, OLM is a part of the cluster.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl olm install
  opctl olm install --version v0.46.0 --timeout 5m

  # OLM v1
  opctl olm install --olm v1

  # From files
  opctl olm install --manifests crds.yaml --manifests olm.yaml")]
pub struct InstallArgs {
    #[command(flatten)]
    pub release: ReleaseArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

pub fn run(args: &InstallArgs, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.connection, "olm install", console)?;
    cluster.connect()?;
    let (shown, crd, needed) = match args.release.olm {
        OlmVersion::V0 => ("OLM v0", crate::commands::run::SUBSCRIPTIONS, None),
        OlmVersion::V1 => ("OLM v1", crate::commands::run::EXTENSIONS, Some("certificates.cert-manager.io")),
    };
    let names: Vec<String> = [Some(crd), needed].into_iter().flatten().map(String::from).collect();
    let found = Crd::all(&cluster.kubectl, &names).map_err(|error| cluster.failure("read the CRDs", &error))?;
    if found.iter().any(|found| found.name == crd) {
        let refusal = UserError::new(format!("the cluster has {shown} already: there is the CRD `{crd}`"));
        return Err(ExternalError(refusal.help("`opctl olm status` shows it, `opctl olm uninstall` removes it")).into());
    }
    if needed.is_some() && found.is_empty() {
        let refusal = UserError::new("OLM v1 gets its certificates from cert-manager, which the cluster does not have");
        return Err(ExternalError(refusal.help("install it: https://cert-manager.io/docs/installation/")).into());
    }
    let objects = args.release.objects(None, console)?;
    let rest = cluster.apply_in_order(&objects)?;
    let deadline = Deadline::after(cluster.timeout);
    for deployment in rest.iter().filter(|object| object.is("apps", "Deployment")) {
        cluster.await_rollout(deployment, deadline)?;
    }
    console.info(&format!("{shown} is installed; `opctl run bundle` installs operators with it"));
    Ok(Outcome::Done)
}
