pub use inner::Renamed as Local;
use kube::CustomResource;
use schemars::JsonSchema;
use self::inner::deeper::*;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesPaths")]
pub struct Spec {
    pub glob: Deep,
    pub renamed: Local,
    pub path: inner::deeper::Deep,
    pub up: inner::UsesSuper,
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

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[derive(PartialEq)]
pub struct Outer {
    pub y: i32,
}
