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
            serde_saphyr::from_str(&metadata).map_err(|error| invalid("Chart.yaml", error))?;
        let values = match text("values.yaml").filter(|text| !text.trim().is_empty()) {
            Some(text) => serde_saphyr::from_str(&text).map_err(|error| invalid("values.yaml", error))?,
            None => Value::Null,
        };
        let digest = digest::digest(files.iter().flat_map(|(path, content)| [path.as_bytes(), content]));
        files.retain(|(path, _)| path.starts_with("templates/"));
        Ok(Self { name, version, values, templates: files, digest })
    }
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
}
