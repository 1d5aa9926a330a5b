use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "CfgPredicates")]
pub struct Spec {
    #[cfg(windows,)]
    pub with_a_comma: u8,
    #[cfg(any(unix, windows,),)]
    pub with_commas: u8,
    #[cfg(true)]
    pub literal: u8,
    #[cfg(false)]
    pub never: u8,
    #[cfg(all(true, not(true)))]
    pub never_either: u8,
    #[cfg(any(false, unix))]
    pub one_of_them: u8,
    #[cfg_attr(true, serde(rename = "renamed"))]
    #[cfg_attr(false, serde(rename = "notRenamed"))]
    pub by_a_literal: u8,
    #[cfg(target_feature = "sse2")]
    pub of_the_target: u8,
    #[cfg(target_feature = "avx512f")]
    pub of_another_target: u8,
    #[cfg(target_abi = "")]
    pub without_an_abi: u8,
}
