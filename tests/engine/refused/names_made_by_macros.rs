use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod a {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "MadeType")]
    pub struct Spec {
        pub x: String,
    }

    macro_rules! made {
        ($n:ident) => {
            #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
            pub struct $n {
                pub a: u8,
            }
        };
    }
    made!(String);
}

mod b {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "MadeUse")]
    pub struct Spec {
        pub x: String,
    }

    macro_rules! c {
        () => {
            use super::other::String;
        };
    }
    c!();
}

mod c {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Unknown")]
    pub struct Spec {
        pub x: String,
    }

    unknown::macros!();
}

mod d {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Included")]
    pub struct Spec {
        pub x: String,
    }

    include!(concat!(env!("OUT_DIR"), "/made.rs"));
}

mod e {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "OwnDefault")]
    pub struct Spec {
        #[serde(default)]
        pub x: T,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
    pub struct T {
        pub a: u8,
    }
    macro_rules! d {
        ($t:ty) => {
            impl $t {
                pub fn default() -> Self {
                    Self { a: 3 }
                }
            }
        };
    }
    d!(T);
}

mod f {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Plain")]
    pub struct Spec {
        #[serde(default)]
        pub x: Level,
    }

    #[derive(Clone, Debug, Default, JsonSchema)]
    #[schemars(with = "String")]
    pub struct Level(pub u8);
    serde_plain::derive_serialize_from_display!(Level);
}

pub mod other {
    pub struct String {
        pub o: u8,
    }
}
