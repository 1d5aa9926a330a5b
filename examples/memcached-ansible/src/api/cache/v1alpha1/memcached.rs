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

//! `Memcached` in `cache.example.com/v1alpha1`: the parameters of the role `memcached`.
//!
//! They were typed by the role's own `meta/argument_specs.yml`; the file is yours to correct. What is not set here is the role's default.
//! Run `opctl manifests` after a change: the CRD in `config/crd` is generated from this file.

use kube::{CustomResource, KubeSchema};
use opctl_runtime::ansible::AnsibleStatus;
use serde::{Deserialize, Serialize};

/// The parameters of a run: each is a variable of Ansible, in snake case.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    kind = "Memcached",
    namespaced,
    status = "AnsibleStatus",
    doc = "Memcached, for which Ansible runs the role `memcached`.",
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
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedSpec {
    /// The number of servers. Role default: `1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// The image of the servers. Role default: `"docker.io/memcached:1.6.39-alpine"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}
