//! `opctl catalog list`: lists the packages, channels or bundles of a catalog.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::super::{Console, Outcome};
use super::catalog;
use opctl_model::aligned;
use opctl_olm::catalog::list::{Rows, table};

/// List the packages, channels or bundles of a file-based catalog
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl catalog list packages catalog

  opctl catalog list bundles catalog --package memcached-operator")]
pub struct ListArgs {
    /// The items to list
    #[arg(value_enum)]
    pub items: Items,

    /// The folder of the catalog, or its image [default: catalog]
    pub dir: Option<PathBuf>,

    /// List only the items of this package
    #[arg(long, value_name = "NAME")]
    pub package: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Items {
    Packages,
    Channels,
    Bundles,
}

pub fn run(args: &ListArgs, console: &Console) -> anyhow::Result<Outcome> {
    let rows = match args.items {
        Items::Packages => Rows::Packages,
        Items::Channels => Rows::Channels,
        Items::Bundles => Rows::Bundles,
    };
    let lines = table(&catalog(args.dir.as_deref(), console)?, rows, args.package.as_deref());
    console.print(&aligned(&lines, "  ").iter().map(|line| format!("{line}\n")).collect::<String>());
    Ok(Outcome::Done)
}
