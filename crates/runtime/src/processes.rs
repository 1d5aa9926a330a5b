//! Child processes of the operator.

use std::env;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::Child;
use tokio::time::sleep;
#[cfg(unix)]
use tokio::time::timeout;
use tracing::warn;

/// Stops a process with SIGTERM, and with SIGKILL if it still runs after `patience`.
pub(crate) async fn stop(child: &mut Child, patience: Duration) -> io::Result<ExitStatus> {
    #[cfg(unix)]
    if let Some(pid) = child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
        // Fails if the process has already exited.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        if let Ok(status) = timeout(patience, child.wait()).await {
            return status;
        }
    }
    child.kill().await?;
    child.wait().await
}

/// A folder for temporary files that only this user can write to.
pub(crate) fn private_folder(name: &str) -> io::Result<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, MetadataExt};
        let user = rustix::process::getuid().as_raw();
        let folder = env::temp_dir().join(format!("{name}-{user}"));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let metadata = std::fs::symlink_metadata(&folder)?;
        match metadata.is_dir() && metadata.uid() == user {
            true => Ok(folder),
            false => Err(io::Error::other(format!("`{}` is not a folder of this user", folder.display()))),
        }
    }
    #[cfg(not(unix))]
    {
        let folder = env::temp_dir().join(name);
        DirBuilder::new().recursive(true).create(&folder).map(|()| folder)
    }
}

/// Variables with the hosts that are accessed without a proxy.
pub(crate) const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The value of such a variable with this machine added, since not every program excludes it by default.
pub(crate) fn no_proxy(name: &str) -> String {
    match env::var(name) {
        Ok(others) if !others.is_empty() => format!("{others},127.0.0.1"),
        _ => "127.0.0.1".to_owned(),
    }
}

/// A folder that only this user can read.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// An empty file that only this user can read.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Kills all processes with this value of an environment variable, even if their parents have exited. Returns `true` if
/// there were any.
#[cfg(target_os = "linux")]
pub(crate) async fn end(variable: &'static str, mark: &str) -> bool {
    use std::ffi::OsStr;

    use rustix::process::{Pid, Signal, kill_process};
    let mut were_any = false;
    for _ in 0..100 {
        let mark = mark.to_owned();
        let left = tokio::task::spawn_blocking(move || {
            let all = procfs::process::all_processes().into_iter().flatten().flatten();
            let is_marked = |process: &procfs::process::Process| {
                process.environ().is_ok_and(|all| all.get(OsStr::new(variable)).is_some_and(|value| *value == *mark))
            };
            let found: Vec<Pid> = all.filter(is_marked).filter_map(|process| Pid::from_raw(process.pid)).collect();
            // Fails if the process has already exited.
            found.iter().for_each(|pid| _ = kill_process(*pid, Signal::KILL));
            found.len()
        });
        match left.await {
            Ok(1..) => were_any = true,
            _ => return were_any,
        }
        sleep(Duration::from_millis(20)).await;
    }
    warn!("processes of a run do not end");
    were_any
}

#[cfg(not(target_os = "linux"))]
pub(crate) async fn end(_variable: &'static str, _mark: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use tokio::process::Command;

    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn processes_are_found_by_their_mark_in_whatever_session() {
        const MARK: &str = "OPCTL_TEST_RUN";
        let mark = format!("test/{}", std::process::id());
        let mut child = Command::new("setsid").args(["sleep", "100"]).env(MARK, &mark).spawn().unwrap();
        let mut other = Command::new("sleep").arg("100").env(MARK, format!("{mark}0")).spawn().unwrap();
        sleep(Duration::from_millis(200)).await;
        assert!(end(MARK, &mark).await);
        assert!(!child.wait().await.unwrap().success());
        assert!(!end(MARK, &mark).await);
        assert_eq!(other.try_wait().unwrap(), None);
        other.kill().await.unwrap();
    }
}
