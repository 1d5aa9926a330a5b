use serde::{Deserialize, Serialize};

/// In millimetres.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Size {
    pub width: u32,
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Size {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "object",
            "required": ["width"],
            "properties": {
                "width": ({
                    let mut width = generator.subschema_for::<u32>();
                    width.ensure_object().insert("description".into(), "From side to side.".into());
                    width
                }),
            },
        })
    }
}

pub mod r#type {
    #[derive(Clone, Debug, serde::Deserialize, serde::Serialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Type {
        Round,
        Square,
    }
}
