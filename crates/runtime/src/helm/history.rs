//! Reads and updates helm's records of a release: Secrets of the type `helm.sh/release.v1`.

use std::io::{Read, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::{Client, ResourceExt};
use serde_json::Value;

use super::objects::Owner;
use super::release::Id;
use crate::{Error, Result, ResultExt};

/// Labels that this crate sets on records, with `helm upgrade --labels`.
pub(super) const INPUTS: &str = "opctl-runtime/inputs";
pub(super) const OWNER: &str = "opctl-runtime/owner";

/// The records of a release, the oldest first.
#[derive(Debug)]
pub(super) struct History(Vec<Record>);

/// The metadata of a record. Its contents are read when they are needed.
#[derive(Clone, Debug)]
pub(super) struct Record {
    secret: String,
    pub revision: u64,
    pub status: String,
    /// A digest of the chart and the values; `None` if this crate did not create the record.
    pub inputs: Option<String>,
    pub owner: Option<String>,
    /// The time of its last status change.
    pub modified: Timestamp,
}

impl History {
    pub async fn read(client: &Client, id: &Id) -> Result<Self> {
        let api = Api::<Secret>::namespaced(client.clone(), &id.namespace);
        let selected = ListParams::default().labels(&format!("owner=helm,name={}", id.name));
        let mut records: Vec<_> =
            api.list_metadata(&selected).await?.items.into_iter().filter_map(|it| Record::of(it.metadata)).collect();
        records.sort_by_key(|record| record.revision);
        Ok(Self(records))
    }

    pub fn last(&self) -> Option<&Record> {
        self.0.last()
    }

    pub fn records(&self) -> &[Record] {
        &self.0
    }

    pub fn deployed(&self) -> Option<&Record> {
        self.0.iter().rfind(|record| record.status == "deployed")
    }

    /// The records whose objects may exist: the last deployed one and later ones.
    pub fn since_deployed(&self) -> &[Record] {
        let deployed = self.0.iter().rposition(|record| record.status == "deployed");
        &self.0[deployed.unwrap_or_default()..]
    }

    /// The failed records directly before the last one, whose objects may still exist.
    pub fn failed_before_last(&self) -> &[Record] {
        let Some((_, before)) = self.0.split_last() else { return &[] };
        let failed = before.iter().rev().take_while(|record| record.status == "failed").count();
        &before[before.len() - failed..]
    }

    /// The number of failures of these inputs since they were deployed, and the time of the last one.
    pub fn failures(&self, inputs: &str) -> (u32, Option<Timestamp>) {
        let of_inputs = self.0.iter().rev().filter(|record| record.inputs.as_deref() == Some(inputs));
        let failed: Vec<_> =
            of_inputs.take_while(|it| it.status != "deployed").filter(|it| it.status == "failed").collect();
        (u32::try_from(failed.len()).unwrap_or(u32::MAX), failed.first().map(|record| record.modified))
    }
}

impl Record {
    fn of(metadata: ObjectMeta) -> Option<Self> {
        let label = |name: &str| metadata.labels.as_ref()?.get(name).cloned();
        let created = metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0);
        let modified = label("modifiedAt").and_then(|text| Timestamp::from_second(text.parse().ok()?).ok());
        Some(Self {
            revision: label("version")?.parse().ok()?,
            status: label("status")?,
            inputs: label(INPUTS),
            owner: label(OWNER),
            // Helm copies the label `modifiedAt` to the next record, so it may be older than the record.
            modified: modified.map_or(created, |modified| modified.max(created)),
            secret: metadata.name?,
        })
    }

    pub fn is_pending(&self) -> bool {
        self.status.starts_with("pending-")
    }

    /// `true` if the release belongs to another object, or was created by someone else from another chart. One of the
    /// same chart is taken over.
    pub async fn is_foreign(&self, owner: &Owner, chart: &str, client: &Client, id: &Id) -> Result<bool> {
        match &self.owner {
            Some(other) => Ok(*other != owner.key),
            None => Ok(self.contents(client, id).await?.0.of_chart("name").as_deref() != Some(chart)),
        }
    }

    /// The contents of the record, and its Secret.
    pub async fn contents(&self, client: &Client, id: &Id) -> Result<(Contents, Secret)> {
        let secret = Api::<Secret>::namespaced(client.clone(), &id.namespace).get(&self.secret).await?;
        let unreadable = |why: String| {
            let message = format!("the record `{}` of the release `{}` cannot be read: {why}", self.secret, id.name);
            Error::new("InvalidRecord", message)
        };
        let data = secret.data.as_ref().and_then(|data| data.get("release"));
        let data = data.ok_or_else(|| unreadable("it has no key `release`".to_owned()))?;
        let contents = decode(&data.0).map_err(unreadable)?;
        Ok((Contents(contents), secret))
    }

    /// Sets a pending record to failed, since the helm that created it was killed. A concurrent change is an error. The
    /// label with the inputs is removed, so it does not count as a failure of these.
    pub async fn fail(&self, client: &Client, id: &Id) -> Result<()> {
        let (Contents(mut contents), mut secret) = self.contents(client, id).await?;
        contents["info"]["status"] = "failed".into();
        contents["info"]["description"] = format!("{}: helm was killed", self.status).into();
        let data = ByteString(encode(&contents).reason("InvalidRecord")?);
        secret.data = Some([("release".to_owned(), data)].into());
        let now = Timestamp::now().as_second().to_string();
        let labels = [("status", "failed"), ("modifiedAt", &now)];
        secret.labels_mut().extend(labels.map(|(name, value)| (name.to_owned(), value.to_owned())));
        secret.labels_mut().remove(INPUTS);
        self.replace(client, id, &secret).await
    }

    /// Labels a record that was created by someone else.
    pub async fn adopt(&self, client: &Client, id: &Id, mut secret: Secret, inputs: &str, owner: &str) -> Result<()> {
        let labels = [(INPUTS, inputs), (OWNER, owner)];
        secret.labels_mut().extend(labels.map(|(name, value)| (name.to_owned(), value.to_owned())));
        self.replace(client, id, &secret).await
    }

    async fn replace(&self, client: &Client, id: &Id, secret: &Secret) -> Result<()> {
        let api = Api::<Secret>::namespaced(client.clone(), &id.namespace);
        api.replace(&self.secret, &PostParams::default(), secret).await?;
        Ok(())
    }

    pub async fn delete(&self, client: &Client, id: &Id) -> Result<()> {
        let api = Api::<Secret>::namespaced(client.clone(), &id.namespace);
        match api.delete(&self.secret, &DeleteParams::default()).await {
            Err(kube::Error::Api(gone)) if gone.is_not_found() => Ok(()),
            deleted => Ok(deleted.map(drop)?),
        }
    }
}

/// A release as helm records it.
#[derive(Debug)]
pub(super) struct Contents(Value);

impl Contents {
    /// The objects as YAML, without hooks.
    pub fn manifest(&self) -> &str {
        self.0["manifest"].as_str().unwrap_or_default()
    }

    /// The user-supplied values; null and `{}` mean none.
    pub fn values(&self) -> &Value {
        &self.0["config"]
    }

    pub fn chart(&self) -> &Value {
        &self.0["chart"]
    }

    /// A field of the chart's metadata, such as `version`.
    pub fn of_chart(&self, field: &str) -> Option<String> {
        self.0["chart"]["metadata"][field].as_str().map(str::to_owned)
    }

    pub fn info(&self, field: &str) -> Option<String> {
        self.0["info"][field].as_str().map(str::to_owned)
    }
}

/// Decodes base64 JSON, which is gzipped except in old records.
fn decode(data: &[u8]) -> Result<Value, String> {
    let data = STANDARD.decode(data).map_err(|error| error.to_string())?;
    if !data.starts_with(&[0x1f, 0x8b]) {
        return serde_json::from_slice(&data).map_err(|error| error.to_string());
    }
    let mut text = Vec::new();
    GzDecoder::new(&data[..]).read_to_end(&mut text).map_err(|error| error.to_string())?;
    serde_json::from_slice(&text).map_err(|error| error.to_string())
}

fn encode(contents: &Value) -> std::io::Result<Vec<u8>> {
    let mut data = GzEncoder::new(Vec::new(), Compression::best());
    data.write_all(contents.to_string().as_bytes())?;
    Ok(STANDARD.encode(data.finish()?).into_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn history(records: &[(&str, &str)]) -> History {
        let record = |(at, (status, inputs)): (usize, &(&str, &str))| Record {
            secret: format!("sh.helm.release.v1.web.v{at}"),
            revision: at as u64,
            status: (*status).to_owned(),
            inputs: (!inputs.is_empty()).then(|| (*inputs).to_owned()),
            owner: None,
            modified: Timestamp::from_second(at as i64).unwrap(),
        };
        History(records.iter().enumerate().map(record).collect())
    }

    #[test]
    fn failures_of_the_same_inputs_are_counted() {
        let at = |second| Some(Timestamp::from_second(second).unwrap());
        for (records, expected) in [
            (&[][..], (0, None)),
            (&[("failed", "a"), ("failed", "b")], (1, at(0))),
            (&[("failed", "a"), ("deployed", "a"), ("failed", "a")], (1, at(2))),
            // A rollback is a new revision of the old inputs; a killed helm leaves a record without inputs.
            (&[("deployed", "b"), ("failed", "a"), ("superseded", "b"), ("failed", "a"), ("failed", "")], (2, at(3))),
        ] {
            assert_eq!(history(records).failures("a"), expected, "{records:?}");
        }
    }

    #[test]
    fn objects_of_failed_revisions_may_be_left() {
        let revisions = |records: &[Record]| Vec::from_iter(records.iter().map(|record| record.revision));
        let all = history(&[("superseded", ""), ("failed", ""), ("failed", ""), ("deployed", ""), ("failed", "")]);
        assert_eq!(revisions(all.since_deployed()), [3, 4]);
        assert_eq!(revisions(history(&[("failed", ""), ("failed", "")]).since_deployed()), [0, 1]);
        let done = history(&[("superseded", ""), ("failed", ""), ("failed", ""), ("deployed", "")]);
        assert_eq!(revisions(done.failed_before_last()), [1, 2]);
    }

    #[test]
    fn records_are_read_and_written_as_helm_does() {
        let contents = json!({ "name": "web", "info": { "status": "deployed" }, "manifest": "a: ä\n", "config": null });
        assert_eq!(decode(&encode(&contents).unwrap()).unwrap(), contents);
        let plain = STANDARD.encode(contents.to_string());
        assert_eq!(decode(plain.as_bytes()).unwrap(), contents);
        assert!(decode(b"?").is_err() && decode(&STANDARD.encode("{").into_bytes()).is_err());
    }
}
