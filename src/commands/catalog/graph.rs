//! `opctl catalog graph`: shows the upgrades in each channel, as text, as an SVG image or in the syntax of Mermaid.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::{Console, Outcome};
use super::catalog;
use crate::error::UserError;
use opctl_olm::catalog::graph;

/// Show the upgrade graph of a file-based catalog
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl catalog graph catalog

  # A picture
  opctl catalog graph catalog --output svg > upgrades.svg

  # For Markdown on GitHub
  opctl catalog graph catalog --output mermaid")]
pub struct GraphArgs {
    /// The folder of the catalog, or its image [default: catalog]
    pub dir: Option<PathBuf>,

    /// The package to show [default: all; a picture shows one]
    #[arg(long, value_name = "NAME")]
    pub package: Option<String>,

    /// The format of the graph
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output: Format,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Svg,
    Mermaid,
}

pub fn run(args: &GraphArgs, console: &Console) -> anyhow::Result<Outcome> {
    let catalog = catalog(args.dir.as_deref(), console)?;
    let all: Vec<&str> = catalog.of_schema("olm.package").map(|package| package.name()).collect();
    let is_selected = |name: &&str| args.package.as_deref().is_none_or(|package| package == *name);
    let selected: Vec<&str> = all.iter().copied().filter(is_selected).collect();
    if selected.is_empty() {
        let what = args.package.as_ref().map_or_else(String::new, |name| format!(" `{name}`"));
        let refusal = UserError::new(format!("the catalog has no package{what}"));
        return Err(refusal.help(format!("its packages: {}", all.join(", "))).into());
    }
    match args.output {
        Format::Text => {
            let texts: Vec<String> = selected.iter().map(|package| graph::text(&catalog, package)).collect();
            console.print(&texts.join("\n"));
        }
        Format::Mermaid => console.print(&graph::mermaid(&catalog, &selected)),
        Format::Svg => {
            let [package] = selected[..] else {
                let refusal = UserError::new("a picture shows one package, and the catalog has several");
                return Err(refusal.help(format!("name one with `--package`: {}", all.join(", "))).into());
            };
            console.print(&graph::svg(&catalog, package));
        }
    }
    Ok(Outcome::Done)
}
