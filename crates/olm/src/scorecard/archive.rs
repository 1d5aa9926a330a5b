//! The bundle as an archive that test Pods unpack. The output is reproducible.

use std::io;

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use opctl_model::project::{ReadError, Tree};

/// `bundle.tar.gz`, with paths relative to the bundle.
pub fn bundle(tree: &Tree) -> io::Result<Vec<u8>> {
    let encoder: GzEncoder<Vec<u8>> = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    let mut archive = Builder::new(encoder);
    let failed = |error: ReadError| io::Error::other(error.to_string());
    for path in tree.files_below("").map_err(failed)? {
        let Some(text) = tree.read(&path).map_err(failed)? else { continue };
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, &path, text.as_bytes())?;
    }
    archive.into_inner()?.finish()
}
