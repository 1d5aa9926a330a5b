//! `opctl bundle render`: renders the objects that OLM creates from a bundle, as plain manifests.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;
use serde_json::Value;

use super::super::{Console, Outcome, recover};
use crate::error::{UserError, UserErrors};
use opctl_model::names::Namespace;
use opctl_model::project::Tree;
use opctl_olm::render::{Installation, render};

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
    /// The folder of the bundle
    #[arg(value_name = "DIR", default_value = "bundle")]
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
    let objects = rendered(&args.dir, &args.target, console)?;
    let text = opctl_olm::documents(&format!("# Rendered by `opctl bundle render` from `{}`.", args.dir), &objects);
    console.print(&text);
    Ok(Outcome::Done)
}

/// The objects of the bundle in the folder `dir`.
pub fn rendered(dir: &str, target: &TargetArgs, console: &Console) -> anyhow::Result<Vec<Value>> {
    let mut refusals = UserErrors::default();
    let namespace = refusals.check(Namespace::parse(&target.namespace));
    let watched = target.watch_namespace.iter().filter_map(|name| refusals.check(Namespace::parse(name)));
    let watched: BTreeSet<String> = watched.map(|name| name.to_string()).collect();
    refusals.settle()?;
    let namespace = namespace.map(|name| name.to_string()).unwrap_or_default();
    let manifests = manifests(dir, console)?;
    let installation = Installation { manifests: &manifests, namespace: &namespace, watched: &watched };
    Ok(render(&installation).map_err(|error| UserError::new(format!("`{dir}`: {error}")).help(error.help))?)
}

/// The objects in `manifests/`.
fn manifests(dir: &str, console: &Console) -> anyhow::Result<Vec<Value>> {
    recover(Path::new(dir), console)?;
    let tree = Tree::of_others(dir);
    let files = tree.files_below("manifests")?;
    if files.is_empty() {
        return Err(UserError::new(format!("`{dir}` is not a bundle: it has no files in `manifests`"))
            .help("`opctl generate bundle` generates the bundle of a project")
            .into());
    }
    let mut objects = Vec::new();
    for path in files {
        let text = tree.read(&path)?.unwrap_or_default();
        let read = opctl_olm::parse::<Value>(&text).map_err(|error| {
            UserError::new(format!("cannot read `{dir}/{path}`: {error}"))
                .help("`opctl generate bundle` generates it again")
        })?;
        objects.extend(read.into_iter().filter(|object| !object.is_null()));
    }
    Ok(objects)
}
