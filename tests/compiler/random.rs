//! Random types are compiled with the latest kube and read by opctl: the CRDs are equal, or opctl reports that it
//! cannot derive one. A kind whose `crd()` panics must be rejected.
//!
//! `OPCTL_RANDOM_TYPES=2000 cargo test --test compiler random -- --nocapture` sets the number of types, and prints the
//! share of underivable ones, with reasons. Failures are printed with their seed;
//! `OPCTL_RANDOM_SEED=… OPCTL_RANDOM_TYPES=1` generates only that kind, in `random/src` below the folder where
//! operators are compiled.

mod kinds;
pub mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use opctl_model::diagnostic::{self, Diagnostic};
use opctl_model::project::Tree;
use opctl_source as source;
use opctl_source::emit;
use serde_json::Value;

use self::kinds::Kind;
use crate::differ::differ;
use crate::{common, oracle};

/// The number of kinds per build.
const BATCH: usize = 400;
/// Codes for types that compile but cannot be derived. Any other code means an error in the generated code or in kube.
const NOT_DERIVABLE: [&str; 4] = ["OP011", "OP012", "OP013", "OP014"];

#[test]
fn random_types_are_derived_exactly_or_not_at_all() {
    let number = |name: &str, default: u64| env::var(name).map_or(default, |text| text.parse().unwrap());
    let (seed, wanted) = (number("OPCTL_RANDOM_SEED", 1), number("OPCTL_RANDOM_TYPES", 60) as usize);
    let mut outcome = Outcome::default();
    let mut seeds = seed..;
    while outcome.types < wanted {
        let mut batch = Vec::new();
        let mut types = 0;
        while types < BATCH && outcome.types + types < wanted {
            let kind = Kind::new(seeds.next().unwrap(), format!("k{}", batch.len()));
            types += kind.types;
            batch.push(kind);
        }
        let compiled = compiled(&batch);
        for (kind, compiled) in batch.iter().zip(compiled) {
            outcome.add(kind, &compiled);
        }
    }
    println!("from seed {seed}: {outcome}");
    assert!(outcome.defects.is_empty(), "{}", outcome.defects.join("\n"));
}

#[derive(Default)]
struct Outcome {
    kinds: usize,
    types: usize,
    equal: usize,
    /// The number of kinds for which kube panics and opctl reports an error.
    panics: usize,
    /// The number of underivable kinds by code.
    not_derivable: BTreeMap<String, usize>,
    defects: Vec<String>,
}

impl Outcome {
    /// `compiled` is the CRD, or the message of kube's panic.
    fn add(&mut self, kind: &Kind, compiled: &Value) {
        self.kinds += 1;
        self.types += kind.types;
        let defect = match (compiled, read(kind)) {
            (Value::String(_), Err(_)) => {
                self.panics += 1;
                return;
            }
            (Value::String(panic), Ok(_)) => format!("kube panics, and opctl does not refuse: {panic}"),
            (compiled, Ok(read)) => {
                let mut differences = Vec::new();
                differ("", compiled, &read, &mut differences);
                if differences.is_empty() {
                    self.equal += 1;
                    return;
                }
                differences.join("\n")
            }
            (_, Err(diagnostics)) => {
                let codes: BTreeSet<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code.name).collect();
                let wrong = codes.iter().any(|code| !NOT_DERIVABLE.contains(code));
                let said = diagnostic::render(&diagnostics, false);
                if env::var_os("OPCTL_RANDOM_REFUSED").is_some() {
                    println!("{said}");
                }
                if !wrong {
                    *self.not_derivable.entry(codes.into_iter().collect::<Vec<_>>().join(" ")).or_default() += 1;
                    return;
                }
                said
            }
        };
        self.defects.push(format!("seed {} ({}):\n{defect}", kind.seed, kind.root));
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let refused: usize = self.not_derivable.values().sum();
        let share = refused as f64 * 100.0 / (self.kinds - self.panics) as f64;
        writeln!(f, "{} types in {} kinds", self.types, self.kinds)?;
        writeln!(f, "{} equal, {} wrong", self.equal, self.defects.len())?;
        writeln!(f, "{} that kube cannot make either, all refused", self.panics)?;
        writeln!(f, "{refused} not derivable, {share:.1} % of those that kube can make:")?;
        self.not_derivable.iter().try_for_each(|(codes, count)| writeln!(f, "  {count} {codes}"))
    }
}

/// The CRD that opctl derives, or its diagnostics.
fn read(kind: &Kind) -> Result<Value, Vec<Diagnostic>> {
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", oracle::manifest("random"));
    tree.lay_over("src/lib.rs", format!("mod {};", kind.module));
    for (path, text) in &kind.files {
        tree.lay_over(format!("src/{path}"), text);
    }
    let source::Source { operator, mut diagnostics, .. } = source::read(&tree, "");
    diagnostics.retain(Diagnostic::is_error);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let crds = emit::crds(&operator.apis)?;
    assert_eq!(crds.len(), 1, "seed {}", kind.seed);
    Ok(serde_json::to_value(&crds[0]).unwrap())
}

/// The output of the compiled types: for each kind its CRD, or the message of kube's panic as a string.
fn compiled(batch: &[Kind]) -> Vec<Value> {
    let folder = common::operators_target().join("random");
    let _ = fs::remove_dir_all(folder.join("src"));
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("Cargo.toml", &oracle::manifest("random"));
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    let mut main = String::from("#![allow(warnings)]\n");
    let mut prints = String::new();
    for kind in batch {
        kind.files.iter().for_each(|(path, text)| write(&format!("src/{path}"), text));
        writeln!(main, "mod {};", kind.module).unwrap();
        writeln!(prints, "    print(<{}::{} as kube::CustomResourceExt>::crd);", kind.module, kind.root).unwrap();
    }
    main += "
fn print(crd: fn() -> k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition) {
    let crd = std::panic::catch_unwind(|| serde_json::to_value(crd()).unwrap());
    println!(\"{}\", crd.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.unwrap_or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string).unwrap_or_default()).into()
    }));
}
";
    writeln!(main, "\nfn main() {{\n    std::panic::set_hook(Box::new(|_| {{}}));\n{prints}}}").unwrap();
    write("src/main.rs", &main);
    let printed = common::output(common::cargo(&folder, &["run", "--quiet"]));
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
