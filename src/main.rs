//! The entry point of opctl: parses the arguments, runs the command, prints its output, and sets the exit code.

use std::io::{self, Write};
use std::process::{ExitCode, exit};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use clap_complete::CompleteEnv;
use opctl::commands::{self, Cli, Console, GlobalArgs, Outcome, completion, help, kubebuilder_syntax};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The stack size in bytes: at least four times what the limits on nesting require. The stack of the main thread may be
/// smaller.
const STACK: usize = 32 << 20;

const SUCCESS: u8 = 0;
/// An error that the user can fix, or drift with `--check`.
const FAILURE: u8 = 1;
const DEFECT: u8 = 2;
/// 128 + SIGINT, as in shells.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| commands::report_defect(&panic.to_string())));
    // `exit` skips destructors, which saves time.
    let run = || -> () { exit(run().into()) };
    let main = std::thread::Builder::new().stack_size(STACK).spawn(run).expect("a thread can be started");
    _ = main.join();
    ExitCode::from(DEFECT)
}

fn run() -> u8 {
    // For a request of a shell completion, this prints the candidates and exits.
    CompleteEnv::with_factory(Cli::command).var(completion::VARIABLE).complete();
    let mut command = Cli::command();
    let mut parsed = command.try_get_matches_from_mut(std::env::args_os());
    // Help, errors and the syntax of kubebuilder need a larger clap definition, which is slow to set up. `--plugins` is
    // the only part of that syntax that parses without it.
    let has_plugins = std::env::args_os().any(|word| word.to_string_lossy().starts_with("--plugins"));
    let is_own = parsed.is_ok() && !has_plugins;
    if !is_own {
        command = help::arrange(kubebuilder_syntax::extend(Cli::command()));
        parsed = command.try_get_matches_from_mut(std::env::args_os());
    }
    let parsed = parsed.and_then(|matches| Ok((GlobalArgs::from_arg_matches(&matches)?, matches)));
    let (console, matches) = match parsed {
        Ok((global, matches)) => (Console::new(&global), matches),
        Err(error) => return usage(error),
    };
    if !is_own && let Err(refusals) = kubebuilder_syntax::check(&command, &matches, &console) {
        return fail(&refusals.into(), &console);
    }
    if let Err(refusal) = help::refuse_ignored_flags(&matches) {
        return fail(&refusal.into(), &console);
    }
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return usage(error.format(&mut command)),
    };
    let outcome = commands::run(cli.command, &console);
    if let (Ok(_), Some(lost)) = (&outcome, console.lost_output()) {
        return fail(&lost, &console);
    }
    match outcome {
        Ok(Outcome::Done) => SUCCESS,
        Ok(Outcome::Drift | Outcome::Problems) => FAILURE,
        Ok(Outcome::Exit(code)) => code,
        Err(error) => fail(&error, &console),
    }
}

fn fail(error: &anyhow::Error, console: &Console) -> u8 {
    commands::report(error, console);
    if commands::is_interrupt(error) { INTERRUPTED } else { FAILURE }
}

/// Prints `--help`, `--version` or the error in the arguments, and returns the exit code.
fn usage(mut error: clap::Error) -> u8 {
    let is_stray = error.kind() == ErrorKind::UnknownArgument;
    if is_stray && std::env::args().any(|word| word == "init") {
        // clap suggests `-- --flag`, which would be the name of the folder.
        error.remove(ContextKind::Suggested);
    }
    if error.kind() == ErrorKind::InvalidSubcommand {
        let found = match error.remove(ContextKind::SuggestedSubcommand) {
            Some(ContextValue::Strings(found)) => found,
            Some(ContextValue::String(found)) => vec![found],
            _ => Vec::new(),
        };
        let near = help::suggestions(std::env::args().skip(1), found);
        if !near.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
        }
    }
    let console = Console::new(&GlobalArgs::default());
    console.note_loss(error.print().and_then(|()| io::stdout().flush()));
    if let Some(lost) = console.lost_output() {
        return fail(&lost, &console);
    }
    if is_stray && matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(word)) if word == "false") {
        anstream::eprintln!(
            "\nhelp: use `=` for a value: `--resource=false`, `--controller=false`, `--namespaced=false`"
        );
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => SUCCESS,
        _ => FAILURE,
    }
}
