//! Attributes of serde, schemars and kube, and documentation.

use super::indented;
use super::world::{Shape, Ty, World};

/// The derives of all types.
pub const DERIVES: &str = "Clone, Debug, Deserialize, Serialize";
/// `camelCase` is as frequent as in real code.
pub const RULES: [&str; 10] = [
    "lowercase",
    "UPPERCASE",
    "PascalCase",
    "camelCase",
    "camelCase",
    "camelCase",
    "snake_case",
    "SCREAMING_SNAKE_CASE",
    "kebab-case",
    "SCREAMING-KEBAB-CASE",
];

/// The options for a field in its context.
#[derive(Clone, Copy)]
pub struct FieldContext {
    pub module: usize,
    /// Defaults are allowed, except in generics and in the fields of a variant.
    pub defaults: bool,
    pub flatten: bool,
    /// The struct derives KubeSchema.
    pub rules: bool,
}

impl World {
    pub fn field(&mut self, name: &str, ty: &Ty, context: FieldContext) -> String {
        let mut text = self.docs("    ");
        let (mut serde, mut schemars) = (Vec::new(), Vec::new());
        let behind = self.behind(ty).clone();
        if context.flatten && self.can_flatten(&behind) && self.dice.percent(15) {
            return format!("{text}    #[serde(flatten)]\n    pub {name}: {},\n", self.written(ty, context.module));
        }
        let with = self.dice.percent(3);
        if with {
            let ty = self.plain_type(1);
            schemars.push(format!("with = \"{}\"", self.written(&ty, context.module)));
        } else if self.dice.percent(3) {
            let function = self.new_name("schema_");
            let schema = self.hand_schema();
            self.item(
                context.module,
                format!("pub fn {function}(_: &mut schemars::SchemaGenerator) -> schemars::Schema {{\n    schemars::json_schema!({schema})\n}}\n"),
            );
            schemars.push(format!("schema_with = \"{function}\""));
        }
        match self.dice.below(30) {
            0 => serde.push(format!("rename = \"{}\"", name.replace('_', "-"))),
            1 => serde.push(format!("alias = \"other_{name}\"")),
            2 => serde.push(format!("rename(serialize = \"out_{name}\", deserialize = \"in_{name}\")")),
            3 => schemars.push(format!("rename = \"schema_{name}\"")),
            _ => {}
        }
        let mut optional = false;
        if context.defaults && self.has_default(ty) && self.dice.percent(25) {
            optional = true;
            serde.push("default".into());
        } else if context.defaults
            && self.dice.percent(20)
            && let Some(function) = self.default_function(ty, context.module)
        {
            optional = true;
            serde.push(format!("default = \"{function}\""));
        }
        if (optional && self.dice.percent(30) || self.dice.percent(5))
            && let Some(skip) = self.skip(&behind, context.module)
        {
            serde.push(format!("skip_serializing_if = \"{skip}\""));
        }
        match self.dice.below(60) {
            0 if context.defaults && self.has_default(ty) => serde.push("skip".into()),
            1 if context.defaults && self.has_default(ty) => serde.push("skip_deserializing".into()),
            2 => serde.push("skip_serializing".into()),
            3 if context.defaults => schemars.push("skip".into()),
            4 if optional => schemars.push("!default".into()),
            _ => {}
        }
        text += &indented(&self.listed("serde", &serde));
        if self.dice.percent(4) {
            schemars.push("title = \"A field\"".into());
        }
        if self.dice.percent(4) {
            schemars.push("description = concat!(\"joined \", \"words\", 1)".into());
        }
        if self.dice.percent(5) {
            let extension = self.dice.pick(&[
                "extend(\"x-kubernetes-preserve-unknown-fields\" = true)",
                "extend(\"minimum\" = -5, \"maximum\" = 1_000)",
                "extend(\"default\" = { \"a\": [1, 2.5, null] })",
                "extend(\"format\" = \"quantity\")",
            ]);
            schemars.push(extension.into());
        }
        if self.dice.percent(4) {
            let example = self.dice.pick(&[
                "example = 5",
                "example = &\"text\", example = true",
                "example = \"two words\"",
                "example = [1, 2]",
            ]);
            schemars.push(example.into());
        }
        if self.dice.percent(2) {
            text += "    #[deprecated = \"no more\"]\n";
        }
        text += &indented(&self.listed("schemars", &schemars));
        if self.dice.percent(30) {
            text += &indented(&self.validation(&behind, context.module));
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        if context.rules && self.dice.percent(30) {
            text += &format!("    #[x_kube(validation = {})]\n", self.rule());
        } else if context.rules
            && matches!(&behind, Ty::Foreign(path, _) if path.ends_with("Vec"))
            && self.dice.percent(40)
        {
            let strategy = self.dice.pick(&["Atomic", "Set", "Map(vec![\"name\".into(), \"type\".to_string()])"]);
            text += &format!("    #[x_kube(merge_strategy = ListMerge::{strategy})]\n");
        }
        format!("{text}    pub {name}: {},\n", self.written(ty, context.module))
    }

    /// `true` for types that serde can flatten: those with fields, and maps.
    pub fn can_flatten(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Declared(index, _) => {
                matches!(self.types[*index].shape, Shape::Struct(_) | Shape::Opaque | Shape::Units(_))
            }
            Ty::Foreign(path, arguments) if path.ends_with("Map") => {
                matches!(arguments[0], Ty::Scalar("String")) && matches!(arguments[1], Ty::Scalar(_))
            }
            Ty::Foreign(path, arguments) if path.ends_with("Option") => self.can_flatten(&arguments[0]),
            Ty::Foreign(path, _) => path.ends_with("Value"),
            _ => false,
        }
    }

    pub fn skip(&mut self, ty: &Ty, module: usize) -> Option<String> {
        let short = match ty {
            Ty::Scalar("String") => "String::is_empty",
            Ty::Foreign("std::option::Option", _) => "Option::is_none",
            Ty::Foreign("std::vec::Vec", _) => "Vec::is_empty",
            Ty::Foreign("std::collections::BTreeMap", _) => "std::collections::BTreeMap::is_empty",
            Ty::Scalar(integer @ ("i32" | "u16" | "i64")) => {
                let function = self.new_name("is_zero_");
                self.item(module, format!("fn {function}(value: &{integer}) -> bool {{\n    *value == 0\n}}\n"));
                return Some(function);
            }
            Ty::Scalar("bool") => "std::ops::Not::not",
            _ => return None,
        };
        Some(short.into())
    }

    /// A function that returns a value of the type, in this or another module.
    pub fn default_function(&mut self, ty: &Ty, module: usize) -> Option<String> {
        let home = if self.dice.percent(70) { module } else { self.any_module() };
        let value = self.value(ty, home, 2)?;
        let function = self.new_name("default_");
        let written = self.written(ty, home);
        let value = if self.dice.percent(5) { format!("return {value};") } else { value };
        self.item(home, format!("pub fn {function}() -> {written} {{\n    {value}\n}}\n"));
        Some(self.local(&function, home, module))
    }

    /// Attributes that schemars applies if they fit the type, which is usually the case.
    pub fn validation(&mut self, ty: &Ty, module: usize) -> String {
        let small = self.dice.between(0, 9);
        let large = self.dice.between(10, 300);
        let inner = match ty {
            Ty::Foreign("std::option::Option", arguments) => self.behind(&arguments[0]).clone(),
            ty => ty.clone(),
        };
        let text = match &inner {
            Ty::Scalar("String") => match self.dice.below(8) {
                0 => "email".into(),
                1 => "url".into(),
                2 => format!("length(equal = {small})"),
                3 => r#"regex(pattern = r"^[a-z]([-a-z0-9]*[a-z0-9])?$")"#.into(),
                4 => r#"pattern(r"^\d+(ms|s|m|h)$")"#.into(),
                5 => r#"contains(pattern = "a.b")"#.into(),
                6 => {
                    let constant = format!("LENGTH_{}", self.number());
                    self.item(module, format!("pub const {constant}: usize = {large} * 2;\n"));
                    format!("length(min = {small}, max = {constant})")
                }
                _ => format!("length(min = {small}, max = {large})"),
            },
            Ty::Scalar("f32" | "f64") => "range(min = 0.5, max = 99.25)".into(),
            Ty::Scalar("bool" | "char") => return String::new(),
            Ty::Scalar(integer) => match self.dice.below(4) {
                0 => format!("range(min = {small})"),
                1 if matches!(*integer, "i32" | "i64") => format!("range(min = -{small}, max = i16::MAX)"),
                _ => format!("range(min = {small}, max = {})", large % 128),
            },
            Ty::Foreign("std::vec::Vec", arguments) => match &arguments[0] {
                Ty::Scalar("String") if self.dice.percent(50) => {
                    format!("length(max = {large}), inner(length(min = {small}), pattern(\"^a\"))")
                }
                _ => format!("length(min = {small}, max = {large})"),
            },
            _ if self.dice.percent(20) => format!("length(min = {small})"),
            _ => return String::new(),
        };
        if self.dice.percent(10) && matches!(ty, Ty::Foreign("std::option::Option", _)) {
            return format!("#[schemars({text}, required)] ");
        }
        format!("#[schemars({text})] ")
    }

    pub fn schemars_of_container(&mut self) -> String {
        match self.dice.below(24) {
            0 => "#[schemars(title = \"A title\", description = \"Said by schemars.\")]\n".into(),
            1 => "#[schemars(extend(\"x-kubernetes-preserve-unknown-fields\" = true))]\n".into(),
            2 => format!("#[schemars(rename = \"Renamed{}\")]\n", self.number()),
            3 => "#[allow(clippy::all)]\n#[non_exhaustive]\n".into(),
            4 => "#[cfg_attr(all(), schemars(description = \"Under a condition.\"))]\n".into(),
            _ => String::new(),
        }
    }

    pub fn rule(&mut self) -> String {
        let rules = [
            "\"self == self\"",
            "(\"self == oldSelf\", \"cannot be changed\")",
            "Rule::new(\"1 < 2\").message(\"never\").reason(Reason::FieldValueForbidden)",
            "Rule::new(\"self == oldSelf\").message(Message::Expression(\"'no: ' + string(1)\".into())).optional_old_self(true)",
            "Rule::new(\"true\").field_path(\".a\")",
        ];
        self.dice.pick(&rules).into()
    }

    pub fn docs(&mut self, indent: &str) -> String {
        let lines: &[&str] = match self.dice.below(20) {
            0..11 => &[],
            11 => &["/// # A title", "///", "/// And what it means."],
            12 => &["/// Several lines", "/// that belong  together.", "///", "///  - a list", "///  - of two"],
            13 => &["/** A block comment. */"],
            14 => &["#[doc = \"said by an attribute\"]", "/// and a comment"],
            15 => &["// No documentation.", "///"],
            _ => &["/// What this is."],
        };
        lines.iter().map(|line| format!("{indent}{line}\n")).collect()
    }

    pub fn derives(&mut self) -> &'static str {
        self.dice.pick(&[DERIVES, DERIVES, "Debug, Clone, serde::Deserialize, serde::Serialize"])
    }

    /// Formats arguments as one attribute or several.
    pub fn listed(&mut self, attribute: &str, items: &[String]) -> String {
        if items.is_empty() {
            String::new()
        } else if self.dice.percent(15) {
            items.iter().map(|item| format!("#[{attribute}({item})]\n")).collect()
        } else {
            format!("#[{attribute}({})]\n", items.join(", "))
        }
    }
}
