//! Child processes of the operator.

use std::env;
use std::fs::DirBuilder;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::process::Child;
#[cfg(unix)]
use tokio::time::timeout;

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
