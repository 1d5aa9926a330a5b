//! Makes cargo rebuild when a template changes: `include_dir!` alone does not tell it about new and removed files. And finds the
//! types in the table of Kubernetes' types, which takes longer than most commands.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const TYPES: &str = "src/source/known/kubernetes.txt";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={TYPES}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("kubernetes.rs"), format!("{:?}", starts(&fs::read_to_string(TYPES)?)))?;
    watch(Path::new("templates"))
}

/// Where the blocks begin that have an empty line before them.
fn starts(table: &str) -> Vec<usize> {
    const BETWEEN: &str = "\n\n";
    table.match_indices(BETWEEN).map(|(at, _)| at + BETWEEN.len()).collect()
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
