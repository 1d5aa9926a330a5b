//! The release of kube that opctl generates CRDs for: the one in Cargo.lock, else the latest that Cargo.toml allows.

use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::Tree;
use opctl_model::versions;
use opctl_source::emit;
use opctl_source::{self as source, Source};

const KIND: &str = "#[derive(kube::CustomResource, schemars::JsonSchema)]\n\
    #[kube(group = \"g.example.com\", version = \"v1\", kind = \"K\"ARGUMENTS)]\nstruct S { x: u8 }\n";

/// The result of the release's `crd()`: `true` if it contains empty lists; or the errors.
fn crd(dependencies: &str, lock: Option<&[&str]>, arguments: &str) -> Result<bool, Vec<Diagnostic>> {
    let mut tree = Tree::at("nowhere");
    let manifest =
        format!("[package]\nname = \"p\"\nversion = \"0.1.0\"\n[dependencies]\nschemars = \"1\"\n{dependencies}\n");
    tree.lay_over("Cargo.toml", manifest);
    if let Some(locked) = lock {
        let mut text = String::from("version = 4\n");
        let entries: Vec<String> = locked.iter().map(|it| format!(" \"{it}\",\n")).collect();
        text += &format!("\n[[package]]\nname = \"p\"\nversion = \"0.1.0\"\ndependencies = [\n{}]\n", entries.concat());
        for (name, version) in locked.iter().map(|it| it.split_once(' ').unwrap()) {
            let source = "registry+https://github.com/rust-lang/crates.io-index";
            text += &format!("\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"{source}\"\n");
        }
        tree.lay_over("Cargo.lock", text);
    }
    tree.lay_over("src/lib.rs", KIND.replace("ARGUMENTS", arguments));
    let Source { operator, mut diagnostics, .. } = source::read(&tree, "");
    diagnostics.retain(Diagnostic::is_error);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    Ok(emit::crds(&operator.apis).unwrap()[0].spec.names.categories.is_some())
}

#[test]
fn the_lock_file_has_the_release() {
    let lists = |dependency: &str, locked: Option<&str>| {
        let locked = locked.map(|locked| [locked]);
        crd(dependency, locked.as_ref().map(|it| it.as_slice()), "").ok()
    };
    assert_eq!(lists("kube = \"4\"", Some("kube 4.0.0")), Some(true));
    assert_eq!(lists("kube = \"4\"", Some("kube 4.2.1")), Some(false));
    assert_eq!(lists("k = { package = \"kube\", version = \">=2\" }", Some("kube 3.1.0")), Some(true));
    // Another crate re-exports kube.
    assert_eq!(lists("framework = \"1\"", Some("kube-derive 2.0.1")), Some(true));
    // Cargo would add kube to the lock file.
    assert_eq!(lists("kube = \"4\"", Some("serde 1.0.0")), Some(false));
    for (requirement, expected) in
        [("5", false), ("4", false), ("~4.0", true), ("=4.0.0", true), ("3", true), (">=2", false)]
    {
        assert_eq!(lists(&format!("kube = \"{requirement}\""), None), Some(expected), "{requirement}");
    }
}

#[test]
fn other_releases_are_refused_once() {
    let said = |dependencies: &str, locked: Option<&[&str]>| {
        let said = crd(dependencies, locked, "").unwrap_err();
        assert_eq!(said.iter().map(|said| said.code.name).collect::<Vec<_>>(), ["OP018"]);
        assert!(said[0].help[0].contains("--engine cargo"));
        said[0].message.clone()
    };
    let knows = format!("and opctl knows the CRDs of kube {}", versions::range("kube"));
    assert_eq!(said("kube = \"1\"", None), format!("`p` uses kube 1, {knows}"));
    assert_eq!(said("kube = \"1\"", Some(&["kube 1.1.0"])), format!("`p` uses kube 1.1.0, {knows}"));
    assert_eq!(said("kube = \"99\"", Some(&["kube 99.0.0"])), format!("`p` uses kube 99.0.0, {knows}"));
    let two = "kube = \"5\"\nkube3 = { package = \"kube\", version = \"3\" }";
    let locked = Some(["kube 3.1.0", "kube 5.0.0"].as_slice());
    assert_eq!(said(two, locked), format!("`p` uses kube 3.1.0 or 5.0.0, {knows}"));
}

#[test]
fn what_a_release_does_not_have_is_refused() {
    let said = |version: &str, arguments: &str| {
        let said = crd(&format!("kube = \"={version}\""), None, arguments).err()?;
        assert_eq!(said.iter().map(|said| said.code.name).collect::<Vec<_>>(), ["OP005"]);
        Some(said[0].message.clone())
    };
    let columns = ", printcolumn(name = \"A\", type_ = \"string\", json_path = \".spec.x\")";
    for (argument, before, since) in [
        (", attr = \"allow(unused)\"", "2.0.1", "3.0.0"),
        (columns, "3.0.1", "3.1.0"),
        (", validation = Rule::new(\"true\").optional_old_self(true)", "3.0.1", "3.1.0"),
        (", cel", "3.1.0", "4.0.0"),
        (", no_spec", "4.2.0", "5.0.0"),
    ] {
        assert!(said(before, argument).unwrap().starts_with(&format!("kube {before} has no ")), "{argument}");
        assert_eq!(said(since, argument), None, "{argument}");
    }
}
