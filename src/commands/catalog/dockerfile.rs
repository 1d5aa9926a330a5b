//! `opctl catalog dockerfile`: prints a Dockerfile for the image of a catalog.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;

use super::super::{Console, Outcome};
use crate::error::{UserError, UserErrors};
use opctl_olm::bundle::image::is_reference;

/// Print a Dockerfile for the image of a catalog
///
/// The image serves the catalog to OLM v0, and OLM v1 reads the catalog from it. The build context is the folder of the catalog.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl catalog dockerfile | docker build -f - -t registry.example.com/memcached-operator-catalog:v0.1.0 catalog")]
pub struct DockerfileArgs {
    /// The image with `opm`
    #[arg(long, alias = "base-image", value_name = "IMAGE", default_value = "quay.io/operator-framework/opm:latest")]
    pub base: String,

    /// The image that makes the index of the catalog, with the same `opm` [default: that of --base]
    #[arg(long, value_name = "IMAGE")]
    pub builder_image: Option<String>,

    /// Further labels of the image, separated by commas (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    pub extra_labels: Vec<String>,
}

pub fn run(args: &DockerfileArgs, console: &Console) -> anyhow::Result<Outcome> {
    let base = &args.base;
    let builder = args.builder_image.as_ref().unwrap_or(base);
    let mut refusals = UserErrors::default();
    for image in [base, builder].into_iter().collect::<BTreeSet<_>>() {
        if !is_reference(image) {
            let refusal = UserError::new(format!("`{image}` is not a reference of an image"));
            refusals.push(refusal.help("write `HOST/PATH:TAG` or `HOST/PATH@sha256:…`"));
        }
    }
    let mut labels = BTreeMap::from([("operators.operatorframework.io.index.configs.v1", "/configs")]);
    for label in &args.extra_labels {
        match label.split_once('=') {
            Some((key, value)) if !key.is_empty() && !label.contains(['"', '\\', '\n']) => {
                labels.insert(key, value);
            }
            _ => refusals.push(UserError::new(format!("`{label}` is not a label")).help("write `KEY=VALUE`")),
        }
    }
    refusals.settle()?;
    let labels: String = labels.into_iter().map(|(key, value)| format!("LABEL {key}={}\n", quoted(value))).collect();
    console.print(&format!(
        "# The index of the catalog is made here, so that it need not be made at each start.\n\
         FROM {builder} AS builder\n\
         COPY . /configs\n\
         RUN [\"/bin/opm\", \"serve\", \"/configs\", \"--cache-dir=/tmp/cache\", \"--cache-only\"]\n\n\
         FROM {base}\n\
         ENTRYPOINT [\"/bin/opm\"]\n\
         CMD [\"serve\", \"/configs\", \"--cache-dir=/tmp/cache\"]\n\
         COPY --from=builder /configs /configs\n\
         COPY --from=builder /tmp/cache /tmp/cache\n\
         {labels}"
    ));
    Ok(Outcome::Done)
}

/// A value of a label, in quotes if it has spaces or characters that Dockerfiles expand.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+=".contains(c);
    if value.chars().all(is_plain) { value.to_owned() } else { format!("\"{}\"", value.replace('$', "\\$")) }
}
