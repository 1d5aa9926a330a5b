//! Discovery of the resources of kinds that have no Rust type.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use kube::api::ApiResource;
use kube::core::GroupVersionKind;
use kube::{Client, discovery};

use crate::Result;

/// Cache of discovered kinds: the resource of each, and `true` if it is namespaced.
#[derive(Debug, Default)]
pub(crate) struct Kinds(Mutex<HashMap<GroupVersionKind, (ApiResource, bool)>>);

impl Kinds {
    /// The resource of a kind, and `true` if it is namespaced. Requests it from the API server at the first use.
    pub async fn get(&self, client: &Client, gvk: &GroupVersionKind) -> Result<(ApiResource, bool)> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(gvk) {
            return Ok(known.clone());
        }
        let (resource, capabilities) = discovery::pinned_kind(client, gvk).await?;
        let known = (resource, capabilities.scope == discovery::Scope::Namespaced);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(gvk.clone(), known.clone());
        Ok(known)
    }
}
