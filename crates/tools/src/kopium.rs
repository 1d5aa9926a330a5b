//! Generates Rust types from a CRD with kopium, and formats them with rustfmt.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use opctl_process::Child;

/// A version of a kind that another project serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub namespaced: bool,
    /// The source of its Rust types.
    pub rust: String,
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct KopiumError {
    pub message: String,
    pub help: String,
}

fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, KopiumError> {
    Err(KopiumError { message: message.into(), help: help.into() })
}

/// The kind of the CRD in `file`, whose content is `text`, and its Rust types. `version` is the version to use, by
/// default the stored one.
pub fn external(file: &Path, text: &str, version: Option<&str>) -> Result<External, KopiumError> {
    let shown = file.display();
    let crd = definition(file, text)?;
    let spec = &crd["spec"];
    let text_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions: Vec<&Value> = spec["versions"].as_array().into_iter().flatten().collect();
    let chosen = match version {
        Some(version) => versions.iter().find(|it| it["name"] == version),
        None => versions.iter().find(|it| it["storage"] == true),
    };
    let Some(chosen) = chosen else {
        let names: Vec<String> = versions.iter().map(|it| text_of(&it["name"])).collect();
        let message = match version {
            Some(version) => format!("the CRD in `{shown}` has no version `{version}`"),
            None => format!("the CRD in `{shown}` has no version that is stored"),
        };
        return refuse(message, format!("use `--external-crd-version`; it has `{}`", names.join("`, `")));
    };
    let version = text_of(&chosen["name"]);
    Ok(External {
        rust: formatted(&types(file, &version)?)?,
        group: text_of(&spec["group"]),
        kind: text_of(&spec["names"]["kind"]),
        plural: text_of(&spec["names"]["plural"]),
        namespaced: spec["scope"] == "Namespaced",
        version,
    })
}

/// The only CRD of a file.
fn definition(file: &Path, text: &str) -> Result<Value, KopiumError> {
    let shown = file.display();
    let documents = match opctl_model::yaml::objects(text) {
        Ok(documents) => documents,
        Err(reason) => return refuse(format!("`{shown}` is not YAML: {reason}"), "name the file of a CRD"),
    };
    let mut crds: Vec<Value> =
        documents.into_iter().filter(|document| document["kind"] == "CustomResourceDefinition").collect();
    match (crds.pop(), crds.len()) {
        (Some(crd), 0) => Ok(crd),
        (None, _) => refuse(format!("there is no CustomResourceDefinition in `{shown}`"), "name the file of a CRD"),
        (Some(_), more) => {
            let help = "put the right one into a separate file";
            refuse(format!("there are {} CustomResourceDefinitions in `{shown}`", more + 1), help)
        }
    }
}

/// The output of kopium, without its header about itself.
fn types(file: &Path, version: &str) -> Result<String, KopiumError> {
    let mut command = Command::new("kopium");
    command.args(["--docs", "--derive", "PartialEq", "--api-version", version, "--filename"]).arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = match Child::spawn(&mut command).and_then(Child::output) {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return refuse(
                "kopium, which makes Rust types of a CRD, is not on the PATH",
                "install it: `cargo install kopium`",
            );
        }
        Err(error) => return refuse(format!("kopium does not run: {error}"), "try it yourself: `kopium --version`"),
    };
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() || stdout.trim().is_empty() {
        let message = format!("kopium makes no types of `{}`: {}", file.display(), stderr.trim());
        return refuse(message, format!("try it yourself: `kopium --filename {}`", file.display()));
    }
    let lines = stdout.lines().skip_while(|line| line.starts_with("//") || line.is_empty());
    Ok(lines.map(|line| format!("{line}\n")).collect())
}

/// The text, formatted as by `cargo fmt`.
fn formatted(text: &str) -> Result<String, KopiumError> {
    let mut command = Command::new("rustfmt");
    command.args(["--edition", "2024", "--emit", "stdout"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = Child::spawn(&mut command).and_then(|mut child| {
        // rustfmt reads all of its input before it writes output, so this cannot block.
        child.stdin().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()))?;
        child.output()
    });
    match output {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            refuse(
                format!("rustfmt does not read what kopium printed: {stderr}"),
                "update kopium: `cargo install kopium`",
            )
        }
        Err(error) => refuse(format!("rustfmt does not run: {error}"), "install it: `rustup component add rustfmt`"),
    }
}
