//! The CRDs of the kinds in a crate without PROJECT: derived from the source, or else checked-in copies.
//!
//! The identity of a kind is known for all versions of kube, its schema only for supported ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use crate::kept::{self, Templates};
use opctl_kustomize::yaml::Node;
use opctl_model::diagnostic::{Diagnostic, Span};
use opctl_model::project::Tree;
use opctl_model::{Declared, Scope};
use opctl_source::{self as source, emit};

/// The kinds of a crate.
#[derive(Default)]
pub struct Kinds {
    pub kinds: Vec<Kind>,
    /// The reasons why kinds have no schema.
    pub reasons: Vec<Diagnostic>,
    /// The reasons why copies of CRDs are not used: they differ, or cannot be read.
    pub unused_copies: Vec<String>,
}

/// A kind with its versions.
pub struct Kind {
    /// The declared versions; never empty.
    pub versions: Vec<Declared>,
    pub crd: Crd,
}

/// The CRD of a kind.
pub enum Crd {
    Derived(Value),
    /// A checked-in copy, with its position.
    Copy(Value, Span),
    /// Only the identity is known.
    Unknown,
}

impl Kinds {
    /// Reads the crate at the root. Copies of CRDs are searched for in the whole crate, or in `copies`, a file, folder
    /// or chart, whose CRDs take precedence over derived ones.
    ///
    /// # Errors
    ///
    /// If `copies` cannot be read.
    pub fn read(tree: &Tree, copies: Option<&Path>) -> anyhow::Result<Self> {
        let read = source::read(tree, "");
        let operator = &read.operator;
        let mut grouped: BTreeMap<(String, String), Vec<Declared>> = BTreeMap::new();
        for identity in operator.declared.iter().filter(|kind| !kind.is_external).cloned() {
            grouped.entry((identity.group.clone(), identity.kind.clone())).or_default().push(identity);
        }
        let refused: BTreeSet<&(String, String)> =
            operator.underivable.iter().filter_map(|it| it.kind.as_ref()).collect();
        let (crds, _) = emit::crds_and_problems(&operator.apis);
        let derived: BTreeMap<(String, String), Value> = crds
            .iter()
            .map(|crd| ((crd.spec.group.clone(), crd.spec.names.kind.clone()), crd))
            .filter(|(kind, _)| !refused.contains(kind))
            .map(|(kind, crd)| (kind, serde_json::to_value(crd).expect("a CRD is JSON")))
            .collect();
        let needs_copies = copies.is_some() || grouped.keys().any(|kind| !derived.contains_key(kind));
        let group = "apiextensions.k8s.io";
        let kept = match copies {
            _ if !needs_copies => Ok(Vec::new()),
            Some(path) => Ok(kept::objects(path, group, &["CustomResourceDefinition"], Templates::AsText)?.objects),
            None => {
                kept::objects(tree.root(), group, &["CustomResourceDefinition"], Templates::AsText).map(|it| it.objects)
            }
        };
        let mut unused_copies = Vec::new();
        let kept = kept.unwrap_or_else(|error| {
            unused_copies.push(format!("copies in the crate cannot be read: {error:#}"));
            Vec::new()
        });
        let mut kinds = Vec::new();
        for (kind, versions) in grouped {
            let derived = derived.get(&kind).map(|crd| Crd::Derived(crd.clone()));
            let mut copy = || match copy_of(&versions[0].crd(), &kept) {
                Ok(copy) => copy.map(|copy| Crd::Copy(copy.json(), copy.span.clone())),
                Err(differ) => {
                    unused_copies.push(differ);
                    None
                }
            };
            let crd = match copies {
                None => derived.or_else(copy),
                Some(_) => copy().or(derived),
            };
            let crd = crd.unwrap_or(Crd::Unknown);
            kinds.push(Kind { versions, crd });
        }
        let mut reasons: Vec<Diagnostic> = Vec::new();
        for reason in operator.underivable.iter().flat_map(|it| &it.reasons) {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
        Ok(Self { kinds, reasons, unused_copies })
    }

    /// The kinds with a known identity only.
    pub fn unknown(&self) -> Vec<&Kind> {
        self.kinds.iter().filter(|kind| matches!(kind.crd, Crd::Unknown)).collect()
    }
}

impl Kind {
    pub fn name(&self) -> &str {
        &self.versions[0].kind
    }

    /// The CRD; without a schema if only the identity is known.
    pub fn to_json(&self) -> Value {
        match &self.crd {
            Crd::Derived(crd) | Crd::Copy(crd, _) => crd.clone(),
            Crd::Unknown => self.identity(),
        }
    }

    fn identity(&self) -> Value {
        let first = &self.versions[0];
        let version = |it: &Declared| {
            let subresources = if it.has_status { json!({ "status": {} }) } else { json!({}) };
            json!({ "name": it.version, "served": true, "subresources": subresources })
        };
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": first.crd() },
            "spec": {
                "group": first.group, "scope": scope(first.scope),
                "names": { "kind": first.kind, "plural": first.plural },
                "versions": self.versions.iter().map(version).collect::<Vec<_>>(),
            },
        })
    }

    /// The differences between the identity in the source and a checked-in CRD.
    pub fn differences(&self) -> Vec<String> {
        let Crd::Copy(crd, _) = &self.crd else { return Vec::new() };
        let first = &self.versions[0];
        let mut found = Vec::new();
        if crd["spec"]["scope"] != scope(first.scope) {
            found.push(format!("the scope of the source is {}", scope(first.scope)));
        }
        if crd["spec"]["names"]["kind"] != *first.kind {
            found.push(format!("the kind of the source is `{}`", first.kind));
        }
        let versions = crd["spec"]["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
        for version in &self.versions {
            match versions.iter().find(|it| it["name"] == *version.version) {
                None => found.push(format!("it has no version {}", version.version)),
                Some(it) if it["subresources"]["status"].is_object() != version.has_status => {
                    let has = if version.has_status { "has no" } else { "has a" };
                    found.push(format!("its version {} {has} status subresource, unlike the source", version.version));
                }
                Some(_) => {}
            }
        }
        found
    }
}

fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Namespaced => "Namespaced",
        Scope::Cluster => "Cluster",
    }
}

/// The copy of a CRD; an error if there are different ones. Patches of kustomizations are not copies.
fn copy_of<'a>(name: &str, kept: &'a [Node]) -> Result<Option<&'a Node>, String> {
    let is_copy = |crd: &&Node| {
        crd.text_at(&["metadata", "name"]) == Some(name)
            && crd.at(&["spec", "versions"]).is_some_and(|it| !it.items().is_empty())
    };
    let mut copies = kept.iter().filter(is_copy);
    let Some(first) = copies.next() else { return Ok(None) };
    let spec = |crd: &Node| crd.get("spec").map(Node::json);
    match copies.find(|other| spec(other) != spec(first)) {
        Some(other) => Err(format!("the copies of `{name}` differ: {} and {}", first.span, other.span)),
        None => Ok(Some(first)),
    }
}
