//! `opctl completion`: prints a shell completion script, generated from the clap types.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::cli::Cli;

pub fn script(shell: Shell) -> String {
    // Into memory first: clap_complete panics on a closed pipe.
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "opctl", &mut script);
    String::from_utf8(script).expect("the names and texts of the command line are UTF-8")
}
