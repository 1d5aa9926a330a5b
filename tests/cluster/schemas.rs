//! The JSON schemas of `opctl generate docs`, with kubeconform: they accept what an API server accepts, and reject
//! typos.
#![cfg(unix)]

use std::env;
use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, shell};
use crate::skipped::skipped;

#[test]
fn validators_accept_samples_and_reject_mistakes() {
    let program = env::var_os("KUBEBUILDER_ASSETS").map(|folder| Path::new(&folder).join("kubeconform"));
    let Some(program) = program.filter(|program| program.is_file()) else {
        return skipped("JSON schemas", "KUBEBUILDER_ASSETS names no folder with kubeconform");
    };
    let mut sandbox = Sandbox::new();
    shell(&sandbox, "opctl -q init shop --domain example.com --api shop/v1/Widget");
    sandbox.folder.push("shop");
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let crd = sandbox.folder.join("config/crd/bases/shop.example.com_widgets.yaml");
    fs::copy(cases.join("crd.yaml"), crd).unwrap();
    shell(&sandbox, "opctl -q generate docs");
    let sample = fs::read_to_string(cases.join("sample.yaml")).unwrap();
    let accepts = |text: &str| {
        fs::write(sandbox.folder.join("object.yaml"), text).unwrap();
        let schemas = "docs/api/schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json";
        let mut command = sandbox.command(program.to_str().unwrap());
        command.args(["-strict", "-schema-location", schemas, "object.yaml"]).status().unwrap().success()
    };
    assert!(accepts(&sample));
    for (from, to) in [
        ("size: small", "sise: small"),
        ("size: small", "size: medium"),
        ("size: small", "size: small\n  replicas: 6"),
        ("hard: 3", "hard: many"),
        ("size: small", "size: small\n  rules: [{host: a}]"),
    ] {
        assert!(!accepts(&sample.replace(from, to)), "{to}");
    }
    for more in ["port: 80", "port: http", "share: null", "extra: [1]", "open: {other: 1}", "matrix: [[1], []]"] {
        assert!(accepts(&sample.replace("size: small", &format!("size: small\n  {more}"))), "{more}");
    }
}
