//! An operator on a real API server: its CRDs, its samples, and whether these become Ready.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, ResourceExt};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::options;
use crate::{Manager, Operator, Runnable};

const PATIENCE: Duration = Duration::from_secs(30);

/// Runs an operator on the cluster of KUBECONFIG and checks that the cluster accepts its CRDs, that the samples in `config/samples` of
/// the project in this folder are valid, and that those which have a controller become Ready.
///
/// The samples are in a namespace of their own, which is deleted in the end; the CRDs stay. Where nothing but an API server runs, the test
/// stands in for the controller of Deployments: it makes their replicas available.
///
/// # Panics
///
/// If a check fails.
pub async fn samples_become_ready(
    operator: Operator,
    project: &str,
    crds: &[CustomResourceDefinition],
    runnables: Vec<Runnable>,
) {
    let client = Client::try_default().await.expect("KUBECONFIG names a cluster");
    for crd in crds {
        install(&client, crd).await;
    }
    let namespaces = Api::<Namespace>::all(client.clone());
    let mut scratch = Namespace::default();
    scratch.metadata.generate_name = Some(format!("{}-test-", operator.name));
    let created = namespaces.create(&PostParams::default(), &scratch).await;
    let namespace = created.expect("a namespace can be created").name_any();

    let options = options([
        "--watch-namespace",
        &namespace,
        "--health-probe-bind-address=127.0.0.1:0",
        "--metrics-bind-address=0",
    ]);
    let names: BTreeSet<String> = runnables.iter().map(|runnable| runnable.name().to_owned()).collect();
    let samples = Samples { client: &client, folder: &Path::new(project).join("config/samples"), crds, names };
    let outcome = tokio::select! {
        ended = Manager::new(operator).start(client.clone(), options, runnables) => {
            Err(format!("the manager ended: {ended:?}"))
        }
        error = make_available(&client, &namespace) => Err(format!("Deployments cannot be listed: {error}")),
        outcome = samples.try_all(&namespace) => outcome,
    };
    let deleted = namespaces.delete(&namespace, &DeleteParams::default()).await;
    deleted.expect("the namespace can be deleted");
    outcome.unwrap_or_else(|why| panic!("{why}"));
}

/// Makes the replicas of a Deployment available that no controller looks at for some seconds.
async fn make_available(client: &Client, namespace: &str) -> kube::Error {
    let api = Api::<Deployment>::namespaced(client.clone(), namespace);
    let mut before = BTreeSet::new();
    loop {
        let deployments = match api.list(&ListParams::default()).await {
            Ok(deployments) => deployments,
            Err(error) => return error,
        };
        let mut ignored = BTreeSet::new();
        for deployment in deployments {
            let (name, generation) = (deployment.name_any(), deployment.metadata.generation);
            let status = deployment.status.clone().unwrap_or_default();
            if status.observed_generation == generation {
                continue;
            }
            // The type of `spec` differs from one version of Kubernetes to the next.
            let replicas = serde_json::to_value(&deployment).unwrap_or_default()["spec"]["replicas"].take();
            if before.contains(&(name.clone(), generation)) {
                let status = json!({
                    "observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas,
                    "readyReplicas": replicas, "availableReplicas": replicas,
                });
                let patch = Patch::Merge(json!({ "status": status }));
                // It may be gone by now.
                let _ = api.patch_status(&name, &PatchParams::default(), &patch).await;
            }
            ignored.insert((name, generation));
        }
        before = ignored;
        sleep(Duration::from_secs(2)).await;
    }
}

/// Applies a CRD and waits until the API server serves it.
async fn install(client: &Client, crd: &CustomResourceDefinition) {
    let crds = Api::<CustomResourceDefinition>::all(client.clone());
    let name = crd.name_any();
    let params = PatchParams::apply("integration-test").force();
    let applied = crds.patch(&name, &params, &Patch::Apply(crd)).await;
    applied.unwrap_or_else(|error| panic!("the API server refuses the CRD `{name}`: {error}"));
    let established = await_condition(crds, &name, conditions::is_crd_established());
    timeout(PATIENCE, established).await.expect("served in time").expect("it can be watched");
}

struct Samples<'a> {
    client: &'a Client,
    folder: &'a Path,
    crds: &'a [CustomResourceDefinition],
    /// Of the controllers.
    names: BTreeSet<String>,
}

impl Samples<'_> {
    /// Creates the samples in the order of their files, and waits for those that a controller reconciles.
    async fn try_all(&self, namespace: &str) -> Result<(), String> {
        for (index, (file, sample)) in self.read().into_iter().enumerate() {
            let types = sample.types.clone().expect("a sample has a kind");
            let gvk = GroupVersionKind::try_from(types).expect("a sample has a version");
            let is_its_own =
                |crd: &&CustomResourceDefinition| crd.spec.group == gvk.group && crd.spec.names.kind == gvk.kind;
            let Some(crd) = self.crds.iter().find(is_its_own) else {
                // What later samples refer to; it is deleted with the namespace.
                let api = Api::namespaced_with(self.client.clone(), namespace, &ApiResource::from_gvk(&gvk));
                let created = api.create(&PostParams::default(), &sample).await;
                created.map_err(|error| format!("{file}: the API server refuses it: {error}"))?;
                continue;
            };
            let resource = ApiResource::from_gvk_with_plural(&gvk, &crd.spec.names.plural);
            let api = match crd.spec.scope.as_str() {
                "Namespaced" => Api::namespaced_with(self.client.clone(), namespace, &resource),
                _ => Api::all_with(self.client.clone(), &resource),
            };
            let name = format!("{namespace}-{index}");
            let outcome = try_one(&api, sample, &name, self.names.contains(&crd.name_any())).await;
            // While the operator runs: an object with its finalizer waits for it.
            let deleted = delete(&api, &name).await;
            outcome.and(deleted).map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(())
    }

    /// The samples, by file name.
    fn read(&self) -> BTreeMap<String, DynamicObject> {
        let files = self.folder.read_dir().expect("config/samples can be read");
        let paths = files.map(|entry| entry.expect("config/samples can be read").path());
        let samples = paths.filter(|path| !path.ends_with("kustomization.yaml"));
        samples.map(|path| (path.display().to_string(), super::read_yaml(&path))).collect()
    }
}

/// Creates one object, called `name`, and waits until it is Ready if it is `reconciled`.
async fn try_one(
    api: &Api<DynamicObject>,
    mut sample: DynamicObject,
    name: &str,
    reconciled: bool,
) -> Result<(), String> {
    sample.metadata.name = Some(name.to_owned());
    api.create(&PostParams::default(), &sample).await.map_err(|error| format!("the API server refuses it: {error}"))?;
    if reconciled {
        timeout(PATIENCE, await_condition(api.clone(), name, is_ready))
            .await
            .map_err(|_| format!("it is not Ready after {PATIENCE:?}"))?
            .map_err(|error| format!("it cannot be watched: {error}"))?;
    }
    Ok(())
}

/// Deletes an object and waits until it is gone.
async fn delete(api: &Api<DynamicObject>, name: &str) -> Result<(), String> {
    api.delete(name, &DeleteParams::default()).await.map_err(|error| format!("it cannot be deleted: {error}"))?;
    let is_gone = |object: Option<&DynamicObject>| object.is_none();
    timeout(PATIENCE, await_condition(api.clone(), name, is_gone))
        .await
        .map_err(|_| format!("it is not deleted after {PATIENCE:?}"))?
        .map_err(|error| format!("it cannot be watched: {error}"))?;
    Ok(())
}

fn is_ready(object: Option<&DynamicObject>) -> bool {
    let Some(conditions) = object.and_then(|object| object.data["status"]["conditions"].as_array()) else {
        return false;
    };
    conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}
