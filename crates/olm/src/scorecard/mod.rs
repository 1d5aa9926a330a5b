//! Scorecard: a configuration and a bundle → tests, their Pods and their results. Starts nothing;
//! `commands/scorecard.rs` runs the Pods.
//!
//! The formats are those of operator-sdk: `pkg/apis/scorecard/v1alpha3` of operator-framework/api.

pub mod archive;
pub mod builtin;
mod config;
pub mod output;
pub mod pods;

pub use config::{Config, Stage, Test, parse};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug)]
pub struct Outcome {
    pub test: Test,
    pub results: Vec<TestResult>,
}

/// The output of a test: `{"results": […]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct TestStatus {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<TestResult>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub log: String,
    pub state: State,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub errors: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "list")]
    pub suggestions: Vec<String>,
    /// As tests write it; `null` for tests that do not.
    #[serde(default)]
    pub creation_timestamp: Option<String>,
}

/// Tests written in Go print `null` for an empty list.
fn list<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    #[default]
    Pass,
    Fail,
    Error,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
        }
    }
}

impl TestResult {
    /// The result of a test that did not complete.
    pub fn failed(state: State, error: impl Into<String>, log: impl Into<String>) -> Self {
        Self { state, errors: vec![error.into()], log: log.into(), ..Self::default() }
    }
}
