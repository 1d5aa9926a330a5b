//! The CRDs that the engine derives from source equal the recorded CRDs of the compiled types.
//!
//! If `crd()` panics (`tests/engine/panics`), the engine must reject the kind with the message next to the case.

use std::collections::BTreeSet;
use std::path::Path;

use opctl_model::diagnostic::{self, Diagnostic};
use opctl_model::project::Tree;
use opctl_model::versions::{self, Release};
use opctl_source::emit;
use opctl_source::{self as source, Source};

use crate::engine_cases::{
    self, Crds, cases, derive, differences, every_case, parse, render, takes_all_releases, without,
};
use crate::oracle::manifest;
use crate::oracles::Oracle;

#[test]
fn crds_equal_those_that_were_recorded() {
    let oracle = Oracle::latest();
    let cases = cases(&oracle);
    assert!(cases.len() >= 150, "{} cases", cases.len());
    let derived = derive(&oracle, &cases);
    let mut differences = differences(&recorded(&oracle), &derived);
    let how = "`SNAPSHOTS=overwrite cargo test --test compiler engine` compiles the cases and records their CRDs";
    assert!(differences.is_empty(), "read and recorded differ; {how}:\n{}", differences.join("\n"));
    for (case, derived) in &derived {
        if let Err(problems) = derived {
            snapshot(Path::new(&format!("tests/engine/{case}.txt")), problems, &mut differences);
        }
    }
    assert!(differences.is_empty(), "messages changed:\n{}", differences.join("\n"));
}

fn recorded(oracle: &Oracle) -> Crds {
    let text = std::fs::read_to_string(engine_cases::recorded(oracle)).unwrap();
    let crds = parse(&text);
    assert!(render(&crds) == text, "{}: the record was edited", oracle.name());
    crds
}

/// Topics whose schemas differ between releases of kube or schemars.
const TOPICS: &[&str] = &["enums", "flatten", "kube", "kube_schema", "kubernetes", "maps", "panics", "structs"];

/// For each earlier release of kube, cases with unsupported features are rejected. Compares the cases of some topics,
/// or all of them if OPCTL_VERSIONS is `all` or the results are recorded.
#[test]
fn crds_equal_those_of_earlier_releases() {
    let releases: Vec<Release> = Oracle::earlier().iter().map(|oracle| pinned(oracle, "kube")).collect();
    assert_eq!(releases, versions::KUBE[..versions::KUBE.len() - 1], "each release that differs has its cases");
    for oracle in Oracle::earlier() {
        let mut cases = cases(&oracle);
        cases.retain(|case, _| takes_all_releases() || TOPICS.contains(&case.split('/').next().unwrap()));
        let mut recorded = recorded(&oracle);
        recorded.retain(|case, _| cases.contains_key(case));
        let differences = differences(&recorded, &derive(&oracle, &cases));
        assert!(differences.is_empty(), "{}: read and recorded differ:\n{}", oracle.name(), differences.join("\n"));
        let mut others = every_case();
        others.retain(|case, _| without(&oracle).contains(case) && !case.starts_with("panics/"));
        for (case, derived) in derive(&oracle, &others) {
            let problems = derived.err().unwrap_or_default();
            let codes: BTreeSet<&str> = problems.iter().map(|said| said.code.name).collect();
            let expected = match case.split('/').next().unwrap() {
                "kube" | "kube_schema" => Some("OP005"),
                "flatten" => Some("OP018"),
                // Code that kube or schemars does not implement, or whose names it cannot handle.
                _ => continue,
            };
            assert_eq!(codes.into_iter().collect::<Vec<_>>(), expected.as_slice(), "{}: {case}", oracle.name());
        }
    }
}

/// The release in the Cargo.toml of an oracle.
fn pinned(oracle: &Oracle, name: &str) -> Release {
    let manifest = oracle.manifest("oracle");
    let line = manifest.lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap();
    Release::parse(line.split("\"=").nth(1).unwrap().split('"').next().unwrap()).unwrap()
}

/// Compares messages with those next to a case; `SNAPSHOTS=overwrite cargo test --test quick engine` updates them.
fn snapshot(expected: &Path, diagnostics: &[Diagnostic], differences: &mut Vec<String>) {
    let said = diagnostic::render(diagnostics, false);
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join(expected);
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        std::fs::write(expected, said).unwrap();
    } else if std::fs::read_to_string(&expected).unwrap_or_default() != said {
        differences.push(format!("{} (SNAPSHOTS=overwrite accepts it):\n{said}", expected.display()));
    }
}

/// Types that cannot be derived exactly are rejected with a location: `tests/engine/refused/*.rs`, with the messages
/// next to them.
#[test]
fn refuses_what_it_cannot_derive() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/refused");
    let mut differences = Vec::new();
    for entry in std::fs::read_dir(&cases).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let mut tree = Tree::at(cases.join("nowhere"));
        tree.lay_over("Cargo.toml", manifest("oracle"));
        tree.lay_over("src/lib.rs", std::fs::read_to_string(&path).unwrap());
        let Source { operator, mut diagnostics, .. } = source::read(&tree, "");
        if let Err(problems) = emit::crds(&operator.apis) {
            diagnostics.extend(problems);
        }
        assert!(diagnostics.iter().any(Diagnostic::is_error), "{} was not refused", path.display());
        snapshot(&path.with_extension("txt"), &diagnostics, &mut differences);
    }
    assert!(differences.is_empty(), "messages changed:\n{}", differences.join("\n"));
}

/// Each of 24 modules imports everything from all others. Following every path would not terminate.
#[test]
fn globs_that_lead_everywhere_come_to_an_end() {
    let globs: String = (0..24).map(|module| format!("    pub use super::m{module}::*;\n")).collect();
    let modules: String = (0..24).map(|module| format!("mod m{module} {{\n{globs}}}\n")).collect();
    let spec = "#[derive(CustomResource, JsonSchema)]\n#[kube(group = \"g\", version = \"v1\", kind = \"K\")]\n\
        struct S { x: m0::Missing }\n";
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", manifest("oracle"));
    tree.lay_over("src/lib.rs", format!("{modules}{spec}"));
    let diagnostics = source::read(&tree, "").diagnostics;
    assert_eq!(diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect::<Vec<_>>(), ["OP010"]);
}

#[test]
fn warns_of_served_versions_with_different_fields() {
    let version = |module: &str, name: &str, field: &str, served: bool| {
        format!(
            "mod {module} {{\n    /// {module}\n    #[derive(CustomResource, JsonSchema)]\n    #[kube(group = \"g.example.com\", \
             version = \"{name}\", kind = \"K\", served = {served})]\n    struct S {{ {field}: u8 }}\n}}\n"
        )
    };
    let codes = |text: String| {
        let mut tree = Tree::at("nowhere");
        tree.lay_over("Cargo.toml", manifest("oracle"));
        tree.lay_over("src/lib.rs", text);
        let diagnostics = source::read(&tree, "").diagnostics;
        diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect::<Vec<_>>()
    };
    assert!(codes(version("a", "v1alpha1", "x", true) + &version("b", "v1", "x", true)).is_empty());
    assert!(codes(version("a", "v1alpha1", "x", false) + &version("b", "v1", "y", true)).is_empty());
    assert_eq!(codes(version("a", "v1alpha1", "x", true) + &version("b", "v1", "y", true)), ["OP022"]);
}

/// The kinds to compile are those that an error stopped, including ones that share a failing type with another kind.
#[test]
fn every_kind_that_an_error_stops_is_named() {
    let kind = |name: &str, field: &str| {
        format!(
            "mod {} {{ use super::*;\n    #[derive(CustomResource, JsonSchema)]\n    #[kube(group = \"g\", version = \"v1\", \
             kind = \"{name}\")]\n    struct S {{ x: {field} }}\n}}\n",
            name.to_lowercase()
        )
    };
    let shared = "struct Shared;\nimpl JsonSchema for Shared { fn json_schema(g: &mut G) -> Schema { make(g) } }\n\
        #[derive(JsonSchema)] struct Of<T> { t: T, shared: Shared }\nmod made { make_custom_resource!(CustomResource); }\n";
    let kinds =
        [kind("A", "Shared"), kind("B", "Vec<Shared>"), kind("C", "Of<u8>"), kind("D", "Of<u8>"), kind("E", "u8")];
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", manifest("oracle"));
    tree.lay_over("src/lib.rs", format!("{shared}{}", kinds.concat()));
    let source = source::read(&tree, "");
    let codes: Vec<&str> = source.diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect();
    assert_eq!(codes, ["OP021", "OP013"]);
    let stopped = source.operator.underivable.iter().map(|stopped| {
        let codes: Vec<&str> = stopped.reasons.iter().map(|reason| reason.code.name).collect();
        (stopped.kind.as_ref().map_or("", |(_, kind)| kind), codes.join(" "))
    });
    let stopped: Vec<(&str, String)> = stopped.collect();
    let expected = [("", "OP021"), ("A", "OP013"), ("B", "OP013"), ("C", "OP013"), ("D", "OP013")];
    assert_eq!(stopped, expected.map(|(kind, codes)| (kind, codes.to_owned())));
    assert_eq!(source.operator.apis.len(), 1);
}

#[test]
fn debug_assertions_are_those_of_the_profile() {
    const KIND: &str = "#[cfg(debug_assertions)]\n#[derive(kube::CustomResource, schemars::JsonSchema)]\n\
        #[kube(group = \"test.example.com\", version = \"v1\", kind = \"K\")]\nstruct S { x: u8 }\n";
    let off = "[profile.dev]\ndebug-assertions = false\n";
    for (profile, config, kinds) in [
        ("", "", 1),
        (off, "", 0),
        ("[profile.release]\ndebug-assertions = false\n", "", 1),
        ("", off, 0),
        (off, "[profile.dev]\ndebug-assertions = true\n", 1),
        ("[profile.dev.package.oracle]\ndebug-assertions = false\n", "", 0),
        ("[profile.dev.package.\"*\"]\ndebug-assertions = false\n", "", 1),
    ] {
        let mut tree = Tree::at("nowhere");
        tree.lay_over("Cargo.toml", format!("{}\n{profile}", manifest("oracle")));
        tree.lay_over("Cargo.lock", Oracle::latest().lock());
        tree.lay_over(".cargo/config.toml", config);
        tree.lay_over("src/lib.rs", KIND);
        let source = source::read(&tree, "");
        assert_eq!(source.operator.apis.len(), kinds, "{profile}{config}: {:?}", source.diagnostics);
    }
}

/// A custom resource gets a CRD or is reported, in whatever way its file is included.
#[test]
fn no_custom_resource_is_overlooked() {
    const KIND: &str = "use kube::CustomResource as Cr;\n#[derive(Cr, JsonSchema)]\n\
        #[kube(group = \"g\", version = \"v1\", kind = \"K\")]\nstruct S { x: u8 }\n";
    const RULES: &str = "use kube::CustomResource as Cr;\nmacro_rules! kind { ($attribute:ident, $derive:ident, $kind:literal) => \
        { #[derive($derive)] #[$attribute(group = \"g\", version = \"v1\", kind = $kind)] struct S { x: u8 } } }\n";
    const MACROS: &str = "[package]\nname = \"m\"\nversion = \"0.1.0\"\n[lib]\nproc-macro = true\n";
    let inner = format!("#![cfg(feature = \"off\")]\n{KIND}");
    let in_cfg_attr = inner.replace("cfg(", "cfg_attr(all(), cfg(").replace(")]\nuse", "))]\nuse");
    let in_the_package = "include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/k.inc\"));";
    let with_macros = manifest("oracle").replace("[dependencies]", "[dependencies]\nm = { path = \"m\" }");
    let flags = "[build]\nrustflags = [\"-C\", \"debuginfo=1\", \"--cfg\", \"with_kinds\"]\n";
    for (files, kinds, codes) in [
        (vec![("src/lib.rs", "mod k;"), ("src/k.rs", KIND)], 1, vec![]),
        (vec![("src/lib.rs", "mod k;"), ("src/k.rs", &inner)], 0, vec!["OP051"]),
        (vec![("src/lib.rs", "#[cfg(feature = \"off\")] mod k;"), ("src/k.rs", KIND)], 0, vec!["OP051"]),
        (vec![("src/lib.rs", "#[cfg(with_kinds)] mod k;"), ("src/k.rs", KIND)], 0, vec![]),
        (
            vec![("src/lib.rs", "#[cfg(with_kinds)] mod k;"), ("src/k.rs", KIND), (".cargo/config.toml", flags)],
            1,
            vec![],
        ),
        (
            vec![("src/lib.rs", "cfg_if::cfg_if! { if #[cfg(unix)] { mod k; } else { mod x; } }"), ("src/k.rs", KIND)],
            1,
            vec![],
        ),
        (vec![("src/lib.rs", "cfg_if! { if #[cfg(windows)] { mod k; } }"), ("src/k.rs", KIND)], 0, vec![]),
        (
            vec![("src/lib.rs", "macro_rules! m { ($n:ident) => { mod $n; } }\nm!(k);"), ("src/k.rs", KIND)],
            0,
            vec!["OP021"],
        ),
        (vec![("src/lib.rs", ""), ("src/k.rs", KIND)], 0, vec!["OP029"]),
        (vec![("src/lib.rs", &format!("fn f(a: u8, b: u8) {{ wrapped! {{ {KIND} }} }}"))], 0, vec!["OP021"]),
        (vec![("src/lib.rs", "include!(\"k.inc\");"), ("src/k.inc", KIND)], 0, vec!["OP021"]),
        (vec![("src/lib.rs", "include!(\"k.rs\");"), ("src/k.rs", "struct Plain;")], 0, vec![]),
        (vec![("src/lib.rs", "include!(concat!(env!(\"OUT_DIR\"), \"/k.rs\"));")], 0, vec!["OP029"]),
        (vec![("src/lib.rs", "mod k;"), ("src/k.rs", &in_cfg_attr)], 0, vec!["OP051"]),
        (vec![("src/lib.rs", "include!(concat!(\"k\", \".inc\"));"), ("src/k.inc", KIND)], 0, vec!["OP021"]),
        (vec![("src/lib.rs", in_the_package), ("k.inc", KIND)], 0, vec!["OP021"]),
        (vec![("src/lib.rs", "use std::include as i;\ni!(\"k.inc\");"), ("src/k.inc", KIND)], 0, vec!["OP021"]),
        (
            vec![
                ("src/lib.rs", "include!(concat!(env!(\"OUT_DIR\"), \"/k.rs\"));"),
                ("build.rs", &format!("fn main() {{ write(\"{KIND}\"); }}")),
            ],
            0,
            vec!["OP021"],
        ),
        (vec![("src/lib.rs", &format!("struct Length([u8; {{ {KIND} 1 }}]);"))], 0, vec!["OP021"]),
        (
            vec![("src/lib.rs", "async fn f() { #[path = \"k.rs\"] mod k; }"), ("src/k.rs", KIND)],
            0,
            vec!["OP021", "OP029"],
        ),
        (vec![("src/lib.rs", &format!("{RULES}kind!(kube, Cr, \"K\");"))], 0, vec!["OP021"]),
        (
            vec![
                ("src/lib.rs", "#[m::kind] struct S { x: u8 }"),
                ("Cargo.toml", &with_macros),
                ("m/Cargo.toml", MACROS),
                ("m/src/lib.rs", "fn kind() { quote! { #[derive(#cr)] #[kube(kind = #kind)] #item } }"),
            ],
            0,
            vec!["OP021"],
        ),
        (
            vec![
                ("src/lib.rs", &format!("{KIND}include!(\"k.inc\");").replace("u8", "String")),
                ("src/k.inc", "struct String;"),
            ],
            0,
            vec!["OP024"],
        ),
    ] {
        let mut tree = Tree::at("nowhere");
        tree.lay_over("Cargo.toml", manifest("oracle"));
        for (path, text) in &files {
            tree.lay_over(*path, *text);
        }
        let source = source::read(&tree, "");
        let said: Vec<&str> = source.diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect();
        assert_eq!((source.operator.apis.len(), said), (kinds, codes), "{files:?}");
    }
}

/// Other versions of schemars generate other schemas.
#[test]
fn refuses_another_schemars() {
    let codes = |schemars: &str| {
        let text = "#[derive(kube::CustomResource, schemars::JsonSchema)]\n\
            #[kube(group = \"g\", version = \"v1\", kind = \"K\")]\nstruct S { x: u8 }\n";
        let mut tree = Tree::at("nowhere");
        let manifest = manifest("oracle");
        let lines = manifest.lines().map(|line| if line.starts_with("schemars") { schemars } else { line });
        tree.lay_over("Cargo.toml", lines.collect::<Vec<_>>().join("\n"));
        tree.lay_over("src/lib.rs", text);
        let diagnostics = source::read(&tree, "").diagnostics;
        diagnostics.iter().filter(|said| said.is_error()).map(|said| said.code.name).collect::<Vec<_>>()
    };
    assert!(codes("schemars = \"1\"").is_empty());
    assert_eq!(codes("schemars = \"0.8.22\""), ["OP025"]);
    assert_eq!(codes("schemars = { package = \"schemars\", version = \"=0.9\" }"), ["OP025"]);
}
