use schemars::JsonSchema;

pub mod broken;

pub struct Underived {
    x: u8,
}

pub struct ByHand;

impl JsonSchema for ByHand {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ByHand".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.root_schema_for::<String>()
    }
}

#[cfg(has_more)]
#[derive(JsonSchema)]
pub struct Undecided(String);

#[derive(JsonSchema)]
pub struct PartlyUndecided {
    #[cfg(any(has_more, unix))]
    decided: u8,
    #[cfg(all(has_more, unix))]
    undecided: u8,
}

macro_rules! types {
    ($($item:item)*) => { $($item)* };
}

types! {
    #[derive(JsonSchema)]
    pub struct Made(u8);
}

named!(Named);

pub mod globs {
    #[cfg(has_more)]
    pub use super::*;
}

pub mod traits {
    pub trait Shown {
        fn to_string(&self) -> String;
    }
}
