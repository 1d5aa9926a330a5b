//! An API server for unit tests.

mod mock;

pub use mock::*;
