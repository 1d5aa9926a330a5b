//! `opctl deploy`: deploys `config/default` with the given image and waits for the rollout.

use clap::Args;

use super::error::{Failed, Refusal};
use super::on_cluster::{Cluster, ClusterArgs};
use super::rendered::{self, ImageSubstitution};
use super::{Console, Outcome, tree};
use crate::cluster::{self, Deadline, Object, Rollout};

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
    let cluster = Cluster::of(&args.cluster, "deploy", console)?;
    let image = ImageSubstitution::Required { image: args.image.as_deref(), command: "deploy" };
    let objects = rendered::whole(&tree(&rendered::project()?), &cluster.kubectl, image)?;
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
        await_rollout(&cluster, deployment, &args.cluster.timeout, deadline)?;
    }
    Ok(Outcome::Done)
}

/// kubectl's arguments for the namespace of an object, if it says one.
fn namespace(object: &Object) -> Vec<&str> {
    if object.namespace.is_empty() { Vec::new() } else { vec!["-n", &object.namespace] }
}

fn await_rollout(cluster: &Cluster, deployment: &Object, timeout: &str, deadline: Deadline) -> anyhow::Result<()> {
    let mut progress = cluster.console.progress();
    let get = [&["get", "deployments.apps", &deployment.name, "-o", "json"][..], &namespace(deployment)].concat();
    loop {
        let output =
            cluster.kubectl.output(&get, "").map_err(|error| cluster.failure("read the Deployment", &error))?;
        let value = cluster::items(&output).into_iter().next().unwrap_or_default();
        let why = match Rollout::of(&value) {
            Rollout::Done => {
                drop(progress);
                cluster.console.info(&format!("{deployment} is rolled out"));
                return Ok(());
            }
            Rollout::Waiting(why) if !deadline.has_passed() => {
                progress.show(&format!("waiting for {deployment}: {why}"));
                deadline.pause();
                continue;
            }
            Rollout::Waiting(why) => format!("is not done after {timeout}: {why}"),
            Rollout::Failed(why) => format!("has failed: {why}"),
        };
        drop(progress);
        return Err(Failed(stuck(cluster, deployment, &value, &why)).into());
    }
}

/// Why a rollout does not end, as far as the cluster tells it.
fn stuck(cluster: &Cluster, deployment: &Object, value: &serde_json::Value, why: &str) -> Refusal {
    let labels = value.pointer("/spec/selector/matchLabels").and_then(serde_json::Value::as_object);
    let labels = labels.into_iter().flatten();
    let selector: Vec<String> =
        labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    let selector = selector.join(",");
    let namespace = namespace(deployment);
    // This is an answer to an error: what cannot be read adds nothing to it.
    let items = |get: &[&str]| {
        let get = [&["get"], get, &["-o", "json"], &namespace[..]].concat();
        cluster.kubectl.output(&get, "").map(|output| cluster::items(&output)).unwrap_or_default()
    };
    let mut message = format!("the rollout of {deployment} {why}");
    for reason in cluster::reasons(value, &items(&["pods", "-l", &selector])) {
        message.push_str(&format!("\n  {reason}"));
    }
    for event in cluster::events(&items(&["events"]), &deployment.name) {
        message.push_str(&format!("\n  event {event}"));
    }
    let shown = |command: &[&str]| cluster.kubectl.shown(&[command, &namespace[..]].concat());
    Refusal::new(message)
        .help(format!("look further: `{}`", shown(&["describe", "pods", "-l", &selector])))
        .help(format!("its logs: `{}`", shown(&["logs", &format!("deployment/{}", deployment.name), "--tail=50"])))
        .help("the applied resources are kept; fix this and run the command again")
}
