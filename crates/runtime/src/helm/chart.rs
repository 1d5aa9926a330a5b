//! Charts on disk.

use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::digest;

/// A chart on disk.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    pub name: String,
    pub version: String,
    /// Its default values.
    pub values: Value,
    /// The paths and texts below `templates/`, sorted.
    pub templates: Vec<(String, Vec<u8>)>,
    /// A digest of all its files, in hexadecimal digits.
    pub digest: String,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
}

impl Chart {
    /// Reads the chart in a folder.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut files = digest::files(folder)?;
        let text =
            |name: &str| files.iter().find(|(path, _)| path == name).map(|(_, text)| String::from_utf8_lossy(text));
        let Some(metadata) = text("Chart.yaml") else {
            return Err(io::Error::new(io::ErrorKind::NotFound, "there is no Chart.yaml"));
        };
        let invalid = |name: &str, error: serde_saphyr::Error| io::Error::other(format!("{name}: {error}"));
        let Metadata { name, version } =
            serde_saphyr::from_str_with_options(&metadata, reading()).map_err(|error| invalid("Chart.yaml", error))?;
        let values = match text("values.yaml").filter(|text| !text.trim().is_empty()) {
            Some(text) => {
                serde_saphyr::from_str_with_options(&text, reading()).map_err(|error| invalid("values.yaml", error))?
            }
            None => Value::Null,
        };
        let digest = digest::digest(files.iter().flat_map(|(path, content)| [path.as_bytes(), content]));
        files.retain(|(path, _)| path.starts_with("templates/"));
        Ok(Self { name, version, values, templates: files, digest })
    }
}

/// Has no limits, since a chart may have any number of values and of consecutive comments.
fn reading() -> serde_saphyr::Options {
    serde_saphyr::options! { budget: None, emit_comments: false }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_file_of_a_chart_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert!(Chart::read(folder.path()).unwrap_err().to_string().contains("Chart.yaml"));
        write("Chart.yaml", "name: web\nversion: 1.2.3\n");
        write("values.yaml", "# None.\n");
        write("templates/a.yaml", "a");
        let before = Chart::read(folder.path()).unwrap();
        assert_eq!((before.name.as_str(), before.version.as_str(), before.values), ("web", "1.2.3", Value::Null));
        assert_eq!(before.templates, [("templates/a.yaml".to_owned(), b"a".to_vec())]);
        write("charts/sub/values.yaml", "port: 80");
        assert_ne!(Chart::read(folder.path()).unwrap().digest, before.digest);
        write("values.yaml", "port: 80");
        assert_eq!(Chart::read(folder.path()).unwrap().values, json!({ "port": 80 }));
    }

    #[test]
    fn values_may_have_long_comments() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Chart.yaml"), "name: web\nversion: 1.0.0\n").unwrap();
        let comments = "  # More.\n".repeat(500);
        fs::write(folder.path().join("values.yaml"), format!("a:\n{comments}  b: 1\n{comments}c:\n{comments}d: 2\n"))
            .unwrap();
        assert_eq!(Chart::read(folder.path()).unwrap().values, json!({ "a": { "b": 1 }, "c": null, "d": 2 }));
    }
}
