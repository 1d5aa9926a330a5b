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

//! The kinds that this operator serves: a folder a group, a folder a version, a file a kind.

pub mod apps;

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::Version;
use kube::core::crd::merge_crds;
// Whoever uses the types finds `crd()` here.
pub use kube::CustomResourceExt;

/// Every CustomResourceDefinition, the versions of a kind merged into one, sorted by name.
///
/// One version of a kind is stored: the least mature (`v1alpha1`, then `v1beta1`,
/// `v1`, `v2`) of those that do not say `#[kube(storage = false)]`, so adding a more mature
/// version changes nothing for the objects that are already stored.
pub fn crds() -> Vec<CustomResourceDefinition> {
    let mut kinds = BTreeMap::<_, Vec<_>>::new();
    for crd in all() {
        kinds
            .entry(crd.metadata.name.clone())
            .or_default()
            .push(crd);
    }
    kinds.into_values().map(merge).collect()
}

/// One definition for each version of each kind.
fn all() -> Vec<CustomResourceDefinition> {
    vec![
        // `opctl create api` adds one line a version.
        apps::v1alpha1::application::Application::crd(),
    ]
}

/// The versions of one kind, as one definition.
fn merge(mut versions: Vec<CustomResourceDefinition>) -> CustomResourceDefinition {
    versions.sort_by_cached_key(|crd| Version::parse(&crd.spec.versions[0].name).priority());
    let stored = versions
        .iter()
        .map(|crd| &crd.spec.versions[0])
        .find(|version| version.storage)
        .expect("a version of each kind does not say `storage = false`")
        .name
        .clone();
    merge_crds(versions, &stored).expect("the versions of a kind agree on its scope and names")
}
