//! `opctl olm status`: shows the versions of OLM in a cluster, their health, and what they serve.

use clap::Args;
use serde_json::{Value, json};

use crate::commands::on_cluster::{Cluster, ConnectionArgs};
use crate::commands::output::OutputArgs;
use crate::commands::run::{EXTENSIONS, SUBSCRIPTIONS, at};
use crate::commands::{Console, Outcome};
use opctl_cluster::{self as cluster, Crd, Rollout, condition};

/// Show which versions of OLM the cluster has, and whether they run
///
/// Exits 1 if there is none, or one does not run.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl olm status

  # For programs
  opctl olm status -o json")]
pub struct StatusArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

pub fn run(args: &StatusArgs, console: &Console) -> anyhow::Result<Outcome> {
    let cluster = Cluster::of(&args.connection, "olm status", console)?;
    cluster.connect()?;
    let crds = Crd::all(&cluster.kubectl, &[SUBSCRIPTIONS, EXTENSIONS].map(String::from))
        .map_err(|error| cluster.failure("read the CRDs of OLM", &error))?;
    let has = |name: &str| crds.iter().any(|crd| crd.name == name);
    let mut status = Status {
        cluster: &cluster,
        text: String::new(),
        objects: Vec::new(),
        olm: "v0",
        is_good: has(SUBSCRIPTIONS) || has(EXTENSIONS),
    };
    if !status.is_good && args.output.is_json() {
        console.print(&format!("{:#}\n", json!({ "installed": [], "objects": [] })));
        return Ok(Outcome::Problems);
    }
    if !status.is_good {
        console.print("OLM is not installed\n");
        console.hint("`opctl olm install` installs it");
        return Ok(Outcome::Problems);
    }
    let mut installed = Vec::new();
    if has(SUBSCRIPTIONS) {
        let version = version(&cluster)?;
        installed.push(json!({ "olm": "v0", "version": version }));
        status.line(0, &format!("OLM v0{}", version.map_or_else(String::new, |version| format!(" {version}"))));
        status.deployments(&["olm-operator", "catalog-operator", "packageserver"])?;
        for catalog in status.items("catalogsources.operators.coreos.com")? {
            let state = match at(&catalog, "/status/connectionState/lastObservedState") {
                "" => "not connected",
                state => state,
            };
            status.object("CatalogSource", &catalog, state);
        }
        for csv in status.items("clusterserviceversions.operators.coreos.com")? {
            let is_copy = csv.pointer("/metadata/labels/olm.copiedFrom").is_some();
            if !is_copy {
                let state = match cluster::olm::csv(&csv) {
                    Rollout::Done => "Succeeded".to_owned(),
                    Rollout::Failed(why) => format!("Failed: {why}"),
                    Rollout::Waiting(why) => why,
                };
                status.object("operator", &csv, &state);
            }
        }
    }
    if has(EXTENSIONS) {
        status.olm = "v1";
        installed.push(json!({ "olm": "v1" }));
        status.line(0, "OLM v1");
        status.deployments(&["operator-controller-controller-manager", "catalogd-controller-manager"])?;
        for (kind, name, kinds) in
            [("clustercatalogs", "ClusterCatalog", "Serving"), ("clusterextensions", "ClusterExtension", "Installed")]
        {
            for object in status.items(&format!("{kind}.olm.operatorframework.io"))? {
                let state = match condition(&object, kinds) {
                    Some(["True", ..]) => kinds.to_owned(),
                    Some([_, reason, message]) => format!("not {kinds}: {reason}: {message}"),
                    None => format!("not {kinds}"),
                };
                status.object(name, &object, &state);
            }
        }
    }
    match args.output.is_json() {
        true => console.print(&format!("{:#}\n", json!({ "installed": installed, "objects": status.objects }))),
        false => console.print(&status.text),
    }
    Ok(if status.is_good { Outcome::Done } else { Outcome::Problems })
}

/// The release of OLM v0, according to the CSV of its package server.
pub fn version(cluster: &Cluster) -> anyhow::Result<Option<String>> {
    let get = ["get", "clusterserviceversions.operators.coreos.com", "-A", "-l", "olm.version", "-o", "json"];
    let output =
        cluster.kubectl.output(&get, "").map_err(|error| cluster.failure("read the version of OLM", &error))?;
    let version = |csv: &Value| csv.pointer("/metadata/labels/olm.version").and_then(Value::as_str).map(String::from);
    Ok(cluster::items(&output).iter().find_map(version))
}

struct Status<'a> {
    cluster: &'a Cluster<'a>,
    text: String,
    /// The same as JSON.
    objects: Vec<Value>,
    /// The version of OLM that the objects belong to.
    olm: &'static str,
    is_good: bool,
}

impl Status<'_> {
    fn line(&mut self, indent: usize, text: &str) {
        self.text.push_str(&format!("{:indent$}{text}\n", ""));
    }

    fn object(&mut self, kind: &str, object: &Value, state: &str) {
        let name = at(object, "/metadata/name");
        self.objects.push(json!({
            "olm": self.olm, "kind": at(object, "/kind"), "namespace": at(object, "/metadata/namespace"), "name": name, "state": state,
        }));
        let name = match at(object, "/metadata/namespace") {
            "" => name.to_owned(),
            namespace => format!("{namespace}/{name}"),
        };
        self.line(2, &format!("{kind} {name}: {}", state.lines().next().unwrap_or_default()));
    }

    fn items(&self, kind: &str) -> anyhow::Result<Vec<Value>> {
        let output = self.cluster.kubectl.output(&["get", kind, "-A", "-o", "json"], "");
        let output = output.map_err(|error| self.cluster.failure(&format!("read {kind}"), &error))?;
        Ok(cluster::items(&output))
    }

    /// The Deployments of OLM itself, in any namespace.
    fn deployments(&mut self, names: &[&str]) -> anyhow::Result<()> {
        let all = self.items("deployments.apps")?;
        for name in names {
            match all.iter().find(|deployment| at(deployment, "/metadata/name") == *name) {
                Some(deployment) => {
                    let state = match Rollout::of(deployment) {
                        Rollout::Done => "runs".to_owned(),
                        Rollout::Waiting(why) | Rollout::Failed(why) => {
                            self.is_good = false;
                            format!("does not run: {why}")
                        }
                    };
                    self.object("Deployment", deployment, &state);
                }
                None => {
                    self.is_good = false;
                    self.objects
                        .push(json!({ "olm": self.olm, "kind": "Deployment", "name": name, "state": "missing" }));
                    self.line(2, &format!("Deployment {name}: missing"));
                }
            }
        }
        Ok(())
    }
}
