//! Reads untrusted files: folders, archives and images that opctl copies, unpacks or reads as a whole. The same policy
//! holds for all: a file is inside its root after its links are resolved, it is regular, and sizes and counts are
//! within [`Limits`].

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Component, Path};

use flate2::bufread::GzDecoder;
use tar::Archive;
use walkdir::WalkDir;

use super::tree::is_of_a_run;
use super::unreadable::ReadError;

/// Files by path from the root, with `/`.
pub type Contents = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum size of one file, in bytes.
    pub file: u64,
    /// Maximum number of files and folders.
    pub entries: usize,
    /// Maximum size of all files together, in bytes.
    pub total: u64,
}

/// Several copies of `total` fit into 1 GiB.
pub const LIMITS: Limits = Limits { file: 64 << 20, entries: 10_000, total: 128 << 20 };

/// Reads folders and archives, and counts the bytes and entries of all of them.
pub struct Intake {
    limits: Limits,
    entries: usize,
    total: u64,
}

impl Default for Intake {
    fn default() -> Self {
        Self::within(LIMITS)
    }
}

impl Intake {
    pub fn within(limits: Limits) -> Self {
        Self { limits, entries: 0, total: 0 }
    }

    /// The files of the folder `below` in `root`, by path from `root`, without `.git` and temporary files of a killed
    /// opctl. Links within `root` are followed. A missing folder has no files.
    ///
    /// # Errors
    ///
    /// If an entry cannot be read, is neither a file nor a folder, leads out of `root`, or exceeds the limits.
    pub fn folder(&mut self, root: &Path, below: &str) -> Result<Contents, ReadError> {
        let failed = |path: &Path, source| ReadError { path: path.display().to_string(), source };
        let top = root.join(below);
        let real = match root.canonicalize() {
            Ok(real) if below.is_empty() || top.symlink_metadata().is_ok() => real,
            Ok(_) => return Ok(Contents::new()),
            Err(error) => return Err(failed(root, error)),
        };
        let mut contents = Contents::new();
        let walk = WalkDir::new(&top).follow_links(true).sort_by_file_name().into_iter();
        for entry in walk.filter_entry(|entry| entry.file_name() != ".git" && !is_of_a_run(entry.file_name())) {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(&top).to_owned();
                failed(&path, error.into_io_error().unwrap_or_else(|| io::Error::other("its links lead in a circle")))
            })?;
            let path = entry.path();
            self.count().map_err(|error| failed(&top, error))?;
            if entry.depth() == 0 || entry.path_is_symlink() {
                let target = path.canonicalize().map_err(|error| failed(path, error))?;
                if !target.starts_with(&real) {
                    return Err(failed(path, outside(root)));
                }
            }
            if entry.file_type().is_dir() {
                continue;
            }
            let file = open_regular(path, self.limits.file);
            let content = file.and_then(|(file, _)| self.take(file)).map_err(|error| failed(path, error))?;
            let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
            contents.insert(name.into_owned(), content);
        }
        Ok(contents)
    }

    /// The regular files of a tar archive, which may be compressed by gzip. Links and devices are skipped.
    ///
    /// # Errors
    ///
    /// If this is not an archive, a path leads out of it, or its files exceed the limits.
    pub fn archive(&mut self, archive: impl Read) -> io::Result<Contents> {
        let Limits { entries, total, .. } = self.limits;
        // Each entry has a header and padding; the end is padded to 10 KiB.
        let most = total + 1024 * (entries as u64 + 10);
        let mut archive = BufReader::new(archive);
        let is_compressed = archive.fill_buf()?.starts_with(&[0x1f, 0x8b]);
        let reader: Box<dyn Read> = if is_compressed { Box::new(GzDecoder::new(archive)) } else { Box::new(archive) };
        let reader = Capped { reader, left: most, limit: total };
        let mut contents = Contents::new();
        for entry in Archive::new(reader).entries()? {
            let entry = entry?;
            self.count()?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let path = entry.path()?.into_owned();
            let at = |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display()));
            let parts = path.components().filter(|part| !matches!(part, Component::CurDir | Component::RootDir));
            let names = parts.map(|part| match part {
                Component::Normal(name) => Ok(name.to_string_lossy()),
                _ => Err(at(io::Error::new(ErrorKind::InvalidInput, "the path leads out of the archive"))),
            });
            let name = names.collect::<io::Result<Vec<_>>>()?.join("/");
            contents.insert(name, self.take(entry).map_err(at)?);
        }
        Ok(contents)
    }

    fn count(&mut self) -> io::Result<()> {
        self.entries += 1;
        self.limits.check(self.entries, self.total)
    }

    fn take(&mut self, source: impl Read) -> io::Result<Vec<u8>> {
        let content = read_within(source, self.limits.file)?;
        self.total += content.len() as u64;
        self.limits.check(self.entries, self.total).map(|()| content)
    }
}

/// Limits the bytes read from an archive, including headers and skipped entries.
struct Capped<R> {
    reader: R,
    left: u64,
    limit: u64,
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(length as u64).ok_or_else(|| together(self.limit))?;
        Ok(length)
    }
}

/// Reads the source to its end.
///
/// # Errors
///
/// If there are more bytes than the limit.
pub fn read_within(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    read_into(Vec::new(), source, limit)
}

fn read_into(mut content: Vec<u8>, source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    source.take(limit + 1).read_to_end(&mut content)?;
    match content.len() as u64 > limit {
        true => Err(larger(limit)),
        false => Ok(content),
    }
}

/// Reads a regular file. Other files, such as devices and pipes, may block or have no end.
///
/// # Errors
///
/// If it is not a regular file, or larger than [`LIMITS`].
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let (file, length) = open_regular(path, LIMITS.file)?;
    // With room for all of it, it is read at once; else by and by, from 32 bytes on.
    let room = usize::try_from(length).unwrap_or_default();
    read_into(Vec::with_capacity(room), file, LIMITS.file)
}

/// The file and its length.
fn open_regular(path: &Path, limit: u64) -> io::Result<(File, u64)> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.len() > limit {
        return Err(larger(limit));
    }
    Ok((File::open(path)?, metadata.len()))
}

pub fn outside(root: &Path) -> io::Error {
    io::Error::other(format!("it leads out of `{}`", root.display()))
}

impl Limits {
    /// Checks the totals.
    ///
    /// # Errors
    ///
    /// If there are too many files and folders, or too many bytes in all files.
    pub fn check(&self, entries: usize, total: u64) -> io::Result<()> {
        if entries > self.entries {
            return Err(too_large(format!("there are more than {} files and folders", self.entries)));
        }
        if total > self.total { Err(together(self.total)) } else { Ok(()) }
    }
}

fn larger(limit: u64) -> io::Error {
    too_large(format!("it is larger than {}", size(limit)))
}

fn together(limit: u64) -> io::Error {
    too_large(format!("its files are together larger than {}", size(limit)))
}

fn too_large(message: String) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, message)
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, EntryType, Header};

    use super::*;

    const SMALL: Limits = Limits { file: 100, entries: 4, total: 250 };

    fn archive(files: &[(&str, usize)]) -> Vec<u8> {
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
        for (path, size) in files {
            let mut header = Header::new_gnu();
            // `set_path` rejects `..`.
            header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
            header.set_size(*size as u64);
            header.set_cksum();
            builder.append(&header, &vec![0; *size][..]).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    fn error(archive: &[u8]) -> String {
        Intake::within(SMALL).archive(archive).unwrap_err().to_string()
    }

    #[test]
    fn archives_are_read_within_limits() {
        let files = Intake::within(SMALL).archive(&archive(&[("./a/b", 1), ("/c", 100)])[..]).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a/b", "c"]);
        assert_eq!(error(&archive(&[("a", 101)])), "`a`: it is larger than 100 bytes");
        assert_eq!(
            error(&archive(&[("a", 100), ("b", 100), ("c", 51)])),
            "`c`: its files are together larger than 250 bytes"
        );
        let many = ["a", "b", "c", "d", "e"].map(|name| (name, 1));
        assert_eq!(error(&archive(&many)), "there are more than 4 files and folders");
        assert_eq!(error(&archive(&[("a/../../b", 1)])), "`a/../../b`: the path leads out of the archive");
    }

    #[test]
    fn several_archives_have_one_limit() {
        let mut intake = Intake::within(SMALL);
        let one = archive(&[("a", 100)]);
        assert!(intake.archive(&one[..]).is_ok() && intake.archive(&one[..]).is_ok());
        assert!(intake.archive(&one[..]).is_err());
    }

    #[test]
    fn headers_are_limited_as_well() {
        let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::GNULongName);
        header.set_size(1 << 20);
        header.set_cksum();
        builder.append(&header, io::repeat(b'a').take(1 << 20)).unwrap();
        let bomb = builder.into_inner().unwrap().finish().unwrap();
        assert_eq!(error(&bomb), "its files are together larger than 250 bytes");
    }

    #[test]
    fn links_in_archives_are_left_out() {
        let mut builder = Builder::new(Vec::new());
        for kind in [EntryType::Symlink, EntryType::Link] {
            let mut header = Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            builder.append_link(&mut header, "a", "/etc/passwd").unwrap();
        }
        assert!(Intake::within(SMALL).archive(&builder.into_inner().unwrap()[..]).unwrap().is_empty());
    }

    #[test]
    fn folders_are_read_within_limits() {
        let folder = tempfile::tempdir().unwrap();
        let (root, below) = (folder.path().join("root"), folder.path().join("root/a"));
        std::fs::create_dir_all(&below).unwrap();
        let read = || Intake::within(SMALL).folder(&root, "a").map(|files| files.into_keys().collect::<Vec<_>>());
        let failed = |what: &str| {
            let said = read().unwrap_err().to_string();
            assert!(said.ends_with(what), "{said}");
        };
        File::create(below.join("b")).unwrap().write_all(&[b'x'; 100]).unwrap();
        symlink("b", below.join("c")).unwrap();
        assert_eq!(read().unwrap(), ["a/b", "a/c"]);
        assert_eq!(Intake::default().folder(&root, "none").unwrap(), Contents::new());
        symlink("/dev/zero", below.join("d")).unwrap();
        failed(&format!("root/a/d`: it leads out of `{}`", root.display()));
        std::fs::remove_file(below.join("d")).unwrap();
        symlink(".", below.join("d")).unwrap();
        failed("root/a/d`: its links lead in a circle");
        std::fs::remove_file(below.join("d")).unwrap();
        File::create(below.join("d")).unwrap().write_all(&[b'x'; 51]).unwrap();
        failed("root/a/d`: its files are together larger than 250 bytes");
        File::create(below.join("b")).unwrap().write_all(&[b'x'; 101]).unwrap();
        failed("root/a/b`: it is larger than 100 bytes");
        File::create(below.join("b")).unwrap();
        File::create(below.join("e")).unwrap();
        failed("root/a`: there are more than 4 files and folders");
    }
}
