use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ModulesMacrosThatMakeOtherNames")]
pub struct Spec {
    pub x: String,
    pub y: Option<u8>,
}

macro_rules! newtype {
    ($name:ident, $inner:ty) => {
        pub struct $name($inner);
        impl $name {
            pub fn text(&self) -> String {
                format!("{}", self.0)
            }
        }
    };
}
newtype!(Name, String);

macro_rules! constants {
    ($($name:ident = $value:expr),* $(,)?) => { $(pub const $name: Option<u8> = $value;)* };
}
constants!(ONE = Some(1), TWO = None);

thread_local! {
    static CALLS: std::cell::Cell<u8> = const { std::cell::Cell::new(0) };
}
