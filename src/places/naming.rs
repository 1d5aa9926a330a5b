//! The path of the file for a new CRD, derived from the names of the other files in the folder.

use std::collections::BTreeMap;

use opctl_kustomize::yaml::Node;
use opctl_model::project::join;
use opctl_source::emit::CustomResourceDefinition;

/// The part of a file name that depends on the CRD.
type Part = fn(&Names) -> String;

/// From the most to the least specific one.
const PARTS: [Part; 7] = [
    |names| format!("{}_{}", names.group, names.plural),
    |names| format!("{}.{}", names.plural, names.group),
    |names| names.plural.clone(),
    |names| names.kind.to_lowercase(),
    |names| names.kind.clone(),
    |names| words(&names.kind, '-'),
    |names| words(&names.kind, '_'),
];

struct Names {
    group: String,
    plural: String,
    kind: String,
}

/// A folder, and the naming convention of its files.
pub struct Naming {
    folder: String,
    /// The most common pattern: the index of the part, and the text before and after it.
    pattern: Option<(usize, String, String)>,
}

impl Naming {
    /// Derives the pattern from the files with one CRD.
    pub fn of(folder: &str, files: Vec<(&str, &Node)>) -> Self {
        let mut found: BTreeMap<(usize, String, String), (usize, String)> = BTreeMap::new();
        for (path, node) in files {
            let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
            let text = |path: &[&str]| node.text_at(path).unwrap_or_default().to_owned();
            let names = Names {
                group: text(&["spec", "group"]),
                plural: text(&["spec", "names", "plural"]),
                kind: text(&["spec", "names", "kind"]),
            };
            for (index, part) in PARTS.iter().enumerate() {
                let part = part(&names);
                let Some((before, after)) = file.split_once(&part).filter(|_| !part.is_empty()) else { continue };
                // The match is a part of another word.
                if before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric) {
                    continue;
                }
                let known = found.entry((index, before.into(), after.into())).or_insert((0, folder.to_owned()));
                known.0 += 1;
            }
        }
        // The first of several equally common patterns.
        let best = found.into_iter().rev().max_by_key(|(_, (count, _))| *count);
        match best {
            Some((pattern, (_, folder))) => Self { folder, pattern: Some(pattern) },
            None => Self { folder: folder.into(), pattern: None },
        }
    }

    /// The path for a CRD: from the pattern if it is free, else the path of a generated file.
    pub fn path(&self, crd: &CustomResourceDefinition, is_free: impl Fn(&str) -> bool) -> String {
        let spec = &crd.spec;
        let names =
            Names { group: spec.group.clone(), plural: spec.names.plural.clone(), kind: spec.names.kind.clone() };
        let pattern = self
            .pattern
            .as_ref()
            .map(|(part, before, after)| join(&self.folder, &format!("{before}{}{after}", PARTS[*part](&names))));
        let default = || join(&self.folder, &format!("{}.yaml", PARTS[0](&names)));
        pattern.filter(|path| is_free(path)).unwrap_or_else(default)
    }
}

/// `AgentRole` → `agent-role`, `MCPServer` → `mcp-server`.
fn words(kind: &str, between: char) -> String {
    let letters: Vec<char> = kind.chars().collect();
    let mut words = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let is_after_lower = at > 0 && !letters[at - 1].is_uppercase();
        let is_before_lower = at > 0 && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && (is_after_lower || is_before_lower) {
            words.push(between);
        }
        words.extend(letter.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use opctl_kustomize::yaml::{Dialect, documents};
    use opctl_model::diagnostic::SourceFile;
    use serde_json::json;

    use super::*;

    fn crd(kind: &str, plural: &str) -> CustomResourceDefinition {
        let spec =
            json!({"group": "a.b", "names": {"kind": kind, "plural": plural}, "scope": "Namespaced", "versions": []});
        serde_json::from_value(json!({"spec": spec})).unwrap()
    }

    #[test]
    fn new_files_are_called_like_the_others() {
        for (files, expected) in [
            (&["crds/agentroles.a.b.yaml"][..], "crds/mcpservers.a.b.yaml"),
            (&["crds/a.b_agentroles.yml"], "crds/a.b_mcpservers.yml"),
            (&["crds/agentrole.yaml"], "crds/mcpserver.yaml"),
            (&["crds/agentroles.yaml"], "crds/mcpservers.yaml"),
            (&["crds/AgentRole.yaml"], "crds/MCPServer.yaml"),
            (&["crds/agent-role-crd.yaml"], "crds/mcp-server-crd.yaml"),
            (&["crds/sub/crd_agent_role.json"], "crds/sub/crd_mcp_server.json"),
            (&["crds/crd-agentrole.yaml"], "crds/crd-mcpserver.yaml"),
            (&["crds/all.yaml"], "crds/a.b_mcpservers.yaml"),
            (&["crds/myagentrole.yaml"], "crds/a.b_mcpservers.yaml"),
            (&[], "crds/a.b_mcpservers.yaml"),
        ] {
            let text = serde_json::to_string(&crd("AgentRole", "agentroles")).unwrap();
            let node = &documents(&SourceFile::new("", text), Dialect::Kubectl).unwrap()[0];
            let naming = Naming::of("crds", files.iter().map(|path| (*path, node)).collect());
            assert_eq!(naming.path(&crd("MCPServer", "mcpservers"), |_| true), expected, "{files:?}");
        }
        let naming = Naming::of("crds", Vec::new());
        assert_eq!(naming.path(&crd("A", "as"), |_| false), "crds/a.b_as.yaml");
    }

    #[test]
    fn the_most_common_name_wins() {
        let nodes: Vec<Node> = [("AgentRole", "agentroles"), ("AgentJob", "agentjobs"), ("Repository", "repositories")]
            .iter()
            .flat_map(|(kind, plural)| {
                let text = serde_json::to_string(&crd(kind, plural)).unwrap();
                documents(&SourceFile::new("", text), Dialect::Kubectl).unwrap()
            })
            .collect();
        let paths = ["c/agent-role.yaml", "c/agent-job.yaml", "c/repository.yaml"];
        let naming = Naming::of("c", paths.into_iter().zip(&nodes).collect());
        assert_eq!(naming.path(&crd("MCPServer", "mcpservers"), |_| true), "c/mcp-server.yaml");
    }
}
