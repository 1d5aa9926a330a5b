//! A CRD with a PodTemplateSpec.

use opctl_model::project::Tree;
use opctl_source::emit::{self, CustomResourceDefinition};
use opctl_source::{self as source, Options};

/// A template with and without a description of the user.
const SOURCE: &str = r#"
use k8s_openapi::api::core::v1::{PodTemplateSpec, Toleration};

/// A job.
#[derive(kube::CustomResource, schemars::JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Job")]
pub struct JobSpec {
    /// The program that runs.
    template: PodTemplateSpec,
    tolerations: Option<Vec<Toleration>>,
    inner: Inner,
}

/// The user's own.
#[derive(schemars::JsonSchema)]
pub struct Inner {
    /// A field that is called so.
    description: String,
}
"#;

pub fn crd(foreign_descriptions: bool) -> CustomResourceDefinition {
    let mut tree = Tree::at("nowhere");
    let manifest = "[package]\nname = \"p\"\n[dependencies]\nkube = \"*\"\nschemars = \"*\"\n\
        k8s-openapi = { version = \"*\", features = [\"latest\", \"schemars\"] }\n";
    tree.lay_over("Cargo.toml", manifest);
    tree.lay_over("src/lib.rs", SOURCE);
    let source = source::read_with(&tree, "", &Options { foreign_descriptions, ..Options::default() });
    emit::crds(&source.operator.apis).unwrap().remove(0)
}

pub fn text(crd: &CustomResourceDefinition) -> String {
    let manifests =
        emit::manifests(std::slice::from_ref(crd), &[], &emit::Options { namespaced: false, namespaces: Vec::new() })
            .unwrap();
    manifests.into_iter().find(|manifest| manifest.path.starts_with("crd/bases/")).unwrap().text
}
