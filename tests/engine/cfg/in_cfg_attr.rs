use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CfgInCfgAttr")]
pub struct Spec {
    #[cfg_attr(all(), cfg(feature = "off"))]
    pub never: String,
    #[cfg_attr(feature = "on", cfg(feature = "on"))]
    pub kept: String,
    #[cfg_attr(feature = "off", cfg(feature = "off"))]
    pub kept_too: String,
    pub variants: Variants,
    pub imported: Imported,
    #[serde(default)]
    pub made: Made,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Variants {
    First,
    #[cfg_attr(unix, cfg_attr(feature = "on", cfg(windows)))]
    Never,
}

mod a {
    pub type Imported = u64;
}

mod b {
    pub type Imported = i64;
}

#[cfg_attr(unix, cfg(windows))]
use a::Imported;
#[cfg_attr(unix, cfg(not(windows)))]
use b::Imported;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Made {
    pub x: i32,
}

#[cfg_attr(all(), cfg(any()))]
impl Default for Made {
    fn default() -> Self {
        Made { x: 1 }
    }
}

impl Default for Made {
    #[cfg_attr(all(), cfg(any()))]
    fn default() -> Self {
        Made { x: 2 }
    }

    #[cfg(all())]
    fn default() -> Self {
        Made { x: 3 }
    }
}

mod other {
    #![cfg_attr(unix, cfg(windows))]
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    struct Never {
        pub x: u8,
    }
}
