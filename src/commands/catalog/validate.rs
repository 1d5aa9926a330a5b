//! `opctl catalog validate`: reports what `opm` and OLM would reject in the catalog of a folder.

use std::path::PathBuf;

use clap::Args;

use super::super::message_format::MessageArgs;
use super::super::{Console, Outcome, counted};
use super::catalog;
use opctl_olm::catalog::validate;

/// Validate a file-based catalog
///
/// Checks packages, channels and bundles, and that each channel has one head, to which upgrades lead from all entries.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl catalog validate catalog")]
pub struct ValidateArgs {
    /// The folder of the catalog [default: catalog]
    pub dir: Option<PathBuf>,

    #[command(flatten)]
    pub messages: MessageArgs,
}

pub fn run(args: &ValidateArgs, console: &Console) -> anyhow::Result<Outcome> {
    let root = std::env::current_dir().unwrap_or_default();
    args.messages.run(&root, console, |console| {
        let catalog = catalog(args.dir.as_deref(), console)?;
        let problems = validate::check(&catalog);
        let number = |schema: &str, what: &str| counted(catalog.of_schema(schema).count(), what);
        let all = [number("olm.package", "package"), number("olm.channel", "channel"), number("olm.bundle", "bundle")]
            .join(", ");
        if problems.is_empty() {
            console.info(&format!("the catalog is valid: {all}"));
            return Ok(Outcome::Done);
        }
        console.diagnose(&problems);
        console.info(&format!("the catalog is not valid: {}; {all}", counted(problems.len(), "error")));
        Ok(Outcome::Problems)
    })
}
