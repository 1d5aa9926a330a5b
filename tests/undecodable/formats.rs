//! For texts of a format that it knows, the API server takes lists, too.
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "formats.example.com", version = "v1", kind = "K")]
pub struct Spec {
    #[schemars(email)]
    a: Option<String>,
    #[schemars(url)]
    b: Option<String>,
    #[schemars(extend("format" = "no-such-format"))]
    c: Option<String>,
    d: Option<Vec<Date>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Date(jiff::civil::Date);
