//! `opctl catalog dockerfile`: prints a Dockerfile for the image of a catalog.

use clap::Args;

use super::super::{Console, Outcome};
use crate::error::UserError;
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
    #[arg(long, value_name = "IMAGE", default_value = "quay.io/operator-framework/opm:latest")]
    pub base: String,
}

pub fn run(args: &DockerfileArgs, console: &Console) -> anyhow::Result<Outcome> {
    let base = &args.base;
    if !is_reference(base) {
        let refusal = UserError::new(format!("`{base}` is not a reference of an image"));
        return Err(refusal.help("write `HOST/PATH:TAG` or `HOST/PATH@sha256:…`").into());
    }
    console.print(&format!(
        "# The index of the catalog is made here, so that it need not be made at each start.\n\
         FROM {base} AS builder\n\
         COPY . /configs\n\
         RUN [\"/bin/opm\", \"serve\", \"/configs\", \"--cache-dir=/tmp/cache\", \"--cache-only\"]\n\n\
         FROM {base}\n\
         ENTRYPOINT [\"/bin/opm\"]\n\
         CMD [\"serve\", \"/configs\", \"--cache-dir=/tmp/cache\"]\n\
         COPY --from=builder /configs /configs\n\
         COPY --from=builder /tmp/cache /tmp/cache\n\
         LABEL operators.operatorframework.io.index.configs.v1=/configs\n"
    ));
    Ok(Outcome::Done)
}
