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

//! `MySrv` in `myapp.idcos.com/v1alpha1`.
//!
//! Run `opctl manifests` after a change: the CRD in `config/crd` is generated from this file.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of a MySrv.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "myapp.idcos.com",
    version = "v1alpha1",
    kind = "MySrv",
    namespaced,
    status = "MySrvStatus",
    doc = "A server that answers every request with a name.",
    validation = (
        "self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",
        "the name is also that of a Service: at most 63 of a-z, 0-9 and -, from a letter on",
    ),
    printcolumn(name = "Port", type_ = "integer", json_path = ".spec.port"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct MySrvSpec {
    /// Where it listens.
    #[schemars(range(min = 1024, max = 65535))]
    pub port: i32,
    /// What it answers.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
}

/// The observed state of a MySrv.
#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MySrvStatus {
    /// The generation of the object that the controller observed last.
    pub observed_generation: Option<i64>,
    /// Conditions of the object; `Ready` summarizes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
