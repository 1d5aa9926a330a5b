//! The cases of `tests/undecodable`: objects that an API server admits and a type cannot decode.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use opctl_model::diagnostic::{Diagnostic, Severity, render};
use opctl_model::project::Tree;
use opctl_schema::apiserver::check_decoding;
use opctl_source::emit::{self, CustomResourceDefinition};
use opctl_source::{self as source, Options, Source};

use crate::oracle;

/// Reads the kind of a case.
pub fn read(name: &str, text: &str) -> (Source, CustomResourceDefinition) {
    let mut tree = Tree::at("nowhere");
    tree.lay_over("Cargo.toml", oracle::manifest("oracle"));
    tree.lay_over("src/lib.rs", text.to_owned());
    let source = source::read_with(&tree, "", &Options { reads: true, ..Options::default() });
    assert!(source.diagnostics.is_empty(), "{name}:\n{}", render(&source.diagnostics, false));
    let crds = emit::crds(&source.operator.apis).unwrap_or_else(|errors| panic!("{name}: {}", render(&errors, false)));
    let [crd] = crds.as_slice() else { panic!("{name} has {} kinds", crds.len()) };
    let mut errors = opctl_schema::apiserver::check(crd);
    errors.retain(|finding| finding.severity == Severity::Error);
    assert!(errors.is_empty(), "{name}: {errors:?}");
    (source, crd.clone())
}

/// The diagnostics of a case.
pub fn check(name: &str, text: &str) -> Vec<Diagnostic> {
    let (source, crd) = read(name, text);
    check_decoding(&source.operator.apis, &[crd])
}

/// The text with all suggested attributes added.
pub fn fixed(text: &str, diagnostics: &[Diagnostic]) -> String {
    let attribute = |diagnostic: &Diagnostic| {
        let (span, _) = diagnostic.span.as_ref()?;
        let add = diagnostic.help.iter().find_map(|help| help.strip_prefix("add `#[schemars")?.strip_suffix('`'))?;
        Some((span.range.start, format!("#[schemars{add} ")))
    };
    let mut attributes: Vec<(usize, String)> = diagnostics.iter().filter_map(attribute).collect();
    attributes.sort();
    let mut text = text.to_owned();
    for (at, attribute) in attributes.iter().rev() {
        text.insert_str(*at, attribute);
    }
    text
}

pub fn cases() -> BTreeMap<String, (PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/undecodable");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let cases = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    cases
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), (path.clone(), fs::read_to_string(&path).unwrap()))
        })
        .collect()
}
