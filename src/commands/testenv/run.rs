//! `opctl testenv run`: runs a command against a temporary API server.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use clap::Args;

use super::TestenvServersArgs;
use super::{crds, start};
use crate::commands::{Console, Outcome, environment};
use crate::error::{ExternalError, UserError};

/// Run a command with a new API server, and stop the server afterwards
///
/// Sets KUBECONFIG for the command and exits with its exit code. The CRDs of the project are installed first.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  # The tests of a project
  opctl testenv run -- cargo test --test integration

  # With three nodes
  opctl testenv run --nodes 3 -- kubectl get nodes

  # A shell with kubectl
  opctl testenv run -- bash")]
pub struct TestenvRunArgs {
    #[command(flatten)]
    pub servers: TestenvServersArgs,

    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

pub fn run(args: &TestenvRunArgs, console: &Console) -> anyhow::Result<Outcome> {
    let crds = crds(&args.servers.crds)?;
    // The process ID makes the name unique, so any number of environments can run at once.
    let environment = start(&args.servers, &format!("run-{}", std::process::id()), &crds, console)?;
    let [program, arguments @ ..] = &args.command[..] else { unreachable!("clap wants one") };
    #[allow(clippy::disallowed_methods, reason = "it runs what the user says")]
    let mut command = Command::new(program);
    command.args(arguments).env("KUBECONFIG", environment.kubeconfig());
    // kubectl caches data about API servers by address, and another API server may have the same address later.
    command.env("KUBECACHEDIR", environment.folder().join("kubectl"));
    // Provides kubectl, if there is no other one on PATH.
    if let Some(path) = environment::path_with(environment.assets().folder()) {
        command.env("PATH", path);
    }
    let status = opctl_process::run_foreground(&mut command).map_err(|error| {
        let refusal = UserError::new(format!("cannot run `{}`: {error}", program.display()));
        ExternalError(refusal.help("put a command and its arguments after `--`: `opctl testenv run -- cargo test`"))
    })?;
    Ok(Outcome::Exit(code(status)))
}

/// The exit code, as shells report it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
