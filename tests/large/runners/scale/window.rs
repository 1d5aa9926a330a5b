use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize, JsonSchema, Clone, Debug)]
pub struct Window {
    /// Days of the week; all if there are none.
    #[serde(default)]
    pub days: Vec<Weekday>,
    /// A name of the IANA database, such as `Europe/Vienna`.
    #[serde(default = "utc")]
    pub zone: String,
}

fn utc() -> String {
    "UTC".into()
}

#[derive(Deserialize, Serialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weekday {
    #[serde(rename = "Mon")]
    Monday,
    #[serde(rename = "Tue")]
    Tuesday,
    #[serde(rename = "Wed")]
    Wednesday,
    #[serde(rename = "Thu")]
    Thursday,
    #[serde(rename = "Fri")]
    Friday,
    #[serde(rename = "Sat")]
    Saturday,
    #[serde(rename = "Sun")]
    Sunday,
}
