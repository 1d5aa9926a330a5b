//! Times and URLs as Go's standard library reads and writes them, which differs from what Rust's crates do.

pub mod time;
pub mod url;
