//! With OLM v1: a ClusterCatalog with the image of a catalog, and a ClusterExtension. OLM v1 reads bundles only from
//! such images.

use serde_json::Value;

use super::session::{EXTENSIONS, Session};
use super::source::Source;
use super::{RunArgs, at};
use crate::error::{ExternalError, UserError};
use opctl_cluster as cluster;
use opctl_olm::install::{Mode, Package};

/// Installs or updates a package.
pub fn install(session: &Session, source: &Source, args: &RunArgs, mode: Option<&Mode>) -> anyhow::Result<()> {
    let package = Package { name: &source.package, namespace: &session.namespace };
    let mode = super::mode(source, mode)?;
    if matches!(mode, Mode::Multi(_)) {
        let refusal = UserError::new(format!("OLM v1 installs nothing for several namespaces ({mode})"));
        return Err(ExternalError(refusal.help("use another install mode, or `--without-olm`")).into());
    }
    let Some(image) = &args.catalog_image else {
        let refusal = UserError::new("OLM v1 installs bundles from the image of a catalog only");
        return Err(ExternalError(
            refusal
                .help("add the bundle to a catalog, build and push its image: `opctl catalog add --help`")
                .help("then name it: `--catalog-image IMAGE`")
                .help("or install the bundle without OLM: `--without-olm`"),
        )
        .into());
    };
    if args.service_account.is_none() && needs_service_account(session)? {
        let refusal = UserError::new("this release of OLM v1 installs operators with the rights of a service account");
        let namespace = &session.namespace;
        return Err(ExternalError(
            refusal
                .help("name one in the namespace that may create all that is in the bundle: `--service-account NAME`")
                .help(format!(
                    "on a cluster for development: `kubectl create serviceaccount installer -n {namespace}`, `kubectl create \
                     clusterrolebinding installer --clusterrole cluster-admin --serviceaccount {namespace}:installer`"
                )),
        )
        .into());
    }
    let catalog = package.catalog();
    session.apply(&[package.cluster_catalog(image)])?;
    let look = || Ok(cluster::olm::cluster_catalog(&read(session, "clustercatalogs", &catalog)?));
    session.wait(&format!("the ClusterCatalog `{catalog}`"), look, Vec::new)?;
    session.done(&format!("the ClusterCatalog `{catalog}` is served"));
    let watched = mode.watched(&session.namespace);
    session.apply(&[package.cluster_extension(&source.version, &watched, args.service_account.as_deref())])?;
    let (name, version) = (&source.package, &source.version);
    let look = || {
        let extension = read(session, "clusterextensions", name)?;
        Ok(cluster::olm::cluster_extension(&extension, version))
    };
    session.wait(&format!("the ClusterExtension `{name}`"), look, || session.reasons(source))?;
    session.done(&format!("OLM v1 has installed `{name}` {version} in the namespace `{}`", session.namespace));
    Ok(())
}

/// Updates a package in its current namespace.
pub fn upgrade(session: &Session, source: &Source, args: &RunArgs, extension: &Value) -> anyhow::Result<()> {
    let namespace = at(extension, "/spec/namespace");
    if namespace != session.namespace {
        let refusal = UserError::new(format!("`{}` is installed in the namespace `{namespace}`", source.package));
        return Err(ExternalError(refusal.help(format!("add `--namespace {namespace}`"))).into());
    }
    let watched = at(extension, "/spec/config/inline/watchNamespace");
    let mode = match watched {
        "" => Mode::All,
        own if own == session.namespace => Mode::Own,
        other => Mode::Single(other.to_owned()),
    };
    install(session, source, args, Some(&mode))
}

fn read(session: &Session, kind: &str, name: &str) -> anyhow::Result<Value> {
    session.read(&format!("{kind}.olm.operatorframework.io"), name)
}

/// `true` for earlier releases of OLM v1, whose CRD requires a service account.
fn needs_service_account(session: &Session) -> anyhow::Result<bool> {
    let Some(crd) = session.get("crd", EXTENSIONS)? else { return Ok(false) };
    let versions = crd.pointer("/spec/versions").and_then(Value::as_array);
    let required = versions.into_iter().flatten().filter_map(|version| {
        version.pointer("/schema/openAPIV3Schema/properties/spec/required").and_then(Value::as_array)
    });
    Ok(required.flatten().any(|field| field == "serviceAccount"))
}
