use std::cell::Cell;
use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.example.com", version = "v1", kind = "Effects")]
pub struct EffectsSpec {
    #[serde(default = "in_a_block")]
    pub in_a_block: Vec<i32>,
    #[serde(default = "in_an_argument")]
    pub in_an_argument: Vec<i32>,
    #[serde(default = "in_a_field")]
    pub in_a_field: Vec<i32>,
    #[serde(default = "through_a_cell")]
    pub through_a_cell: Cell<i32>,
    #[serde(default = "panics")]
    pub panics: u8,
    #[serde(default = "of_a_trait")]
    pub of_a_trait: u8,
    #[serde(default = "for_others")]
    pub for_others: u8,
    #[serde(default = "read")]
    #[schemars(with = "String")]
    pub read: Time,
    #[serde(default = "key")]
    pub key: BTreeMap<Option<String>, u8>,
    #[serde(default = "by_into")]
    pub by_into: Text,
    #[serde(default)]
    pub elsewhere: Elsewhere,
    #[serde(default = "large")]
    pub large: usize,
    #[serde(default = "shown")]
    pub shown: String,
}

fn in_a_block() -> Vec<i32> {
    let mut list = vec![1];
    let _number: i32 = {
        list.push(9);
        1
    };
    list
}

fn keep(number: i32) -> i32 {
    number
}

fn in_an_argument() -> Vec<i32> {
    let mut list = vec![1];
    let _number = keep({
        list.push(9);
        1
    });
    list
}

pub struct Pair {
    pub a: u8,
    pub b: Option<i32>,
}

fn in_a_field() -> Vec<i32> {
    let mut list = vec![1];
    let _pair = Pair { a: 1, b: list.pop() };
    list
}

fn through_a_cell() -> Cell<i32> {
    let cell = Cell::new(1);
    let _before = cell.replace(5);
    cell
}

fn panics() -> u8 {
    let _number = None::<u8>.unwrap();
    1
}

fn one() -> u8 {
    1
}

pub struct Own;

trait Named {
    const NUMBER: u8 = 2;
}

impl Named for Own {}

impl Own {
    const NUMBER: u8 = 1;
}

fn of_a_trait() -> u8 {
    <Own as Named>::NUMBER + Own::NUMBER + one()
}

pub struct Generic<T>(T);

impl<T> Named for Generic<T> {}

impl Generic<u8> {
    const NUMBER: u8 = 1;
}

fn for_others() -> u8 {
    Generic::<u16>::NUMBER
}

fn read() -> Time {
    serde_json::from_value(serde_json::json!("2024-01-01T02:00:00+02:00")).unwrap()
}

fn key() -> BTreeMap<Option<String>, u8> {
    BTreeMap::from([(Some("a".to_string()), 1)])
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Text(String);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(format!("from {text}"))
    }
}

impl Into<Text> for String {
    fn into(self) -> Text {
        Text(format!("into {self}"))
    }
}

fn by_into() -> Text {
    "a".to_string().into()
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Elsewhere {
    #[serde(serialize_with = "plus_one")]
    number: u8,
}

fn plus_one<S: serde::Serializer>(number: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(number + 1)
}

fn large() -> usize {
    [[[0u8; 4096]; 4096]; 4096].len()
}

impl Text {
    fn to_string(&self) -> String {
        "of the type".into()
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "of the trait")
    }
}

fn show<T: ToString>(values: Vec<T>) -> String {
    values[0].to_string()
}

fn shown() -> String {
    show(vec![Text("a".into())])
}
