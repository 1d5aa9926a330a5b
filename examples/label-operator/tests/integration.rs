// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! Against a real API server: the CRDs are accepted, the samples are valid, and what has a controller becomes Ready.
//!
//! Everything happens in a namespace of its own, which is deleted in the end; the CRDs stay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use clap::Parser;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams,
};
use kube::core::GroupVersionKind;
use kube::runtime::wait::{await_condition, conditions};
use kube::{Client, ResourceExt};
use serde_json::json;
use tokio::time::{sleep, timeout};

use label_operator::manager::{self, Options};
use label_operator::{api, controller};

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn samples_become_ready() {
    let client = Client::try_default()
        .await
        .expect("KUBECONFIG names a cluster");
    let crds = api::crds();
    for crd in &crds {
        install(&client, crd).await;
    }
    let namespaces = Api::<Namespace>::all(client.clone());
    let mut scratch = Namespace::default();
    scratch.metadata.generate_name = Some("label-operator-test-".to_owned());
    let created = namespaces.create(&PostParams::default(), &scratch).await;
    let namespace = created.expect("a namespace can be created").name_any();

    let options = Options::parse_from([
        "manager",
        "--watch-namespace",
        &namespace,
        "--health-probe-bind-address=127.0.0.1:0",
        "--metrics-bind-address=0",
    ]);
    let outcome = tokio::select! {
        ended = manager::run(client.clone(), options, controller::all()) => {
            Err(format!("the manager ended: {ended:?}"))
        }
        error = stand_in(&client, &namespace) => Err(format!("no Deployment can be seen: {error}")),
        outcome = try_samples(&client, &crds, &namespace) => outcome,
    };
    let deleted = namespaces
        .delete(&namespace, &DeleteParams::default())
        .await;
    deleted.expect("the namespace can be deleted");
    outcome.unwrap();
}

/// Stands in for the controllers of Kubernetes where there is nothing but an API server: a Deployment that nobody looks at
/// has its replicas available.
async fn stand_in(client: &Client, namespace: &str) -> kube::Error {
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
            let status = deployment.status.unwrap_or_default();
            if status.observed_generation == generation {
                continue;
            }
            let replicas = deployment.spec.replicas;
            if before.contains(&(name.clone(), generation)) {
                let status = json!({
                    "observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas,
                    "readyReplicas": replicas, "availableReplicas": replicas,
                });
                let patch = Patch::Merge(json!({ "status": status }));
                let params = PatchParams::default();
                // It may be gone meanwhile.
                let _ = api.patch_status(&name, &params, &patch).await;
            }
            ignored.insert((name, generation));
        }
        before = ignored;
        sleep(Duration::from_secs(2)).await;
    }
}

/// Applies the CRD and waits until the API server serves it.
async fn install(client: &Client, crd: &CustomResourceDefinition) {
    let crds = Api::<CustomResourceDefinition>::all(client.clone());
    let name = crd.name_any();
    let params = PatchParams::apply("integration-test").force();
    let applied = crds.patch(&name, &params, &Patch::Apply(crd)).await;
    applied.unwrap_or_else(|error| panic!("the API server refuses the CRD `{name}`: {error}"));
    let established = await_condition(crds, &name, conditions::is_crd_established());
    timeout(PATIENCE, established)
        .await
        .expect("served in time")
        .expect("it can be watched");
}

/// Creates the objects of `config/samples`, in the order of their files, and waits for those that a controller reconciles.
async fn try_samples(
    client: &Client,
    crds: &[CustomResourceDefinition],
    namespace: &str,
) -> Result<(), String> {
    for (index, (file, sample)) in samples().into_iter().enumerate() {
        let types = sample.types.clone().expect("a sample says its kind");
        let gvk = GroupVersionKind::try_from(types).expect("a sample says its version");
        let is_its_own = |crd: &&CustomResourceDefinition| {
            crd.spec.group == gvk.group && crd.spec.names.kind == gvk.kind
        };
        let Some(crd) = crds.iter().find(is_its_own) else {
            // What those after it refer to; it goes with the namespace.
            let api = Api::namespaced_with(client.clone(), namespace, &ApiResource::from_gvk(&gvk));
            let created = api.create(&PostParams::default(), &sample).await;
            created.map_err(|error| format!("{file}: the API server refuses it: {error}"))?;
            continue;
        };
        let resource = ApiResource::from_gvk_with_plural(&gvk, &crd.spec.names.plural);
        let api = if crd.spec.scope == "Namespaced" {
            Api::namespaced_with(client.clone(), namespace, &resource)
        } else {
            Api::all_with(client.clone(), &resource)
        };
        let reconciled = controller::all()
            .iter()
            .any(|controller| controller.name == crd.name_any());
        let name = format!("{namespace}-{index}");
        let outcome = try_sample(&api, sample, &name, reconciled).await;
        // While the operator runs, for which an object with its finalizer waits.
        let deleted = delete(&api, &name).await;
        outcome
            .and(deleted)
            .map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

/// Creates one object, called `name`, and waits until it is Ready if it is `reconciled`.
async fn try_sample(
    api: &Api<DynamicObject>,
    mut sample: DynamicObject,
    name: &str,
    reconciled: bool,
) -> Result<(), String> {
    sample.metadata.name = Some(name.to_owned());
    api.create(&PostParams::default(), &sample)
        .await
        .map_err(|error| format!("the API server refuses it: {error}"))?;
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
    api.delete(name, &DeleteParams::default())
        .await
        .map_err(|error| format!("it cannot be deleted: {error}"))?;
    let is_gone = |object: Option<&DynamicObject>| object.is_none();
    timeout(PATIENCE, await_condition(api.clone(), name, is_gone))
        .await
        .map_err(|_| format!("it is not gone after {PATIENCE:?}"))?
        .map_err(|error| format!("it cannot be watched: {error}"))?;
    Ok(())
}

fn is_ready(object: Option<&DynamicObject>) -> bool {
    let Some(conditions) = object.and_then(|object| object.data["status"]["conditions"].as_array())
    else {
        return false;
    };
    conditions
        .iter()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

/// The objects of `config/samples`, by file name.
fn samples() -> BTreeMap<String, DynamicObject> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/samples");
    let files = folder.read_dir().expect("config/samples can be read");
    let paths = files.map(|entry| entry.expect("config/samples can be read").path());
    paths
        .filter(|path| !path.ends_with("kustomization.yaml"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a sample can be read");
            let sample = yaml_serde::from_str(&text)
                .unwrap_or_else(|error| panic!("{} is not an object: {error}", path.display()));
            (path.display().to_string(), sample)
        })
        .collect()
}
