//! Renames kinds and groups in YAML, found by the keys of their names.

use std::collections::BTreeMap;
use std::ops::Range;

use opctl_edit::KindNames;
use opctl_kustomize::yaml::{self, Dialect, Node, Value};
use opctl_model::diagnostic::SourceFile;
use opctl_model::project::join;

/// Renames kinds and groups in objects, references and rules, and the names of files in the same folder for which
/// `moved` returns another path. A text that is not YAML is returned unchanged. `keeps_crds` leaves CRDs as they are.
pub fn rename(
    path: &str,
    text: &str,
    kinds: &[(KindNames, KindNames)],
    moved: &dyn Fn(&str) -> String,
    keeps_crds: bool,
) -> String {
    let Ok(documents) = yaml::documents(&SourceFile::new(path, text), Dialect::Kustomize) else {
        return text.to_owned();
    };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut renamer = Renamer { text, folder, kinds, moved, found: BTreeMap::new() };
    let is_kept = |node: &Node| keeps_crds && node.text_at(&["kind"]) == Some("CustomResourceDefinition");
    documents.iter().filter(|document| !is_kept(document)).for_each(|document| renamer.node(document, ""));
    let mut new = text.to_owned();
    for (range, with) in renamer.found.into_values().rev() {
        new.replace_range(range, &with);
    }
    new
}

struct Renamer<'a> {
    text: &'a str,
    folder: &'a str,
    kinds: &'a [(KindNames, KindNames)],
    moved: &'a dyn Fn(&str) -> String,
    found: BTreeMap<usize, (Range<usize>, String)>,
}

impl Renamer<'_> {
    /// Renames in a node. `key` is the key of the node, or of the list that contains it.
    fn node(&mut self, node: &Node, key: &str) {
        match &node.value {
            Value::Text(text) => self.scalar(node, text, key),
            Value::List(items) => items.iter().for_each(|item| self.node(item, key)),
            Value::Map(entries) => {
                entries.iter().for_each(|entry| self.node(&entry.value, &entry.key));
                self.object(node);
                self.rule(node);
            }
            _ => {}
        }
    }

    /// Renames a CRD or a file or, in fields for groups, a group with or without a version.
    fn scalar(&mut self, node: &Node, text: &str, key: &str) {
        let file = join(self.folder, text.trim_start_matches("./"));
        let moved = (self.moved)(&file);
        if moved != file
            && let (Some((_, old)), Some((_, new))) = (file.rsplit_once('/'), moved.rsplit_once('/'))
        {
            return self.set(node, old, new);
        }
        let (group, version) = text.split_once('/').map_or((text, None), |(group, version)| (group, Some(version)));
        for (old, new) in self.kinds {
            if text == old.crd() {
                return self.set(node, text, &new.crd());
            }
            let is_version = version.is_none_or(|version| {
                version.starts_with('v')
                    && version[1..].starts_with(|c: char| c.is_ascii_digit())
                    && !version.contains('/')
            });
            let is_expected = ["apiVersion", "apiVersions", "apiGroup", "apiGroups", "group", "groups"].contains(&key);
            if is_expected && group == old.group && is_version {
                return self.set(node, group, &new.group);
            }
        }
    }

    /// Renames `kind` if it is next to `apiVersion` or `group`, and the name of a sample.
    fn object(&mut self, node: &Node) {
        let Some((kind, of)) = node.get("kind").and_then(|node| Some((node, node.as_text()?))) else { return };
        let group = match node.text_at(&["apiVersion"]) {
            Some(version) => version.split_once('/').map_or("", |(group, _)| group),
            None => node.text_at(&["group"]).unwrap_or_default(),
        };
        if let Some((old, new)) =
            self.kinds.iter().find(|(old, _)| (old.group.as_str(), old.kind.as_str()) == (group, of))
        {
            self.set(kind, &old.kind, &new.kind);
            let name = node.get("metadata").and_then(|metadata| metadata.get("name"));
            let sample = |names: &KindNames| format!("{}-sample", names.singular);
            if let Some(name) = name.filter(|name| name.as_text() == Some(&sample(old))) {
                self.set(name, &sample(old), &sample(new));
            }
        }
    }

    /// Renames the plural in an RBAC rule for its group.
    fn rule(&mut self, node: &Node) {
        let groups = node.items_at(&["apiGroups"]);
        for (old, new) in self.kinds {
            // With several groups, the plural may belong to a kind of another group.
            if groups.len() != 1 || groups[0].as_text() != Some(&old.group) {
                continue;
            }
            for resource in node.items_at(&["resources"]) {
                let rest = resource.as_text().and_then(|text| text.strip_prefix(old.plural.as_str()));
                if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
                    self.set(resource, &old.plural, &new.plural);
                }
            }
        }
    }

    fn set(&mut self, node: &Node, old: &str, new: &str) {
        let range = node.span.range.clone();
        let raw = &self.text[range.clone()];
        if old != new && raw.contains(old) {
            self.found.insert(range.start, (range, raw.replacen(old, new, 1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kind: &str, plural: &str, group: &str) -> KindNames {
        KindNames { group: group.into(), kind: kind.into(), plural: plural.into(), singular: kind.to_lowercase() }
    }

    #[test]
    fn kinds_are_known_by_their_groups() {
        let kinds =
            [(names("Memcached", "memcacheds", "cache.example.com"), names("Store", "stores", "store.example.com"))];
        let text = "apiVersion: cache.example.com/v1 # cache.example.com\nkind: \"Memcached\"\nmetadata:\n  name: memcached-sample\n---\n\
            kind: Memcached\napiVersion: v1\n---\nrules:\n- apiGroups: [cache.example.com]\n  resources:\n  - memcacheds/status\n\
            - apiGroups: [apps]\n  resources: [memcacheds]\n---\ntarget: {group: cache.example.com, kind: Memcached}\nname: memcacheds.cache.example.com\nresources: [v1_memcached.yaml, ../v1_memcached.yaml]\n";
        let moved = |path: &str| path.replace("a/v1_memcached.yaml", "a/v1_store.yaml");
        let expected = "apiVersion: store.example.com/v1 # cache.example.com\nkind: \"Store\"\nmetadata:\n  name: store-sample\n---\n\
            kind: Memcached\napiVersion: v1\n---\nrules:\n- apiGroups: [store.example.com]\n  resources:\n  - stores/status\n\
            - apiGroups: [apps]\n  resources: [memcacheds]\n---\ntarget: {group: store.example.com, kind: Store}\nname: stores.store.example.com\nresources: [v1_store.yaml, ../v1_memcached.yaml]\n";
        assert_eq!(rename("a/b.yaml", text, &kinds, &moved, false), expected);
        let crd = "kind: CustomResourceDefinition\nmetadata:\n  name: memcacheds.cache.example.com\n";
        assert_eq!(rename("a.yaml", crd, &kinds, &moved, true), crd);
        assert_eq!(rename("a.yaml", crd, &kinds, &moved, false), crd.replace("memcacheds.cache", "stores.store"));
    }
}
