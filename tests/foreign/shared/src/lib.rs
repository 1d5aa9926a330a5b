//! A path dependency outside of the workspace.

mod deep;
#[cfg(feature = "ports")]
pub use deep::ports::{self, Port as Gate};

pub use self::deep::*;

#[cfg(feature = "loud")]
pub type Level = String;
#[cfg(not(feature = "loud"))]
pub type Level = u8;
