//! `opctl completion`: prints a shell completion script, generated from the clap types.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::Cli;

/// Print the completion script for a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  source <(opctl completion bash)
  opctl completion zsh > \"${fpath[1]}/_opctl\"
  opctl completion fish > ~/.config/fish/completions/opctl.fish")]
pub struct CompletionArgs {
    /// The shell
    pub shell: Shell,
}

pub fn script(shell: Shell) -> String {
    // Into memory first: clap_complete panics on a closed pipe.
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "opctl", &mut script);
    String::from_utf8(script).expect("the names and texts of the command line are UTF-8")
}
