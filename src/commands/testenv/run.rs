//! `opctl testenv run`: runs a command against a temporary API server.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};

use super::{crds, start};
use crate::cli::TestenvRun;
use crate::commands::error::{Failed, Refusal};
use crate::commands::{Console, Outcome, environment};
use crate::interrupt;

pub fn run(args: &TestenvRun, console: &Console) -> anyhow::Result<Outcome> {
    let crds = crds(&args.servers.crds)?;
    // Any number of them at once.
    let environment = start(&args.servers, &format!("run-{}", std::process::id()), &crds, console)?;
    let [program, arguments @ ..] = &args.command[..] else { unreachable!("clap wants one") };
    let mut command = Command::new(program);
    command.args(arguments).env("KUBECONFIG", environment.kubeconfig());
    // What kubectl knows of an API server it keeps by its address, which another one may have tomorrow.
    command.env("KUBECACHEDIR", environment.folder().join("kubectl"));
    // Its kubectl serves where there is no other.
    if let Some(path) = environment::path_with(environment.assets().folder()) {
        command.env("PATH", path);
    }
    let status = interrupt::run_foreground(&mut command).map_err(|error| {
        let refusal = Refusal::new(format!("cannot run `{}`: {error}", program.display()));
        Failed(refusal.help("put a command and its arguments after `--`: `opctl testenv run -- cargo test`"))
    })?;
    Ok(Outcome::Exit(code(status)))
}

/// As shells give it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
