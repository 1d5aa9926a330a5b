//! The metadata and the dependencies of a chart: its Chart.yaml, and the requirements.yaml of a chart with
//! `apiVersion: v1`, which cannot list dependencies in Chart.yaml.

use serde::Deserialize;

use opctl_model::yaml;

/// The file with the metadata of a chart.
pub const CHART: &str = "Chart.yaml";
/// The file with the dependencies of a chart with `apiVersion: v1`.
pub const REQUIREMENTS: &str = "requirements.yaml";

/// The metadata of a chart.
#[derive(Clone, Debug, Deserialize)]
pub struct Metadata {
    pub name: String,
    pub version: String,
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub dependencies: Vec<Dependency>,
}

/// A chart that another chart includes.
#[derive(Clone, Debug, Deserialize)]
pub struct Dependency {
    pub name: String,
    /// A URL, also `file://…`; empty for a chart in the folder `charts`.
    #[serde(default)]
    pub repository: String,
    alias: Option<String>,
    condition: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct Requirements {
    #[serde(default)]
    dependencies: Vec<Dependency>,
}

impl Metadata {
    /// Parses the texts of Chart.yaml and, if the chart has one, of requirements.yaml.
    ///
    /// # Errors
    ///
    /// The name of an invalid file, and the reason.
    pub fn parse(chart: &str, requirements: Option<&str>) -> Result<Self, (&'static str, yaml::Error)> {
        let mut metadata: Self = yaml::read(chart).map_err(|error| (CHART, error))?;
        if let Some(text) = requirements.filter(|text| !text.trim().is_empty()) {
            let requirements: Requirements = yaml::read(text).map_err(|error| (REQUIREMENTS, error))?;
            metadata.dependencies = requirements.dependencies;
        }
        Ok(metadata)
    }
}

impl Dependency {
    /// The values that enable the dependency.
    pub(super) fn conditions(&self) -> Vec<Vec<String>> {
        let conditions = self.condition.iter().flat_map(|text| text.split(',')).map(|path| path.trim().to_owned());
        let tags = self.tags.iter().map(|tag| format!("tags.{tag}"));
        conditions.chain(tags).map(|path| path.split('.').map(str::to_owned).collect()).collect()
    }

    /// The key of the dependency's values.
    pub(super) fn key(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_in_requirements_replace_those_in_the_chart() {
        let names = |requirements| {
            let chart = "name: a\nversion: 1.0.0\ndependencies: [{ name: b }]\n";
            let metadata = Metadata::parse(chart, requirements).map_err(|(file, _)| file)?;
            Ok(metadata.dependencies.iter().map(|it| it.key().to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(names(None), Ok(vec!["b".to_owned()]));
        assert_eq!(names(Some(" \n")), Ok(vec!["b".to_owned()]));
        assert_eq!(names(Some("dependencies: [{ name: c, alias: d }]")), Ok(vec!["d".to_owned()]));
        assert_eq!(names(Some("dependencies: c")), Err(REQUIREMENTS));
    }
}
