//! CustomResourceDefinitions in files of YAML → what an API server serves.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;

use super::TestenvError;
use super::client::Client;
use crate::cluster::{PATIENCE_WITH_NAMES, State};

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PATIENCE: Duration = Duration::from_secs(30);

/// A CRD, and the file that it comes from.
pub struct Crd {
    pub name: String,
    file: PathBuf,
    object: Value,
}

/// Those of files, and of the files in folders; objects of other kinds are passed over. Each must have one.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Crd>, TestenvError> {
    let crds = paths.iter().map(|path| of(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(crds.into_iter().flatten().collect())
}

fn of(path: &Path) -> Result<Vec<Crd>, TestenvError> {
    let files = if path.is_dir() { files(path)? } else { vec![path.to_owned()] };
    let mut crds = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| TestenvError::io("read", &file, error))?;
        for document in yaml_serde::Deserializer::from_str(&text) {
            let object = Value::deserialize(document)
                .map_err(|error| TestenvError::Yaml { path: file.clone(), message: error.to_string() })?;
            if object["kind"] != "CustomResourceDefinition" {
                continue;
            }
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            crds.push(Crd { name, file: file.clone(), object });
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

/// Applies them all, and waits until all are served.
pub fn apply(client: &Client, crds: &[Crd]) -> Result<(), TestenvError> {
    let refused = |crd: &Crd, message: String| {
        let (path, name) = (crd.file.clone(), crd.name.clone());
        TestenvError::Crd { path, name, message }
    };
    for crd in crds {
        let path = format!("{PATH}/{}", crd.name);
        client.apply(&path, &crd.object).map_err(|error| refused(crd, error.to_string()))?;
    }
    let start = Instant::now();
    for crd in crds {
        loop {
            let text = client.get(&format!("{PATH}/{}", crd.name)).map_err(|error| refused(crd, error.to_string()))?;
            let object: Value = serde_json::from_str(&text).unwrap_or_default();
            match State::of(&object) {
                State::Served => break,
                State::Refused(why) if start.elapsed() > PATIENCE_WITH_NAMES => return Err(refused(crd, why)),
                State::Waiting(why) if start.elapsed() > PATIENCE => {
                    return Err(refused(crd, format!("it is not served after {} s: {why}", PATIENCE.as_secs())));
                }
                State::Refused(_) | State::Waiting(_) => sleep(Duration::from_millis(20)),
            }
        }
    }
    Ok(())
}
