//! Runs programs that validate bundles, as `operator-sdk bundle validate --alpha-select-external` does.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::LIMITS;
use opctl_olm::bundle::diagnostics::OP513;
use opctl_process::Child;

/// `ManifestResult` of operator-framework/api: `pkg/validation/errors`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Report {
    #[serde(default)]
    name: String,
    errors: Option<Vec<Problem>>,
    warnings: Option<Vec<Problem>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
#[derive(Default)]
struct Problem {
    #[serde(rename = "Type")]
    _kind: String,
    #[serde(rename = "Level")]
    _level: String,
    field: String,
    #[serde(rename = "BadValue")]
    _value: Value,
    detail: String,
}

/// The problems that a program reports for the bundle in a folder.
///
/// # Errors
///
/// If the program cannot be run, fails, or prints something else.
pub fn run(program: &Path, bundle: &Path) -> Result<Vec<Diagnostic>, String> {
    let mut command = Command::new(program);
    command.arg(bundle).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = Child::spawn(&mut command).and_then(|child| child.output_within(LIMITS.total));
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} {}", output.status, stderr.trim()).trim_end().to_owned());
    }
    let report: Report = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let shown = |problem: &Problem| {
        let field = if problem.field.is_empty() { String::new() } else { format!("`{}`: ", problem.field) };
        format!("{}: {field}{} [{}]", report.name, problem.detail, program.display())
    };
    let errors = report.errors.iter().flatten().map(|problem| OP513.error(shown(problem)));
    let warnings = report.warnings.iter().flatten().map(|problem| OP513.warning(shown(problem)));
    Ok(errors.chain(warnings).collect())
}
