//! `opctl completion`: prints or installs a completion script, which calls opctl to complete a command line.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use clap_complete::env::{EnvCompleter, Shells};

use super::{Console, Next, Outcome, Task, carry_out, environment, lock};
use crate::error::UserError;
use opctl_edit::plan::Plan;
use opctl_model::project::Tree;

/// Print the completion script for a shell, or install it
///
/// Completes commands, options, kinds, groups and versions of the project, codes of diagnostics, contexts and namespaces.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  source <(opctl completion bash)
  source <(opctl completion zsh)

  # Write it to the folder where the shell looks for it
  opctl completion bash --install
  opctl completion fish --install

  # zsh has no such folder: write it, and show the line for ~/.zshrc
  opctl completion zsh --install")]
pub struct CompletionArgs {
    /// The shell
    pub shell: Shell,

    /// Write the script to the user's folder for completions: bash, fish and zsh
    #[arg(long)]
    pub install: bool,
}

/// The environment variable with which the completion script calls opctl.
pub const VARIABLE: &str = "OPCTL_COMPLETE";

pub fn run(args: &CompletionArgs, console: &Console) -> anyhow::Result<Outcome> {
    let script = script(args.shell)?;
    if !args.install {
        console.print(&script);
        return Ok(Outcome::Done);
    }
    let (folder, file): (PathBuf, &str) = match args.shell {
        Shell::Bash => (environment::data_folder().join("bash-completion/completions"), "opctl"),
        Shell::Fish => (environment::config_folder().join("fish/completions"), "opctl.fish"),
        Shell::Zsh => (environment::data_folder().join("opctl"), "completion.zsh"),
        shell => {
            return Err(UserError::new(format!("{shell} has no folder for completions of the user"))
                .help(format!("load the output of `opctl completion {shell}` in the configuration of {shell}"))
                .into());
        }
    };
    // zsh reads completions from folders that its configuration lists, so the configuration has to load the file.
    let next = match args.shell {
        Shell::Zsh => {
            let line = format!("echo 'source {}' >> ~/.zshrc", folder.join(file).display());
            vec![Next::new(line, "after `compinit`; loads it in each new shell")]
        }
        _ => Vec::new(),
    };
    let mut plan = Plan::default();
    plan.scaffold(file, script);
    console.info(&format!("folder: {}", folder.display()));
    let _lock = lock(&folder, console)?;
    let again = "run the same command without `--check`";
    carry_out(&Task { again, tree: &Tree::at(&folder), folder: "", plan, next }, console)
}

fn script(shell: Shell) -> anyhow::Result<String> {
    let shells = Shells::builtins();
    let completer: &dyn EnvCompleter =
        shells.completer(&shell.to_string()).expect("clap has completions for its shells");
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "opctl", "opctl", "opctl", &mut script)?;
    Ok(String::from_utf8(script)?)
}
