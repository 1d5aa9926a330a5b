//! An operator with every kind of webhook, and two versions with different fields.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use super::project::{BuildFolder, Files, Project};
use super::trees::{OWN, POD, two_versions};
use crate::common;
use crate::control_plane::ControlPlane;
use crate::workdir;

pub struct Operator {
    pub files: Files,
    folder: BuildFolder,
    pub manager: PathBuf,
}

/// Files of the runtime's example `backups`, the scaffolded files that they replace, and a replaced import.
const FILES: [(&str, &str, [&str; 2]); 5] = [
    ("v1", "src/api/cache/v1/backup.rs", [""; 2]),
    ("v1alpha1", "src/api/cache/v1alpha1/backup.rs", [""; 2]),
    (
        "conversion",
        "src/api/cache/v1alpha1/backup_conversion.rs",
        ["super::{v1, v1alpha1}", "crate::api::cache::{v1::backup as v1, v1alpha1::backup as v1alpha1}"],
    ),
    ("defaulting", "src/webhook/cache/v1/backup/defaulting.rs", BACKUP),
    ("validation", "src/webhook/cache/v1/backup/validation.rs", BACKUP),
];
const BACKUP: [&str; 2] = ["super::v1::Backup", "crate::api::cache::v1::backup::Backup"];

impl Operator {
    /// Compiled once for all tests.
    pub fn compiled() -> &'static Self {
        static OPERATOR: OnceLock<Operator> = OnceLock::new();
        OPERATOR.get_or_init(Self::compile)
    }

    fn compile() -> Self {
        let webhooks = [
            format!("opctl create webhook {OWN} --defaulting --validation --conversion --spoke v1alpha1"),
            format!("opctl create webhook {POD} --defaulting"),
        ];
        let project = Project::of(two_versions(), &webhooks.each_ref().map(String::as_str));
        for (name, path, [here, there]) in FILES {
            let file = format!("crates/runtime/examples/backups/{name}.rs");
            let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
            assert!(project.folder().join(path).exists() && text.contains(here), "{path}");
            fs::write(project.folder().join(path), text.replacen(here, there, 1)).unwrap();
        }
        // rustfmt breaks lines at a smaller width there.
        project.shell("cargo fmt");
        project.shell("opctl manifests");
        project.is_sound();

        let folder = BuildFolder::new("operator", "");
        let _cargo = workdir::lock_cargo();
        let files = project.files();
        folder.take(&files);
        folder.cargo(&["fmt", "--check"], &[]);
        folder.cargo(&["build", "--locked", "--bin", "manager"], &[]);
        let manager = Path::new(env!("CARGO_TARGET_TMPDIR")).join("webhooks-manager");
        fs::copy(common::operators_target().join("debug/manager"), &manager).unwrap();
        Self { files, folder, manager }
    }

    pub fn folder(&self) -> PathBuf {
        self.folder.folder()
    }
}

/// A free port, which is released again.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// An object of the cluster.
pub fn object(cluster: &ControlPlane, arguments: &[&str]) -> Value {
    let text = cluster.kubectl(&[&["get", "-o", "json"], arguments].concat(), "");
    serde_json::from_str(&text).unwrap()
}
