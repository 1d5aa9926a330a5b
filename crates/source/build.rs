//! Indexes the table of Kubernetes' types at build time: finding the blocks at run time takes longer than most
//! commands.

use std::path::PathBuf;
use std::{env, fs, io};

const TYPES: &str = "src/known/kubernetes.txt";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={TYPES}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::write(out.join("kubernetes.rs"), format!("{:?}", starts(&fs::read_to_string(TYPES)?)))
}

/// Byte offsets of the blocks: each follows an empty line.
fn starts(table: &str) -> Vec<usize> {
    const BETWEEN: &str = "\n\n";
    table.match_indices(BETWEEN).map(|(at, _)| at + BETWEEN.len()).collect()
}
