use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub fn crd() {
    use kube::CustomResourceExt;

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "InABody")]
    pub struct BodySpec {
        pub x: u8,
    }
    InABody::crd();
}

pub async fn two(_a: u8, _b: u8) {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "InAnotherBody")]
    pub struct AnotherSpec {
        pub x: u8,
    }
}

#[test]
fn tests_do_not_count() {
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "test.example.com", version = "v1", kind = "InATest")]
    pub struct TestSpec {
        pub x: u8,
    }
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "WrittenInAConstant")]
pub struct Spec {
    #[serde(default)]
    pub x: Written,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct Written {
    pub a: u8,
}

const _: () = {
    impl Serialize for Written {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            s.serialize_u8(9)
        }
    }
};
