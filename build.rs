//! Makes cargo rebuild when a template changes: `include_dir!` alone does not tell it about new and removed files.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    watch(Path::new("templates"))
}

/// Names every folder and file: cargo looks at the time of a folder's own change, not of its files'.
fn watch(path: &Path) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", path.display());
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            watch(&entry?.path())?;
        }
    }
    Ok(())
}
