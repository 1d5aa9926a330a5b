//! Without OLM: the bundle is rendered, and applied as by `opctl deploy`. A ConfigMap lists the objects, for updates
//! and for `opctl cleanup`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::at;
use super::session::{Session, objects};
use super::source::Source;
use crate::commands::bundle;
use crate::error::{ExternalError, UserError};
use opctl_cluster::Crd;
use opctl_olm::install::{self, Mode, Package};

/// The objects of a bundle, rendered for a namespace.
pub fn rendered(source: &Source, namespace: &str, mode: &Mode) -> anyhow::Result<Vec<Value>> {
    bundle::rendered(&source.bundle, &source.reference, namespace, &mode.watched(namespace))
}

/// Installs or updates a package. `before` is the inventory of the installed version.
pub fn install(session: &Session, source: &Source, mode: &Mode, before: Option<&Value>) -> anyhow::Result<()> {
    let values = rendered(source, &session.namespace, mode)?;
    certificates(session, &values)?;
    let package = Package { name: &source.package, namespace: &session.namespace };
    let old = before.map(lines).unwrap_or_default();
    let new: BTreeSet<String> = values.iter().map(install::line).collect();
    // The inventory is written first, so that every applied object is listed even if the command fails.
    session.apply(&[package.inventory(&source.version, &old.union(&new).cloned().collect())])?;
    let objects = objects(&values);
    let rest = session.cluster.apply_in_order(&objects)?;
    for deployment in rest.iter().filter(|object| object.is("apps", "Deployment")) {
        session.cluster.await_rollout(deployment, session.deadline)?;
    }
    let (crds, gone): (Vec<Value>, Vec<Value>) =
        old.difference(&new).filter_map(|line| install::named(line)).partition(is_crd);
    session.delete(&gone)?;
    let kept: Vec<&str> = crds.iter().map(|crd| at(crd, "/metadata/name")).collect();
    if !kept.is_empty() {
        session.done(&format!("kept CRDs that the bundle no longer has: {}", kept.join(", ")));
    }
    let listed = new.into_iter().chain(crds.iter().map(install::line)).collect();
    session.apply(&[package.inventory(&source.version, &listed)])?;
    session.done(&format!("installed `{}` without OLM in the namespace `{}`", source.name(), session.namespace));
    Ok(())
}

/// The objects that an inventory lists.
pub fn lines(inventory: &Value) -> BTreeSet<String> {
    at(inventory, "/data/objects").lines().map(String::from).collect()
}

pub fn is_crd(object: &Value) -> bool {
    object["kind"] == "CustomResourceDefinition"
}

/// The install mode of an installed package, from the namespaces in the annotations of a Deployment.
pub fn mode(session: &Session, inventory: &Value) -> anyhow::Result<Mode> {
    for line in lines(inventory).iter().filter(|line| line.starts_with("apps/v1 Deployment ")) {
        let Some(object) = install::named(line) else { continue };
        if let Some(deployment) = session.get("deployments.apps", at(&object, "/metadata/name"))? {
            let watched = at(&deployment, "/spec/template/metadata/annotations/olm.targetNamespaces");
            let watched = watched.split(',').filter(|name| !name.is_empty()).map(String::from).collect();
            return Ok(Mode::of(&watched, &session.namespace));
        }
    }
    Ok(Mode::All)
}

/// Checks that cert-manager is installed if the webhooks need certificates.
fn certificates(session: &Session, values: &[Value]) -> anyhow::Result<()> {
    let needs = values.iter().any(|value| at(value, "/apiVersion").starts_with("cert-manager.io/"));
    let crd = "certificates.cert-manager.io";
    if !needs {
        return Ok(());
    }
    let found = Crd::all(&session.cluster.kubectl, &[crd.to_owned()])
        .map_err(|error| session.cluster.failure("read the CRDs of cert-manager", &error))?;
    if found.is_empty() {
        let refusal =
            UserError::new("the webhooks of the bundle need certificates, and the cluster has no cert-manager");
        return Err(ExternalError(refusal.help("install it: https://cert-manager.io/docs/installation/")).into());
    }
    Ok(())
}
