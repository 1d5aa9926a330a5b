//! Candidates for shell completion. Values that cannot be read are omitted, because a completion cannot report errors.

use clap_complete::engine::CompletionCandidate;

use super::{kubectl, project_folder, tree};
use crate::diagnostics;
use opctl_model::project::{ProjectFile, Resource};

/// The groups of the project.
pub fn groups() -> Vec<CompletionCandidate> {
    of_resources(|resource| resource.group.to_string())
}

/// The versions of the project.
pub fn versions() -> Vec<CompletionCandidate> {
    of_resources(|resource| resource.version.to_string())
}

/// The kinds of the project.
pub fn kinds() -> Vec<CompletionCandidate> {
    of_resources(|resource| resource.kind.to_string())
}

/// The codes of diagnostics, each with the first sentence of its explanation.
pub fn codes() -> Vec<CompletionCandidate> {
    let sentence = |text: &str| text.split_once(". ").map_or(text, |(first, _)| first).replace('\n', " ");
    let candidate = |code: &opctl_model::diagnostic::Code| {
        CompletionCandidate::new(code.name).help(Some(sentence(&code.explanation()).into()))
    };
    diagnostics::all().into_iter().map(candidate).collect()
}

/// The contexts of the kubeconfig.
pub fn contexts() -> Vec<CompletionCandidate> {
    of_kubectl(&["config", "get-contexts", "-o", "name"])
}

/// The namespaces of the current cluster.
pub fn namespaces() -> Vec<CompletionCandidate> {
    of_kubectl(&[
        "get",
        "namespaces",
        "-o",
        "jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}",
        "--request-timeout=2s",
    ])
}

fn of_resources(value: impl Fn(&Resource) -> String) -> Vec<CompletionCandidate> {
    let Some(file) = project_folder().ok().and_then(|root| ProjectFile::read(&tree(&root)).ok()) else {
        return Vec::new();
    };
    candidates(file.resources.iter().map(value))
}

fn of_kubectl(arguments: &[&str]) -> Vec<CompletionCandidate> {
    let output = kubectl::find(None, None).output(arguments, "").unwrap_or_default();
    candidates(output.lines().map(ToOwned::to_owned))
}

fn candidates(values: impl Iterator<Item = String>) -> Vec<CompletionCandidate> {
    let mut values: Vec<String> = values.collect();
    values.sort();
    values.dedup();
    values.into_iter().map(CompletionCandidate::new).collect()
}
