use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "ScalarsAtomics")]
pub struct Spec {
    #[schemars(with = "std::sync::atomic::AtomicBool")]
    pub bool: u8,
    #[schemars(with = "std::sync::atomic::AtomicI8")]
    pub i8: u8,
    #[schemars(with = "std::sync::atomic::AtomicI16")]
    pub i16: u8,
    #[schemars(with = "std::sync::atomic::AtomicI32")]
    pub i32: u8,
    #[schemars(with = "std::sync::atomic::AtomicI64")]
    pub i64: u8,
    #[schemars(with = "std::sync::atomic::AtomicIsize")]
    pub isize: u8,
    #[schemars(with = "std::sync::atomic::AtomicU8")]
    pub u8: u8,
    #[schemars(with = "std::sync::atomic::AtomicU16")]
    pub u16: u8,
    #[schemars(with = "std::sync::atomic::AtomicU32")]
    pub u32: u8,
    #[schemars(with = "std::sync::atomic::AtomicU64")]
    pub u64: u8,
    #[schemars(with = "std::sync::atomic::AtomicUsize")]
    pub usize: u8,
}
