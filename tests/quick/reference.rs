//! `opctl generate docs` for a CRD with one of each construct. The output is recorded in `tests/reference`.

use std::fs;
use std::path::Path;

use snapbox::{Assert, Data};

use crate::sandbox::Sandbox;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference")
}

/// A project with the kind of `tests/reference`.
fn project() -> Sandbox {
    let mut sandbox = Sandbox::new();
    crate::sandbox::shell(&sandbox, "opctl -q init shop --domain example.com --license none --api shop/v1/Widget");
    sandbox.folder.push("shop");
    let put = |from: &str, to: &str| fs::copy(folder().join(from), sandbox.folder.join(to)).unwrap();
    put("crd.yaml", "config/crd/bases/shop.example.com_widgets.yaml");
    put("sample.yaml", "config/samples/shop_v1_widget.yaml");
    sandbox
}

fn opctl(sandbox: &Sandbox, arguments: &str) -> (Option<i32>, String) {
    let output = sandbox.command("opctl").args(arguments.split(' ')).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn a_reference_is_as_recorded() {
    let sandbox = project();
    let (code, said) = opctl(&sandbox, "generate docs");
    assert_eq!(code, Some(0), "{said}");
    let api = sandbox.folder.join("docs/api");
    let mut failures = Vec::new();
    for (made, recorded) in [
        ("README.md", "api.md"),
        ("index.html", "api.html"),
        ("schemas/shop.example.com/widget_v1.json", "widget_v1.json"),
    ] {
        let text = fs::read_to_string(api.join(made)).unwrap();
        let result = Assert::new().action_env("SNAPSHOTS").try_eq(
            None,
            Data::text(text),
            Data::read_from(&folder().join(recorded), None).raw(),
        );
        failures.extend(result.err().map(|error| error.to_string()));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
    assert!(!api.join("schemas/shop.example.com/widget_v0.json").exists());
    assert_eq!(opctl(&sandbox, "generate docs --check").0, Some(0));

    // Each link has a target.
    let page = fs::read_to_string(api.join("README.md")).unwrap();
    let links: Vec<&str> = page.split("](#").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert!(links.len() > 4, "{page}");
    for link in links {
        assert!(page.contains(&format!("<a id=\"{link}\"></a>")), "{link}");
    }
}

#[test]
fn a_version_that_is_gone_is_gone_from_the_schemas() {
    let sandbox = project();
    assert_eq!(opctl(&sandbox, "-q generate docs").0, Some(0));
    let crd = sandbox.folder.join("config/crd/bases/shop.example.com_widgets.yaml");
    let text = fs::read_to_string(&crd).unwrap();
    fs::write(&crd, text.replace("name: v1alpha1\n    served: true", "name: v1alpha1\n    served: false")).unwrap();
    let schema = sandbox.folder.join("docs/api/schemas/shop.example.com/widget_v1alpha1.json");
    assert!(schema.exists());
    assert_eq!(opctl(&sandbox, "generate docs --check").0, Some(1));
    let (code, said) = opctl(&sandbox, "generate docs");
    assert!(code == Some(0) && !schema.exists(), "{said}");
}

#[test]
fn what_is_not_opctls_stays() {
    let sandbox = project();
    fs::create_dir_all(sandbox.folder.join("docs/api")).unwrap();
    fs::write(sandbox.folder.join("docs/api/README.md"), "# Ours\n").unwrap();
    let (code, said) = opctl(&sandbox, "generate docs");
    assert!(code == Some(1) && said.contains("`docs/api/README.md`: not ours"), "{said}");
    assert!(!sandbox.folder.join("docs/api/index.html").exists());

    let (code, said) = opctl(&sandbox, "-q generate docs --output-dir reference");
    assert!(code == Some(0) && sandbox.folder.join("reference/index.html").is_file(), "{said}");

    fs::remove_dir_all(sandbox.folder.join("config/crd/bases")).unwrap();
    let (code, said) = opctl(&sandbox, "generate docs");
    assert!(code == Some(1) && said.contains("there is no CRD"), "{said}");
}
