//! `opctl cleanup`: removes a package that `opctl run bundle` installed, and keeps data that could be lost.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use serde_json::{Value, json};

use super::on_cluster::ConnectionArgs;
use super::run::{EXTENSIONS, Installed, SUBSCRIPTIONS, Session, at, is_crd, lines};
use super::{Console, Outcome, counted};
use crate::commands::complete;
use crate::error::{ExternalError, UserError};
use opctl_cluster::{Crd, Rollout};
use opctl_olm::install;

/// Remove an operator that `opctl run bundle` has installed
///
/// Also removes its CRDs if they have no objects and no other operator uses them. CRDs with objects are kept, unless
/// `--delete-crds` is given; CRDs that the operator only requires are never deleted.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl cleanup memcached-operator --namespace operators

  # Also the objects of its kinds, while the operator can still run finalizers
  opctl cleanup memcached-operator -n operators --delete-crds")]
pub struct CleanupArgs {
    /// The package, e.g. memcached-operator
    #[arg(value_name = "PACKAGE")]
    pub package: String,

    /// The namespace of the operator [default: that of the kubeconfig]
    #[arg(short, long, value_name = "NAME", add = ArgValueCandidates::new(complete::namespaces))]
    pub namespace: Option<String>,

    /// The same as `--delete-crds --delete-operator-groups`; `=false` keeps both
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub delete_all: Option<bool>,

    /// Delete all CRDs of the operator, and with them all objects of these kinds in the cluster; `=false` keeps all
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub delete_crds: Option<bool>,

    /// OLM v0: delete the OperatorGroup that opctl has created, if no other operator is in the namespace [default: true]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub delete_operator_groups: Option<bool>,

    /// Delete without asking for confirmation
    #[arg(short, long)]
    pub yes: bool,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

pub fn run(args: &CleanupArgs, console: &Console) -> anyhow::Result<Outcome> {
    let session = Session::start(&args.connection, args.namespace.as_deref(), "cleanup", console)?;
    let installed = Installed::one(&session, &args.package)?;
    console.info(&format!("found {installed}"));
    let cleanup = Cleanup { session: &session, args };
    let is_done = match &installed {
        Installed::Plain(inventory) => cleanup.plain(inventory)?,
        Installed::V0(subscription) => cleanup.v0(subscription)?,
        Installed::V1(extension) => cleanup.v1(extension)?,
    };
    if is_done {
        console.info(&format!("removed `{}` from the namespace `{}`", args.package, session.namespace));
    }
    Ok(if is_done { Outcome::Done } else { Outcome::Problems })
}

struct Cleanup<'a> {
    session: &'a Session<'a>,
    args: &'a CleanupArgs,
}

/// The CRDs of a package.
struct Crds {
    /// CRDs without objects, or with `--delete-crds`.
    deleted: Vec<Crd>,
    /// The reason for each CRD that is kept.
    kept: BTreeMap<String, String>,
}

impl Cleanup<'_> {
    /// The value of `--delete-crds` or `--delete-all`, if given.
    fn delete_crds_flag(&self) -> Option<bool> {
        self.args.delete_crds.or(self.args.delete_all)
    }

    /// Removes a package that was installed without OLM. Returns `false` if the user declined.
    fn plain(&self, inventory: &Value) -> anyhow::Result<bool> {
        let named: Vec<Value> = lines(inventory).iter().filter_map(|line| install::named(line)).collect();
        let (crds, mut rest): (Vec<Value>, Vec<Value>) = named.into_iter().partition(is_crd);
        let names = crds.iter().map(|crd| at(crd, "/metadata/name").to_owned()).collect();
        let crds = self.crds(names, "")?;
        if !self.may_delete(&crds)? {
            return Ok(false);
        }
        self.delete_crds(&crds)?;
        // Webhooks go first: without their operator, they would reject every request.
        rest.sort_by_key(|object| match at(object, "/apiVersion") {
            "admissionregistration.k8s.io/v1" => 0,
            "apps/v1" => 1,
            _ => 2,
        });
        self.session.delete(&rest)?;
        self.session.delete(&[self.named("v1", "ConfigMap", &install::inventory(&self.args.package))])?;
        self.report(&crds);
        Ok(true)
    }

    fn v0(&self, subscription: &Value) -> anyhow::Result<bool> {
        let session = self.session;
        let name = ["/status/installedCSV", "/status/currentCSV", "/spec/startingCSV"]
            .into_iter()
            .map(|field| at(subscription, field))
            .find(|name| !name.is_empty())
            .unwrap_or_default()
            .to_owned();
        let csv =
            if name.is_empty() { None } else { session.get("clusterserviceversions.operators.coreos.com", &name)? };
        let owned = csv.as_ref().and_then(|csv| csv.pointer("/spec/customresourcedefinitions/owned")?.as_array());
        let owned = owned.into_iter().flatten().map(|crd| at(crd, "/name").to_owned()).collect();
        let crds = self.crds(owned, &name)?;
        if !self.may_delete(&crds)? {
            return Ok(false);
        }
        // The Subscription goes first: OLM would install the operator again.
        session.delete(&[self.of_olm("Subscription", at(subscription, "/metadata/name"))])?;
        self.delete_crds(&crds)?;
        let csv = csv.map(|_| self.of_olm("ClusterServiceVersion", &name));
        session.delete(csv.as_slice())?;
        self.catalog(subscription)?;
        if self.args.delete_operator_groups.or(self.args.delete_all).unwrap_or(true) {
            self.operator_group()?;
        }
        self.report(&crds);
        Ok(true)
    }

    /// Deletes the catalog, if opctl created it for this package.
    fn catalog(&self, subscription: &Value) -> anyhow::Result<()> {
        let (session, source) = (self.session, at(subscription, "/spec/source"));
        let selector = install::selector(&self.args.package);
        let mut ours = Vec::new();
        for (kind, version) in [("CatalogSource", "operators.coreos.com/v1alpha1"), ("Pod", "v1"), ("ConfigMap", "v1")]
        {
            let resource = if kind == "CatalogSource" { "catalogsources.operators.coreos.com" } else { kind };
            let found = session.list(resource, &selector)?;
            ours.extend(found.iter().map(|object| self.named(version, kind, at(object, "/metadata/name"))));
        }
        if !ours.iter().any(|object| object["kind"] == "CatalogSource") && !source.is_empty() {
            session.done(&format!("kept the CatalogSource `{source}`, which opctl has not made"));
        }
        session.delete(&ours)
    }

    /// Deletes the OperatorGroup, if opctl created it and no other operator needs it.
    fn operator_group(&self) -> anyhow::Result<()> {
        let session = self.session;
        let groups = session.items(&["operatorgroups.operators.coreos.com"])?;
        let ours = groups.iter().filter(|group| install::is_ours(group));
        let ours: Vec<Value> = ours.map(|group| at(group, "/metadata/name")).map(|name| self.group(name)).collect();
        if ours.is_empty() {
            return Ok(());
        }
        let copied = "!olm.copiedFrom";
        let csvs = session.list("clusterserviceversions.operators.coreos.com", copied)?;
        let others = session.items(&[SUBSCRIPTIONS])?.len() + csvs.len();
        if others > 0 {
            session.done("kept the OperatorGroup `opctl`, because other operators are in the namespace");
            return Ok(());
        }
        session.delete(&ours)
    }

    fn v1(&self, extension: &Value) -> anyhow::Result<bool> {
        let session = self.session;
        let name = at(extension, "/metadata/name");
        let label =
            format!("olm.operatorframework.io/owner-kind=ClusterExtension,olm.operatorframework.io/owner-name={name}");
        let owned = session.list("crd", &label)?;
        let owned: Vec<String> = owned.iter().map(|crd| at(crd, "/metadata/name").to_owned()).collect();
        let crds = self.crds(owned, "")?;
        // OLM v1 deletes everything that it installed.
        let lost: Vec<String> = crds.kept.iter().map(|(name, why)| format!("\n  `{name}`: {why}")).collect();
        if !lost.is_empty() {
            let refusal = UserError::new(format!(
                "OLM v1 deletes the CRDs of an operator with it, and with them their objects:{}",
                lost.concat()
            ));
            return Err(ExternalError(
                refusal
                    .help("nothing was deleted; delete the objects first, or add `--delete-crds`")
                    .help(format!("or keep everything but the ClusterExtension: `kubectl delete clusterextension {name} --cascade=orphan`")),
            )
            .into());
        }
        if !self.may_delete(&crds)? {
            return Ok(false);
        }
        // Only objects are deleted: OLM v1 would create the CRDs again, and deletes them with the ClusterExtension.
        for crd in crds.deleted.iter().filter(|_| self.delete_crds_flag() == Some(true)) {
            session.delete_all(&crd.resource)?;
        }
        session.delete(&[json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "metadata": {"name": name}})])?;
        let gone = || {
            Ok(match session.get(EXTENSIONS, name)? {
                None => Rollout::Done,
                Some(_) => Rollout::Waiting("it is being deleted".into()),
            })
        };
        session.wait(&format!("the deletion of the ClusterExtension `{name}`"), gone, Vec::new)?;
        let catalogs =
            session.list("clustercatalogs.olm.operatorframework.io", &install::selector(&self.args.package))?;
        let catalogs = catalogs.iter().map(|catalog| at(catalog, "/metadata/name"));
        let catalogs: Vec<Value> = catalogs
            .map(|name| json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog", "metadata": {"name": name}}))
            .collect();
        session.delete(&catalogs)?;
        Ok(true)
    }

    /// Decides which CRDs are deleted. `csv` is the name of the operator that owns them.
    fn crds(&self, names: Vec<String>, csv: &str) -> anyhow::Result<Crds> {
        let session = self.session;
        let mut crds = Crds { deleted: Vec::new(), kept: BTreeMap::new() };
        if names.is_empty() {
            return Ok(crds);
        }
        let kubectl = &session.cluster.kubectl;
        let there = Crd::all(kubectl, &names).map_err(|error| session.cluster.failure("read the CRDs", &error))?;
        let used = self.used(csv)?;
        for crd in there {
            let objects = crd.objects(kubectl);
            let objects = objects.map_err(|error| session.cluster.failure("count the objects of CRDs", &error))?;
            let reason = match (self.delete_crds_flag(), used.get(&crd.name)) {
                (Some(false), _) => Some("`--delete-crds=false`".to_owned()),
                (_, Some(other)) => Some(format!("`{other}` uses it")),
                (None, None) if !objects.is_empty() => Some(counted(objects.len(), "object")),
                _ => None,
            };
            match reason {
                Some(reason) => _ = crds.kept.insert(crd.name, reason),
                None => crds.deleted.push(crd),
            }
        }
        Ok(crds)
    }

    /// The CRDs that other operators own or require, each with the name of such an operator.
    fn used(&self, csv: &str) -> anyhow::Result<BTreeMap<String, String>> {
        let mut used = BTreeMap::new();
        if !self.session.olm()?.v0 {
            return Ok(used);
        }
        let csvs =
            self.session.items(&["clusterserviceversions.operators.coreos.com", "-A", "-l", "!olm.copiedFrom"])?;
        let is_own = |other: &Value| {
            at(other, "/metadata/name") == csv && at(other, "/metadata/namespace") == self.session.namespace
        };
        for other in csvs.iter().filter(|other| !is_own(other)) {
            let name = format!("{}/{}", at(other, "/metadata/namespace"), at(other, "/metadata/name"));
            for list in ["owned", "required"] {
                let crds = other["spec"]["customresourcedefinitions"][list].as_array();
                used.extend(crds.into_iter().flatten().map(|crd| (at(crd, "/name").to_owned(), name.clone())));
            }
        }
        Ok(used)
    }

    /// Asks for confirmation before objects are deleted. Returns `false` if the user declined.
    fn may_delete(&self, crds: &Crds) -> anyhow::Result<bool> {
        let asks = self.delete_crds_flag() == Some(true) && !crds.deleted.is_empty();
        if asks { self.session.cluster.may_delete_crds(&crds.deleted, self.args.yes) } else { Ok(true) }
    }

    /// Deletes the CRDs while the operator still runs, because it may have to clean up their objects.
    fn delete_crds(&self, crds: &Crds) -> anyhow::Result<()> {
        if crds.deleted.is_empty() {
            return Ok(());
        }
        let holder = "the operator still runs, and removes its finalizers once it has cleaned up: see its logs";
        self.session.cluster.delete_crds_unasked(&crds.deleted, holder)
    }

    fn report(&self, crds: &Crds) {
        for (name, why) in &crds.kept {
            self.session.done(&format!("kept the CRD `{name}`: {why}"));
        }
        if self.delete_crds_flag().is_none() && !crds.kept.is_empty() {
            let names: BTreeSet<&str> = crds.kept.keys().map(String::as_str).collect();
            let names = names.into_iter().collect::<Vec<_>>().join(" ");
            self.session.done(&format!("`kubectl delete crd {names}` deletes them, and all of their objects"));
        }
    }

    fn named(&self, version: &str, kind: &str, name: &str) -> Value {
        json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": self.session.namespace}})
    }

    fn of_olm(&self, kind: &str, name: &str) -> Value {
        self.named("operators.coreos.com/v1alpha1", kind, name)
    }

    fn group(&self, name: &str) -> Value {
        self.named("operators.coreos.com/v1", "OperatorGroup", name)
    }
}
