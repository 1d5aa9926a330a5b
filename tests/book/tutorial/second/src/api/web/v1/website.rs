//! `Website` in `web.example.com/v1`.
//!
//! Run `opctl manifests` after a change: the CRD in `config/crd` is generated from this file.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

/// The desired state of a Website.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[kube(
    group = "web.example.com",
    version = "v1",
    storage = false,
    kind = "Website",
    namespaced,
    status = "WebsiteStatus",
    doc = "Website, a kind that website-operator serves.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(name = "URL", type_ = "string", json_path = ".status.url"),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
#[serde(rename_all = "camelCase")]
pub struct WebsiteSpec {
    /// Pages by file name, such as `index.html`.
    #[x_kube(validation = ("'index.html' in self", "`index.html` is missing"))]
    #[schemars(extend("maxProperties" = 100))]
    pub pages: BTreeMap<String, String>,
    /// Number of web servers.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10))]
    pub replicas: i32,
}

fn one() -> i32 {
    1
}

/// The observed state of a Website.
#[derive(KubeSchema, Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebsiteStatus {
    /// Address of the website inside the cluster.
    pub url: Option<String>,
    /// The generation of the object that the controller observed last.
    pub observed_generation: Option<i64>,
    /// Conditions of the object; `Ready` summarizes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}
