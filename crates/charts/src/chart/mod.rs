//! Derives the type, the permissions and the sample of a kind from the files of a Helm chart. Pure: the output of helm
//! is an argument.
//!
//! [`Chart`] has the files, [`schema()`] returns the schema of its values, and [`permissions()`] those that an operator
//! needs to install it.

mod examples;
mod json_schema;
mod metadata;
mod permissions;
mod release;
mod schema;
mod switches;
mod uses;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::spec::{MOST_FIELDS, Words};
use opctl_model::yaml;

pub use json_schema::Gap;
pub use metadata::{CHART, Dependency, Metadata, REQUIREMENTS};
pub use permissions::{Cause, Permissions, Render, permissions, served};
pub use release::{LIMIT, NAMESPACE, RELEASE, concerns, record_size};
pub use schema::schema;
pub use switches::{Switch, groups, switches};
pub use values::with;

/// The words for charts in comments and messages.
pub const WORDS: Words = Words { source: "chart", values: "values", status: "ReleaseStatus" };

/// The maximum number of values in a values.yaml.
const MOST_VALUES: usize = 5 * MOST_FIELDS;

/// A chart, without the files of its subcharts.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    pub name: String,
    pub version: String,
    is_library: bool,
    dependencies: Vec<Dependency>,
    /// Texts by their paths from the chart's folder.
    files: BTreeMap<String, String>,
    /// Its default values.
    values: Value,
    /// The subcharts, by the keys of their values.
    subcharts: Vec<(String, Arc<Chart>)>,
}

/// A chart that cannot be read, or that an operator cannot install.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ChartError {
    pub message: String,
    pub help: String,
}

impl Chart {
    /// Reads the files of a chart and of its subcharts, by their paths from its folder.
    ///
    /// # Errors
    ///
    /// If Chart.yaml or values.yaml is missing or invalid, or the chart cannot be installed.
    pub fn parse(files: &BTreeMap<String, String>) -> Result<Self, ChartError> {
        let chart = Self::read(files, "")?;
        match chart.is_library {
            true => Err(ChartError {
                message: format!("the chart `{}` is a library, which cannot be installed", chart.name),
                help: "use a chart that depends on it".into(),
            }),
            false => Ok(chart),
        }
    }

    fn read(files: &BTreeMap<String, String>, folder: &str) -> Result<Self, ChartError> {
        let wrong = |name: &str, error: &dyn std::fmt::Display| ChartError {
            message: format!("`{folder}{name}`: {error}"),
            help: "`helm lint` in the folder of the chart shows more".into(),
        };
        let own: BTreeMap<&str, &str> =
            files.iter().filter_map(|(path, text)| Some((path.strip_prefix(folder)?, text.as_str()))).collect();
        let Some(metadata) = own.get(CHART) else { return Err(wrong(CHART, &"it is missing")) };
        let metadata = Metadata::parse(metadata, own.get(REQUIREMENTS).copied());
        let Metadata { name, version, kind, dependencies } = metadata.map_err(|(file, error)| wrong(file, &error))?;
        let values = match own.get("values.yaml").filter(|text| !text.trim().is_empty()) {
            Some(text) => yaml::read(text).map_err(|error| wrong("values.yaml", &error))?,
            None => Value::Null,
        };
        if count(&values) > MOST_VALUES {
            return Err(wrong("values.yaml", &format!("more than {MOST_VALUES} values do not fit into a CRD")));
        }
        if values.as_object().is_some_and(|fields| fields.len() > MOST_FIELDS) {
            return Err(wrong("values.yaml", &format!("more than {MOST_FIELDS} keys do not fit into a CRD")));
        }
        let mut subcharts = Vec::new();
        for subfolder in subfolders(&own) {
            let chart = Arc::new(Self::read(files, &format!("{folder}charts/{subfolder}/"))?);
            let listed: Vec<&str> =
                dependencies.iter().filter(|it| it.name == chart.name).map(Dependency::key).collect();
            let keys = if listed.is_empty() { vec![chart.name.as_str()] } else { listed };
            subcharts.extend(keys.into_iter().map(|key| (key.to_owned(), Arc::clone(&chart))));
        }
        let own = own.into_iter().filter(|(path, _)| !path.starts_with("charts/"));
        let files = own.map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        let is_library = kind.as_deref() == Some("library");
        Ok(Self { name, version, is_library, dependencies, files, values, subcharts })
    }

    /// Paths and texts of the templates, including helpers but not tests.
    fn templates(&self) -> impl Iterator<Item = (&str, &str)> {
        let templates = self.files.iter().filter(|(path, _)| path.starts_with("templates/"));
        templates
            .filter(|(path, _)| !path.starts_with("templates/tests/"))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// This chart and all its subcharts.
    fn all(&self) -> Vec<&Self> {
        let below = self.subcharts.iter().flat_map(|(_, chart)| chart.all());
        std::iter::once(self).chain(below).collect()
    }
}

/// The number of values within a value, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The folders of direct subcharts.
fn subfolders<'a>(files: &BTreeMap<&'a str, &str>) -> BTreeSet<&'a str> {
    let below = files.keys().filter_map(|path| path.strip_prefix("charts/")?.split_once('/'));
    let charts = below.filter(|(folder, rest)| *rest == CHART && !folder.starts_with(['.', '_']));
    charts.map(|(folder, _)| folder).collect()
}
