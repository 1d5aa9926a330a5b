//! The Rust code on the pages of the book that belongs to no worked example, in a crate that compiles.
//! `tests/quick/docs.rs` compares it with the pages.

pub mod api;
pub mod conversion;
pub mod defaulting;
pub mod markers;
pub mod plain;
pub mod sites;
pub mod validation;

pub use api::Memcached;
