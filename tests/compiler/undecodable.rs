//! Objects that an API server admits and a type cannot decode: the compiled types reject them, and have the suggested
//! bounds.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;

use crate::admitted::objects;
use crate::differ::differ;
use crate::undecodable_cases::{cases, check, fixed};
use crate::{common, oracle};

/// The crate with the original and the fixed version of all cases. It prints the CRDs, and reads objects.
const CRATE: &str = r#"#![allow(warnings)]

/* modules */
fn main() {
    if std::env::args().count() == 1 {
/* crds */        return;
    }
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (case, object) = line.split_once('\t').unwrap();
        let error = match case {
/* reads */            case => panic!("{case}"),
        };
        println!("{}", error.unwrap_or_default());
    }
}
"#;

#[test]
fn the_compiled_types_refuse_what_is_reported_and_have_the_bounds_that_are_added() {
    let folder = common::operators_target().join("undecodable");
    let (mut modules, mut crds, mut reads) = (String::new(), String::new(), String::new());
    let mut checked = Vec::new();
    let _ = fs::remove_dir_all(folder.join("src"));
    fs::create_dir_all(folder.join("src")).unwrap();
    for (name, (_, text)) in cases() {
        let before = check(&name, &text);
        let mut variants = vec![(name.clone(), text.clone())];
        if name != "bounds_too_wide" {
            variants.push((format!("{name}_fixed"), fixed(&text, &before)));
        }
        for (module, text) in variants {
            fs::write(folder.join(format!("src/{module}.rs")), &text).unwrap();
            writeln!(modules, "mod {module};").unwrap();
            writeln!(crds, "        println!(\"{module}\\t{{}}\", serde_json::to_string(&<{module}::K as kube::CustomResourceExt>::crd()).unwrap());").unwrap();
            writeln!(reads, "            \"{module}\" => serde_json::from_str::<{module}::K>(object).err().map(|error| error.to_string()),").unwrap();
            checked.push((module.clone(), objects(&module, &text)));
        }
    }
    let main = CRATE.replace("/* modules */", &modules).replace("/* crds */", &crds).replace("/* reads */", &reads);
    fs::write(folder.join("src/main.rs"), main).unwrap();
    fs::write(folder.join("Cargo.toml"), oracle::manifest("undecodable")).unwrap();
    let lock = include_str!("../engine/Cargo.lock").replace("name = \"oracle\"", "name = \"undecodable\"");
    fs::write(folder.join("Cargo.lock"), lock).unwrap();

    let printed = common::output(common::cargo(&folder, &["run", "--quiet"]));
    let mut differences = Vec::new();
    for (line, (module, (crd, _))) in printed.lines().zip(&checked) {
        let (printed, compiled) = line.split_once('\t').unwrap();
        assert_eq!(printed, module);
        let read = serde_json::to_value(crd).unwrap();
        differ(module, &serde_json::from_str(compiled).unwrap(), &read, &mut differences);
    }
    assert!(differences.is_empty(), "read and compiled differ:\n{}", differences.join("\n"));

    let asked: Vec<(&str, &String, &Value)> = checked
        .iter()
        .flat_map(|(module, (_, objects))| objects.iter().map(move |(path, object)| (module.as_str(), path, object)))
        .collect();
    assert!(asked.len() > 60, "{}", asked.len());
    let mut cargo = common::cargo(&folder, &["run", "--quiet", "--", "read"]);
    let mut child = cargo.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines: String = asked.iter().map(|(module, _, object)| format!("{module}\t{object}\n")).collect();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let read: Vec<&str> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
    assert_eq!(read.len(), asked.len());
    let taken: Vec<String> = asked
        .iter()
        .zip(read)
        .filter(|(_, error)| error.is_empty())
        .map(|((module, path, object), _)| format!("{module} {path}: {object}"))
        .collect();
    assert!(taken.is_empty(), "serde reads these:\n{}", taken.join("\n"));
}
