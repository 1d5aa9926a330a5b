use super::*;

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Artifact {
    pub name: String,
    pub path: Option<String>,
    #[schemars(range(min = 0, max = 0o777))]
    pub mode: Option<i32>,
    #[serde(flatten)]
    pub location: ArtifactLocation,
    #[serde(default)]
    pub optional: bool,
    pub archive: Option<Archive>,
}

/// At most one of them.
#[derive(Serialize, Deserialize, Clone, Debug, Default, JsonSchema)]
pub struct ArtifactLocation {
    pub s3: Option<S3>,
    pub http: Option<Http>,
    pub raw: Option<Raw>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct S3 {
    pub endpoint: Option<String>,
    pub bucket: Option<String>,
    pub key: Cow<'static, str>,
    #[serde(default)]
    pub insecure: bool,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Http {
    #[schemars(url)]
    pub url: String,
    #[serde(default)]
    pub headers: Vec<BTreeMap<String, String>>,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
pub struct Raw {
    pub data: String,
}

#[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Archive {
    None {},
    Zip {},
    Tar {
        #[serde(rename = "compressionLevel")]
        #[schemars(range(min = 0, max = 9))]
        level: Option<u8>,
    },
}
