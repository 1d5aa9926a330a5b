//! A copy of a chart in a temporary folder, to try edits of its templates.

use std::path::{Path, PathBuf};

use super::{HelmError, Workspace, refuse, template_with_files};
use opctl_model::project::Intake;

/// A copy of a chart. Dropping it removes the folder.
pub struct Copy {
    workspace: Workspace,
    chart: PathBuf,
}

impl Copy {
    /// Copies the chart in the folder `chart` of `root`. It may contain links to other files in `root`.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or is outside of `root`.
    pub fn of(root: &Path, chart: &Path) -> Result<Self, HelmError> {
        let workspace = Workspace::create()?;
        let files = Intake::default()
            .folder(root, &chart.to_string_lossy())
            .or_else(|error| refuse(error.to_string(), "add the permissions to its templates yourself"))?;
        files.iter().try_for_each(|(path, content)| workspace.put(&format!("copy/{path}"), content))?;
        Ok(Self { workspace, chart: Path::new("copy").join(chart) })
    }

    /// Replaces the text of a file of the chart.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, file: &Path, text: &str) -> Result<(), HelmError> {
        self.workspace.put(&self.chart.join(file).to_string_lossy(), text.as_bytes())
    }

    /// Renders the chart with its default values and those of files.
    ///
    /// # Errors
    ///
    /// If helm does not render the chart.
    pub fn render(&self, namespace: &str, values: &[PathBuf]) -> Result<String, HelmError> {
        template_with_files(&self.workspace.path(&self.chart.to_string_lossy()), namespace, values)
    }
}
