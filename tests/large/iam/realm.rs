use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A realm has users of its own.
#[derive(CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(group = "iam.example.id", version = "v1beta1", kind = "Realm", status = "RealmStatus")]
#[kube(validation = ("!has(oldSelf.spec.domain) || self.spec.domain == oldSelf.spec.domain", "the domain is for ever"))]
#[serde(rename_all = "camelCase")]
pub struct RealmSpec {
    #[schemars(length(min = 1, max = 253))]
    pub domain: String,
    #[serde(default)]
    pub passwords: PasswordPolicy,
    #[serde(default)]
    pub sessions: SessionPolicy,
    #[serde(default)]
    pub second_factors: Vec<SecondFactor>,
    pub smtp: Option<Smtp>,
}

/// Requirements for a password.
#[derive(Deserialize, Serialize, Clone, Debug, KubeSchema)]
#[x_kube(validation = Rule::new("self.minLength <= self.maxLength").message("no password is that long").reason(Reason::FieldValueInvalid))]
#[serde(rename_all = "camelCase")]
pub struct PasswordPolicy {
    #[serde(default = "twelve")]
    #[schemars(range(min = 8, max = 128))]
    pub min_length: u8,
    #[serde(default = "most")]
    #[x_kube(validation = Rule::new("self >= 8").message("too short").reason(Reason::FieldValueInvalid))]
    pub max_length: u8,
    #[serde(default)]
    pub classes: Vec<CharacterClass>,
    #[serde(default, rename = "denylist")]
    pub denied: Option<String>,
    #[serde(default)]
    pub history: Option<u8>,
}

fn twelve() -> u8 {
    12
}

fn most() -> u8 {
    u8::MAX / 2
}

impl Default for PasswordPolicy {
    fn default() -> Self {
        Self { min_length: twelve(), max_length: most(), classes: Vec::new(), denied: None, history: None }
    }
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CharacterClass {
    LowerCase,
    UpperCase,
    Digit,
    Special,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionPolicy {
    pub idle_minutes: u32,
    pub max_hours: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_per_user: Option<u32>,
    pub remember_me: bool,
}

const WORKING_DAY: u32 = 8;

impl Default for SessionPolicy {
    fn default() -> Self {
        SessionPolicy { idle_minutes: 30, max_hours: WORKING_DAY, max_per_user: None, remember_me: true }
    }
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SecondFactor {
    /// Codes that change with time.
    Totp {
        #[schemars(range(min = 6, max = 8))]
        digits: u8,
        #[serde(default = "thirty")]
        period_seconds: u16,
    },
    /// Keys, also those of a phone.
    WebAuthn(WebAuthn),
}

fn thirty() -> u16 {
    30
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct WebAuthn {
    #[serde(rename = "relyingPartyID")]
    pub relying_party_id: Option<String>,
    #[serde(default)]
    pub attestation: Attestation,
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug, Default, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Attestation {
    #[default]
    None,
    Indirect,
    Direct,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Smtp {
    pub host: String,
    #[serde(default = "submission")]
    #[schemars(!default, extend("default" = 587))]
    pub port: std::num::NonZeroU16,
    #[schemars(email)]
    pub from: String,
    pub credentials: Option<k8s_openapi::api::core::v1::SecretReference>,
}

fn submission() -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(587).expect("not zero")
}

#[derive(Deserialize, Serialize, Clone, Debug, Default, JsonSchema)]
pub struct RealmStatus {
    #[serde(default)]
    pub users: u64,
    pub issuer: Option<String>,
}
