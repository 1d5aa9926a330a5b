//! The manifests of a release of OLM: downloaded, or from files of the user.

use clap::Args;

use crate::commands::Console;
use crate::commands::environment;
use crate::commands::run::OlmVersion;
use crate::error::{ExternalError, UserError};
use opctl_cluster::{self as cluster, Object};

#[derive(Args, Clone, Debug)]
pub struct ReleaseArgs {
    /// v0 has Subscriptions and runs bundles; v1 has ClusterExtensions and needs cert-manager
    #[arg(long, value_name = "VERSION", value_enum, default_value = "v0")]
    pub olm: OlmVersion,

    /// The release, e.g. v0.46.0 [default: the latest, or the one that is installed]
    #[arg(long, value_name = "RELEASE")]
    pub version: Option<String>,

    /// The manifests, instead of those of a release on GitHub (repeatable)
    #[arg(long, value_name = "FILE|URL", conflicts_with = "version")]
    pub manifests: Vec<String>,
}

impl ReleaseArgs {
    /// The objects of the release. `installed` is the version in the cluster.
    pub fn objects(&self, installed: Option<&str>, console: &Console) -> anyhow::Result<Vec<Object>> {
        let sources = match &self.manifests[..] {
            [] => urls(self.olm, self.version.as_deref().or(installed)),
            manifests => manifests.to_vec(),
        };
        let mut objects = Vec::new();
        for source in sources {
            let text = text(&source, console)?;
            let read = cluster::objects(&text).map_err(|error| {
                UserError::new(format!("`{source}` is not a manifest: {error}")).help("name a YAML file with objects")
            });
            objects.extend(read?);
        }
        Ok(objects)
    }
}

/// The files of a release on GitHub.
fn urls(olm: OlmVersion, release: Option<&str>) -> Vec<String> {
    let (repository, files): (&str, &[&str]) = match olm {
        OlmVersion::V0 => ("operator-lifecycle-manager", &["crds.yaml", "olm.yaml"]),
        OlmVersion::V1 => ("operator-controller", &["operator-controller.yaml", "default-catalogs.yaml"]),
    };
    let part = match release {
        None | Some("latest") => "latest/download".to_owned(),
        Some(release) => format!("download/v{}", release.trim_start_matches('v')),
    };
    let url = |file: &&str| format!("https://github.com/operator-framework/{repository}/releases/{part}/{file}");
    files.iter().map(url).collect()
}

fn text(source: &str, console: &Console) -> anyhow::Result<String> {
    if !source.contains("://") {
        return Ok(std::fs::read_to_string(source).map_err(|error| {
            UserError::new(format!("cannot read `{source}`: {error}")).help("name a file, or a URL with `https://`")
        })?);
    }
    console.status("Downloading", source);
    let network = environment::search(None, None).network;
    Ok(network.text(source, &mut |_| {}).map_err(|error| {
        ExternalError(
            UserError::new(error.to_string())
                .help("`--version RELEASE` names a release: https://github.com/operator-framework")
                .help("without a network, `--manifests FILE` names files that were downloaded before"),
        )
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_on_github() {
        let base = "https://github.com/operator-framework/operator-lifecycle-manager/releases";
        assert_eq!(
            urls(OlmVersion::V0, None),
            ["crds.yaml", "olm.yaml"].map(|file| format!("{base}/latest/download/{file}"))
        );
        for release in ["v0.46.0", "0.46.0"] {
            assert_eq!(urls(OlmVersion::V0, Some(release))[1], format!("{base}/download/v0.46.0/olm.yaml"));
        }
    }
}
