use kube::CustomResource;
use schemars::JsonSchema;

#[derive(CustomResource, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Refused")]
pub struct RefusedSpec {
    absent: absent::Type,
    unlocked: unlocked::Type,
    underived: hard::Underived,
    by_hand: hard::ByHand,
    undecided: hard::Undecided,
    inside: hard::PartlyUndecided,
    made: hard::Made,
    named: hard::Named,
    missing: hard::Missing,
    broken: hard::broken::Broken,
    glob: hard::globs::Anything,
    old: old::Old,
    other: k8s_openapi::api::core::v1::EnvVar,
    own: Own,
    #[serde(default = "handed_on::text")]
    handed_on: String,
    #[serde(default = "unread::text")]
    unread: String,
    behind_unread: unread::Type,
}

#[cfg(has_own)]
#[derive(JsonSchema)]
pub struct Own;

mod handed_on {
    use hard::traits::*;

    pub fn text() -> String {
        "a".to_string()
    }
}

mod unread {
    use absent::*;

    pub fn text() -> String {
        "a".to_string()
    }
}
