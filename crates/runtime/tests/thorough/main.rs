//! Tests with slow clients, and servers that refuse requests. They mostly wait.
//!
//! Run by name: `cargo test --test thorough`.

mod client;
mod servers;
