//! The layout of help: commands in groups, and global options only in `opctl --help`.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory};

use super::{Cli, wrap};
use crate::error::UserError;
use opctl_model::names::{by_distance, nearest};

/// The commands in the order of `opctl --help`.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start a project", &["init", "adopt", "import"]),
    ("Change a project", &["create", "delete", "rename", "edit", "update"]),
    ("Develop", &["manifests", "check", "dev", "testenv", "doctor", "explain"]),
    ("Deploy", &["build", "install", "uninstall", "deploy", "undeploy", "status", "migrate"]),
    ("Release", &["generate", "build-installer"]),
    ("Operator Lifecycle Manager", &["bundle", "catalog", "scorecard", "run", "cleanup", "olm"]),
    ("opctl itself", &["version", "completion", "help"]),
];

/// The commands that write no files: never, without a flag, or with one of these flags.
const READ_ONLY: &[(&str, ReadOnly)] = &[
    ("bundle render", ReadOnly::Always),
    ("bundle validate", ReadOnly::Always),
    ("catalog dockerfile", ReadOnly::Always),
    ("catalog graph", ReadOnly::Always),
    ("catalog render", ReadOnly::Always),
    ("catalog validate", ReadOnly::Always),
    ("check", ReadOnly::Without("fix")),
    ("completion", ReadOnly::Without("install")),
    ("doctor", ReadOnly::Always),
    ("explain", ReadOnly::Always),
    ("manifests", ReadOnly::With(&["against", "compare", "verify"])),
    ("olm status", ReadOnly::Always),
    ("scorecard", ReadOnly::Always),
    ("testenv down", ReadOnly::Always),
    ("testenv run", ReadOnly::Always),
    ("testenv status", ReadOnly::Always),
    ("testenv up", ReadOnly::Always),
    ("version", ReadOnly::Always),
];

/// The condition under which a command writes no files. Arguments are named by their ids.
#[derive(Clone, Copy)]
enum ReadOnly {
    Always,
    Without(&'static str),
    With(&'static [&'static str]),
}

/// The flags for writing files.
const WRITING: &[&str] = &["dry_run", "diff", "check", "overwrite"];

/// Arranges the help of a complete command line.
pub fn arrange(mut command: Command) -> Command {
    let width = wrap::columns(std::io::stdout()).unwrap_or(WIDTH);
    command.build();
    let commands = groups(&command, width);
    for subcommand in command.get_subcommands_mut() {
        hide_global_options(subcommand, width);
        // Otherwise, clap would list them again.
        *subcommand = std::mem::take(subcommand).hide(true);
    }
    let header = command.get_styles().get_header();
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, exit_codes) = examples.split_once("\n\nExit codes: ").unwrap_or((&examples, ""));
    let exit_codes = wrap::wrap(&format!("{header}Exit codes:{header:#} {exit_codes}"), width);
    command.override_usage("opctl [OPTIONS] <COMMAND>").help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{{all-args}}\n\n{exit_codes}\n\n{examples}"
    ))
}

/// The width of help that is not printed on a terminal.
const WIDTH: usize = 100;

fn groups(command: &Command, width: usize) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let column = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("{header}{title}:{header:#}\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let line = format!("  {literal}{name:column$}{literal:#}  {}", about.unwrap_or_default());
            text.push_str(&format!("{}\n", wrap::wrap(&line, width)));
        }
        text.push('\n');
    }
    text
}

fn hide_global_options(command: &mut Command, width: usize) {
    let hidden = std::mem::take(command).mut_args(|argument| {
        let is_global = argument.is_global_set();
        if is_global { argument.hide(true) } else { argument }
    });
    *command = match hidden.get_after_help().map(ToString::to_string) {
        Some(examples) => {
            let examples = wrap::examples(&examples, width);
            hidden.after_help(format!("`opctl --help` lists the options of every command.\n\n{examples}"))
        }
        None => hidden,
    };
    command.get_subcommands_mut().for_each(|command| hide_global_options(command, width));
}

/// Refuses flags for writing files if the command would ignore them.
pub fn refuse_ignored_flags(matches: &ArgMatches) -> Result<(), UserError> {
    let (mut path, mut inner) = (Vec::new(), matches);
    while let Some((name, below)) = inner.subcommand() {
        path.push(name);
        inner = below;
    }
    let path = path.join(" ");
    let is_given = |flag: &str| inner.value_source(flag) == Some(ValueSource::CommandLine);
    let Some(flag) = WRITING.iter().find(|flag| is_given(flag)) else { return Ok(()) };
    let Some((_, read_only)) = READ_ONLY.iter().find(|(command, _)| *command == path) else { return Ok(()) };
    let flag = flag.replace('_', "-");
    let (what, help) = match read_only {
        ReadOnly::Always => (format!("`opctl {path}`"), format!("leave out `--{flag}`")),
        ReadOnly::Without(writes) if !is_given(writes) => {
            (format!("`opctl {path}` without `--{writes}`"), format!("add `--{writes}`, or leave out `--{flag}`"))
        }
        ReadOnly::With(flags) => match flags.iter().find(|flag| is_given(flag)) {
            Some(with) => (format!("`opctl {path} --{with}`"), format!("leave out `--{flag}`")),
            None => return Ok(()),
        },
        ReadOnly::Without(_) => return Ok(()),
    };
    Err(UserError::new(format!("`--{flag}` is for commands that write files, and {what} writes none")).help(help))
}

/// The suggestions for a word that is not a command, most similar first. Suggestions of clap that are not valid at this
/// position are dropped.
pub fn suggestions(words: impl Iterator<Item = String>, found: Vec<String>) -> Vec<String> {
    let mut command = Cli::command();
    for word in words.filter(|word| !word.starts_with('-')) {
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let names: Vec<String> = shown.map(|command| command.get_name().to_owned()).collect();
        if let Some(inner) = command.find_subcommand(&word).filter(|_| names.contains(&word)) {
            command = inner.clone();
            continue;
        }
        let near = nearest(&word, names.iter().map(String::as_str));
        let near = names.iter().filter(|name| found.contains(name) || near == Some(name)).map(String::as_str);
        return by_distance(&word, near).into_iter().map(ToOwned::to_owned).collect();
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        listed.sort_unstable();
        let mut command = Cli::command();
        command.build();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut names: Vec<&str> = shown.map(Command::get_name).collect();
        names.sort_unstable();
        assert_eq!(listed, names);
    }

    #[test]
    fn the_nearest_command_is_suggested_first() {
        let found = ["migrate", "up", "update", "rename", "create"].map(String::from);
        let suggested = |words: &[&str]| suggestions(words.iter().map(ToString::to_string), found.to_vec());
        assert_eq!(suggested(&["upgrade"])[0], "update");
        assert_eq!(suggested(&["crate"])[0], "create");
        assert_eq!(suggested(&["-q", "statsu"])[0], "status");
        assert_eq!(suggested(&["create", "webhok"]), ["webhook"]);
        assert!(!suggested(&["upgrade"]).contains(&"up".to_owned()), "it belongs to `opctl testenv`");
    }

    #[test]
    fn read_only_commands_and_their_flags_exist() {
        for (path, read_only) in READ_ONLY {
            let mut command = Cli::command();
            for name in path.split(' ') {
                command = command.find_subcommand(name).unwrap_or_else(|| panic!("{path}")).clone();
            }
            assert!(!command.has_subcommands(), "{path}");
            let flags = match read_only {
                ReadOnly::Always => &[][..],
                ReadOnly::Without(flag) => &[*flag],
                ReadOnly::With(flags) => flags,
            };
            for flag in flags {
                assert!(command.get_arguments().any(|argument| argument.get_id() == flag), "{path} --{flag}");
            }
        }
    }
}
