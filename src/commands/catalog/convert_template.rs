//! `opctl catalog convert-template`: a catalog → a template that renders to it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::{Console, Outcome};
use super::{Format, catalog, print};
use opctl_olm::catalog::template::{to_basic, to_substitutes};

/// Convert a file-based catalog to a template
///
/// A basic template has only the images of bundles. A template of substitutions has whole bundles, and an empty list of
/// substitutions.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl catalog convert-template basic catalog > template.yaml")]
pub struct ConvertTemplateArgs {
    /// The kind of template
    #[arg(value_enum)]
    pub kind: Kind,

    /// The folder of the catalog, or its image [default: catalog]
    pub dir: Option<PathBuf>,

    /// The format of the template
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    Basic,
    Substitutes,
}

pub fn run(args: &ConvertTemplateArgs, console: &Console) -> anyhow::Result<Outcome> {
    let catalog = catalog(args.dir.as_deref(), console)?;
    let documents = catalog.documents.iter().map(|document| document.node.json()).collect();
    let template = match args.kind {
        Kind::Basic => to_basic(documents),
        Kind::Substitutes => to_substitutes(documents),
    };
    print(&[template], args.output, console);
    Ok(Outcome::Done)
}
