//! An operator with webhooks as a user writes them, compiled once for all tests.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::common;
use crate::control_plane::ControlPlane;
use crate::place;
use crate::project::{Place, Project};
use crate::trees::{OWN, POD, two_versions};

pub struct Operator {
    place: Place,
    pub manager: PathBuf,
}

/// The files of `tests/webhooks/overlay`, and which ones of the scaffold each of them replaces.
const OVERLAY: [(&str, &str); 6] = [
    ("v1", "src/api/cache/v1/backup.rs"),
    ("v1alpha1", "src/api/cache/v1alpha1/backup.rs"),
    ("conversion", "src/api/cache/v1alpha1/backup_conversion.rs"),
    ("defaulting", "src/webhook/cache/v1/backup/defaulting.rs"),
    ("validation", "src/webhook/cache/v1/backup/validation.rs"),
    ("pod", "src/webhook/core/v1/pod/defaulting.rs"),
];

impl Operator {
    pub fn get() -> &'static Self {
        static OPERATOR: OnceLock<Operator> = OnceLock::new();
        OPERATOR.get_or_init(Self::make)
    }

    fn make() -> Self {
        let webhooks = [
            format!("opctl create webhook {OWN} --defaulting --validation --conversion --spoke v1alpha1"),
            format!("opctl create webhook {POD} --defaulting"),
        ];
        let project = Project::of(two_versions(), &webhooks.each_ref().map(String::as_str));
        for (name, path) in OVERLAY {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/webhooks/overlay/{name}.rs"));
            assert!(project.folder().join(path).exists(), "{path}");
            fs::copy(from, project.folder().join(path)).unwrap();
        }
        let kept = [("v1", "spec.note"), ("v1alpha1", "spec.targets[].region")];
        let kept = kept.map(|pair| format!("{pair:?}")).join(", ");
        project.replace("src/webhook/cache/v1/backup/conversion.rs", "&[];", &format!("&[{kept}];"));
        project.shell("opctl manifests");
        project.is_sound();

        let place = Place::new("operator", "");
        let _alone = place::alone();
        place.take(&project.files());
        place.cargo(&["fmt", "--check"], &[]);
        place.cargo(&["build", "--locked", "--bin", "manager"], &[]);
        let manager = Path::new(env!("CARGO_TARGET_TMPDIR")).join("webhooks-manager");
        fs::copy(common::operators_target().join("debug/manager"), &manager).unwrap();
        Self { place, manager }
    }

    pub fn folder(&self) -> PathBuf {
        self.place.folder()
    }

    /// Targets of its Makefile.
    pub fn make_target(&self, cluster: &ControlPlane, arguments: &[&str]) {
        let mut make = common::for_operators(Command::new("make"));
        make.current_dir(self.folder()).args(arguments);
        make.env("KUBECONFIG", &cluster.kubeconfig).env("KUBECTL", &cluster.kubectl);
        make.env("OPCTL", env!("CARGO_BIN_EXE_opctl"));
        // The API server warns of the format of a `u32`, and opctl passes that on.
        common::output(make);
    }
}

#[test]
fn a_thousand_objects_come_back() {
    let operator = Operator::get();
    let _alone = place::alone();
    let test = ["test", "--locked", "--lib", "nothing_is_lost"];
    let tested = operator.place.cargo(&test, &[("ROUND_TRIPS", "1000")]);
    assert!(tested.contains("::nothing_is_lost ... ok\n"), "{tested}");
}

/// One that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A `Backup`.
pub fn backup(version: &str, name: &str, metadata: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: cache.example.com/{version}, kind: Backup, metadata: {{name: {name}, namespace: default{metadata}}}, \
         spec: {{{spec}}}}}"
    )
}

/// An object of the cluster.
pub fn object(cluster: &ControlPlane, arguments: &[&str]) -> Value {
    let text = cluster.kubectl(&[&["get", "-o", "json"], arguments].concat(), "");
    serde_json::from_str(&text).unwrap()
}

/// What kubectl says where it must fail.
pub fn refused(cluster: &ControlPlane, arguments: &[&str], stdin: &str) -> String {
    let output = cluster.run(arguments, stdin);
    assert!(!output.status.success(), "{arguments:?} went well: {stdin}");
    String::from_utf8(output.stderr).unwrap()
}

/// The names of objects that send the API server somewhere.
pub fn configurations(cluster: &ControlPlane) -> String {
    let kinds = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
    cluster.kubectl(&["get", kinds, "-o", "name"], "")
}
