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

//! `Application` in `apps.example.com/v1alpha1`.
//!
//! Run `opctl manifests` after a change: the CRD in `config/crd` is generated from this file.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of an Application.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "apps.example.com",
    version = "v1alpha1",
    kind = "Application",
    namespaced,
    status = "ApplicationStatus",
    shortname = "app",
    doc = "A program with its Deployment, and with a Service and an Ingress if it is to be reached.",
    validation = (
        "self.metadata.name.matches('^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",
        "the name is also that of a Service: at most 63 of a-z, 0-9 and -, from a letter on",
    ),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Available",
        type_ = "integer",
        json_path = ".status.availableReplicas"
    ),
    printcolumn(
        name = "Address",
        type_ = "string",
        json_path = ".status.address"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("!has(self.ingress) || has(self.service)", "an ingress needs a service"))]
pub struct ApplicationSpec {
    /// What runs.
    pub deployment: DeploymentPart,
    /// How the cluster reaches it; without it, there is no Service.
    pub service: Option<ServicePart>,
    /// How the world reaches it; without it, there is no Ingress.
    pub ingress: Option<IngressPart>,
}

/// What runs.
#[derive(KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentPart {
    /// The image of the container; its user must be a number, and not root.
    #[schemars(length(min = 1))]
    pub image: String,
    /// How many Pods run it.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 100))]
    pub replicas: i32,
    /// Where the container listens.
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
}

fn one() -> i32 {
    1
}

/// How the cluster reaches it.
#[derive(KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServicePart {
    /// Where the Service listens.
    #[serde(default = "http")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: i32,
}

fn http() -> i32 {
    80
}

/// How the world reaches it.
#[derive(KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IngressPart {
    /// The name of the host, such as `shop.example.com`.
    #[schemars(
        length(max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub host: String,
    /// Which requests: those whose path starts with it.
    #[serde(default = "root")]
    #[schemars(regex(pattern = "^/"))]
    pub path: String,
    /// Which controller serves it; without it, the default one of the cluster.
    pub class_name: Option<String>,
}

fn root() -> String {
    "/".to_owned()
}

/// The observed state of an Application.
#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationStatus {
    /// The generation of the object that the controller observed last.
    pub observed_generation: Option<i64>,
    /// How many Pods can be reached.
    #[serde(default)]
    pub available_replicas: i32,
    /// Where it is reached: through the Ingress, else through the Service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Conditions of the object; `Ready` summarizes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
