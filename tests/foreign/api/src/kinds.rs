//! A member of the workspace: its library has another name than its package.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Items of foreign crates, by way of a path dependency.
pub mod again {
    #[cfg(feature = "extra")]
    pub extern crate widget as gadget;
    pub use shared::*;
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Kinds {
    #[cfg(feature = "extra")]
    pub extra: String,
    #[cfg(feature = "plain")]
    pub plain: String,
    #[cfg(feature = "fancy")]
    pub fancy: String,
    pub level: shared::Level,
}
