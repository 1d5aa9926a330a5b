use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[allow(unused_imports)]
use a::*;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesGlobsSeeWhatIsPublic")]
pub struct Spec {
    pub x: String,
    pub y: Option<inner::Own>,
}

pub mod a {
    #[allow(unused_imports)]
    use std::primitive::u64 as String;
    #[allow(dead_code)]
    struct Option;
    pub struct Y;
}

mod inner {
    use super::*;

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Own {
        pub text: String,
        pub shared: deep::Shared,
    }

    mod deep {
        use super::*;

        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub(super) struct Hidden {
            pub x: u8,
        }

        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Shared {
            pub(super) hidden: Hidden,
        }
    }
}
