//! kustomize's selectors: which objects a patch or a replacement is about.

use regex::Regex;

use super::object::{Id, Object};
use super::yaml::Node;

/// Regular expressions for all of a name; what is not said selects all.
pub struct Selector {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    namespace: Option<Regex>,
    name: Option<Regex>,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

/// `key=value`, `key!=value`, `key`, `!key`
struct Requirement {
    key: String,
    value: Option<String>,
    is_wanted: bool,
}

impl Selector {
    /// `None` where an expression is none, or is of a kind that is not followed here.
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
            labels: requirements(node.text_at(&["labelSelector"]).unwrap_or_default())?,
            annotations: requirements(node.text_at(&["annotationSelector"]).unwrap_or_default())?,
        })
    }

    /// Names and namespaces may be the first or the present ones.
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

    /// The same, of any name that the object ever had.
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
        let holds = |requirement: &Requirement, field: &str| {
            let found = object.node.text_at(&["metadata", field, &requirement.key]);
            let fits = found.is_some_and(|found| requirement.value.as_ref().is_none_or(|value| value == found));
            fits == requirement.is_wanted
        };
        self.labels.iter().all(|requirement| holds(requirement, "labels"))
            && self.annotations.iter().all(|requirement| holds(requirement, "annotations"))
    }
}

fn requirements(text: &str) -> Option<Vec<Requirement>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            if part.contains(['(', ')', ' ']) {
                return None;
            }
            let (is_wanted, key, value) = if let Some((key, value)) = part.split_once("!=") {
                (false, key, Some(value))
            } else if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
                (true, key, Some(value))
            } else if let Some(key) = part.strip_prefix('!') {
                (false, key, None)
            } else {
                (true, part, None)
            };
            Some(Requirement { key: key.into(), value: value.map(str::to_owned), is_wanted })
        })
        .collect()
}
