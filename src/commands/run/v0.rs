//! With OLM v0: a catalog in ConfigMaps, a Pod that serves it, a CatalogSource, an OperatorGroup, a Subscription, and
//! an approved InstallPlan. An update adds a bundle to the catalog.
//!
//! A folder needs no registry, because a catalog can contain the manifests of a bundle instead of its image
//! (`olm.bundle.object`). Each bundle is a ConfigMap, so an update reads the earlier ones from the cluster.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::session::Session;
use super::source::Source;
use super::{RunArgs, at};
use crate::error::{ExternalError, UserError};
use opctl_cluster::{self as cluster, Rollout};
use opctl_olm::install::{self, DOCUMENT, Mode, Package, Serving};

/// Installs a package for the first time.
pub fn install(session: &Session, source: &Source, args: &RunArgs, mode: Option<&Mode>) -> anyhow::Result<()> {
    let package = Package { name: &source.package, namespace: &session.namespace };
    // Checked before anything is created: OLM would reject these.
    let group = operator_group(session, source, mode)?;
    serve(session, source, args, std::slice::from_ref(&source.document))?;
    if let Some(group) = group {
        session.apply(&[group])?;
    }
    session.apply(&[package.subscription(source.name())])?;
    follow(session, source)
}

/// Updates a package to a newer bundle.
pub fn upgrade(session: &Session, source: &Source, args: &RunArgs, subscription: &Value) -> anyhow::Result<()> {
    let catalog = at(subscription, "/spec/source");
    let package = Package { name: &source.package, namespace: &session.namespace };
    let is_own = at(subscription, "/spec/channel") == install::CHANNEL && catalog == package.catalog();
    if !is_own {
        let refusal = UserError::new(format!(
            "`{}` is subscribed to the catalog `{catalog}`, which opctl has not made",
            source.package
        ));
        return Err(ExternalError(
            refusal.help("add the bundle to this catalog, and OLM updates the operator: `opctl catalog add`").help(
                format!("or replace the installation: `opctl cleanup {}`, then `opctl run bundle`", source.package),
            ),
        )
        .into());
    }
    let mut bundles = bundles(session, &source.package)?;
    let installed = at(subscription, "/status/installedCSV").to_owned();
    let is_known = bundles.iter().any(|bundle| at(bundle, "/name") == source.name());
    if installed == source.name() {
        let refusal = UserError::new(format!("`{}` is installed already", source.name()));
        return Err(ExternalError(
            refusal.help("OLM updates to another version only: `opctl generate bundle --version VERSION`"),
        )
        .into());
    }
    if is_known {
        // This is a second attempt, perhaps with a corrected bundle.
        bundles.retain(|bundle| at(bundle, "/name") != source.name());
    }
    bundles.push(source.document.clone());
    serve(session, source, args, &bundles)?;
    follow(session, source)
}

/// The bundles in the catalog of a package, oldest first.
fn bundles(session: &Session, package: &str) -> anyhow::Result<Vec<Value>> {
    let name = |map: &Value| at(map, "/metadata/name").to_owned();
    let prefix = format!("{package}-catalog-");
    let number = |map: &Value| name(map).strip_prefix(&prefix).and_then(|number| number.parse::<usize>().ok());
    let mut maps: Vec<Value> = session.list("configmap", &install::selector(package))?;
    maps.retain(|map| number(map).is_some_and(|number| number > 0));
    maps.sort_by_key(number);
    let mut bundles = Vec::new();
    for map in maps {
        let document = serde_json::from_str(map["data"][DOCUMENT].as_str().unwrap_or_default()).map_err(|error| {
            let refusal = UserError::new(format!("the ConfigMap `{}` is not a part of a catalog: {error}", name(&map)));
            ExternalError(
                refusal.help(format!("replace the installation: `opctl cleanup {package}`, then `opctl run bundle`")),
            )
        })?;
        bundles.push(document);
    }
    Ok(bundles)
}

/// The missing OperatorGroup; `None` if there is one and the bundle supports its namespaces.
fn operator_group(session: &Session, source: &Source, mode: Option<&Mode>) -> anyhow::Result<Option<Value>> {
    let namespace = &session.namespace;
    let groups = session.items(&["operatorgroups.operators.coreos.com"])?;
    let refuse = |message: String, help: String| Err(ExternalError(UserError::new(message).help(help)).into());
    let mode = match &groups[..] {
        [] => super::mode(source, mode)?,
        [group] => {
            let name = at(group, "/metadata/name");
            let watched = group.pointer("/spec/targetNamespaces").and_then(Value::as_array);
            let watched: BTreeSet<String> =
                watched.into_iter().flatten().filter_map(Value::as_str).map(String::from).collect();
            let of_group = Mode::of(&watched, namespace);
            if mode.is_some_and(|mode| mode.watched(namespace) != watched) {
                let message = format!("the OperatorGroup `{name}` in `{namespace}` is for {of_group}");
                return refuse(message, "leave out `--install-mode`, or use another namespace".into());
            }
            if !of_group.is_supported_by(&source.csv) {
                let modes = install::supported(&source.csv).join(", ");
                let message = format!(
                    "the OperatorGroup `{name}` in `{namespace}` is for {of_group}, and the bundle supports {modes}"
                );
                return refuse(message, "use another namespace".into());
            }
            return Ok(None);
        }
        groups => {
            let names: Vec<&str> = groups.iter().map(|group| at(group, "/metadata/name")).collect();
            let message = format!("there are several OperatorGroups in `{namespace}`: {}", names.join(", "));
            return refuse(message, "OLM installs nothing in such a namespace: delete all but one".into());
        }
    };
    Ok(Some(Package { name: &source.package, namespace }.operator_group(&mode.watched(namespace))))
}

/// Makes the cluster serve a catalog of these bundles.
fn serve(session: &Session, source: &Source, args: &RunArgs, bundles: &[Value]) -> anyhow::Result<()> {
    let package = Package { name: &source.package, namespace: &session.namespace };
    let serving = Serving {
        index_image: &args.index_image,
        pull_policy: args.image_pull_policy.as_deref(),
        pull_secret: args.pull_secret_name.as_deref(),
        service_account: args.service_account.as_deref(),
        restricted: args.security_context_config == super::SecurityContext::Restricted,
    };
    let config_maps = package.config_maps(bundles);
    for map in &config_maps {
        let size = map["data"][DOCUMENT].as_str().map_or(0, str::len);
        if size > MOST {
            let refusal = UserError::new(format!(
                "the bundle is too large for a ConfigMap: {size} bytes of at most {MOST}, and a folder is served from one"
            ));
            return Err(ExternalError(
                refusal.help("push its image, and run that: `make bundle-build bundle-push`, `opctl run bundle IMAGE`"),
            )
            .into());
        }
    }
    session.apply(&config_maps)?;
    let pod = package.pod(&config_maps, &serving);
    let name = at(&pod, "/metadata/name").to_owned();
    session.apply(std::slice::from_ref(&pod))?;
    let events = || {
        let events = session.items(&["events", "--field-selector", &format!("involvedObject.name={name}")]);
        let events = cluster::events(&events.unwrap_or_default(), &name);
        events.into_iter().map(|event| format!("event {event}")).collect()
    };
    let shown = format!("the Pod `{name}`, which serves the catalog,");
    session.wait(&shown, || Ok(cluster::olm::pod(&session.read("pod", &name)?)), events)?;
    let pod = session.read("pod", &name)?;
    session.apply(&[package.catalog_source(at(&pod, "/status/podIP"), serving.pull_secret)])?;
    session.done(&format!("the Pod `{name}` serves the catalog"));
    // Pods of an earlier catalog are deleted.
    let others = session.list("pod", &install::selector(&source.package))?;
    let others: Vec<Value> = others
        .iter()
        .map(|pod| at(pod, "/metadata/name"))
        .filter(|other| *other != name)
        .map(|other| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": other, "namespace": session.namespace}}))
        .collect();
    session.delete(&others)
}

/// The maximum size of a bundle in a ConfigMap, which has at most 1 MiB with its name and labels.
const MOST: usize = (1 << 20) - (4 << 10);

/// Approves the InstallPlan of a bundle, and waits until it is installed.
fn follow(session: &Session, source: &Source) -> anyhow::Result<()> {
    let (package, csv) = (&source.package, source.name());
    let subscription = format!("the Subscription `{package}`");
    let mut plan = String::new();
    let look = || {
        let subscription = session.read("subscriptions.operators.coreos.com", package)?;
        let state = cluster::olm::subscription(&subscription);
        if state != Rollout::Done {
            return Ok(state);
        }
        let name = at(&subscription, "/status/installPlanRef/name");
        let found = session.read("installplans.operators.coreos.com", name)?;
        let csvs: Vec<&str> = names(&found).collect();
        if csvs.contains(&csv) {
            plan = name.to_owned();
            return Ok(Rollout::Done);
        }
        // The InstallPlan belongs to the earlier version, but the conditions to the next one.
        let next = json!({"status": {"conditions": subscription["status"]["conditions"]}});
        Ok(match cluster::olm::subscription(&next) {
            Rollout::Done => Rollout::Waiting("OLM has not created an InstallPlan yet".into()),
            other => other,
        })
    };
    let catalog = || {
        let catalog = session.get("catalogsources.operators.coreos.com", &format!("{package}-catalog")).ok().flatten();
        let state = catalog.as_ref().map_or("", |catalog| at(catalog, "/status/connectionState/lastObservedState"));
        let state = if state.is_empty() { "unknown" } else { state };
        vec![format!("the connection to the catalog `{package}-catalog` is {state}")]
    };
    session.wait(&subscription, look, catalog)?;
    let found = session.read("installplans.operators.coreos.com", &plan)?;
    let others: Vec<&str> = names(&found).filter(|name| *name != csv).collect();
    if !others.is_empty() {
        session.done(&format!("the InstallPlan `{plan}` also installs {}", others.join(", ")));
    }
    if found["spec"]["approved"] != true {
        session.patch("installplans.operators.coreos.com", &plan, &json!({"spec": {"approved": true}}))?;
        session.done(&format!("approved the InstallPlan `{plan}`"));
    }
    let look = || Ok(cluster::olm::install_plan(&session.read("installplans.operators.coreos.com", &plan)?));
    session.wait(&format!("the InstallPlan `{plan}`"), look, Vec::new)?;
    let look = || Ok(cluster::olm::csv(&session.read("clusterserviceversions.operators.coreos.com", csv)?));
    session.wait(&format!("the ClusterServiceVersion `{csv}`"), look, || session.reasons(source))?;
    session.done(&format!("OLM v0 has installed `{csv}` in the namespace `{}`", session.namespace));
    Ok(())
}

/// The names of the CSVs that an InstallPlan installs.
fn names(plan: &Value) -> impl Iterator<Item = &str> {
    let names = plan.pointer("/spec/clusterServiceVersionNames").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}
