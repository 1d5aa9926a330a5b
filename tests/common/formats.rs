//! The values that an API server accepts for each type and format: `tests/compat/formats.txt`, recorded by
//! `tests/cluster/compat.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use opctl_schema::compat;
use serde_json::{Value, json};

pub const TYPES: [&str; 5] = ["string", "integer", "number", "integer or string", "any"];

/// Formats that the API server knows, those of Rust types, and unknown ones.
pub const FORMATS: [&str; 48] = [
    "",
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "date-time",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8s-long-name",
    "k8s-short-name",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "int8",
    "int16",
    "int32",
    "int64",
    "int128",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float",
    "double",
    "decimal",
    "ip",
    "url",
    "regex",
    "char",
    "time",
    "partial-date-time",
    "x-unknown",
];

const NUMBERS: [&str; 22] = [
    "0",
    "-1",
    "1",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9223372036854774784",
    "9223372036854775808",
    "1.5",
    "3.4e38",
    "3.5e38",
    "1e300",
];

/// The values to test.
pub fn values() -> Vec<Value> {
    let numbers = NUMBERS.iter().map(|number| serde_json::from_str(number).unwrap());
    numbers.chain(compat::TEXTS.iter().map(|text| json!(text))).collect()
}

/// The schema of a field.
pub fn schema(r#type: &str, format: &str) -> Value {
    let mut schema = match r#type {
        "integer or string" => json!({ "x-kubernetes-int-or-string": true }),
        "any" => json!({ "x-kubernetes-preserve-unknown-fields": true }),
        name => json!({ "type": name }),
    };
    if !format.is_empty() {
        schema["format"] = json!(format);
    }
    schema
}

pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/compat/formats.txt")
}

/// The values that are accepted, by type and format.
pub type Accepted = BTreeMap<(String, String), BTreeSet<String>>;
