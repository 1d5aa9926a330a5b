//! Unpacks a release: a gzipped tar archive with the programs in `controller-tools/envtest`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use flate2::read::GzDecoder;

use super::AssetsError;

const FOLDER: &str = "controller-tools/envtest";

/// Unpacks the programs into an empty folder.
pub fn unpack(archive: &Path, folder: &Path) -> Result<(), AssetsError> {
    let bad = |reason: String| AssetsError::Archive { archive: archive.into(), reason };
    let file = File::open(archive).map_err(|error| bad(error.to_string()))?;
    let mut tar = tar::Archive::new(GzDecoder::new(file));
    for entry in tar.entries().map_err(|error| bad(error.to_string()))? {
        let mut entry = entry.map_err(|error| bad(error.to_string()))?;
        let path: PathBuf = entry.path().map_err(|error| bad(error.to_string()))?.into_owned();
        // Rejected, since it could write to other folders or refer to them.
        let plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let kind = entry.header().entry_type();
        if !plain || kind.is_symlink() || kind.is_hard_link() {
            return Err(bad(format!("its entry `{}` leads out of it", path.display())));
        }
        let path = path.strip_prefix(".").unwrap_or(&path);
        let Some(name) = path.file_name().filter(|_| kind.is_file() && path.parent() == Some(Path::new(FOLDER))) else {
            continue;
        };
        let target = folder.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o755);
        let mut program = options.open(&target).map_err(|error| AssetsError::write(&target, error))?;
        copy(&mut entry, &mut program).map_err(|error| match error {
            Copy::Read(error) => bad(error.to_string()),
            Copy::Write(error) => AssetsError::write(&target, error),
        })?;
        // Without this, the rename of the folder may reach the disk before the files in it.
        program.sync_all().map_err(|error| AssetsError::write(&target, error))?;
    }
    Ok(())
}

enum Copy {
    Read(io::Error),
    Write(io::Error),
}

/// Like `io::copy`, but distinguishes errors of the reader from those of the writer.
fn copy(from: &mut impl io::Read, to: &mut impl io::Write) -> Result<(), Copy> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer).map_err(Copy::Read)? {
            0 => return Ok(()),
            length => to.write_all(&buffer[..length]).map_err(Copy::Write)?,
        }
    }
}
