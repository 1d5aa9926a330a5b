//! `opctl catalog validate`: reports what `opm` and OLM would reject in the catalog of a folder.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::super::bundle::validate::entry;
use super::super::message_format::MessageArgs;
use super::super::{Console, Outcome, counted};
use super::catalog;
use crate::error::SourceErrors;
use opctl_model::diagnostic::Diagnostic;
use opctl_olm::catalog::validate;

/// Validate a file-based catalog
///
/// Checks packages, channels and bundles, and that each channel has one head, to which upgrades lead from all entries.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl catalog validate catalog

  # For programs
  opctl catalog validate catalog --output json")]
pub struct ValidateArgs {
    /// The folder of the catalog, or its image [default: catalog]
    pub dir: Option<PathBuf>,

    /// The format of the result
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output: Output,

    #[command(flatten)]
    pub messages: MessageArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    #[default]
    Text,
    /// With positions
    Json,
}

pub fn run(args: &ValidateArgs, console: &Console) -> anyhow::Result<Outcome> {
    if args.output == Output::Json {
        let problems = match catalog(args.dir.as_deref(), console) {
            Ok(catalog) => validate::check(&catalog),
            // Documents that cannot be read are problems, too.
            Err(error) => error.downcast::<SourceErrors>()?.diagnostics,
        };
        let passed = !problems.iter().any(Diagnostic::is_error);
        let outputs: Vec<Value> = problems.iter().map(entry).collect();
        console.print(&format!("{:#}\n", json!({"passed": passed, "outputs": outputs})));
        return Ok(if passed { Outcome::Done } else { Outcome::Problems });
    }
    let root = std::env::current_dir().unwrap_or_default();
    args.messages.run(&root, console, |console| {
        let catalog = catalog(args.dir.as_deref(), console)?;
        let problems = validate::check(&catalog);
        let number = |schema: &str, what: &str| counted(catalog.of_schema(schema).count(), what);
        let all = [number("olm.package", "package"), number("olm.channel", "channel"), number("olm.bundle", "bundle")]
            .join(", ");
        console.diagnose(&problems);
        let errors = problems.iter().filter(|problem| problem.is_error()).count();
        if errors == 0 {
            console.info(&format!("the catalog is valid: {all}"));
            return Ok(Outcome::Done);
        }
        console.info(&format!("the catalog is not valid: {}; {all}", counted(errors, "error")));
        Ok(Outcome::Problems)
    })
}
