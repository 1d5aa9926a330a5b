//! Functions and conversions of the operator that refuse values: opctl evaluates what it can, and names what it cannot.
use std::str::FromStr;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "functions.example.com", version = "v1", kind = "K")]
pub struct Spec {
    percent: Option<Percent>,
    name: Option<Name>,
    mode: Option<Mode>,
    #[serde(default, deserialize_with = "positive")]
    #[schemars(with = "i64")]
    positive: i64,
    #[serde(with = "letters")]
    #[schemars(with = "String")]
    letters: String,
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String")]
    parsed: f64,
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String")]
    parsed_again: f64,
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "String", regex(pattern = r"^\d+(\.\d+)?$"))]
    parsed_of_pattern: f64,
    visited: Option<Visited>,
    #[serde(default, deserialize_with = "narrow")]
    #[schemars(with = "i64")]
    narrow: u8,
    #[serde(deserialize_with = "chained")]
    #[schemars(with = "String")]
    chained: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8")]
struct Percent(u8);

impl TryFrom<u8> for Percent {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        if number > 100 {
            return Err(format!("{number} % is too much"));
        }
        Ok(Self(number))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
struct Name(String);

impl TryFrom<String> for Name {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        if text.is_empty() { Err("empty") } else { Ok(Name(text)) }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(with = "String")]
enum Mode {
    Fast,
    Safe,
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "fast" => Ok(Self::Fast),
            "safe" => Ok(Self::Safe),
            other => Err(format!("no mode {other}")),
        }
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
    where
        D: serde::Deserializer<'de>,
    {
        let text = String::deserialize(deserializer)?;
        match text.as_str() {
            "fast" => Ok(Mode::Fast),
            "safe" => Ok(Mode::Safe),
            _ => Err(serde::de::Error::custom("no mode")),
        }
    }
}

fn positive<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let number: i64 = Deserialize::deserialize(deserializer)?;
    if number < 1 {
        return Err(serde::de::Error::custom(format!("{number} is not positive")));
    }
    Ok(number)
}

mod letters {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        let text = <String as Deserialize>::deserialize(deserializer)?;
        if text.len() > 20 { Err(serde::de::Error::custom("too long")) } else { Ok(text) }
    }
}

fn parsed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let text = String::deserialize(deserializer)?;
    let (number, _) = text.split_once('%').unwrap_or((&text, ""));
    number.trim().parse::<f64>().map_err(serde::de::Error::custom)
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Visited(String);

impl<'de> Deserialize<'de> for Visited {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl serde::de::Visitor<'_> for Visitor {
            type Value = Visited;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a text of digits")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Visited, E> {
                match text.chars().all(|letter| letter.is_ascii_digit()) {
                    true => Ok(Visited(text.to_owned())),
                    false => Err(E::custom("not digits")),
                }
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

fn narrow<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    Ok(u8::deserialize(deserializer)?.min(100))
}

fn chained<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).and_then(|text| match text.contains(' ') {
        true => Err(serde::de::Error::custom("a blank")),
        false => Ok(text),
    })
}
