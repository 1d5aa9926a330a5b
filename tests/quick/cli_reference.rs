//! Compares `docs/reference/cli.md` with the help of the command line.
//!
//! `SNAPSHOTS=overwrite cargo test --test quick cli_reference` updates it.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use opctl::commands::Cli;
use snapbox::{Assert, Data};

/// Cargo runs tests in the package's folder.
const PATH: &str = "docs/reference/cli.md";

#[test]
fn the_cli_reference_is_up_to_date() {
    let mut command = Cli::command();
    command.build();
    let mut text = format!("# Command line\n\n{}.\n", command.get_about().unwrap());
    write!(text, "\n```console\n$ opctl COMMAND [OPTIONS]\n```\n").unwrap();
    examples(&mut text, &command);
    let shown = |command: &&Command| command.get_name() != "help" && !command.is_hide_set();
    for subcommand in command.get_subcommands().filter(shown) {
        describe(&mut text, subcommand);
    }
    text.push_str("\n## Options of every command\n\n");
    table(&mut text, &mut command.get_arguments().filter(|argument| argument.is_global_set()));
    Assert::new().action_env("SNAPSHOTS").eq(Data::text(text), Data::read_from(Path::new(PATH), None).raw());
}

/// Describes a command and its subcommands.
fn describe(text: &mut String, command: &Command) {
    let subcommands: Vec<&Command> =
        command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help").collect();
    if !subcommands.is_empty() {
        return subcommands.into_iter().for_each(|subcommand| describe(text, subcommand));
    }
    let name = command.get_bin_name().unwrap();
    let about = command.get_long_about().or(command.get_about()).unwrap();
    write!(text, "\n## {name}\n\n{}\n", sentences(&about.to_string())).unwrap();
    let arguments: Vec<&Arg> = command.get_positionals().collect();
    let positionals: String = arguments.iter().map(|argument| format!(" {argument}")).collect();
    write!(text, "\n```console\n$ {name}{positionals} [OPTIONS]\n```\n").unwrap();
    let shown = |argument: &&Arg| !argument.is_global_set() && argument.get_id() != "help";
    let mut own = command.get_arguments().filter(shown).peekable();
    if own.peek().is_some() {
        text.push('\n');
        table(text, &mut own);
    }
    examples(text, command);
}

fn table(text: &mut String, arguments: &mut dyn Iterator<Item = &Arg>) {
    text.push_str("| | |\n|---|---|\n");
    for argument in arguments.filter(|argument| !argument.is_hide_set()) {
        let long = argument.get_long().map(|name| format!("--{name}"));
        let short = argument.get_short().map(|name| format!("-{name}"));
        let names: Vec<String> = short.into_iter().chain(long).collect();
        let values = if argument.get_action().takes_values() { value(argument) } else { String::new() };
        let usage = if names.is_empty() { argument.to_string() } else { format!("{}{values}", names.join(", ")) };
        let mut help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let choices: Vec<String> =
            argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
        if !choices.is_empty() && argument.get_action().takes_values() && !choices.contains(&"`true`".into()) {
            write!(help, ": {}", choices.join(", ")).unwrap();
        }
        let default: Vec<&str> = argument.get_default_values().iter().filter_map(|value| value.to_str()).collect();
        if !default.is_empty() && argument.get_action().takes_values() && !argument.is_hide_default_value_set() {
            write!(help, " [default: {}]", default.join(", ")).unwrap();
        }
        writeln!(text, "| `{}` | {} |", usage.replace('|', "\\|"), help.replace('|', "\\|")).unwrap();
    }
}

/// ` NAME`, or `[=NAME]` for an optional value.
fn value(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let name = names.first().map_or(argument.get_id().as_str().to_uppercase(), ToString::to_string);
    match () {
        () if argument.is_require_equals_set() => format!("[={name}]"),
        () if argument.get_num_args().is_some_and(|values| values.min_values() == 0) => format!(" [{name}]"),
        () => format!(" {name}"),
    }
}

fn examples(text: &mut String, command: &Command) {
    let Some(after) = command.get_after_help() else { return };
    let after = after.to_string();
    let (examples, rest) = after.split_once("\n\nExit codes").unwrap_or((&after, ""));
    let lines = examples.strip_prefix("Examples:\n").expect("each command has examples").lines();
    let code: Vec<&str> = lines.map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    write!(text, "\n```sh\n{}\n```\n", code.join("\n")).unwrap();
    if !rest.is_empty() {
        write!(text, "\nExit codes{rest}.\n").unwrap();
    }
}

/// Each paragraph ends in a period.
fn sentences(about: &str) -> String {
    let paragraphs = about.split("\n\n").map(|paragraph| format!("{}.", paragraph.trim_end_matches('.')));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn every_command_has_examples_and_the_command_line_is_sound() {
    Cli::command().debug_assert();
    fn check(command: &Command) {
        let leaf = !command.has_subcommands();
        assert!(!leaf || command.get_after_help().is_some(), "{} has no examples", command.get_name());
        command.get_subcommands().for_each(check);
    }
    check(&Cli::command());
}
