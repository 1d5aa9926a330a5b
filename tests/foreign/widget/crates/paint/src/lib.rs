#[derive(Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
pub enum Color {
    Black,
    #[cfg(feature = "blue")]
    Blue,
    #[cfg(feature = "green")]
    Green,
    #[cfg(feature = "red")]
    Red,
}
