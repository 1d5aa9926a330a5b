#[cfg(feature = "ports")]
#[path = "../gates.rs"]
pub mod ports;

/// Named like a type of the prelude.
#[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
pub struct Option {
    pub chosen: bool,
}
