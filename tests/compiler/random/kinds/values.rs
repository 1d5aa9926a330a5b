//! Expressions for defaults.

use super::world::{Shape, Ty, World};

const TEXTS: [&str; 8] = ["nginx", "a b", "", "1.2.3", "it's \\\"quoted\\\"", "ünïcode", "true", "key: value # no"];

impl World {
    /// An expression of the type in a module; `None` if there is no simple one.
    pub fn value(&mut self, ty: &Ty, module: usize, depth: usize) -> Option<String> {
        if self.dice.percent(12) && self.has_default(ty) {
            return Some("Default::default()".into());
        }
        let text = self.dice.pick(&TEXTS);
        Some(match ty {
            Ty::Scalar("String") => match self.dice.below(6) {
                0 => format!("String::from(\"{text}\")"),
                1 => format!("\"{text}\".to_owned()"),
                2 => format!("\"{text}\".into()"),
                3 if text.is_empty() => "String::new()".into(),
                3 => {
                    let (name, home) = (format!("TEXT_{}", self.number()), self.any_module());
                    self.item(home, format!("pub const {name}: &str = \"{text}\";\n"));
                    format!("{}.to_string()", self.local(&name, home, module))
                }
                _ => format!("\"{text}\".to_string()"),
            },
            Ty::Scalar("bool") => self.dice.pick(&["true", "false", "!false"]).into(),
            Ty::Scalar("char") => self.dice.pick(&["'a'", "'ß'", "'\\n'"]).into(),
            Ty::Scalar("f32" | "f64") => self.dice.pick(&["0.1", "1.0", "-2.5", "1e3", "0.1 + 0.2", "3."]).into(),
            Ty::Scalar("&'static str" | "str") => format!("\"{text}\""),
            Ty::Scalar(integer) => match self.dice.below(9) {
                0 => "0x1f".into(),
                1 => "1 << 4".into(),
                2 => "60 * 2 - 7".into(),
                3 => format!("{integer}::MAX"),
                4 if integer.starts_with('i') => "-5".into(),
                5 => format!("7{integer}"),
                6 => {
                    let (name, home) = (format!("NUMBER_{}", self.number()), self.any_module());
                    let number = self.number() % 100;
                    self.item(home, format!("pub const {name}: {integer} = {number};\n"));
                    self.local(&name, home, module)
                }
                7 if matches!(*integer, "i64" | "u64" | "i32" | "u32") => "10_000".into(),
                _ => self.dice.between(0, 100).to_string(),
            },
            Ty::Foreign("std::option::Option", arguments) => {
                if depth == 0 || self.dice.percent(25) {
                    "None".into()
                } else {
                    format!("Some({})", self.value(&arguments[0], module, depth - 1)?)
                }
            }
            Ty::Foreign("std::vec::Vec", arguments) => match self.dice.below(4) {
                0 => "Vec::new()".into(),
                1 => "vec![]".into(),
                _ if depth == 0 => "vec![]".into(),
                _ => {
                    let values: Option<Vec<String>> =
                        (0..self.dice.between(1, 3)).map(|_| self.value(&arguments[0], module, depth - 1)).collect();
                    format!("vec![{}]", values?.join(", "))
                }
            },
            Ty::Foreign(path, arguments) if path.ends_with("Map") => {
                let name = self.foreign(path, module);
                if depth == 0 || self.dice.percent(50) {
                    format!("{name}::new()")
                } else {
                    let key = self.value(&arguments[0], module, 0)?;
                    format!("{name}::from([({key}, {})])", self.value(&arguments[1], module, depth - 1)?)
                }
            }
            Ty::Foreign(path @ "std::collections::BTreeSet", arguments) => {
                let name = self.foreign(path, module);
                let values: Option<Vec<String>> =
                    (0..self.dice.between(0, 2)).map(|_| self.value(&arguments[0], module, 0)).collect();
                match values?.as_slice() {
                    [] => format!("{name}::new()"),
                    values => format!("{name}::from([{}])", values.join(", ")),
                }
            }
            Ty::Foreign(path @ ("std::boxed::Box" | "std::sync::Arc" | "std::rc::Rc"), arguments) => {
                let name = self.foreign(path, module);
                format!("{name}::new({})", self.value(&arguments[0], module, depth)?)
            }
            Ty::Foreign(path, _) if path.ends_with("::Quantity") => {
                format!("{}(\"1Gi\".into())", self.foreign(path, module))
            }
            Ty::Foreign(path, _) if path.ends_with("::IntOrString") => {
                let name = self.foreign(path, module);
                format!("{name}{}", self.dice.pick(&["::Int(80)", "::String(\"http\".to_string())"]))
            }
            Ty::Foreign("std::path::PathBuf", _) => "\"/etc/hosts\".into()".into(),
            Ty::Foreign(..) | Ty::Parameter => return None,
            Ty::Array(element, length) => {
                let values: Option<Vec<String>> = (0..*length).map(|_| self.value(element, module, depth)).collect();
                format!("[{}]", values?.join(", "))
            }
            Ty::Tuple(types) => {
                let values: Option<Vec<String>> = types.iter().map(|ty| self.value(ty, module, depth)).collect();
                format!("({})", values?.join(", "))
            }
            Ty::Declared(index, _) => {
                let shape = self.types[*index].shape.clone();
                if let Shape::Alias(ty) = &shape {
                    return self.value(ty, module, depth);
                }
                let written = self.written(ty, module);
                match shape {
                    Shape::Units(variants) => {
                        let variant = self.dice.below(variants.len());
                        format!("{written}::{}", variants[variant])
                    }
                    Shape::Newtype(inner) => format!("{written}({})", self.value(&inner, module, depth)?),
                    Shape::Struct(_) if self.types[*index].default && self.dice.percent(50) => {
                        format!("{written}::default()")
                    }
                    Shape::Struct(fields) if depth > 0 => {
                        let (names, types): (Vec<String>, Vec<Ty>) = fields.into_iter().unzip();
                        let given = if self.types[*index].default { self.dice.below(names.len()) } else { names.len() };
                        let literal = self.literal_at(&names[..given], &types[..given], module, depth - 1)?;
                        match (given == names.len(), given) {
                            (true, _) => format!("{written} {{ {literal} }}"),
                            (false, 0) => format!("{written} {{ ..Default::default() }}"),
                            _ => format!("{written} {{ {literal}, ..{written}::default() }}"),
                        }
                    }
                    _ => return None,
                }
            }
        })
    }

    pub fn literal_at(&mut self, names: &[String], types: &[Ty], module: usize, depth: usize) -> Option<String> {
        let values: Option<Vec<String>> = types.iter().map(|ty| self.value(ty, module, depth)).collect();
        let fields = names.iter().zip(values?).map(|(name, value)| format!("{name}: {value}"));
        Some(fields.collect::<Vec<_>>().join(", "))
    }
}
