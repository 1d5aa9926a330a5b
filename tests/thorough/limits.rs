//! Source that exceeds limits of the reader: reading terminates soon, with a diagnostic about the exceeded limit.
#![cfg(unix)]

use std::fmt::Write;
use std::fs;
use std::process::Command;
use std::time::Duration;

use opctl_model::diagnostic::Diagnostic;
use opctl_model::project::Tree;
use opctl_source as source;

use crate::cpu_time::cpu_time;

const MANIFEST: &str = "[package]\nname = \"crate\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n\
    kube = { version = \"*\", features = [\"derive\"] }\nschemars = \"*\"\nserde = \"1\"\n";

const DERIVE: &str = "#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]";

/// A file with a kind with these fields, and more items.
fn kind(fields: &str, more: &str) -> String {
    format!(
        "use kube::CustomResource;\nuse schemars::JsonSchema;\nuse serde::{{Deserialize, Serialize}};\n\
         #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]\n\
         #[kube(group = \"example.com\", version = \"v1\", kind = \"Widget\")]\npub struct WidgetSpec {{ {fields} }}\n{more}\n"
    )
}

fn read(files: &[(&str, &str)]) -> Vec<Diagnostic> {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    for (path, text) in [&[("Cargo.toml", MANIFEST)], files].concat() {
        fs::write(folder.path().join(path), text).unwrap();
    }
    on_a_stack_as_of_opctl(move || {
        let start = cpu_time();
        let diagnostics = source::read(&Tree::at(folder.path()), "").diagnostics;
        let took = cpu_time() - start;
        assert!(took < Duration::from_secs(60), "{took:?}");
        diagnostics
    })
}

fn on_a_stack_as_of_opctl<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(32 << 20).spawn(run).unwrap().join().unwrap()
}

/// The code and the message of the first diagnostic.
fn first(files: &[(&str, &str)]) -> String {
    let diagnostics = read(files);
    let first = diagnostics.first().unwrap_or_else(|| panic!("nothing is wrong with {files:.300?}"));
    format!("{} {}", first.code, first.message)
}

#[test]
fn deep_nesting_is_refused_before_it_is_parsed() {
    let nested =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(20_000), close.repeat(20_000));
    let texts = [
        kind(&format!("pub a: {},", nested("Vec<", "u8", ">")), ""),
        kind(&format!("#[serde(default = \"{}\")] pub a: u8,", nested("A::<", "u8", ">")), ""),
        kind("pub a: u8,", &nested("mod m {", "", "}")),
        kind("pub a: u8,", &format!("fn f() {{ {} }}", nested("{", "", "}"))),
        kind("pub a: u8,", &format!("const A: u8 = {};", nested("(", "1", ")"))),
        kind("pub a: u8,", &format!("const A: bool = {};", nested("!", "true", ""))),
        kind("pub a: u8,", &format!("use {};", nested("a::{", "b", "}"))),
        kind("pub a: u8,", &format!("{} struct S;", nested("#[cfg(not(", "a", "))]"))),
    ];
    for text in texts {
        let said = first(&[("src/lib.rs", &text)]);
        assert!(said.starts_with("OP006 `src/lib.rs` is nested too deeply: more than 128 brackets"), "{said}");
    }
}

#[test]
fn modules_that_never_end_are_refused() {
    for (name, text) in [("lib", "#[path = \"lib.rs\"] mod a;"), ("a", "mod b;")] {
        let files = [
            ("src/lib.rs", if name == "lib" { text } else { "mod a;" }),
            ("src/a.rs", "#[path = \"b.rs\"] mod b;"),
            ("src/b.rs", "#[path = \"a.rs\"] mod a;"),
        ];
        assert_eq!(first(&files), format!("OP007 `src/{name}.rs` is the file of a module in itself"));
    }
}

#[test]
fn types_that_never_end_are_refused() {
    let chain: String = (0..2000).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{DERIVE} pub struct S{n} {{ pub a: S{} }}", n + 1);
        text
    });
    let cases = [
        ("A", "type A = A;"),
        ("A", "type A = Option<A>;"),
        ("A<u8>", "type A<T> = A<Vec<T>>;"),
        ("S0", &format!("{chain} {DERIVE} pub struct S2000;")),
    ];
    for (ty, more) in cases {
        let said = first(&[("src/lib.rs", &kind(&format!("pub a: {ty},"), more))]);
        assert!(
            said.starts_with("OP026") && said.ends_with("leads through more than 128 types within each other"),
            "{said}"
        );
    }
}

#[test]
fn schemas_that_double_at_each_level_are_refused() {
    let doubling: String = (0..40).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{DERIVE} pub struct S{n} {{ pub a: S{0}, pub b: S{0} }}", n + 1);
        text
    });
    let said =
        first(&[("src/lib.rs", &kind("pub a: S0,", &format!("{doubling} {DERIVE} pub struct S40 {{ pub x: u8 }}")))]);
    assert!(said.ends_with("has a schema of more than 250000 values"), "{said}");
}

/// Each field has a finding, whose location is searched among all fields.
#[test]
fn the_time_for_many_fields_and_tags_is_not_quadratic() {
    let list = |form: fn(usize) -> String| (0..2000).map(form).collect::<String>();
    let fields = list(|n| format!("pub f{n}: u8,"));
    let tags = list(|n| format!("V{n} {{ a{n}: u8 }},"));
    for (ty, more) in
        [("S", format!("pub struct S {{ {fields} }}")), ("E", format!("#[serde(untagged)] pub enum E {{ {tags} }}"))]
    {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("Cargo.toml"), MANIFEST).unwrap();
        fs::write(folder.path().join("src/lib.rs"), kind(&format!("pub a: {ty},"), &format!("{DERIVE} {more}")))
            .unwrap();
        // The limit of processor time, in seconds.
        let output = Command::new("sh")
            .args(["-c", "ulimit -t 60 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_opctl")])
            .args(["manifests", "--engine", "static", "--path"])
            .arg(folder.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}", &stderr[..stderr.len().min(1000)]);
        assert_eq!(stderr.matches("warning[OP329]").count(), 2000);
    }
}

#[test]
fn only_regular_files_are_read() {
    let manifest = format!("{MANIFEST}[lib]\npath = \"/dev/zero\"\n");
    assert_eq!(first(&[("Cargo.toml", &manifest)]), "OP031 cannot read `/dev/zero`: it is not a regular file");

    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("Cargo.toml"), MANIFEST).unwrap();
    fs::write(folder.path().join("src/lib.rs"), "mod pipe;").unwrap();
    let pipe = folder.path().join("src/pipe.rs");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let diagnostics = source::read(&Tree::at(folder.path()), "").diagnostics;
    assert_eq!(diagnostics[0].message, "cannot read `src/pipe.rs`: it is not a regular file");
}

#[test]
fn the_text_of_a_file_outside_of_the_project_is_not_shown() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), "secret = token\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("Cargo.toml"), MANIFEST).unwrap();
    fs::write(folder.path().join("src/lib.rs"), kind("pub a: secret::A,", "mod secret;")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("src/secret.rs")).unwrap();
    let diagnostics = source::read(&Tree::at(folder.path()), "").diagnostics;
    let said = opctl_model::diagnostic::render(&diagnostics, false);
    assert!(said.contains("error[OP001]: `src/secret.rs:1:8`, a file outside of the project, is not Rust"), "{said}");
    assert!(!said.contains("token"), "{said}");
}
