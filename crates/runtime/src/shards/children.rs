//! The label of children with the slot of their owner, by which the API server selects them.
//!
//! The hash of a child's own uid says nothing about its owner, so `shardSelector` cannot select children by object. The
//! runtime sets the label when it applies a child; children from before that, or from another number of slots, get it
//! before a watch relies on it.

use kube::Client;
use kube::ResourceExt;
use kube::api::{DynamicObject, ListParams, ObjectList, PartialObjectMeta, Patch, PatchParams, Request};
use kube::runtime::watcher;
use serde_json::{Value, json};
use tracing::{info, warn};

use super::slot::{ShardBy, Slot};
use super::slots::{Owned, Slots};
use crate::controller::OwnerKind;
use crate::{apply, brief};

/// The slot of the owner, and the number of slots.
const LABEL: &str = "opctl-runtime/owner-slot";

/// Number of objects in one response.
const PAGE: u32 = 500;

impl Slots {
    /// A child that is about to be applied, with the label.
    pub fn labelled(&self, mut child: Value, owner_uid: &str) -> Value {
        if self.by == ShardBy::Object {
            child["metadata"]["labels"][LABEL] = self.value(self.count.of_text(owner_uid)).into();
        }
        child
    }

    fn value(&self, slot: Slot) -> String {
        format!("{slot}-of-{}", self.count.get())
    }

    /// The configuration of a watch that selects the children of these slots. It is unchanged if children lack the
    /// label and it cannot be added.
    pub async fn selecting_children(
        &self,
        client: &Client,
        url: &str,
        owner: OwnerKind,
        owned: &Owned,
        config: watcher::Config,
    ) -> watcher::Config {
        if let Err(error) = self.label_existing(client, url, owner, owned, &config).await {
            warn!("cannot add the label {LABEL} to children in {url}, all are received: {}", brief(&error));
            return config;
        }
        let values = owned.slots.keys().map(|slot| self.value(*slot)).collect::<Vec<_>>().join(",");
        with_labels(config, &format!("{LABEL} in ({values})"))
    }

    /// Adds the label to the children of these slots that lack it.
    async fn label_existing(
        &self,
        client: &Client,
        url: &str,
        owner: OwnerKind,
        owned: &Owned,
        config: &watcher::Config,
    ) -> Result<(), kube::Error> {
        let values = self.count.all().map(|slot| self.value(slot)).collect::<Vec<_>>().join(",");
        let unlabelled = with_labels(config.clone(), &format!("{LABEL} notin ({values})"));
        let mut params = ListParams::default().limit(PAGE);
        (params.label_selector, params.field_selector) = (unlabelled.label_selector, unlabelled.field_selector);
        let mut labelled = 0;
        loop {
            let request = Request::new(url).list_metadata(&params).map_err(kube::Error::BuildRequest)?;
            let page: ObjectList<PartialObjectMeta<DynamicObject>> = client.request(request).await?;
            for child in page.items {
                let mut owners = child.owner_references().iter().filter(|it| it.controller == Some(true));
                let Some(slot) = owners.find(|it| owner.is(it)).map(|it| self.count.of_text(&it.uid)) else { continue };
                if owned.slots.contains_key(&slot) {
                    labelled += 1;
                    self.label_one(client, url, &child, slot).await?;
                }
            }
            match page.metadata.continue_ {
                Some(token) if !token.is_empty() => params = params.continue_token(&token),
                _ => break,
            }
        }
        if labelled > 0 {
            info!("{labelled} children in {url} got the label {LABEL}");
        }
        Ok(())
    }

    async fn label_one(
        &self,
        client: &Client,
        url: &str,
        child: &PartialObjectMeta<DynamicObject>,
        slot: Slot,
    ) -> Result<(), kube::Error> {
        let patch = json!({ "metadata": { "uid": child.uid(), "labels": { LABEL: self.value(slot) } } });
        // The URL of the kind may cover all namespaces.
        let url = match (child.namespace(), url.rsplit_once('/')) {
            (Some(namespace), Some((group, plural))) if !url.contains("/namespaces/") => {
                format!("{group}/namespaces/{namespace}/{plural}")
            }
            _ => url.to_owned(),
        };
        let params = PatchParams { field_manager: Some("opctl-runtime".to_owned()), ..PatchParams::default() };
        match apply::patch(client, &url, &child.name_any(), None, &params, &Patch::Merge(patch)).await {
            // It is gone, or another object of this name has replaced it.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
            patched => patched.map(drop),
        }
    }
}

fn with_labels(config: watcher::Config, selector: &str) -> watcher::Config {
    let all = config.label_selector.iter().map(String::as_str).filter(|it| !it.is_empty()).chain([selector]);
    let all = all.collect::<Vec<_>>().join(",");
    config.labels(&all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_to_the_selector_of_the_user() {
        let selector = |config: watcher::Config| with_labels(config, "a in (b)").label_selector.unwrap();
        assert_eq!(selector(watcher::Config::default()), "a in (b)");
        assert_eq!(selector(watcher::Config::default().labels("c=d")), "c=d,a in (b)");
    }
}
