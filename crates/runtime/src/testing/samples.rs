//! Test of an operator on a real API server: its CRDs, and the readiness of its samples.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::runtime::wait::{Condition, await_condition, conditions};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::options;
use crate::{Manager, Operator, Runnable};

const PATIENCE: Duration = Duration::from_secs(30);

/// Runs an operator on the cluster of KUBECONFIG and checks that the cluster accepts its CRDs, that the samples in
/// `config/samples` of the project in this folder are valid, and that those that have a controller become Ready.
///
/// The samples are created in a temporary namespace and may refer to each other; the CRDs are kept. On a cluster
/// without controllers, the test simulates those of Deployments and Jobs: replicas become available, and Jobs complete.
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
        error = stand_in(&client, &namespace) => Err(format!("Deployments and Jobs cannot be listed: {error}")),
        outcome = samples.try_all(&namespace) => outcome,
    };
    let deleted = namespaces.delete(&namespace, &DeleteParams::default()).await;
    deleted.expect("the namespace can be deleted");
    outcome.unwrap_or_else(|why| panic!("{why}"));
}

/// Finishes the Deployments and Jobs that no controller handles within some seconds.
async fn stand_in(client: &Client, namespace: &str) -> kube::Error {
    let resources = [ApiResource::erase::<Deployment>(&()), ApiResource::erase::<Job>(&())];
    let apis = resources.map(|resource| Api::<DynamicObject>::namespaced_with(client.clone(), namespace, &resource));
    let mut before = BTreeSet::new();
    loop {
        let mut ignored = BTreeSet::new();
        for api in &apis {
            let objects = match api.list(&ListParams::default()).await {
                Ok(objects) => objects,
                Err(error) => return error,
            };
            for object in objects {
                let Some(status) = finished(&object) else { continue };
                let (name, version) = (object.name_any(), (object.uid(), object.metadata.generation));
                if before.contains(&version) {
                    let patch = Patch::Merge(json!({ "status": status }));
                    // Fails if the object was deleted meanwhile.
                    let _ = api.patch_status(&name, &PatchParams::default(), &patch).await;
                }
                ignored.insert(version);
            }
        }
        before = ignored;
        sleep(Duration::from_secs(2)).await;
    }
}

/// The final status of a Deployment or Job; `None` if its controller handles it.
fn finished(object: &DynamicObject) -> Option<Value> {
    let (spec, status, generation) = (&object.data["spec"], &object.data["status"], object.metadata.generation);
    let now = Timestamp::now().to_string();
    let condition =
        |name: &str, why: &str| json!({ "type": name, "status": "True", "reason": why, "lastTransitionTime": now });
    // The API server sets this field of every Job; objects of a list do not contain their kind.
    let is_job = !spec["completionMode"].is_null();
    if is_job {
        let is_known = spec["suspend"] == true || !status["startTime"].is_null();
        let conditions = ["SuccessCriteriaMet", "Complete"].map(|type_| condition(type_, "CompletionsReached"));
        return (!is_known)
            .then(|| json!({ "startTime": now, "completionTime": now, "succeeded": 1, "conditions": conditions }));
    }
    let replicas = &spec["replicas"];
    (status["observedGeneration"].as_i64() != generation).then(|| {
        json!({
            "observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas,
            "readyReplicas": replicas, "availableReplicas": replicas,
            "conditions": [condition("Available", "MinimumReplicasAvailable"), condition("Progressing", "NewReplicaSetAvailable")],
        })
    })
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
    /// The names of the controllers.
    names: BTreeSet<String>,
}

impl Samples<'_> {
    /// Creates the samples in the order of their files, waits for those that a controller reconciles, and deletes them.
    async fn try_all(&self, namespace: &str) -> Result<(), String> {
        let mut created = Vec::new();
        let mut outcome = Ok(());
        for (file, sample) in self.read() {
            outcome = self
                .create(sample, namespace)
                .await
                .map(|sample| created.push((file.clone(), sample)))
                .map_err(in_file(&file));
            if outcome.is_err() {
                break;
            }
        }
        for (file, sample) in created.iter().filter(|(_, sample)| sample.is_reconciled) {
            if outcome.is_ok() {
                outcome = sample.becomes_ready().await.map_err(in_file(file));
            }
        }
        // The operator still runs, since objects with its finalizer wait for it.
        for (file, sample) in created.iter().rev() {
            outcome = outcome.and(sample.delete().await.map_err(in_file(file)));
        }
        outcome
    }

    async fn create(&self, mut sample: DynamicObject, namespace: &str) -> Result<Sample, String> {
        let types = sample.types.clone().expect("a sample has a kind");
        let gvk = GroupVersionKind::try_from(types).expect("a sample has a version");
        let is_its_own =
            |crd: &&CustomResourceDefinition| crd.spec.group == gvk.group && crd.spec.names.kind == gvk.kind;
        // Other kinds are those that samples refer to.
        let crd = self.crds.iter().find(is_its_own);
        let resource = match crd {
            Some(crd) => ApiResource::from_gvk_with_plural(&gvk, &crd.spec.names.plural),
            None => ApiResource::from_gvk(&gvk),
        };
        let api = if crd.is_some_and(|crd| crd.spec.scope == "Cluster") {
            sample.metadata.name = Some(format!("{namespace}-{}", sample.name_any()));
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), namespace, &resource)
        };
        let created = api.create(&PostParams::default(), &sample).await;
        created.map_err(|error| format!("the API server refuses it: {error}"))?;
        let is_reconciled = crd.is_some_and(|crd| self.names.contains(&crd.name_any()));
        Ok(Sample { api, name: sample.name_any(), is_reconciled })
    }

    /// The samples, by file name.
    fn read(&self) -> BTreeMap<String, DynamicObject> {
        let files = self.folder.read_dir().expect("config/samples can be read");
        let paths = files.map(|entry| entry.expect("config/samples can be read").path());
        let samples = paths.filter(|path| !path.ends_with("kustomization.yaml"));
        samples.map(|path| (path.display().to_string(), super::read_yaml(&path))).collect()
    }
}

fn in_file(file: &str) -> impl Fn(String) -> String {
    move |error| format!("{file}: {error}")
}

/// An object in the cluster.
struct Sample {
    api: Api<DynamicObject>,
    name: String,
    is_reconciled: bool,
}

impl Sample {
    async fn becomes_ready(&self) -> Result<(), String> {
        self.becomes(is_ready, "Ready").await
    }

    async fn delete(&self) -> Result<(), String> {
        let deleted = self.api.delete(&self.name, &DeleteParams::default()).await;
        deleted.map_err(|error| format!("it cannot be deleted: {error}"))?;
        self.becomes(|object: Option<&DynamicObject>| object.is_none(), "deleted").await
    }

    async fn becomes(&self, condition: impl Condition<DynamicObject>, what: &str) -> Result<(), String> {
        timeout(PATIENCE, await_condition(self.api.clone(), &self.name, condition))
            .await
            .map_err(|_| format!("it is not {what} after {PATIENCE:?}"))?
            .map_err(|error| format!("it cannot be watched: {error}"))?;
        Ok(())
    }
}

fn is_ready(object: Option<&DynamicObject>) -> bool {
    let Some(conditions) = object.and_then(|object| object.data["status"]["conditions"].as_array()) else {
        return false;
    };
    conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}
