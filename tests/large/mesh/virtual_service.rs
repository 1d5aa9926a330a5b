use std::collections::{BTreeMap, BTreeSet};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::{Duration, Percent, StringMatch, Wrapped};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "traffic.example.mesh",
    version = "v1",
    kind = "VirtualService",
    namespaced,
    shortname = "vs",
    category = "mesh",
    printcolumn(name = "Gateways", type_ = "string", json_path = ".spec.gateways", description = "The names of gateways"),
    printcolumn(name = "Hosts", type_ = "string", json_path = ".spec.hosts")
)]
#[serde(rename_all = "camelCase")]
pub struct VirtualServiceSpec {
    pub hosts: BTreeSet<String>,
    #[serde(default = "VirtualServiceSpec::gateways")]
    pub gateways: Vec<String>,
    #[serde(default)]
    pub http: Vec<http::Route>,
    #[serde(default)]
    pub tcp: Vec<tcp::Route>,
    #[serde(default)]
    pub export_to: Vec<String>,
}

impl VirtualServiceSpec {
    fn gateways() -> Vec<String> {
        vec![String::from("mesh")]
    }
}

pub mod http {
    use super::*;

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Route {
        pub name: Option<String>,
        #[serde(default)]
        pub r#match: Vec<Match>,
        #[serde(default)]
        pub route: Vec<Destination>,
        pub redirect: Option<Redirect>,
        pub timeout: Option<Duration>,
        pub retries: Option<Retry>,
        pub fault: Option<fault::Injection>,
        #[serde(default)]
        pub headers: Headers,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Match {
        pub uri: Option<StringMatch>,
        pub method: Option<StringMatch>,
        #[serde(default)]
        pub headers: BTreeMap<String, StringMatch>,
        #[serde(default)]
        pub ignore_uri_case: bool,
        pub port: Option<u32>,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    pub struct Destination {
        pub destination: super::Destination,
        #[serde(default)]
        #[schemars(range(min = 0, max = 100))]
        pub weight: Wrapped<i32>,
        pub headers: Option<Headers>,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Redirect {
        pub uri: Option<String>,
        pub authority: Option<String>,
        #[serde(default = "moved")]
        pub redirect_code: u16,
    }

    fn moved() -> u16 {
        301
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Retry {
        pub attempts: i32,
        pub per_try_timeout: Option<Duration>,
        #[serde(default = "retry_on")]
        pub retry_on: String,
    }

    fn retry_on() -> String {
        "connect-failure,refused-stream,503".into()
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    pub struct Headers {
        pub request: Operations,
        pub response: Operations,
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    pub struct Operations {
        pub set: BTreeMap<String, String>,
        pub add: BTreeMap<String, String>,
        pub remove: Vec<String>,
    }

    pub mod fault {
        use super::super::*;

        /// Both can happen to one request.
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        pub struct Injection {
            pub delay: Option<Delay>,
            pub abort: Option<Abort>,
        }

        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct Delay {
            pub percentage: Option<Percent>,
            pub fixed_delay: Duration,
        }

        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        pub struct Abort {
            pub percentage: Option<Percent>,
            #[serde(flatten)]
            pub error: Error,
        }

        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub enum Error {
            HttpStatus(u16),
            GrpcStatus(String),
        }
    }
}

pub mod tcp {
    use super::*;

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    pub struct Route {
        #[serde(default)]
        pub r#match: Vec<L4>,
        pub route: Vec<Destination>,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct L4 {
        pub destination_subnets: Option<Vec<String>>,
        pub port: Option<u32>,
        #[serde(default)]
        pub source_labels: BTreeMap<String, String>,
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Destination {
    pub host: String,
    pub subset: Option<String>,
    pub port: Option<Port>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Port {
    pub number: u32,
}
