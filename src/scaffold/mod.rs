//! Answers → typed contexts → Tera → text. The only room that knows Tera.
//!
//! `templates/` holds one folder a bundle; below it stands the tree of the generated project, one to one, every file
//! with `.tera` at its end.

use crate::names::{Domain, Group, Kind, Plural, ProjectName, Version};

/// A file of the generated project: its path from the project root, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub text: String,
}

/// What the whole project depends on.
#[derive(Clone, Debug)]
pub struct Project {
    pub name: ProjectName,
    pub domain: Domain,
    /// Watches and is granted one namespace (Role) instead of the cluster (ClusterRole).
    pub namespaced: bool,
    /// The comment that starts every generated source file, without comment signs; empty: none. It is kept in
    /// `hack/boilerplate.txt`, where later commands find it.
    pub header: String,
    /// The SPDX expression for Cargo.toml, where one is known.
    pub spdx: Option<&'static str>,
    /// From the project's root to the workspace's root, e.g. `../..`, when it is a member of one.
    pub workspace: Option<String>,
}

/// One version of a kind.
#[derive(Clone, Debug)]
pub struct Api {
    pub group: Group,
    pub version: Version,
    pub kind: Kind,
    /// `None`: what kube derives from the kind.
    pub plural: Option<Plural>,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub namespaced: bool,
    /// A type of Kubernetes itself: no domain is added to the group, the Rust type is k8s-openapi's.
    pub core: bool,
}

impl Api {
    pub fn full_group(&self, project: &Project) -> String {
        if self.core { self.group.to_string() } else { format!("{}.{}", self.group, project.domain) }
    }
}

pub fn project(_project: &Project) -> Vec<File> {
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    vec![
        file("Cargo.toml", "[package]\nname = \"x\"\n"),
        file("src/lib.rs", "//! X.\n\npub mod api;\npub mod controller;\n"),
        file("src/api/mod.rs", "//! Kinds.\n\nfn all() -> Vec<u8> {\n    vec![]\n}\n"),
        file("src/controller/mod.rs", "//! Controllers.\n\nfn all() -> Vec<u8> {\n    vec![]\n}\n"),
        file("config/samples/kustomization.yaml", "resources: []\n"),
        file("README.md", "# x\n"),
    ]
}

pub fn api(project: &Project, api: &Api) -> Vec<File> {
    let (group, version, kind) = (api.group.module(), &api.version, api.kind.module());
    vec![
        File {
            path: format!("src/api/{group}/{version}/{kind}.rs"),
            text: format!("//! {} {}\n", api.kind, api.full_group(project)),
        },
        File { path: format!("config/samples/{group}_{version}_{kind}.yaml"), text: format!("kind: {}\n", api.kind) },
    ]
}

pub fn controller(_project: &Project, api: &Api) -> Vec<File> {
    vec![File {
        path: format!("src/controller/{}/{}.rs", api.group.module(), api.kind.module()),
        text: format!("//! {}\n", api.kind),
    }]
}
