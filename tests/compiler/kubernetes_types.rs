//! The table of Kubernetes' types, which is generated from the sources of k8s-openapi, equals the output of the
//! compiled types.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use opctl_model::diagnostic;
use opctl_model::project::Tree;
use opctl_model::versions::{K8S_OPENAPI, Release};
use opctl_source::emit;
use opctl_source::known::kubernetes::{self, Minor, NoSchema};
use opctl_source::{self as source, Source};
use serde_json::Value;

use crate::common;
use crate::nightly::is_run;
use crate::write::write;

/// Each type of the table must exist in k8s-openapi with the same schema and default, and a kind that uses many of them
/// must have the same CRD. If `OPCTL_VERSIONS` is `all`, the earliest and the latest version of each release are
/// compiled. The table only changes with the sources of a release, which `cargo test` compares.
#[test]
fn the_table_is_what_the_compiled_types_print() {
    if !is_run("the compiled types of Kubernetes", "OPCTL_VERSIONS") {
        return;
    }
    let releases = releases();
    for feature in ["earliest", "latest"] {
        let minors = releases.iter().map(|(_, release)| Minor::of_feature(*release, feature).unwrap());
        let types = |minor| kubernetes::paths().filter(|path| kubernetes::find(minor, path).is_some()).collect();
        let minors: Vec<(Minor, Vec<&str>)> = minors.map(|minor| (minor, types(minor))).collect();
        let (folder, mut compiled) = compiled(feature, &minors);

        let Source { operator, diagnostics, .. } = source::read(&Tree::at(&folder), "");
        assert!(diagnostics.is_empty(), "{}", diagnostic::render(&diagnostics, false));
        let read = serde_json::to_value(&emit::crds(&operator.apis).unwrap()[0]).unwrap();
        assert!(read == compiled.remove("case").unwrap(), "{feature}: the CRD is another one");

        let mut differences = String::new();
        for ((krate, _), (minor, types)) in releases.iter().zip(&minors) {
            for path in types {
                let compiled = &compiled[&format!("{krate}::{path}")];
                differences.push_str(&difference(*minor, path, compiled));
            }
        }
        assert!(differences.is_empty(), "{differences}");
    }
}

/// The crates in the manifest: the last release of each version.
fn releases() -> Vec<(String, Release)> {
    let mut last: BTreeMap<u64, Release> = BTreeMap::new();
    last.extend(K8S_OPENAPI.iter().map(|(release, _)| (release.1, *release)));
    let (newest, _) = *K8S_OPENAPI.last().unwrap();
    let name = |release: Release| match release {
        _ if release == newest => "k8s_openapi".to_owned(),
        Release(_, minor, _) => format!("k8s_openapi_0_{minor}"),
    };
    last.into_values().map(|release| (name(release), release)).collect()
}

/// The difference between the table and a compiled type; empty if there is none.
fn difference(minor: Minor, path: &str, compiled: &Value) -> String {
    let ty = kubernetes::find(minor, path).unwrap();
    let schema = match ty.schema() {
        Ok(schema) => Some(schema.to_value()),
        Err(NoSchema::NotImplemented) => None,
        Err(NoSchema::Recursive) => {
            assert!(compiled["schema"].to_string().contains("\"$ref\":"), "{path} is not recursive");
            compiled.get("schema").cloned()
        }
    };
    let is_same = schema.as_ref() == compiled.get("schema") && ty.default_value().as_ref() == compiled.get("default");
    let of = format!("{path} of k8s-openapi {}, {minor}", minor.release());
    if is_same { String::new() } else { format!("{of}: {schema:?} {:?}\n  compiled {compiled}\n", ty.default_value()) }
}

/// Compiles a crate with a feature of each k8s-openapi. Returns its output: the CRD of the case, and the existing
/// schemas and defaults of types.
fn compiled(feature: &str, types: &[(Minor, Vec<&str>)]) -> (PathBuf, BTreeMap<String, Value>) {
    let folder = common::operators_target().join(format!("kubernetes-{feature}"));
    fs::create_dir_all(folder.join("src")).unwrap();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kubernetes_types");
    let read = |path: &str| fs::read_to_string(tests.join(path)).unwrap();
    let manifest = read("last/Cargo.toml").replace("\"latest\"", &format!("\"{feature}\""));
    write(&folder.join("Cargo.toml"), &manifest);
    write(&folder.join("Cargo.lock"), &read("last/Cargo.lock"));
    write(&folder.join("src/case.rs"), &read("case.rs"));
    let mut main = String::from(ORACLE);
    for ((krate, _), (_, types)) in releases().iter().zip(types) {
        for path in types {
            // The type parameter is not part of its schema.
            let parameter = if path.ends_with("::WatchEvent") { "::<()>" } else { "" };
            writeln!(main, "    print!(\"{krate}::{path}\", {krate}::{path}{parameter});").unwrap();
        }
    }
    main.push_str("}\n");
    write(&folder.join("src/main.rs"), &main);
    let printed = common::output(common::cargo(&folder, &["run", "--quiet"]));
    let line = |line: &str| {
        let (path, json) = line.split_once(' ').unwrap();
        (path.to_string(), serde_json::from_str(json).unwrap())
    };
    let printed = printed.lines().map(line).collect();
    (folder, printed)
}

/// An inherent constant takes precedence over that of a trait, which tests whether a type has a schema and a default.
const ORACLE: &str = r#"#![allow(dead_code)]
mod case;

use std::marker::PhantomData;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

struct Ask<T>(PhantomData<T>);

impl<T: JsonSchema> Ask<T> {
    const SCHEMA: Option<fn() -> Value> = Some(|| {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        T::json_schema(&mut settings.into_generator()).to_value()
    });
}

impl<T: Default + serde::Serialize> Ask<T> {
    const DEFAULT: Option<fn() -> Value> = Some(|| serde_json::to_value(T::default()).unwrap());
}

trait Without {
    const SCHEMA: Option<fn() -> Value> = None;
    const DEFAULT: Option<fn() -> Value> = None;
}

impl<T> Without for Ask<T> {}

macro_rules! print {
    ($path:literal, $type:ty) => {
        let mut printed = serde_json::Map::new();
        printed.extend(Ask::<$type>::SCHEMA.map(|schema| ("schema".to_string(), schema())));
        printed.extend(Ask::<$type>::DEFAULT.map(|default| ("default".to_string(), default())));
        println!("{} {}", $path, Value::Object(printed));
    };
}

fn main() {
    println!("case {}", serde_json::to_string(&<case::Case as kube::CustomResourceExt>::crd()).unwrap());
"#;
