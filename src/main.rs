//! Parses the arguments, runs the command, prints, and gives the exit code; nothing else.

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use opctl::cli::Cli;
use opctl::commands::{self, Console, Outcome};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// For the user to fix, or drift with `--check`.
const FAILURE: u8 = 1;
const DEFECT: u8 = 2;
/// 128 + SIGINT, as shells give it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| commands::report_defect(&panic.to_string())));
    std::panic::catch_unwind(run).unwrap_or(ExitCode::from(DEFECT))
}

fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let console = Console::new(&cli.global);
    match commands::run(cli.command, &console) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Drift | Outcome::Refused) => ExitCode::from(FAILURE),
        Ok(Outcome::Exit(code)) => ExitCode::from(code),
        Err(error) => {
            commands::report(&error, &console);
            ExitCode::from(if commands::is_interrupt(&error) { INTERRUPTED } else { FAILURE })
        }
    }
}

/// `--help` and `--version`, or what is wrong with the arguments.
fn usage(error: &clap::Error) -> ExitCode {
    // A closed pipe is no error of ours: nobody is left to read.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => {
            if let Some(hint) = hint(error) {
                anstream::eprintln!("\nhelp: {hint}");
            }
            ExitCode::from(FAILURE)
        }
    }
}

/// What is said here instead, where somebody types out of habit.
fn hint(error: &clap::Error) -> Option<&'static str> {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::InvalidSubcommand, _) => {
            let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
            commands::habits::hint(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        }
        (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) => commands::habits::flag_hint(flag),
        _ => None,
    }
}
