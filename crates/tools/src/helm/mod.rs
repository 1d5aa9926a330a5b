//! Fetches charts into a temporary folder with helm, and renders them.
//!
//! The `helm` program does the work, so this supports everything that it supports: its repositories, its registries and
//! their credentials. Errors contain its messages. The project is not changed.
//!
//! A chart is rendered with its default values and with each of its switches changed. Its dependencies are folders in
//! the project, so that neither the operator nor a later command needs network access.

mod copy;
mod fetch;
mod ignore;
mod process;
mod workspace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use opctl_model::project::Contents;
use serde_json::Value;

use self::process::{Failure, run};
pub use self::{
    copy::Copy,
    fetch::Source,
    process::{INSTALL, is_supported, version, without_credentials},
    workspace::Workspace,
};

/// The files of a chart, by path relative to its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    pub texts: BTreeMap<String, String>,
    /// Files that are not UTF-8, such as images and compressed CRDs.
    pub others: Contents,
}

impl Files {
    pub fn add(&mut self, path: String, content: Vec<u8>) {
        match String::from_utf8(content) {
            Ok(text) => _ = self.texts.insert(path, text),
            Err(error) => _ = self.others.insert(path, error.into_bytes()),
        }
    }
}

/// The reason why there is no chart, and a possible fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HelmError {
    pub message: String,
    pub help: String,
}

fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, HelmError> {
    Err(HelmError { message: message.into(), help: help.into() })
}

/// Fetches a chart. The result contains all of its dependencies, as folders.
///
/// # Errors
///
/// If helm is missing, or the chart or one of its dependencies cannot be fetched.
pub fn fetch(source: &Source, workspace: &Workspace) -> Result<Files, HelmError> {
    let fetched = fetch::fetch(source, workspace)?;
    let files = fetch::unpacked(workspace.read(&fetched)?)?;
    workspace.write("chart", &files)?;
    Ok(files)
}

/// Renders a chart with its default values and those of files, with CRDs and without tests.
///
/// # Errors
///
/// If helm is missing, or does not render the chart.
pub fn template_with_files(chart: &Path, namespace: &str, values: &[PathBuf]) -> Result<String, HelmError> {
    let folder = chart.display().to_string();
    let mut arguments =
        vec!["template", "release", &folder, "--namespace", namespace, "--include-crds", "--skip-tests"];
    let values: Vec<String> = values.iter().map(|file| file.display().to_string()).collect();
    arguments.extend(values.iter().flat_map(|file| ["--values", file]));
    let help = format!(
        "if it depends on other charts, run `helm dependency build {folder}`; if it needs values, give them with `--helm-values FILE`, \
         or the result of `helm template release {folder} --values FILE > MANIFESTS`"
    );
    run(&arguments, "").map_err(|failure| failure.into_error("helm does not render the chart", &help))
}

/// Renders the chart in a folder as a release with a name and a namespace, with its hooks, and without its tests and
/// the CRDs of folders `crds`, which do not depend on values. helm assumes that the cluster serves the versions and
/// kinds in `served`.
///
/// # Errors
///
/// If helm is missing, or does not render the chart with these values.
pub fn template(
    [release, namespace]: [&str; 2],
    chart: &Path,
    values: &Value,
    served: &[String],
) -> Result<String, HelmError> {
    let mut arguments = vec!["template", release];
    let folder = chart.display().to_string();
    arguments.extend([folder.as_str(), "--namespace", namespace, "--skip-tests", "--values", "-"]);
    arguments.extend(served.iter().flat_map(|served| ["--api-versions", served]));
    run(&arguments, &values.to_string()).map_err(|failure| {
        let help = match &failure {
            // `"$ref": "file://…"` is a path of the machine, not of the chart.
            Failure::Failed { reason, .. } if reason.contains("failing loading \"file:") => {
                "put what values.schema.json refers to with `file:` into values.schema.json itself, below `$defs`"
            }
            _ => "correct the chart, or specify the values that it requires: `--helm-values FILE`",
        };
        failure.into_error("helm does not render the chart", help)
    })
}
