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

//! `Wiki` in `docs.example.com/v1`: the values of the chart in `helm-charts/wiki`.
//!
//! They were typed by the chart's own `values.yaml` and `values.schema.json`; the file is yours to correct. What is not set here is
//! the chart's default. Run `opctl manifests` after a change: the CRD in `config/crd` is generated from this file.

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use opctl_runtime::helm::ReleaseStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The values of a release.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "docs.example.com",
    version = "v1",
    kind = "Wiki",
    namespaced,
    status = "ReleaseStatus",
    doc = "Wiki, a release of the chart `wiki`.",
    validation = ("self.metadata.name.size() <= 53", "the release gets the name, so it has at most 53 characters"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(
        name = "Revision",
        type_ = "integer",
        json_path = ".status.release.revision"
    ),
    printcolumn(
        name = "Chart",
        type_ = "string",
        json_path = ".status.release.chartVersion"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct WikiSpec {
    /// The title on every page. Chart default: `"Our wiki"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The number of servers, unless autoscaling is enabled. Chart default: `1`.
    #[schemars(range(min = 0, max = 20))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<WikiImage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<WikiService>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<WikiTheme>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smtp: Option<WikiSmtp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<WikiAutoscaling>,
    /// Requests and limits of a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<BTreeMap<String, AnyValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global: Option<BTreeMap<String, AnyValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<WikiDatabase>,
}

/// `image` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WikiImage {
    /// Chart default: `"wiki"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The version of the application if it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

/// `service` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WikiService {
    /// Chart default: `80`.
    #[schemars(range(min = 1, max = 65535))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<i64>,
}

/// `theme` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WikiTheme {
    /// The color of links and buttons. Chart default: `"#336699"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accent: Option<String>,
}

/// `smtp` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WikiSmtp {
    /// The server that sends mail; without one, the wiki sends none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// `autoscaling` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WikiAutoscaling {
    /// Chart default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Chart default: `2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_replicas: Option<i64>,
    /// Chart default: `6`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_replicas: Option<i64>,
    /// Chart default: `80`.
    #[serde(
        rename = "targetCPUUtilizationPercentage",
        skip_serializing_if = "Option::is_none"
    )]
    pub target_cpu_utilization_percentage: Option<i64>,
}

/// `database` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WikiDatabase {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<WikiDatabaseImage>,
}

/// `database.image` of the values.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WikiDatabaseImage {
    /// Chart default: `"postgres"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// The version of the application if it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

// Any value: the chart does not specify its type.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(extend("nullable" = true, "x-kubernetes-preserve-unknown-fields" = true))]
pub struct AnyValue(pub Value);
