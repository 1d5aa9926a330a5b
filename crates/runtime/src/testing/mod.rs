//! An API server for unit tests.

mod mock;

pub use mock::*;

#[cfg(feature = "conversion")]
pub use crate::webhook::conversion::round_trip::round_trip;
#[cfg(feature = "webhook")]
pub use crate::webhook::testing::ask;
