//! `opctl catalog init`: prints the document of a package.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::super::{Console, Outcome};
use super::{Format, print};
use crate::error::UserError;
use opctl_model::names::is_dns_label;
use opctl_olm::catalog::icon;

/// Print the document of a package for a file-based catalog
///
/// Adding the first bundle of a package writes it, too, but without an icon and a description.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl catalog init memcached-operator --default-channel stable --icon icon.svg --description README.md -o yaml > catalog/package.yaml")]
pub struct InitArgs {
    /// The name of the package
    #[arg(value_name = "NAME")]
    pub package: String,

    /// The channel of users who choose none
    #[arg(short = 'c', long, value_name = "NAME")]
    pub default_channel: String,

    /// A GIF, JPEG, PNG or SVG image
    #[arg(short, long, value_name = "FILE")]
    pub icon: Option<PathBuf>,

    /// A file in Markdown
    #[arg(short, long, value_name = "FILE")]
    pub description: Option<PathBuf>,

    /// The format of the document
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Json)]
    pub output: Format,
}

pub fn run(args: &InitArgs, console: &Console) -> anyhow::Result<Outcome> {
    let package = &args.package;
    if !is_dns_label(package) {
        let refusal = UserError::new(format!("`{package}` is not a name of a package"));
        return Err(refusal.help("use a DNS label: lowercase letters, digits and `-`").into());
    }
    let mut document = json!({"schema": "olm.package", "name": package, "defaultChannel": args.default_channel});
    if let Some(path) = &args.icon {
        document["icon"] = icon(&read(path)?).ok_or_else(|| {
            UserError::new(format!("`{}` is not an icon", path.display())).help("use a GIF, JPEG, PNG or SVG image")
        })?;
    }
    if let Some(path) = &args.description {
        let text = String::from_utf8(read(path)?);
        let text = text.map_err(|error| UserError::new(format!("`{}` is not text: {error}", path.display())))?;
        document["description"] = text.into();
    }
    print(&[document], args.output, console);
    Ok(Outcome::Done)
}

fn read(path: &Path) -> Result<Vec<u8>, UserError> {
    std::fs::read(path).map_err(|error| UserError::new(format!("cannot read `{}`: {error}", path.display())))
}
