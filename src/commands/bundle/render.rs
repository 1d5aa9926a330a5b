//! `opctl bundle render`: renders the objects that OLM creates from a bundle, as plain manifests.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;

use super::super::{Console, Outcome};
use super::source::source;
use super::{read, rendered};
use crate::error::UserErrors;
use opctl_model::names::Namespace;
use opctl_olm::bundle::Folder;

/// Render a bundle as plain manifests, as OLM installs it
///
/// The result has everything but the namespace itself. Webhooks get their certificates from cert-manager.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl bundle render bundle --namespace memcached-operator-system

  # Install a bundle in a cluster without OLM
  kubectl create namespace operators
  opctl bundle render bundle -n operators | kubectl apply --server-side -f -

  # For two namespaces instead of all
  opctl bundle render bundle -n operators --watch-namespace team-a,team-b")]
pub struct RenderArgs {
    /// The folder or image of the bundle
    #[arg(value_name = "BUNDLE", default_value = "bundle")]
    pub dir: String,

    #[command(flatten)]
    pub target: TargetArgs,
}

/// The namespaces that a bundle is installed in and for.
#[derive(Args, Clone, Debug)]
pub struct TargetArgs {
    /// The namespace of the operator
    #[arg(short, long, value_name = "NAME")]
    pub namespace: String,

    /// The namespaces that the operator watches, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub watch_namespace: Vec<String>,
}

pub fn run(args: &RenderArgs, console: &Console) -> anyhow::Result<Outcome> {
    let mut refusals = UserErrors::default();
    let namespace = refusals.check(Namespace::parse(&args.target.namespace));
    let watched = args.target.watch_namespace.iter().filter_map(|name| refusals.check(Namespace::parse(name)));
    let watched: BTreeSet<String> = watched.map(|name| name.to_string()).collect();
    refusals.settle()?;
    let namespace = namespace.map(|name| name.to_string()).unwrap_or_default();
    let (tree, shown) = source(Path::new(&args.dir), false, console)?;
    let help = "`opctl generate bundle` generates the bundle of a project";
    let bundle = read(Folder { tree: &tree, shown: &shown }, help)?;
    let objects = rendered(&bundle, &args.dir, &namespace, &watched)?;
    let text = opctl_olm::documents(&format!("# Rendered by `opctl bundle render` from `{}`.", args.dir), &objects);
    console.print(&text);
    Ok(Outcome::Done)
}
