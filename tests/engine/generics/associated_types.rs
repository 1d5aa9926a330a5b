use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "GenericsAssociatedTypes")]
pub struct Spec {
    pub of_type: <Small as Measured>::Unit,
    pub list: Vec<<Large as self::Measured>::Unit>,
    pub of_parameter: Holder<Small>,
    pub of_other: Holder<Large>,
}

pub trait Measured {
    type Unit: Value;
    type Bound: Value;
}

pub trait Value: Clone + std::fmt::Debug + Serialize + serde::de::DeserializeOwned + JsonSchema {}

impl<T: Clone + std::fmt::Debug + Serialize + serde::de::DeserializeOwned + JsonSchema> Value for T {}

pub trait Other {
    type Bound;
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Small;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Large;

impl Measured for Small {
    type Unit = u8;
    type Bound = String;
}

impl Other for Small {
    type Bound = bool;
}

impl Measured for Large {
    type Unit = inner::Detail;
    type Bound = Vec<Self::Unit>;
}

mod inner {
    use super::*;

    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Detail {
        pub text: String,
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(bound = "")]
pub struct Holder<T: Measured> {
    pub unit: T::Unit,
    pub bound: <T as Measured>::Bound,
}
