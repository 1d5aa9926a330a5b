//! kustomize's selectors: the objects to which a patch or replacement applies.

use opctl_model::selector::LabelSelector;
use regex::Regex;

use super::object::{Id, Object};
use super::yaml::Node;

/// Regular expressions that match the whole text. An omitted field matches all objects.
pub struct Selector {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    namespace: Option<Regex>,
    name: Option<Regex>,
    labels: LabelSelector,
    annotations: LabelSelector,
}

impl Selector {
    /// `None` for an invalid regular expression, or one that is not supported here.
    pub fn read(node: &Node) -> Option<Self> {
        let regex = |key: &str| -> Option<Option<Regex>> {
            match node.text_at(&[key]) {
                None | Some("") => Some(None),
                Some(text) => Regex::new(&format!("^(?:{text})$")).ok().map(Some),
            }
        };
        Some(Self {
            group: regex("group")?,
            version: regex("version")?,
            kind: regex("kind")?,
            namespace: regex("namespace")?,
            name: regex("name")?,
            labels: LabelSelector::parse(node.text_at(&["labelSelector"]).unwrap_or_default()).ok()?,
            annotations: LabelSelector::parse(node.text_at(&["annotationSelector"]).unwrap_or_default()).ok()?,
        })
    }

    /// Matches the first or the current name and namespace.
    pub fn selects(&self, object: &Object) -> bool {
        let (id, first) = (object.id(), object.first_id());
        let either = |regex: &Option<Regex>, get: fn(&Id) -> &str| {
            regex.as_ref().is_none_or(|regex| regex.is_match(get(&first)) || regex.is_match(get(&id)))
        };
        either(&self.namespace, Id::effective_namespace)
            && either(&self.name, |id| &id.name)
            && self.selects_kind(&id)
            && self.selects_labels(object)
    }

    /// Like [`selects`](Self::selects), for any name that the object ever had.
    pub fn selects_any(&self, object: &Object) -> bool {
        let fits = |regex: &Option<Regex>, text: &str| regex.as_ref().is_none_or(|regex| regex.is_match(text));
        let one = |id: &Id| {
            fits(&self.namespace, id.effective_namespace()) && fits(&self.name, &id.name) && self.selects_kind(id)
        };
        object.ids().any(|id| one(&id)) && self.selects_labels(object)
    }

    fn selects_kind(&self, id: &Id) -> bool {
        let fits = |regex: &Option<Regex>, text: &str| regex.as_ref().is_none_or(|regex| regex.is_match(text));
        fits(&self.group, &id.group) && fits(&self.version, &id.version) && fits(&self.kind, &id.kind)
    }

    fn selects_labels(&self, object: &Object) -> bool {
        let selects = |selector: &LabelSelector, field: &str| {
            selector.selects(|key| object.node.text_at(&["metadata", field, key]))
        };
        selects(&self.labels, "labels") && selects(&self.annotations, "annotations")
    }
}
