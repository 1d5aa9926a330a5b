//! Markers, the roles generated from them, and their permissions.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use opctl_model::RbacRule;
use opctl_model::diagnostic::{SourceFile, render};
use opctl_source::emit::{self, Options};
use opctl_source::markers::{self, Markers};
use proptest::prelude::*;
use serde_json::Value;

pub const CLUSTER: Options = Options { namespaced: false, namespaces: Vec::new() };

pub fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rbac").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let cases: BTreeSet<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "rs")).collect();
    assert!(!cases.is_empty());
    cases.into_iter().collect()
}

pub fn rules(text: &str) -> Vec<RbacRule> {
    let Markers { operator, diagnostics, .. } = markers::read(&SourceFile::new("src/lib.rs", text));
    let rules = operator.rbac;
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics, false));
    rules
}

pub fn file(path: &str, rules: &[RbacRule], options: Options) -> String {
    let manifests = emit::manifests(&[], rules, &options).unwrap();
    manifests.into_iter().find(|manifest| manifest.path == path).unwrap().text
}

pub fn role_yaml(rules: &[RbacRule], options: Options) -> String {
    file("rbac/role.yaml", rules, options)
}

/// A rule of a role, which grants the product of its lists.
pub struct Rule {
    /// Empty for all namespaces.
    pub namespace: String,
    pub role: String,
    pub groups: Vec<String>,
    pub resources: Vec<String>,
    pub names: Vec<String>,
    pub urls: Vec<String>,
    pub verbs: Vec<String>,
}

/// The rules of roles.
pub fn granted(yaml: &str) -> Vec<Rule> {
    let mut rules = Vec::new();
    for document in yaml.split("---\n").filter(|document| document.contains("kind:")) {
        let role: Value = serde_saphyr::from_str(document).unwrap();
        let text = |pointer: &str| role.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        assert_eq!(text("/kind") == "Role", role.pointer("/metadata/namespace").is_some());
        for rule in role["rules"].as_array().unwrap() {
            let list = |key: &str| -> Vec<String> {
                let items = rule.get(key).map(|list| list.as_array().unwrap().as_slice()).unwrap_or_default();
                items.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
            };
            rules.push(Rule {
                namespace: text("/metadata/namespace"),
                role: text("/metadata/name"),
                groups: list("apiGroups"),
                resources: list("resources"),
                names: list("resourceNames"),
                urls: list("nonResourceURLs"),
                verbs: list("verbs"),
            });
        }
    }
    rules
}

/// One permission as written: namespace, role, `group resource name` or URL, verb.
pub type Atom = (String, String, String, String);

/// Every permission as written, except for verbs next to a `*`.
pub fn atoms(rules: &[Rule]) -> BTreeSet<Atom> {
    let mut atoms = BTreeSet::new();
    for rule in rules {
        let any_name = vec!["(any)".to_owned()];
        let names = if rule.names.is_empty() { &any_name } else { &rule.names };
        let mut targets = rule.urls.clone();
        for group in &rule.groups {
            for resource in &rule.resources {
                targets.extend(names.iter().map(|name| format!("{group} {resource} {name}")));
            }
        }
        for target in &targets {
            let atom = |verb: &String| (rule.namespace.clone(), rule.role.clone(), target.clone(), verb.clone());
            atoms.extend(rule.verbs.iter().map(atom));
        }
    }
    let covered = |(namespace, role, target, verb): &Atom| {
        verb != "*" && atoms.contains(&(namespace.clone(), role.clone(), target.clone(), "*".into()))
    };
    atoms.iter().filter(|atom| !covered(atom)).cloned().collect()
}

/// Every request that any of the roles allows, out of those with the words of [`any_markers`] and one more word of each
/// kind, which only a `*` allows. Kubernetes' rule: component-helpers/auth/rbac/validation.
pub fn allowed(rules: &[Rule]) -> BTreeSet<String> {
    let one_of = |list: &[String], word: &str| list.iter().any(|item| item == "*" || item == word);
    let mut allowed = BTreeSet::new();
    for verb in ["get", "list", "watch", "patch", "post", "new"] {
        let rules: Vec<&Rule> = rules.iter().filter(|rule| one_of(&rule.verbs, verb)).collect();
        for path in ["/a", "/b", "/c/", "/c/d", "/c", "/new"] {
            let matches = |url: &String| url.strip_suffix('*').map_or(url == path, |start| path.starts_with(start));
            if rules.iter().any(|rule| rule.urls.iter().any(matches)) {
                allowed.insert(format!("{verb} {path}"));
            }
        }
        for namespace in ["system", "zoo", "new"] {
            let of_namespace = |rule: &&&Rule| ["", namespace].contains(&rule.namespace.as_str());
            let rules: Vec<&Rule> = rules.iter().filter(of_namespace).copied().collect();
            for group in ["", "apps", "batch", "a", "b", "new"] {
                for resource in ["x", "y", "y/status", "z", "z/status", "new"] {
                    let any = resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
                    for name in ["", "lock", "1.0", "on", "new"] {
                        let allows = |rule: &&Rule| {
                            one_of(&rule.groups, group)
                                && (one_of(&rule.resources, resource)
                                    || any.as_ref().is_some_and(|any| rule.resources.contains(any)))
                                && (rule.names.is_empty() || rule.names.iter().any(|item| item == name))
                        };
                        if rules.iter().any(allows) {
                            allowed.insert(format!("{verb} {namespace}: {group} {resource} {name}"));
                        }
                    }
                }
            }
        }
    }
    allowed
}

pub fn any_markers() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![varied_markers(), meeting_markers()]
}

/// Markers with few words, so that groups are merged into the same targets. controller-gen loses verbs in this case.
fn meeting_markers() -> impl Strategy<Value = Vec<String>> {
    let some = |words: &'static [&'static str]| {
        prop::sample::subsequence(words, 1..=words.len()).prop_map(|words| words.join(";"))
    };
    let marker = (some(&["a", "b"]), some(&["get", "list"]))
        .prop_map(|(groups, verbs)| format!("// +kubebuilder:rbac:groups={groups},resources=x,verbs={verbs}"));
    prop::collection::vec(marker, 3..6)
}

fn varied_markers() -> impl Strategy<Value = Vec<String>> {
    let some = |words: &'static [&'static str], most: usize| {
        prop::collection::vec(prop::sample::select(words), 1..=most).prop_map(|words| words.join(";"))
    };
    let names = prop_oneof![3 => Just(String::new()), 1 => some(&["lock", "1.0", "on"], 2).prop_map(|names| format!(",resourceNames={names}"))];
    let role = prop_oneof![
        4 => Just(""),
        1 => Just(",namespace=zoo"),
        1 => Just(",roleName=other"),
        1 => Just(",namespace=zoo,roleName=other"),
    ];
    let verbs = prop_oneof![9 => some(&["get", "list", "watch", "patch"], 3), 1 => some(&["*", "get"], 2)];
    let resources = (
        some(&["\"\"", "core", "apps", "batch", "*"], 2),
        some(&["x", "y", "y/status", "z", "*", "*/status"], 3),
        names,
        verbs.clone(),
        role,
    )
        .prop_map(|(groups, resources, names, verbs, role)| {
            format!("// +kubebuilder:rbac:groups={groups},resources={resources}{names},verbs={verbs}{role}")
        });
    let urls = (some(&["/a", "/b", "/c/*"], 2), some(&["get", "post", "*"], 2))
        .prop_map(|(urls, verbs)| format!("// +kubebuilder:rbac:urls={urls},verbs={verbs}"));
    prop::collection::vec(prop_oneof![4 => resources, 1 => urls], 0..9)
}
