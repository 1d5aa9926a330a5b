//! Optional parts of a project, which its kustomization lists.

use opctl_edit::Edit;
use opctl_model::project::{ReadError, Tree};

pub const KUSTOMIZATION: &str = "config/default/kustomization.yaml";

/// `true` if the webhooks use certificates of cert-manager.
pub fn is_certified(tree: &Tree) -> Result<bool, ReadError> {
    Ok(is_listed(&tree.read(KUSTOMIZATION)?.unwrap_or_default(), "certmanager"))
}

/// `true` if the kustomization lists the component in a sibling folder.
pub fn is_listed(kustomization: &str, folder: &str) -> bool {
    let edit = listed(("components", format!("../{folder}")), true);
    edit.apply(kustomization).is_ok_and(|text| text == kustomization)
}

/// Adds an item to the list under a key, or removes it.
pub fn listed((key, item): (&str, String), wanted: bool) -> Edit {
    let key = key.to_owned();
    if wanted { Edit::YamlListItem { key, item } } else { Edit::NoYamlListItem { key, item } }
}
