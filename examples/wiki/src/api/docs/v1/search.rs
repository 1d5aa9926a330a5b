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

//! `Search` in `docs.example.com/v1`: a full-text search for a wiki, which the chart in `helm-charts/search` installs.

use kube::{CustomResource, KubeSchema};
use opctl_runtime::helm::ReleaseStatus;
use serde::{Deserialize, Serialize};

/// Which wiki is searched, and values of the chart.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "docs.example.com",
    version = "v1",
    kind = "Search",
    namespaced,
    status = "ReleaseStatus",
    doc = "Search, a full-text search for a wiki.",
    printcolumn(name = "Wiki", type_ = "string", json_path = ".spec.wiki"),
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
pub struct SearchSpec {
    /// The name of the wiki, in the same namespace.
    #[schemars(length(min = 1, max = 53))]
    pub wiki: String,
    /// How much memory the index gets. Chart default: `"256Mi"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}
