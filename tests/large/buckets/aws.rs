//! One module a service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A region, and nothing that is none.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
pub enum Region {
    #[serde(rename = "eu-central-1")]
    Frankfurt,
    #[serde(rename = "eu-west-1")]
    Ireland,
    #[serde(rename = "us-east-1")]
    Virginia,
}

impl Region {
    pub const HOME: Region = Region::Frankfurt;

    pub fn home() -> Self {
        Self::HOME
    }
}

pub mod s3 {
    use std::collections::BTreeMap;

    use kube::CustomResource;

    use super::super::managed::{Managed, Observed};
    use super::*;

    #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
    #[kube(group = "s3.cloud.example.xp", version = "v1beta1", kind = "Bucket", status = "BucketStatus")]
    #[kube(category = "crossplane", category = "managed", category = "aws")]
    #[kube(printcolumn = r#"{"name":"READY","type":"string","jsonPath":".status.conditions[?(@.type=='Ready')].status"}"#)]
    pub struct BucketSpec {
        #[serde(flatten)]
        pub managed: Managed<BucketParameters>,
    }

    pub type BucketStatus = Observed<BucketObservation>;

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
    #[serde(rename_all = "camelCase")]
    pub struct BucketParameters {
        #[serde(default = "Region::home")]
        pub region: Region,
        #[serde(default)]
        pub force_destroy: bool,
        #[serde(default)]
        pub object_ownership: Ownership,
        pub versioning: Option<Versioning>,
        #[serde(default)]
        pub lifecycle_rules: Vec<lifecycle::Rule>,
        #[serde(rename = "corsRule", default)]
        pub cors: Vec<Cors>,
        #[serde(default)]
        pub tags: BTreeMap<String, String>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default)]
    pub enum Ownership {
        #[default]
        BucketOwnerEnforced,
        BucketOwnerPreferred,
        ObjectWriter,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug)]
    pub enum Versioning {
        Enabled,
        Suspended,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
    #[serde(rename_all = "camelCase")]
    pub struct Cors {
        #[schemars(length(min = 1))]
        pub allowed_methods: Vec<String>,
        #[schemars(length(min = 1))]
        pub allowed_origins: Vec<String>,
        pub max_age_seconds: Option<u32>,
    }

    pub mod lifecycle {
        use super::{Deserialize, JsonSchema, Serialize};

        #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
        pub struct Rule {
            pub id: Option<String>,
            #[serde(default = "yes")]
            pub enabled: bool,
            pub filter: Option<Filter>,
            #[serde(default)]
            pub transitions: Vec<Transition>,
            pub expiration: Option<When>,
        }

        fn yes() -> bool {
            true
        }

        #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
        #[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
        pub enum Filter {
            Prefix(String),
            Tag { key: String, value: String },
            ObjectSize { greater_than: Option<u64>, less_than: Option<u64> },
        }

        #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
        #[serde(rename_all = "camelCase")]
        pub struct Transition {
            #[serde(flatten)]
            pub when: When,
            pub storage_class: StorageClass,
        }

        #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
        #[serde(rename_all = "camelCase")]
        pub enum When {
            Days(#[schemars(range(min = 1))] u32),
            Date(chrono::NaiveDate),
        }

        #[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug)]
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        pub enum StorageClass {
            Glacier,
            StandardIa,
            OnezoneIa,
            IntelligentTiering,
        }
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
    pub struct BucketObservation {
        pub arn: Option<String>,
        pub website: Option<Website>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
    pub struct Website {
        #[schemars(url)]
        pub endpoint: String,
    }
}

pub mod sqs {
    use kube::CustomResource;

    use super::*;
    use crate::buckets::managed;

    #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
    #[kube(group = "sqs.cloud.example.xp", version = "v1beta1", kind = "Queue", status = "QueueStatus")]
    pub struct QueueSpec {
        #[serde(flatten)]
        pub managed: managed::Managed<QueueParameters>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
    #[serde(transparent)]
    pub struct QueueStatus(managed::Observed);

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
    #[serde(rename_all = "camelCase")]
    pub struct QueueParameters {
        #[serde(default = "Region::home")]
        pub region: Region,
        #[schemars(range(min = 0, max = 900))]
        #[serde(default)]
        pub delay_seconds: u16,
        #[serde(default)]
        pub fifo: bool,
        #[serde(default)]
        pub redrive: Option<Redrive>,
    }

    #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
    #[serde(rename_all = "camelCase")]
    pub struct Redrive {
        pub dead_letter_target: managed::Reference<Queue>,
        #[schemars(range(min = 1, max = 1000))]
        pub max_receive_count: u16,
    }
}
