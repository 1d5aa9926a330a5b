//! `opctl version`: prints the version of opctl and the releases of the crates whose output it generates.

use clap::Args;
use serde_json::{Value, json};

use super::Console;
use super::output::OutputArgs;
use opctl_model::versions::{CRATES, known, range};

/// Print the version of opctl and the supported versions of kube, k8s-openapi and schemars
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl version

  # For programs
  opctl version -o json")]
pub struct VersionArgs {
    #[command(flatten)]
    pub output: OutputArgs,
}

pub fn run(args: &VersionArgs, console: &Console) {
    match args.output.is_json() {
        true => console.print(&format!("{:#}\n", json())),
        false => console.print(&text()),
    }
}

fn json() -> Value {
    let versions = CRATES.iter().map(|(name, latest)| {
        let mut supported: Vec<String> = known(name).iter().map(|release| release.compatible()).collect();
        supported.dedup();
        json!({ "name": name, "supported": supported, "testedWith": latest.to_string() })
    });
    json!({ "opctl": env!("CARGO_PKG_VERSION"), "crates": versions.collect::<Vec<_>>() })
}

fn text() -> String {
    let mut text = format!("opctl {}\n", env!("CARGO_PKG_VERSION"));
    for (name, latest) in CRATES {
        let range = range(name);
        text.push_str(&match range.contains(' ') {
            true => format!("{name} {range}, tested with {latest}\n"),
            false => format!("{name} {latest}\n"),
        });
    }
    text.push_str(OLDER);
    text
}

/// The supported features for releases that are not in the table.
const OLDER: &str = "\
with kube 0.60 to 1: CRDs by the compiler (`opctl manifests --engine cargo`), and all that needs no schema
";
