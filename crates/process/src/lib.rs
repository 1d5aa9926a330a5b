//! Child processes and signals: Ctrl-C and SIGTERM stop the children, then this process.
//!
//! A [`Command`] goes in, its output or exit status comes out. The effect of a signal depends on what is running:
//!
//! - a [`Child`], for which this process waits, is stopped with all its descendants before this process exits with 130
//! - a [`Process`] runs in the background until it is stopped or dropped
//! - [`run_foreground`] gives a command the terminal, as a shell does
//! - while a [`Shield`] is raised, a signal is only recorded; code that must not be interrupted, such as writing files,
//!   checks for it
//!
//! Nothing here knows which programs are started, or why. The signal handler is installed once, with the first child or
//! shield.

use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, ChildStderr, ChildStdin, Command, ExitStatus, Output};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// 128 + SIGINT, as in shells.
const EXIT_CODE: i32 = 130;
/// The interval at which a process is polled for its exit.
const LOOK: Duration = Duration::from_millis(10);

struct State {
    /// The number of raised shields.
    shields: u32,
    interrupted: bool,
    /// The process groups of running children.
    groups: Vec<u32>,
}

// A mutex rather than atomics: the handler holds it until the process exits, so that no write can start in the
// meantime.
static STATE: Mutex<State> = Mutex::new(State { shields: 0, interrupted: false, groups: Vec::new() });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen() {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Fails only if another handler is already installed, which then decides, as before.
        let _ = ctrlc::set_handler(|| {
            let mut state = state();
            state.groups.iter().copied().for_each(stop);
            if state.shields == 0 {
                // Starts a new line after `^C` and the unfinished output of a child.
                if io::stderr().is_terminal() {
                    let _ = writeln!(io::stderr());
                }
                process::exit(EXIT_CODE);
            }
            state.interrupted = true;
        });
    });
}

/// While it exists, a signal is recorded instead of ending this process.
pub struct Shield(());

impl Shield {
    pub fn raise() -> Self {
        listen();
        state().shields += 1;
        Self(())
    }

    pub fn is_interrupted(&self) -> bool {
        state().interrupted
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        let mut state = state();
        state.shields -= 1;
        if state.shields == 0 {
            state.interrupted = false;
        }
    }
}

/// Runs a command in the foreground, as a shell does: it owns the terminal. Waits until it exits, even after a signal.
pub fn run_foreground(command: &mut Command) -> io::Result<ExitStatus> {
    /// The grace period before the process is killed.
    const PATIENCE: Duration = Duration::from_secs(10);
    let shield = Shield::raise();
    // A process that uses the terminal must be in its process group, and receives Ctrl-C from it.
    let shares_terminal = io::stdin().is_terminal();
    let mut process = Process(if shares_terminal { command } else { in_own_group(command) }.spawn()?);
    while !shield.is_interrupted() {
        if let Some(status) = process.end()? {
            return Ok(status);
        }
        sleep(LOOK);
    }
    if shares_terminal { process.wait(PATIENCE) } else { process.stop(PATIENCE) }
}

/// Keeps the terminal's Ctrl-C from the process, and lets it be stopped with all its descendants: cargo would leave its
/// compilers running.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// A word of a command line, quoted for a shell where that is needed.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// A child process that this one waits for. A signal stops it with all its descendants before this process exits.
pub struct Child {
    child: Option<process::Child>,
    group: u32,
}

impl Child {
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        listen();
        // Held during the start, so that a signal finds either no child or one to stop.
        let mut state = state();
        let child = in_own_group(command).spawn()?;
        let group = child.id();
        state.groups.push(group);
        Ok(Self { child: Some(child), group })
    }

    /// Standard input, if it is piped.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.as_mut().and_then(|child| child.stdin.take())
    }

    /// Standard error as a stream, if it is piped.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.as_mut().and_then(|child| child.stderr.take())
    }

    /// Like [`output`](Self::output), with a limit on standard output, in bytes. A child that writes more gets a broken
    /// pipe.
    ///
    /// # Errors
    ///
    /// If waiting for the child fails, or the child writes more.
    pub fn output_within(mut self, limit: u64) -> io::Result<Output> {
        let stdout = self.child.as_mut().and_then(|child| child.stdout.take());
        let read = || {
            let mut bytes = Vec::new();
            stdout.map_or(Ok(0), |stdout| stdout.take(limit + 1).read_to_end(&mut bytes)).map(|_| bytes)
        };
        let (stdout, output) = std::thread::scope(|scope| {
            let reader = scope.spawn(read);
            let output = self.output();
            (reader.join().expect("reading does not panic"), output)
        });
        let (stdout, output) = (stdout?, output?);
        if stdout.len() as u64 > limit {
            let message = format!("its output is larger than {} MiB", limit >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(Output { stdout, ..output })
    }

    /// Waits for the exit, and returns the piped streams that were not taken.
    pub fn output(mut self) -> io::Result<Output> {
        self.child.take().expect("only this takes it").wait_with_output()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        state().groups.retain(|group| *group != self.group);
    }
}

/// Stops every [`Child`], because its output is no longer needed.
pub fn stop_children() {
    state().groups.iter().copied().for_each(stop);
}

/// A process in the background. It is killed when this is dropped.
pub struct Process(process::Child);

impl Process {
    pub fn start(command: &mut Command) -> io::Result<Self> {
        in_own_group(command).spawn().map(Self)
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// The exit status; `None` while it runs.
    pub fn end(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    /// Kills the process without a grace period. Has no effect if it has exited.
    pub fn kill(&mut self) -> io::Result<()> {
        self.0.kill().and_then(|()| self.0.wait()).map(drop)
    }

    /// Stops the process as the kubelet does: SIGTERM, a grace period, SIGKILL.
    pub fn stop(self, patience: Duration) -> io::Result<ExitStatus> {
        stop(self.0.id());
        self.wait(patience)
    }

    fn wait(mut self, patience: Duration) -> io::Result<ExitStatus> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            if start.elapsed() > patience {
                self.0.kill()?;
            }
            sleep(LOOK);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

fn stop(group: u32) {
    if let Ok(group) = i32::try_from(group) {
        // Fails only if the group is empty.
        let _ = killpg(Pid::from_raw(group), Signal::SIGTERM);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_signal_is_noted_while_files_are_written() {
        for signal in ["-INT", "-TERM"] {
            let shield = Shield::raise();
            assert!(!shield.is_interrupted());
            let killed = Command::new("kill").args([signal, &std::process::id().to_string()]).status().unwrap();
            assert!(killed.success());
            let start = Instant::now();
            while !shield.is_interrupted() {
                assert!(start.elapsed() < Duration::from_secs(10), "{signal} was not noted");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}
