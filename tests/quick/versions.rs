//! Several versions of a kind are merged into one CRD like kube's `merge_crds`; incompatible versions are reported.

use kube_core::crd::merge_crds;
use opctl_model::diagnostic;
use opctl_model::project::Tree;
use opctl_source as source;
use opctl_source::emit::{self, CustomResourceDefinition};

/// A version of `K`, with its module and more arguments of `#[kube(…)]`.
fn version(name: &str, more: &str) -> String {
    format!(
        "pub mod {name} {{\n    #[derive(kube::CustomResource, schemars::JsonSchema)]\n    \
         #[kube(group = \"g.example.com\", version = \"{name}\", kind = \"K\"{more})]\n    pub struct S {{ x: u8 }}\n}}\n"
    )
}

fn read(source: &str) -> Result<Vec<CustomResourceDefinition>, String> {
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", "[package]\nname = \"p\"\n[dependencies]\nkube = \"*\"\nschemars = \"*\"\n");
    tree.lay_over("src/lib.rs", source);
    let source = source::read(&tree, "");
    let errors = source.diagnostics.iter().any(diagnostic::Diagnostic::is_error);
    assert!(!errors, "{}", diagnostic::render(&source.diagnostics, false));
    emit::crds(&source.operator.apis).map_err(|problems| diagnostic::render(&problems, false))
}

/// The versions of the CRD, with `!` if not served, and `*` if stored.
fn versions(source: &str) -> Vec<String> {
    let crds = read(source).unwrap();
    assert_eq!(crds.len(), 1);
    let version = |version: &_| {
        let k8s = serde_json::to_value(version).unwrap();
        let mark = |key: &str, sign: &'static str, when: bool| if (k8s[key] == true) == when { sign } else { "" };
        format!("{}{}{}", k8s["name"].as_str().unwrap(), mark("served", "!", false), mark("storage", "*", true))
    };
    crds[0].spec.versions.iter().map(version).collect()
}

#[test]
fn the_least_mature_is_stored_unless_it_says_no() {
    let (alpha, beta, stable) = (version("v1alpha1", ""), version("v1beta1", ""), version("v1", ""));
    for source in [format!("{alpha}{beta}{stable}"), format!("{stable}{alpha}{beta}")] {
        assert_eq!(versions(&source), ["v1alpha1*", "v1", "v1beta1"]);
    }
    let gone = version("v1alpha1", ", storage = false, served = false");
    assert_eq!(versions(&format!("{stable}{gone}{beta}")), ["v1beta1*", "v1", "v1alpha1!"]);
    assert_eq!(versions(&alpha), ["v1alpha1*"]);
}

#[test]
fn equals_what_kube_merges() {
    let sources = [
        version("v1alpha1", ", deprecated = \"use v1\", served = false, storage = false, shortname = \"ka\""),
        version("v1beta1", ", deprecated, status = \"S\", shortname = \"kb\", category = \"all\""),
        version("v1", ", printcolumn = r#\"{\"name\": \"X\", \"type\": \"integer\", \"jsonPath\": \".spec.x\"}\"#"),
        version("v2alpha3", ", label(\"a\", \"b\"), annotation(\"c\", \"d\")"),
    ];
    let alone: Vec<_> = sources.iter().map(|source| read(source).unwrap().remove(0)).collect();
    // In Kubernetes' order of version priority.
    let by_kube = merge_crds([3, 0, 1, 2].map(|at| alone[at].clone()).into(), "v2alpha3").unwrap();
    let together = read(&sources.concat()).unwrap();
    assert_eq!(together, std::slice::from_ref(&by_kube));
    // A program may print them separately and in any order, or already merged.
    assert_eq!(emit::merge(alone.into_iter().rev().collect()).unwrap(), together);
    assert_eq!(emit::merge(together.clone()).unwrap(), together);

    let version = |name: &str| by_kube.spec.versions.iter().find(|version| version.name == name).unwrap();
    assert_eq!(version("v1alpha1").deprecation_warning.as_deref(), Some("use v1"));
    assert_eq!((version("v1beta1").deprecated, version("v1").deprecated), (Some(true), None));
}

#[test]
fn what_does_not_fit_is_told() {
    let refusal = |versions: [String; 2]| read(&versions.concat()).unwrap_err();
    let twice = version("v1", "") + &version("v1", "").replace("mod v1", "mod other");
    assert!(read(&twice).unwrap_err().contains("error[OP020]: `K` `v1` is declared twice"));
    let none = refusal(["v1", "v2"].map(|name| version(name, ", storage = false")));
    assert!(none.contains("error[OP020]: no version of `K` is stored"), "{none}");
    let scope = refusal([version("v1", ""), version("v2", ", namespaced")]);
    assert!(scope.contains("error[OP020]: the versions of `K` do not fit together"), "{scope}");
    let plural = refusal([version("v1", ""), version("v2", ", plural = \"kays\"")]);
    assert!(plural.contains("error[OP020]: `K` has two plurals: `ks` and `kays`"), "{plural}");
    assert!(plural.contains("src/lib.rs:9:"), "{plural}");
    let kind = version("v2", ", plural = \"ks\"").replace("\"K\"", "\"Kay\"");
    let kind = refusal([version("v1", ""), kind]);
    assert!(kind.contains("error[OP020]: the kinds `K` and `Kay` have the same plural: `ks`"), "{kind}");
}
