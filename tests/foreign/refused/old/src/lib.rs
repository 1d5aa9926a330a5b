#[derive(schemars::JsonSchema)]
pub struct Old {
    x: u8,
}
