//! The programs of a test environment as processes. None outlives the environment, however this process ends.
//!
//! - The arguments of every process contain the folder of the environment, so the process table shows which processes
//!   belong to it. There are no PID files, which could be stale.
//! - A *guard*, a shell whose standard input is closed when this process ends, kills the registered processes and
//!   removes the folder. If it is killed as well, the next start finds the folder without a lock, and cleans up.
//! - Programs are stopped with SIGKILL, because their data is not needed afterwards.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// All programs of an environment, required and optional.
pub const PROGRAMS: [&str; 5] = ["kwok", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"];

/// A program that runs in the background. It is killed when this is dropped.
pub struct Process(Child);

impl Process {
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// The exit status; `None` while it runs.
    pub fn exit_status(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    pub fn kill(&mut self) -> io::Result<()> {
        self.0.kill().and_then(|()| self.0.wait()).map(drop)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Ctrl-C on the terminal does not reach the process, so it runs until the environment stops it.
fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Starts a program in the folder of an environment, with the log `PROGRAM.log`.
pub fn start(program: &Path, arguments: &[String], folder: &Path) -> io::Result<Process> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let log = File::options().create(true).append(true).open(log_of(folder, &name))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    in_own_group(&mut command).spawn().map(Process)
}

pub fn log_of(folder: &Path, program: &str) -> PathBuf {
    folder.join(format!("{program}.log"))
}

/// A process that waits until this one ends, even by SIGKILL, then kills the watched processes and removes the folder.
pub struct Guard(Child);

impl Guard {
    // Its standard input is closed when this process ends. Killed programs may still write while the folder is removed.
    const SCRIPT: &str = r#"
        trap '' INT TERM HUP
        while read -r word pid; do
            case $word in
                watch) pids="$pids $pid" ;;
                forget) pids=$(for other in $pids; do [ "$other" = "$pid" ] || echo "$other"; done) ;;
                dismissed) exit ;;
            esac
        done
        kill -KILL $pids
        for _ in 1 2 3 4 5 6 7 8 9; do rm -rf "$1" && exit; sleep 0.2; done"#;

    pub fn of(folder: &Path) -> io::Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", Self::SCRIPT, "opctl-testenv-guard"]).arg(folder).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self(in_own_group(&mut command).spawn()?))
    }

    pub fn watch(&mut self, pid: u32) -> io::Result<()> {
        self.send(&format!("watch {pid}"))
    }

    /// Releases a process that has exited, since its id may be reused.
    pub fn forget(&mut self, pid: u32) -> io::Result<()> {
        self.send(&format!("forget {pid}"))
    }

    /// Stops the guard without cleaning up.
    pub fn dismiss(mut self) -> io::Result<()> {
        self.send("dismissed")?;
        self.0.wait().map(drop)
    }

    fn send(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.0.stdin.as_ref().expect("it is piped"), "{line}")
    }
}

/// Kills the programs of the environment in this folder, whichever process started them, and waits until they have
/// exited.
pub fn kill_all(folder: &Path) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(10);
    let start = Instant::now();
    let mut left = running(folder)?;
    for pid in &left {
        // Fails only if it has already exited, or belongs to another user, who would then own the folder, too.
        let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
    }
    while !left.is_empty() {
        if start.elapsed() > PATIENCE {
            return Err(io::Error::other(format!("these processes do not exit: {left:?}")));
        }
        sleep(Duration::from_millis(5));
        left.retain(|pid| !has_exited(*pid));
    }
    Ok(())
}

/// `true` for a zombie, but only after its last thread has exited, since threads may hold ports.
fn has_exited(pid: i32) -> bool {
    if !cfg!(target_os = "linux") {
        return kill(Pid::from_raw(pid), None).is_err();
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    threads <= 1 && stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// The ids of the programs of the environment in this folder. Its path is in their arguments.
pub fn running(folder: &Path) -> io::Result<Vec<i32>> {
    let inside = format!("{}/", folder.display());
    let is_one = |command: &[&str]| {
        let name = command.first().and_then(|program| program.rsplit('/').next()).unwrap_or_default();
        PROGRAMS.contains(&name) && command.iter().any(|argument| argument.contains(&inside))
    };
    let processes = commands()?.into_iter();
    let ours = processes.filter(|(_, command)| is_one(&command.split('\0').collect::<Vec<_>>()));
    Ok(ours.map(|(pid, _)| pid).collect())
}

/// The ids and arguments of all processes; arguments are separated by NUL.
#[cfg(target_os = "linux")]
fn commands() -> io::Result<Vec<(i32, String)>> {
    let command = |entry: io::Result<std::fs::DirEntry>| {
        let path = entry.ok()?.path();
        let pid = path.file_name()?.to_str()?.parse().ok()?;
        // Unreadable if the process has just exited.
        Some((pid, String::from_utf8_lossy(&std::fs::read(path.join("cmdline")).ok()?).into_owned()))
    };
    Ok(std::fs::read_dir("/proc")?.filter_map(command).collect())
}

#[cfg(not(target_os = "linux"))]
fn commands() -> io::Result<Vec<(i32, String)>> {
    let output = Command::new("ps").args(["-axwwo", "pid=,args="]).output()?;
    let command = |line: &str| {
        let (pid, command) = line.trim().split_once(' ')?;
        Some((pid.parse().ok()?, command.trim().replace(" --", "\0--")))
    };
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(command).collect())
}
