//! Times and URLs as Go's standard library parses and formats them, which differs from Rust's crates.

pub mod time;
pub mod url;
