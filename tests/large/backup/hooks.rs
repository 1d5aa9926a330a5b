use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use k8s_openapi::api::core::v1::{Container, ExecAction, HTTPGetAction, Volume};

use crate::backup::types::{ErrorMode, Selection};

/// Runs before and after an item is backed up.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BackupHook {
    pub name: String,
    #[serde(flatten)]
    pub selection: Selection,
    #[serde(default)]
    pub pre: Vec<Hook>,
    #[serde(default)]
    pub post: Vec<Hook>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Hook {
    Exec(ExecHook),
    Http {
        #[serde(flatten)]
        get: HTTPGetAction,
        #[serde(rename = "expectStatus")]
        expect_status: Option<u16>,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecHook {
    pub container: Option<String>,
    #[serde(flatten)]
    pub action: ExecAction,
    #[serde(default)]
    pub on_error: ErrorMode,
    pub timeout: Option<kube::core::Duration>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreHook {
    pub init_containers: Vec<Container>,
    pub volumes: Option<Vec<Volume>>,
    pub timeout: Option<String>,
}
