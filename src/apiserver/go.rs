//! What Go's standard library reads and writes, where it differs from what Rust's crates do: an API server takes a text
//! for a time or a URL by the rules of Go.

pub mod time;
pub mod url;
