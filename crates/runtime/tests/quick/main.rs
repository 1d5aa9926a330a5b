//! Tests without an API server; a plain `cargo test` runs them.

#[path = "../../examples/backups/main.rs"]
#[expect(dead_code, reason = "`main` is for the process")]
mod backups;
mod conversions;
mod mock;
mod webhooks;
