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

//! The kinds that this operator serves: a folder per group, a folder per version, a file per kind.

pub mod autoscaling;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
// Provides `crd()`.
pub use kube::CustomResourceExt;

/// Every CustomResourceDefinition, with the versions of a kind merged into one.
pub fn crds() -> Vec<CustomResourceDefinition> {
    opctl_runtime::crds::merge(all())
}

/// One definition for each version of each kind.
fn all() -> Vec<CustomResourceDefinition> {
    vec![
        // `opctl create api` adds a line for each version.
        autoscaling::v1alpha1::cron_hpa::CronHPA::crd(),
    ]
}
