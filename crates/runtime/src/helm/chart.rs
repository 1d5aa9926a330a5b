//! Charts on disk.

use std::fs;
use std::io;
use std::path::Path;

use ring::digest::{Context as Sha256, SHA256};
use serde::Deserialize;
use serde_json::Value;

/// What is known of a chart on disk.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    pub name: String,
    pub version: String,
    /// Its default values.
    pub values: Value,
    /// The paths and texts below `templates/`, sorted.
    pub templates: Vec<(String, Vec<u8>)>,
    /// Of all its files, in hexadecimal digits.
    pub digest: String,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

impl Chart {
    /// Reads the chart in this folder.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        collect(folder, "", &mut files)?;
        files.sort();
        let mut sum = Sha256::new(&SHA256);
        for (path, content) in &files {
            for part in [path.as_bytes(), content] {
                sum.update(&(part.len() as u64).to_le_bytes());
                sum.update(part);
            }
        }
        let text =
            |name: &str| files.iter().find(|(path, _)| path == name).map(|(_, text)| String::from_utf8_lossy(text));
        let Some(metadata) = text("Chart.yaml") else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no Chart.yaml"));
        };
        let invalid = |name: &str, error: serde_saphyr::Error| io::Error::other(format!("{name}: {error}"));
        let Metadata { name, version } =
            serde_saphyr::from_str(&metadata).map_err(|error| invalid("Chart.yaml", error))?;
        let values = match text("values.yaml").filter(|text| !text.trim().is_empty()) {
            Some(text) => serde_saphyr::from_str(&text).map_err(|error| invalid("values.yaml", error))?,
            None => Value::Null,
        };
        let digest = hex(sum.finish().as_ref());
        files.retain(|(path, _)| path.starts_with("templates/"));
        Ok(Self { name, version, values, templates: files, digest })
    }
}

/// All files below a folder, by their paths with `/`.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match fs::metadata(entry.path())?.is_dir() {
            true => collect(&entry.path(), &format!("{path}/"), files)?,
            false => files.push((path, fs::read(entry.path())?)),
        }
    }
    Ok(())
}

/// The first 32 hexadecimal digits of the SHA-256 of these texts: as long as the value of a label may be, with room to spare.
pub(super) fn digest(parts: &[&str]) -> String {
    let mut sum = Sha256::new(&SHA256);
    for part in parts {
        sum.update(&(part.len() as u64).to_le_bytes());
        sum.update(part.as_bytes());
    }
    hex(sum.finish().as_ref())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// JSON with sorted keys, whatever order they have in memory.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields =
                fields.into_iter().map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical(value)));
            format!("{{{}}}", Vec::from_iter(fields).join(","))
        }
        Value::Array(items) => format!("[{}]", Vec::from_iter(items.iter().map(canonical)).join(",")),
        scalar => scalar.to_string(),
    }
}
