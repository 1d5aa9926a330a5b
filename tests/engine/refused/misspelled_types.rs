use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::shared::*;

/// A compiler would find no such type, either.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Slip", status = "SlipStaus")]
pub struct SlipSpec {
    pub prelude: Strng,
    pub primitive: Vec<i23>,
    pub by_glob: Volune,
    pub by_path: shared::volumes::Moutn,
    pub far: Elsewhere,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct SlipStatus {
    pub ready: bool,
}

pub mod shared {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Volume {
        pub name: String,
    }

    pub mod volumes {
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};

        #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
        pub struct Mount {
            pub path: String,
        }
    }
}

/// Here, a derive may make the types.
pub mod derived {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Derived")]
    pub struct DerivedSpec {
        pub made: Volums,
    }

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, plural::Plural)]
    pub struct Volume {
        pub name: String,
    }
}

/// And here a macro, or another crate.
pub mod generated {
    use kube::CustomResource;
    use other::*;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "Generated")]
    pub struct GeneratedSpec {
        pub made: Strng,
    }
}
