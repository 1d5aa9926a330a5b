//! `opctl man`: writes a man page for each command, generated from the definitions of the command line.

use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;

use super::{Cli, Console, Outcome, Task, carry_out, lock};
use opctl_edit::plan::Plan;
use opctl_model::project::Tree;

/// Write a man page for each command to a folder
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  opctl man man")]
pub struct ManArgs {
    /// The folder; created if it does not exist
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}

pub fn run(args: &ManArgs, console: &Console) -> anyhow::Result<Outcome> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut plan = Plan::default();
    add(&mut plan, &command);
    let _lock = lock(&args.dir, console)?;
    let again = "run the same command without `--check`";
    carry_out(&Task { again, tree: &Tree::at(&args.dir), folder: "", plan, next: Vec::new() }, console)
}

/// Adds the pages of a command and its subcommands.
fn add(plan: &mut Plan, command: &Command) {
    let man = Man::new(command.clone()).source(concat!("opctl ", env!("CARGO_PKG_VERSION"))).manual("opctl");
    let mut page = Vec::new();
    man.render(&mut page).expect("memory can be written to");
    let page = String::from_utf8(page).expect("the names and texts of the command line are UTF-8");
    // Without `.nf`, the lines of the examples would be joined.
    let page = page.replacen(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n", 1);
    plan.scaffold(man.get_filename(), format!("{}\n", page.trim_end()));
    command.get_subcommands().filter(|command| !command.is_hide_set()).for_each(|command| add(plan, command));
}
