//! Three versions of one kind, which share nearly everything.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Types of all versions.
pub mod shared {
    use super::*;

    /// Seconds.
    #[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(transparent)]
    pub struct Ttl(#[schemars(range(min = 1, max = MAX_TTL))] i64);

    /// As RFC 2181 has it: 2³¹ − 1.
    pub const MAX_TTL: i64 = (1 << 31) - 1;

    impl Default for Ttl {
        fn default() -> Self {
            Ttl(HOUR)
        }
    }

    const HOUR: i64 = 60 * MINUTE;
    const MINUTE: i64 = 60;

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    pub struct Soa {
        #[serde(default)]
        pub ttl: Ttl,
        #[serde(default = "Soa::refresh")]
        pub refresh: u32,
        #[serde(default = "Soa::retry")]
        pub retry: u32,
        #[serde(default)]
        pub contact: Option<String>,
    }

    impl Soa {
        pub const fn refresh() -> u32 {
            7_200
        }

        pub const fn retry() -> u32 {
            Self::refresh() / 2
        }
    }

    #[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct ZoneStatus {
        pub serial: Option<u32>,
        #[serde(default)]
        pub name_servers: Vec<String>,
        pub observed_generation: i64,
    }

    /// Provider that serves the zone.
    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
    pub enum Provider {
        Route53 { hosted_zone_id: Option<String>, #[serde(default)] private: bool },
        #[serde(rename = "rfc2136")]
        DynamicUpdate(DynamicUpdate),
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct DynamicUpdate {
        pub server: std::net::SocketAddr,
        pub key: k8s_openapi::api::core::v1::SecretKeySelector,
        #[serde(default)]
        pub algorithm: Algorithm,
    }

    #[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Algorithm {
        HmacSha1,
        #[default]
        HmacSha256,
        #[serde(rename = "hmac-sha512")]
        Strong,
    }
}

pub mod v1alpha1 {
    use super::shared::{Soa, ZoneStatus};
    use super::*;

    #[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[kube(
        group = "names.example.com",
        version = "v1alpha1",
        kind = "Zone",
        status = "ZoneStatus",
        served = false,
        deprecated
    )]
    pub struct ZoneSpec {
        pub domain: String,
        #[serde(default)]
        pub soa: Soa,
    }
}

pub mod v1beta1 {
    use super::*;

    #[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[kube(group = "names.example.com", version = "v1beta1", kind = "Zone", status = "super::shared::ZoneStatus")]
    #[kube(deprecated = "names.example.com/v1beta1 Zone: use v1", storage = false)]
    pub struct ZoneSpec {
        pub domain: String,
        #[serde(default)]
        pub soa: shared::Soa,
        pub provider: Option<shared::Provider>,
    }

    impl From<super::v1alpha1::ZoneSpec> for ZoneSpec {
        fn from(old: super::v1alpha1::ZoneSpec) -> Self {
            Self { domain: old.domain, soa: old.soa, provider: None }
        }
    }
}

pub mod v1 {
    use super::shared::*;
    use super::{CustomResource, Deserialize, JsonSchema, Serialize};

    /// A zone of the domain name system.
    #[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[kube(
        group = "names.example.com",
        version = "v1",
        kind = "Zone",
        status = "ZoneStatus",
        storage = false,
        printcolumn = r#"{"name":"Domain","type":"string","jsonPath":".spec.domain"}"#,
        printcolumn = r#"{"name":"Serial","type":"integer","jsonPath":".status.serial","format":"int64"}"#
    )]
    #[serde(rename_all = "camelCase")]
    pub struct ZoneSpec {
        #[schemars(length(max = 253), regex(pattern = r"^([a-z0-9_]([-a-z0-9_]*[a-z0-9_])?\.)+$"))]
        pub domain: String,
        #[serde(default)]
        pub soa: Soa,
        #[serde(default)]
        pub providers: Vec<Provider>,
        pub dnssec: Option<Dnssec>,
    }

    #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub struct Dnssec {
        #[serde(default)]
        pub nsec3: bool,
        pub key_rollover_days: Option<std::num::NonZeroU16>,
    }

    impl From<super::v1beta1::ZoneSpec> for ZoneSpec {
        fn from(old: super::v1beta1::ZoneSpec) -> Self {
            let providers = old.provider.into_iter().collect();
            Self { domain: old.domain, soa: old.soa, providers, dnssec: None }
        }
    }
}
