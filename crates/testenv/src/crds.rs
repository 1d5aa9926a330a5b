//! Reads files with CustomResourceDefinitions, and applies them until the API server serves them.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::TestenvError;
use crate::client::Client;

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PATIENCE: Duration = Duration::from_secs(30);
/// A name conflict that lasts longer is not caused by an earlier CRD.
const PATIENCE_WITH_NAMES: Duration = Duration::from_secs(3);

/// A CustomResourceDefinition read from a file.
#[derive(Clone, Debug)]
pub struct Crd {
    name: String,
    file: PathBuf,
    object: Value,
}

impl Crd {
    /// Reads the CRDs in files, and in the `.yaml`, `.yml` and `.json` files of folders. Ignores objects of other
    /// kinds.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or parsed, or if a path has no CRD.
    pub fn load(paths: &[PathBuf]) -> Result<Vec<Self>, TestenvError> {
        let crds = paths.iter().map(|path| in_path(path)).collect::<Result<Vec<_>, _>>()?;
        Ok(crds.into_iter().flatten().collect())
    }

    /// A CRD that was already read from a file.
    pub fn new(file: impl Into<PathBuf>, object: Value) -> Self {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        Self { name, file: file.into(), object }
    }

    /// The name: `memcacheds.cache.example.com`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

fn in_path(path: &Path) -> Result<Vec<Crd>, TestenvError> {
    let files = if path.is_dir() { files(path)? } else { vec![path.to_owned()] };
    let mut crds = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| TestenvError::io("read", &file, error))?;
        let options = serde_saphyr::options! { budget: None, with_snippet: false };
        let objects: Vec<Value> = serde_saphyr::from_multiple_with_options(&text, options)
            .map_err(|error| TestenvError::Yaml { path: file.clone(), message: error.to_string() })?;
        for object in objects {
            if object["kind"] != "CustomResourceDefinition" {
                continue;
            }
            crds.push(Crd::new(&file, object));
        }
    }
    if crds.is_empty() { Err(TestenvError::NoCrds(path.to_owned())) } else { Ok(crds) }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, TestenvError> {
    let failed = |error| TestenvError::io("read", folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let is_text = |path: &PathBuf| path.extension().is_some_and(|it| it == "yaml" || it == "yml" || it == "json");
    let mut files: Vec<_> = entries.into_iter().map(|entry| entry.path()).filter(is_text).collect();
    files.sort();
    Ok(files)
}

/// Applies all CRDs and waits until all are served.
pub fn apply(client: &Client, crds: &[Crd]) -> Result<(), TestenvError> {
    let rejected = |crd: &Crd, message: String| {
        let (path, name) = (crd.file.clone(), crd.name.clone());
        TestenvError::Crd { path, name, message }
    };
    for crd in crds {
        let path = format!("{PATH}/{}", crd.name);
        client.apply(&path, &crd.object).map_err(|error| rejected(crd, error.to_string()))?;
    }
    let start = Instant::now();
    for crd in crds {
        loop {
            let text = client.get(&format!("{PATH}/{}", crd.name)).map_err(|error| rejected(crd, error.to_string()))?;
            let object: Value = serde_json::from_str(&text).unwrap_or_default();
            match State::of(&object) {
                State::Served => break,
                State::Conflict(why) if start.elapsed() > PATIENCE_WITH_NAMES => return Err(rejected(crd, why)),
                State::Pending if start.elapsed() > PATIENCE => {
                    return Err(rejected(crd, format!("not served after {} s", PATIENCE.as_secs())));
                }
                State::Conflict(_) | State::Pending => sleep(Duration::from_millis(20)),
            }
        }
    }
    Ok(())
}

/// The state of a CRD since it was applied.
#[derive(Debug, PartialEq)]
enum State {
    Served,
    Pending,
    /// Another CRD has one of its names.
    Conflict(String),
}

impl State {
    /// The conditions may be older than the last change, so the accepted names are compared with the requested ones.
    fn of(crd: &Value) -> Self {
        let is_accepted = ["plural", "singular", "kind", "listKind", "shortNames", "categories"].iter().all(|field| {
            let wanted = &crd["spec"]["names"][field];
            // The API server sets missing names to defaults.
            wanted.is_null() || *wanted == crd["status"]["acceptedNames"][field]
        });
        let condition = |kind: &str| {
            let conditions = crd["status"]["conditions"].as_array().into_iter().flatten();
            conditions.clone().find(|condition| condition["type"] == kind).unwrap_or(&Value::Null)
        };
        let (names, established) = (condition("NamesAccepted"), condition("Established"));
        if names["status"] == "False" {
            return Self::Conflict(names["message"].as_str().unwrap_or_default().to_owned());
        }
        let is_terminating = !crd["metadata"]["deletionTimestamp"].is_null();
        let is_served = is_accepted && !is_terminating && names["status"] == "True" && established["status"] == "True";
        if is_served { Self::Served } else { Self::Pending }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_crd_is_served_once_its_latest_names_are_accepted() {
        let crd = |accepted: &str, conditions: &Value| {
            json!({
                "spec": {"names": {"kind": "A", "plural": "as", "shortNames": ["x"]}},
                "status": {
                    "acceptedNames": {"kind": "A", "plural": "as", "singular": "a", "shortNames": [accepted]},
                    "conditions": conditions,
                },
            })
        };
        let both = json!([{"type": "NamesAccepted", "status": "True"}, {"type": "Established", "status": "True"}]);
        assert_eq!(State::of(&crd("x", &both)), State::Served);
        assert_eq!(State::of(&crd("y", &both)), State::Pending);
        assert_eq!(State::of(&crd("x", &json!([]))), State::Pending);
        let mut deleted = crd("x", &both);
        deleted["metadata"] = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(State::of(&deleted), State::Pending);
        let conflict = json!([{"type": "NamesAccepted", "status": "False", "message": "\"x\" is taken"}]);
        assert_eq!(State::of(&crd("x", &conflict)), State::Conflict("\"x\" is taken".into()));
    }
}
