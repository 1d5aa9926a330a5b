//! CRDs of compiled types that no binary of the crate prints: public and private ones, from macros, and in a crate
//! without a library.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common;
use crate::oracles::Oracle;
use crate::tree::tree;
use crate::write::write;

const DERIVES: &str =
    "#[derive(kube::CustomResource, Clone, Debug, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]";

const LIBRARY: &str = r#"
#![deny(warnings)]

mod private {
    DERIVES
    #[kube(group = "example.com", version = "v1", kind = "Hidden", root = "HiddenRoot")]
    struct HiddenSpec {
        size: i32,
    }

    pub fn size() -> i32 {
        HiddenRoot::new("a", HiddenSpec { size: 1 }).spec.size
    }
}

pub use private::size;

macro_rules! kind {
    ($spec:ident, $kind:tt) => {
        DERIVES
        #[kube(group = "example.com", version = "v1", kind = $kind)]
        pub struct $spec {
            pub size: i32,
        }
    };
}

kind!(MadeSpec, "Made");

/// Possible output of a procedural macro: a module for each version, and a type that merges them.
macro_rules! versions {
    ($kind:ident, $name:tt) => {
        pub mod v1 {
            DERIVES
            #[kube(group = "example.com", version = "v1", kind = $name)]
            pub struct Spec {
                pub size: i32,
            }
        }

        pub enum Version {
            V1,
        }

        pub enum $kind {}

        impl $kind {
            pub fn merged_crd(
                version: Version,
            ) -> Result<k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition, String> {
                let Version::V1 = version;
                Ok(<v1::Several as kube::CustomResourceExt>::crd())
            }
        }
    };
}

versions!(Several, "Several");

DERIVES
#[kube(group = "example.com", version = "v1", kind = "Plain", namespaced)]
pub struct PlainSpec {
    pub size: i32,
}

#[cfg(feature = "off")]
DERIVES
#[kube(group = "example.com", version = "v1", kind = "Off", namespaced)]
pub struct OffSpec {}
"#;

const MAIN: &str = r#"
use kinds::{Several, Version};

fn main() {
    println!("{}", Several::merged_crd(Version::V1).unwrap().spec.group);
}
"#;

/// A workspace member without a library.
const LONE: &str = r#"
#![deny(warnings)]

mod api;

fn main() -> Result<(), String> {
    println!("{}", api::Lone::new("a", api::LoneSpec { size: 1 }).spec.size);
    Ok(())
}
"#;

const LONE_API: &str = r#"
DERIVES
#[kube(group = "example.com", version = "v1", kind = "Lone")]
pub struct LoneSpec {
    pub size: i32,
}
"#;

/// Another binary of the member, with a private kind.
const TOOL: &str = r#"
DERIVES
#[kube(group = "example.com", version = "v1", kind = "Tool")]
struct ToolSpec {
    size: i32,
}

fn main() {
    println!("{}", Tool::new("a", ToolSpec { size: 1 }).spec.size);
}
"#;

/// Runs opctl in `folder`; cargo uses the shared target folder.
fn opctl(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = common::for_operators(Command::new(env!("CARGO_BIN_EXE_opctl")));
    command.args(["manifests", "--path", "."]).args(arguments).current_dir(folder).output().unwrap()
}

fn crds(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("config/crd/bases")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_kind_of_a_crate_is_printed_without_its_help() {
    let folder = common::operators_target().join("printer");
    let _ = fs::remove_dir_all(&folder);
    let oracle = Oracle::latest();
    let manifest = oracle.manifest("kinds");
    let lone = manifest.replace("\"kinds\"", "\"lone\"").replace("[workspace]", "");
    let code = |text: &str| text.replace("DERIVES", DERIVES);
    let files = BTreeMap::from([
        ("Cargo.toml", format!("{manifest}members = [\"lone\"]\n")),
        ("Cargo.lock", oracle.lock().replace("\"oracle\"", "\"kinds\"")),
        ("src/lib.rs", code(LIBRARY)),
        ("src/main.rs", MAIN.into()),
        ("lone/Cargo.toml", lone),
        ("lone/src/main.rs", LONE.into()),
        ("lone/src/api.rs", code(LONE_API)),
        ("lone/src/bin/tool.rs", code(TOOL)),
    ]);
    files.iter().for_each(|(path, text)| write(&folder.join(path), text));
    let before = tree(&folder);

    let output = opctl(&folder, &["--engine", "cargo"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let names = ["hiddens", "lones", "mades", "plains", "severals", "tools"];
    assert_eq!(crds(&folder), names.map(|name| format!("example.com_{name}.yaml")), "{stderr}");

    // Nothing else is in the tree, and a second run compiles nothing.
    let mut after = tree(&folder);
    after.retain(|path, _| !path.starts_with("config/"));
    assert_eq!(after, before);
    let binary = common::operators_target().join("debug/opctl-kinds-lib");
    let built = fs::metadata(&binary).unwrap().modified().unwrap();
    let output = opctl(&folder, &["--engine", "cargo", "--check"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::metadata(&binary).unwrap().modified().unwrap(), built);

    let output = opctl(&folder, &["--verify"]);
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(output.status.success(), "{stderr}");
    assert_eq!(
        stdout, "equal: `Hidden`, `Lone`, `Plain`, `Tool`\nonly from the compiled types: `Made`, `Several`\n",
        "{stderr}"
    );

    // PROJECT gets an entry without a path for each version of the kinds of macros.
    let mut command = common::for_operators(Command::new(env!("CARGO_BIN_EXE_opctl")));
    let output = command.args(["adopt", "--engine", "auto"]).current_dir(&folder).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let project = fs::read_to_string(folder.join("PROJECT")).unwrap();
    assert!(project.contains("  kind: Several\n  version: v1\n"), "{project}");
    assert!(project.contains("  kind: Made\n") && project.contains("  path: crate::Plain\n"), "{project}");
}

/// The source does not determine the default of the second version.
const TWO: &str = r#"
pub mod v1 {
    DERIVES
    #[kube(group = "example.com", version = "v1", kind = "Two", storage = false)]
    pub struct TwoSpec {
        pub size: i32,
    }
}

pub mod v2 {
    DERIVES
    #[kube(group = "example.com", version = "v2", kind = "Two")]
    pub struct TwoSpec {
        #[serde(default = "size")]
        pub size: i32,
    }

    pub fn size() -> i32 {
        (std::process::id() / u32::MAX) as i32
    }
}
"#;

/// A binary that does not compile, with a kind that the source determines.
const BROKEN: &str = r#"
DERIVES
#[kube(group = "example.com", version = "v1", kind = "Broken")]
pub struct BrokenSpec {
    pub size: i32,
}

fn main() {
    let _size: i32 = "size";
}
"#;

#[test]
fn kinds_that_need_a_compiler_are_compiled_with_all_versions_and_nothing_else() {
    let folder = common::operators_target().join("printer-auto");
    let _ = fs::remove_dir_all(&folder);
    let oracle = Oracle::latest();
    write(&folder.join("Cargo.toml"), &oracle.manifest("two"));
    write(&folder.join("Cargo.lock"), &oracle.lock().replace("\"oracle\"", "\"two\""));
    write(&folder.join("src/lib.rs"), &TWO.replace("DERIVES", DERIVES));
    write(&folder.join("src/bin/broken.rs"), &BROKEN.replace("DERIVES", DERIVES));

    let output = opctl(&folder, &["--engine", "auto"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert_eq!(crds(&folder), ["example.com_brokens.yaml", "example.com_twos.yaml"], "{stderr}");
    let two = fs::read_to_string(folder.join("config/crd/bases/example.com_twos.yaml")).unwrap();
    assert!(two.contains("name: v1") && two.contains("name: v2") && two.contains("default: 0"), "{two}");
    assert!(stderr.contains("compiling the crate with cargo for 1 kind"), "{stderr}");

    // A binary that does not compile stops only its own kinds.
    let broken = folder.join("src/bin/broken.rs");
    let undetermined =
        fs::read_to_string(&broken).unwrap().replace("pub size", "#[serde(default = \"two::v2::size\")]\n    pub size");
    for (engine, code) in [("cargo", None), ("auto", Some(undetermined))] {
        code.map(|code| fs::write(&broken, code).unwrap());
        fs::remove_file(folder.join("config/crd/bases/example.com_twos.yaml")).unwrap();
        let output = opctl(&folder, &["--engine", engine]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && stderr.contains("so `opctl-broken-bin` cannot print the CRDs"), "{stderr}");
        assert!(stderr.contains("error: no CRD was generated for `Broken`\n"), "{stderr}");
        assert_eq!(crds(&folder), ["example.com_brokens.yaml", "example.com_twos.yaml"], "{stderr}");
    }
    fs::write(&broken, BROKEN.replace("DERIVES", DERIVES)).unwrap();

    // The kinds of the library are compared nevertheless.
    let output = opctl(&folder, &["--verify"]);
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(!output.status.success() && stderr.contains("so `opctl-broken-bin` cannot print the CRDs"), "{stderr}");
    assert_eq!(
        stdout, "only from the compiled types: `Two`\nnot compared, because their code does not compile: `Broken`\n",
        "{stderr}"
    );
}
