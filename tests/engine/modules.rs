use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::inner::deeper::*;
pub use inner::Renamed as Local;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Modules", root = "ModulesRoot", derive = "PartialEq")]
#[derive(PartialEq)]
pub struct ModulesSpec {
    pub glob: Deep,
    pub renamed: Local,
    pub path: inner::deeper::Deep,
    pub up: inner::UsesSuper,
    #[cfg(test)]
    pub only_in_tests: String,
    #[cfg_attr(all(), serde(rename = "viaCfgAttr"))]
    pub via_cfg_attr: String,
}

mod inner {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
    pub struct Renamed {
        pub x: i32,
    }

    #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
    pub struct UsesSuper {
        pub level: super::Outer,
        pub own: self::deeper::Deep,
    }

    pub mod deeper {
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        #[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
        pub struct Deep {
            pub outer: Option<super::super::Outer>,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Outer {
    pub y: i32,
}
