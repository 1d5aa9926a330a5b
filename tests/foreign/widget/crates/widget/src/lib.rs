//! A git dependency, in a repository of several packages.

mod size;

pub use paint;
pub use size::Size;
pub(crate) use size::r#type;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Widget {
    pub outer_color: paint::Color,
    pub size: Size,
    pub r#type: r#type::Type,
    #[cfg(feature = "red")]
    pub red: bool,
}
