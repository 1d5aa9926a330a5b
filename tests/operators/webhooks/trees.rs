//! Every combination of webhooks and sources of the certificate, for a kind of the project and one of Kubernetes.

use std::sync::OnceLock;

use super::project::{BuildFolder, Files, Project};
use super::rendered::Rendered;
use crate::control_plane;
use crate::extent::takes_all;
use crate::workdir::kubectl;

/// The options of a project, created with one command.
#[derive(Clone, Copy)]
pub struct Tree {
    pub is_own: bool,
    pub webhooks: u8,
    pub by_cert_manager: bool,
}

pub const DEFAULTING: u8 = 1;
pub const VALIDATION: u8 = 2;
pub const CONVERSION: u8 = 4;

impl Tree {
    pub fn all(by_cert_manager: bool) -> Vec<Self> {
        let own = (1..8).map(|webhooks| Self { is_own: true, webhooks, by_cert_manager });
        own.chain((1..4).map(|webhooks| Self { is_own: false, webhooks, by_cert_manager })).collect()
    }

    pub fn has(self, webhook: u8) -> bool {
        self.webhooks & webhook != 0
    }

    pub fn command(self) -> String {
        let flags = [
            ("--defaulting", self.has(DEFAULTING)),
            ("--validation", self.has(VALIDATION)),
            ("--conversion --spoke v1alpha1", self.has(CONVERSION)),
            ("--cert-manager", self.by_cert_manager),
        ];
        let flags: Vec<&str> = flags.iter().filter(|(_, is_said)| *is_said).map(|(flag, _)| *flag).collect();
        format!("opctl create webhook {} {}", if self.is_own { OWN } else { POD }, flags.join(" "))
    }

    fn make(self) -> Project {
        Project::of(if self.is_own { two_versions() } else { bare() }, &[&self.command()])
    }
}

pub const OWN: &str = "--group cache --version v1 --kind Backup";
pub const POD: &str = "--group core --version v1 --kind Pod";

/// A project without a kind.
pub fn bare() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| Project::new(&["opctl init --domain example.com --project-name shop"]).files())
}

/// A project with a kind in two versions.
pub fn two_versions() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    let create = "opctl create api --group cache --kind Backup --version";
    let [one, other] = [format!("{create} v1"), format!("{create} v1alpha1 --controller=false")];
    FILES.get_or_init(|| Project::of(bare(), &[&one, &other]).files())
}

#[test]
fn own_certificates() {
    Tree::all(false).into_iter().for_each(prove);
}

#[test]
fn certificates_of_cert_manager() {
    Tree::all(true).into_iter().for_each(prove);
}

/// Asserts that opctl reports nothing, and that the rendered objects are consistent.
fn prove(tree: Tree) {
    let project = tree.make();
    project.is_sound();
    if kubectl().is_none() {
        return control_plane::skipped(&format!("kustomizations after {}", tree.command()), "no `kubectl`");
    }
    Rendered::of(&project).fits_together(&project, tree);
    let whole = "config/default/kustomization.yaml";
    project.replace(whole, "components:\n", "components:\n  - ../network-policy\n  - ../leader-election\n");
    let rendered = Rendered::of(&project);
    rendered.fits_together(&project, tree);
    rendered.lets_in();
    if tree.by_cert_manager {
        return;
    }
    project.shell("opctl edit --cert-manager");
    project.is_sound();
    let rendered = Rendered::of(&project);
    rendered.fits_together(&project, Tree { by_cert_manager: true, ..tree });
    rendered.lets_in();
}

#[test]
fn cert_manager_is_a_marker_in_the_rust() {
    for (own, other) in Tree::all(false).into_iter().zip(Tree::all(true)) {
        let [(mut with, marker), (mut without, nothing)] = [other, own].map(|tree| {
            let mut rust = tree.make().files();
            rust.retain(|path, _| path.ends_with(".rs") || path == "Cargo.toml");
            let list = String::from_utf8(rust["src/webhook/mod.rs"].clone()).unwrap();
            (rust, list.contains("\n// +opctl:ca:certificate=serving-cert\n"))
        });
        assert!(marker && !nothing, "{}", other.command());
        for files in [&mut with, &mut without] {
            let list = files.get_mut("src/webhook/mod.rs").unwrap();
            let text = String::from_utf8(list.clone()).unwrap();
            let code = text.lines().filter(|line| !line.starts_with("//") && !line.is_empty());
            *list = code.collect::<Vec<_>>().join("\n").into();
        }
        assert!(with == without, "{}", other.command());
    }
}

/// The source of the certificate is a marker, so only ten of twenty trees have different Rust code. The code for a
/// webhook is the same whatever other webhooks exist, so the trees with all webhooks and those with a single kind of
/// handler suffice; with OPCTL_WEBHOOKS=all, every tree is compiled and tested.
#[test]
fn the_rust_of_every_tree_compiles_and_passes_its_tests() {
    let folder = BuildFolder::new("tree", "");
    let all = takes_all("OPCTL_WEBHOOKS");
    for tree in Tree::all(false) {
        let is_whole =
            tree.webhooks == if tree.is_own { DEFAULTING | VALIDATION | CONVERSION } else { DEFAULTING | VALIDATION };
        if !(all || is_whole && tree.is_own) {
            if is_whole || tree.is_own && tree.webhooks.is_power_of_two() {
                folder.lints(&tree.make().files());
            }
            continue;
        }
        let tested = folder.compiles(&tree.make().files());
        assert!(tested.contains("::the_manifests_list_every_webhook ... ok\n"), "{tested}");
        assert!(tested.contains("\ntest config_crd_equals_the_compiled_types ... ok\n"), "{tested}");
        let converts = tested.contains("::conversion::tests::nothing_is_lost ... ok\n");
        assert_eq!(converts, tree.has(CONVERSION), "{tested}");
    }
}
