//! Functions and conversions that refuse nothing that the schema accepts.
use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "lenient.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[serde(default, deserialize_with = "or_default")]
    list: Vec<String>,
    #[serde(default, deserialize_with = "or_default_generic")]
    map: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "trimmed")]
    trimmed: String,
    #[serde(default, deserialize_with = "swallowed")]
    #[schemars(with = "i64")]
    swallowed: u8,
    #[serde(default, deserialize_with = "mapped")]
    mapped: Option<String>,
    lower: Option<Lower>,
    from: Option<From>,
    #[schemars(extend("enum" = ["on", "off", null]))]
    switch: Option<Switch>,
    #[schemars(range(min = 0, max = 100))]
    percent: Option<Percent>,
    #[serde(default, deserialize_with = "some")]
    #[schemars(with = "Option<String>")]
    double: Option<Option<String>>,
}

fn or_default<'de, D>(deserializer: D) -> Result<Vec<String>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let value = Option::<Vec<String>>::deserialize(deserializer)?;
    Ok(value.unwrap_or_default())
}

fn or_default_generic<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    let value = Option::deserialize(deserializer)?;
    Ok(value.unwrap_or_default())
}

fn trimmed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(|text| text.trim().to_owned())
}

fn swallowed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    Ok(u8::deserialize(deserializer).unwrap_or_default())
}

fn mapped<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.is_empty()))
}

fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Lower(String);

impl<'de> Deserialize<'de> for Lower {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Lower(text.to_lowercase()))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String")]
struct From(String);

impl std::convert::From<String> for From {
    fn from(text: String) -> Self {
        Self(text)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
struct Switch(String);

impl TryFrom<String> for Switch {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.as_str() {
            "on" | "off" => Ok(Self(text)),
            _ => Err(text),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "i64")]
struct Percent(i64);

impl TryFrom<i64> for Percent {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, Self::Error> {
        if (0..=100).contains(&number) { Ok(Self(number)) } else { Err(number.to_string()) }
    }
}
