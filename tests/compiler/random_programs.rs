//! Random functions for defaults are run and evaluated by opctl: the values are equal, or opctl reports that only the
//! compiler can determine the value.
//!
//! `OPCTL_RANDOM_PROGRAMS=5000 cargo test --test compiler programs -- --nocapture` sets the number;
//! `OPCTL_RANDOM_SEED=…` sets the first seed, and `OPCTL_RANDOM_REFUSED=1` prints rejected programs.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use opctl_model::diagnostic;
use opctl_model::project::Tree;
use opctl_source as source;
use opctl_source::emit;
use serde_json::Value;

use crate::random::programs::Program;
use crate::{common, oracle};

/// The number of programs per build.
const BATCH: usize = 1000;

const HEADER: &str = "use schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n";

#[test]
fn random_programs_are_evaluated_exactly_or_not_at_all() {
    let number = |name: &str, default: u64| env::var(name).map_or(default, |text| text.parse().unwrap());
    let (seed, wanted) = (number("OPCTL_RANDOM_SEED", 1), number("OPCTL_RANDOM_PROGRAMS", 300) as usize);
    let (mut equal, mut refused, mut panics, mut rejected, mut wrong) = (0, 0, 0, 0, Vec::new());
    let mut seeds = (seed..).take(wanted).peekable();
    while seeds.peek().is_some() {
        let programs: Vec<Program> = seeds.by_ref().take(BATCH).map(Program::new).collect();
        for (program, ran) in programs.iter().zip(run(&programs)) {
            if matches!(ran, Ran::Rejected) {
                rejected += 1;
                continue;
            }
            match (ran, evaluated(program)) {
                (Ran::Rejected, _) => {}
                (Ran::Panicked, Err(_)) => panics += 1,
                (Ran::Made(_), Err(_)) => refused += 1,
                (Ran::Made(expected), Ok(got)) if same(&got, &expected) => equal += 1,
                (Ran::Made(expected), Ok(got)) => {
                    wrong.push(format!(
                        "seed {}: {expected} expected, {got} evaluated:\n{}",
                        program.seed,
                        own(program)
                    ));
                }
                (Ran::Panicked, Ok(got)) => {
                    wrong.push(format!("seed {}: a panic expected, {got} evaluated:\n{}", program.seed, own(program)));
                }
            }
        }
    }
    println!("{equal} equal, {refused} refused, {panics} that panic refused, {rejected} that rustc rejects");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert!(equal * 4 > wanted, "opctl evaluates too few of {wanted}: {equal}");
}

enum Ran {
    Made(String),
    Panicked,
    Rejected,
}

/// `true` if a value is printed as expected, except for the order of an object's keys.
fn same(got: &Value, expected: &str) -> bool {
    // Compared as text, since serde_json does not parse all digits of a number.
    let text = got.to_string();
    text == expected || got.is_object() && serde_json::from_str::<Value>(expected).unwrap() == *got
}

/// The part of a program that differs from others.
fn own(program: &Program) -> &str {
    program.text.split_once("fn fill").map_or("", |(_, rest)| rest)
}

/// The default that opctl evaluates, or its error.
fn evaluated(program: &Program) -> Result<Value, String> {
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", oracle::manifest("programs"));
    let spec = format!(
        "{HEADER}#[derive(kube::CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]\n\
         #[kube(group = \"g.example.com\", version = \"v1\", kind = \"Program\")]\n\
         pub struct ProgramSpec {{\n    #[serde(default = \"value\")]\n    #[schemars(with = \"serde_json::Value\")]\n    \
         pub x: {},\n}}\n{}",
        program.ty, program.text
    );
    tree.lay_over("src/lib.rs", spec);
    let source::Source { operator, mut diagnostics, .. } = source::read(&tree, "");
    diagnostics.retain(diagnostic::Diagnostic::is_error);
    if !diagnostics.is_empty() {
        let said = diagnostic::render(&diagnostics, false);
        if env::var_os("OPCTL_RANDOM_REFUSED").is_some() {
            println!("seed {}: {said}", program.seed);
        }
        assert!(
            diagnostics.iter().all(diagnostic::Diagnostic::needs_compiler),
            "seed {}: {said}\n{}",
            program.seed,
            own(program)
        );
        return Err(said);
    }
    let crds = emit::crds(&operator.apis).map_err(|problems| diagnostic::render(&problems, false))?;
    let crd = serde_json::to_value(&crds[0]).unwrap();
    let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    Ok(spec["properties"]["x"]["default"].clone())
}

/// The results of the compiled programs.
fn run(programs: &[Program]) -> Vec<Ran> {
    let folder = common::operators_target().join("programs");
    let mut rejected: BTreeSet<usize> = BTreeSet::new();
    loop {
        write(&folder, programs, &rejected);
        let output = common::cargo(&folder, &["run", "--quiet"]).output().unwrap();
        if output.status.success() {
            let printed = String::from_utf8(output.stdout).unwrap();
            let mut lines = printed.lines();
            return (0..programs.len())
                .map(|index| match rejected.contains(&index) {
                    true => Ran::Rejected,
                    false => match lines.next().unwrap() {
                        "panic" => Ran::Panicked,
                        json => Ran::Made(json.to_string()),
                    },
                })
                .collect();
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let before = rejected.len();
        rejected.extend(
            said.match_indices("src/p")
                .filter_map(|(at, start)| said[at + start.len()..].split('.').next()?.parse::<usize>().ok()),
        );
        assert!(rejected.len() > before, "{said}");
    }
}

fn write(folder: &Path, programs: &[Program], rejected: &BTreeSet<usize>) {
    let _ = fs::remove_dir_all(folder.join("src"));
    fs::create_dir_all(folder.join("src")).unwrap();
    // kube is not needed, and takes long to compile.
    let manifest = oracle::manifest("programs");
    let needed = |line: &&str| {
        !line.contains(" = {") && !line.contains("_json") || line.starts_with("serde") && !line.contains("_macros")
    };
    let manifest: Vec<&str> = manifest.lines().filter(needed).collect();
    fs::write(folder.join("Cargo.toml"), manifest.join("\n")).unwrap();
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    let mut main =
        String::from("#![allow(warnings, arithmetic_overflow, overflowing_literals, unconditional_panic)]\n");
    let mut prints = String::new();
    for (index, program) in programs.iter().enumerate().filter(|(index, _)| !rejected.contains(index)) {
        // The other derives are not needed to run the function, and take long to compile.
        let text = program.text.replace("Deserialize, Serialize, JsonSchema)]", "serde::Serialize)]");
        fs::write(folder.join(format!("src/p{index}.rs")), text).unwrap();
        writeln!(main, "mod p{index};").unwrap();
        writeln!(prints, "    print(|| serde_json::to_value(p{index}::value()).unwrap().to_string());").unwrap();
    }
    main += "
fn print(value: fn() -> String) {
    println!(\"{}\", std::panic::catch_unwind(value).unwrap_or_else(|_| \"panic\".into()));
}
";
    writeln!(main, "\nfn main() {{\n    std::panic::set_hook(Box::new(|_| {{}}));\n{prints}}}").unwrap();
    fs::write(folder.join("src/main.rs"), main).unwrap();
}
