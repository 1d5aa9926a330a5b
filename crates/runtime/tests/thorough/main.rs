//! Slow clients, and servers that refuse requests: most of the time, these tests wait. Run by name: `cargo test --test thorough`.

mod client;
mod servers;
