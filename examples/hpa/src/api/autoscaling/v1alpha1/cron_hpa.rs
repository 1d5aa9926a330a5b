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

//! `CronHPA` in `autoscaling.example.com/v1alpha1`.
//!
//! Run `opctl manifests` after a change: the CRD in `config/crd` is generated from this file.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of a CronHPA.
#[derive(CustomResource, KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "autoscaling.example.com",
    version = "v1alpha1",
    kind = "CronHPA",
    namespaced,
    status = "CronHPAStatus",
    doc = "CronHPA gives a Deployment the size that its schedules say for the time of the day.",
    printcolumn(
        name = "Target",
        type_ = "string",
        json_path = ".spec.scaleTarget.name"
    ),
    printcolumn(
        name = "Schedule",
        type_ = "string",
        description = "Of the run that says how large the target is now.",
        json_path = ".status.lastRun.schedule"
    ),
    printcolumn(
        name = "Target Size",
        type_ = "integer",
        json_path = ".status.lastRun.size"
    ),
    printcolumn(
        name = "Next Run",
        type_ = "string",
        json_path = ".status.nextRun.time"
    ),
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
pub struct CronHPASpec {
    /// What is scaled: a Deployment in the same namespace.
    pub scale_target: ScaleTarget,
    /// Where the schedules' time is told, e.g. `Europe/Berlin`.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9_+/-]+$"))]
    pub time_zone: String,
    /// When the target becomes how large. At each moment, the job that was due last says it.
    #[schemars(length(min = 1, max = 50))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub jobs: Vec<Job>,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// An object with replicas.
#[derive(KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self.apiVersion == 'apps/v1' && self.kind == 'Deployment'", "only Deployments of apps/v1 are scaled"))]
pub struct ScaleTarget {
    #[serde(default = "apps")]
    pub api_version: String,
    #[serde(default = "deployment")]
    pub kind: String,
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

fn apps() -> String {
    "apps/v1".to_owned()
}

fn deployment() -> String {
    "Deployment".to_owned()
}

/// A size, and from when on it holds.
#[derive(KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// As the status names it.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Minute, hour, day of the month, month and day of the week, as in crontab(5), e.g. `30 8 * * MON-FRI`. A sixth field
    /// before them is the second; `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly` stand for all.
    #[schemars(
        length(max = 100),
        regex(
            pattern = r"^(@(hourly|daily|weekly|monthly|yearly)|[0-9A-Za-z*?,/#-]+( [0-9A-Za-z*?,/#-]+){4,5})$"
        )
    )]
    pub schedule: String,
    /// How many replicas the target has from then on. Of jobs that are due in the same second, the largest size counts.
    #[schemars(range(min = 0))]
    pub size: i32,
}

/// The observed state of a CronHPA.
#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronHPAStatus {
    /// The generation of the object that the controller observed last.
    pub observed_generation: Option<i64>,
    /// The run that says how large the target is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<Run>,
    /// The run that comes next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_run: Option<Run>,
    /// Conditions of the object; `Ready` summarizes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// A job that is due once.
#[derive(KubeSchema, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// When it is due, whenever it came to it.
    pub time: Time,
    /// The name of the job.
    pub job: String,
    pub schedule: String,
    pub size: i32,
}
